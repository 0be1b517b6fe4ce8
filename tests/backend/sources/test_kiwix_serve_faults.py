"""A server that says what no kiwix-serve should: a stand-in, since the real one can't be had to do it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

from tests.backend.test_live_sources import Client, ask, house

from .shelf import TOWER

CATALOGUE = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><totalResults>1</totalResults><entry><id>urn:uuid:1</id>
<title>Wikipedia</title><language>eng</language><name>wiki</name><articleCount>9</articleCount>
<link type="text/html" href="/content/wiki"/></entry></feed>"""
RESULTS = """<?xml version="1.0" encoding="UTF-8"?>
<rss xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><channel>
<opensearch:totalResults>1</opensearch:totalResults>
<item><title>Eiffel Tower</title><link>{link}</link></item></channel></rss>"""
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1 or str()};" * 10}">' for n in range(1, 10))
    + "]><rss><channel><title>&a9;</title></channel></rss>"
)


@dataclass(frozen=True)
class Moved:
    location: str


class Imposter:
    """Says what a test has it say at each address; what it isn't told about isn't there."""

    def __init__(self) -> None:
        self.pages: dict[str, Any] = {
            "/catalog/v2/entries": CATALOGUE,
            "/search": RESULTS.format(link="/content/wiki/Tower"),
            "/suggest": "[]",
            "/raw/wiki/content/Tower": TOWER,
        }
        self.asked: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.arrived = asyncio.Queue[int]()
        self.here = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        self.here += 1
        self.arrived.put_nowait(self.here)
        try:
            await self.gate.wait()
            return await self._answer(request)
        finally:
            self.here -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        page = self.pages.get(request.path, 404)
        if isinstance(page, int):
            return web.Response(status=page)
        if isinstance(page, Moved):
            return web.Response(status=302, headers={"Location": page.location})
        if page is None:
            drip = web.StreamResponse()
            await drip.prepare(request)
            while True:
                await drip.write(b"<!-- -->")
                await asyncio.sleep(0.01)
        return web.Response(text=page, content_type="text/html")


@pytest.fixture
def imposter() -> Imposter:
    return Imposter()


@pytest.fixture
async def client(imposter: Imposter, tmp_path: Path) -> AsyncIterator[Client]:
    app = web.Application()
    app.router.add_get("/{path:.*}", imposter.handle)
    async with TestServer(app) as server:
        url = str(server.make_url("")).rstrip("/")
        async with house(tmp_path, kiwix_url=url, request_timeout_seconds=2.0) as client:
            yield client


async def told(client: Client) -> dict[str, Any]:
    return await ask(client, "how tall is the eiffel tower", source="kiwix")


async def test_the_stand_in_is_good_enough_to_be_answered_from(client: Client) -> None:
    assert "330 metres" in (await told(client))["result"]


async def test_one_request_on_books_is_at_the_server_at_a_time_however_many_ask(
    client: Client, imposter: Imposter
) -> None:
    """Version 3.3 crashes where two open books at once."""
    await told(client)
    while not imposter.arrived.empty():
        imposter.arrived.get_nowait()
    imposter.gate.clear()
    asking = [
        asyncio.create_task(ask(client, f"how tall is eiffel tower {number}", source="kiwix"))
        for number in range(12)
    ]
    assert await imposter.arrived.get() == 1
    for _ in range(100):
        # All that could come by now has come.
        await asyncio.sleep(0)
    imposter.gate.set()
    replies = await asyncio.gather(*asking)
    assert all(reply["error"] in (None, "nothing_found") for reply in replies)
    seen = [imposter.arrived.get_nowait() for _ in range(imposter.arrived.qsize())]
    assert set(seen) == {1}


@pytest.mark.parametrize("path", ["/catalog/v2/entries", "/search"])
@pytest.mark.parametrize(
    ("page", "error"),
    [
        (LAUGHS, "bad_reply"),
        (f"<!DOCTYPE rss SYSTEM 'http://127.0.0.1:1/'>{RESULTS[39:]}", "bad_reply"),
        ("<a>" * 1_000 + "</a>" * 1_000, "bad_reply"),
        ("<html><body>Log in first", "bad_reply"),
        ("", "bad_reply"),
        (f"<rss>{' ' * 5_000_000}</rss>", "bad_reply"),
        (500, "bad_reply"),
        (401, "bad_reply"),
        (503, "busy"),
        (None, "timeout"),
    ],
    ids=["laughs", "dtd", "deep", "html", "empty", "large", "500", "401", "503", "drip"],
)
async def test_what_is_no_catalogue_and_no_result_is_a_failure_with_a_sentence(
    client: Client, imposter: Imposter, path: str, page: str | int | None, error: str
) -> None:
    good = imposter.pages[path]
    if path == "/catalog/v2/entries":
        # The one that was looked at when the server started isn't this one.
        imposter.pages["/search"] = imposter.pages["/suggest"] = 404
    imposter.pages[path] = page
    reply = await told(client)
    assert (reply["success"], reply["error"]) == (False, error)
    assert reply["speech"]
    # Nothing of it is kept.
    imposter.pages |= Imposter().pages | {path: good}
    assert "330 metres" in (await told(client))["result"]


@pytest.mark.parametrize(
    "link",
    [
        "http://127.0.0.1:1/content/other/Tower",
        "/content/other/Tower",
        "/content/wiki/../../../search",
        "/content/wiki/%2e%2e/%2e%2e/search",
        "/content/wiki/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://[",
        "",
    ],
)
async def test_a_link_out_of_the_book_is_not_followed(
    client: Client, imposter: Imposter, link: str
) -> None:
    imposter.pages["/search"] = RESULTS.format(link=link)
    reply = await told(client)
    assert (reply["success"], reply["error"]) == (False, "nothing_found")
    assert set(imposter.asked) == {"/catalog/v2/entries", "/search", "/suggest"}


async def test_an_article_that_leads_to_another_server_is_not_fetched_there(
    client: Client, imposter: Imposter
) -> None:
    elsewhere = Imposter()
    app = web.Application()
    app.router.add_get("/{path:.*}", elsewhere.handle)
    async with TestServer(app) as other:
        there = str(other.make_url("/content/wiki/Tower"))
        imposter.pages["/raw/wiki/content/Tower"] = Moved(there)
        assert (await told(client))["error"] == "nothing_found"
    assert not elsewhere.asked


async def test_an_article_that_leads_in_a_circle_is_left_out(
    client: Client, imposter: Imposter
) -> None:
    for location in ("/content/wiki/Tower", "http://[", ""):
        imposter.pages["/raw/wiki/content/Tower"] = Moved(location)
        assert (await told(client))["error"] == "nothing_found"
    assert imposter.asked.count("/raw/wiki/content/Tower") == 2 + 1 + 1


@pytest.mark.parametrize(
    "suggestions",
    [
        "",
        "{}",
        "[1, null]",
        '[{"kind": "path"}]',
        '[{"kind": "path", "path": 7}]',
        "[" * 10_000,
        '[{"kind": "path", "path": "\\ud800"}]',
    ],
    ids=["empty", "object", "scalars", "pathless", "number", "deep", "half"],
)
async def test_suggestions_that_are_none_do_no_harm(
    client: Client, imposter: Imposter, suggestions: str
) -> None:
    imposter.pages["/suggest"] = suggestions
    assert "330 metres" in (await told(client))["result"]


async def test_a_catalogue_that_names_no_end_has_one(client: Client, imposter: Imposter) -> None:
    imposter.pages["/catalog/v2/entries"] = CATALOGUE.replace(
        "<totalResults>1<", "<totalResults>99999999999999<"
    )
    imposter.pages["/search"] = imposter.pages["/suggest"] = 404
    await told(client)
    assert imposter.asked.count("/catalog/v2/entries") < 10
