"""Where a feed may lead: to the internet at large and to hosts that the owner named, never to others of the house."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
import socket
import time
from typing import Any

from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.test_utils import TestServer
import pytest

from backend.sources.feed_fetch import Elsewhere, Feed
from backend.sources.http import UpstreamError, open_session
from tests.backend.test_live_sources import ask, house, served

from .test_news import FEED, Paper

GENERAL = "what's in the news"


@pytest.fixture
def paper() -> Paper:
    return Paper()


@pytest.fixture
async def url(paper: Paper) -> AsyncIterator[str]:
    async with served(paper) as address:
        yield address


def leads(paper: Paper, path: str, location: str, status: int = 302) -> None:
    paper.pages[path] = status
    paper.headers[path] = {"Location": location}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "from here"])
async def test_a_feed_that_has_moved_on_its_host_is_read_there(
    whole: bool, status: int, paper: Paper, url: str, tmp_path: Path
) -> None:
    leads(paper, "/old", f"{url}/rss" if whole else "rss", status)
    async with house(tmp_path, news_feeds=[f"{url}/old"]) as client:
        assert (await ask(client, GENERAL))["speech"].startswith("Storm closes the harbour.")
    assert set(paper.asked) == {"/old", "/rss"}


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.2:{port}/rss",
        "http://localhost:{port}/rss",
        "http://[::1]:{port}/rss",
        "http://[::ffff:127.0.0.1]:{port}/rss",
        "http://0x7f.1:{port}/rss",
        "http://2130706433:{port}/rss",
        "http://10.0.0.1/rss",
        "http://169.254.169.254/latest/meta-data/",
        "//127.0.0.2:{port}/rss",
        "file:///etc/passwd",
        "http://[",
        "http://user:word@127.0.0.2:{port}/rss",
        "javascript:alert(1)",
    ],
)
async def test_a_feed_cannot_lead_into_the_house(
    location: str, paper: Paper, url: str, tmp_path: Path
) -> None:
    leads(paper, "/old", location.format(port=url.rpartition(":")[2]))
    async with house(tmp_path, news_feeds=[f"{url}/old"]) as client:
        reply = await ask(client, GENERAL, explain=True)
        assert (reply["success"], reply["error"]) == (False, "bad_reply")
        assert "127.0.0.1 leads where it may not" in str(reply["explanation"])
    assert set(paper.asked) == {"/old"}


async def test_a_feed_may_lead_to_a_host_whose_feed_the_owner_named(
    paper: Paper, url: str, tmp_path: Path
) -> None:
    named = url.replace("127.0.0.1", "localhost")
    leads(paper, "/old", f"{named}/rss")
    async with house(tmp_path, news_feeds=[f"{url}/old", f"{named}/missing"]) as client:
        assert (await ask(client, GENERAL))["success"]


async def test_a_feed_that_leads_on_and_on_is_given_up(
    paper: Paper, url: str, tmp_path: Path
) -> None:
    leads(paper, "/old", "/old")
    async with house(tmp_path, news_feeds=[f"{url}/old"]) as client:
        reply = await ask(client, GENERAL, explain=True)
    assert "leads on and on" in str(reply["explanation"])
    assert set(paper.asked) == {"/old"}


class Names(AbstractResolver):
    """Resolves every name to one address, as whoever owns the name can."""

    def __init__(self, address: str) -> None:
        self.address = address

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host, host=self.address, port=port, family=socket.AF_INET, proto=0, flags=0
            )
        ]

    async def close(self) -> None:
        """Hold nothing."""


@pytest.mark.parametrize("hosts", [set(), {"news.example"}], ids=["not named", "named"])
async def test_a_name_that_resolves_into_the_house_leads_there_only_if_the_owner_named_it(
    hosts: set[str], paper: Paper, url: str
) -> None:
    leads(paper, "/old", f"{url}/rss".replace("127.0.0.1", "news.example"))
    elsewhere = Elsewhere(hosts, Names("127.0.0.1"))
    async with open_session() as session:
        feed = Feed(session, f"{url}/old", elsewhere)
        try:
            if hosts:
                assert await feed.items(until=_soon())
            else:
                with pytest.raises(UpstreamError, match="unreachable"):
                    await feed.items(until=_soon())
        finally:
            await elsewhere.close()
    assert paper.asked == (["/old", "/rss"] if hosts else ["/old"])


async def test_a_password_goes_only_to_the_server_that_it_is_for() -> None:
    seen: dict[str, Any] = {}

    async def handle(request: web.Request) -> web.StreamResponse:
        seen[f"{request.host.partition(':')[0]}{request.path}"] = request.headers.get(
            "Authorization"
        )
        here = f"http://{request.host}"
        match request.path:
            case "/old":
                raise web.HTTPFound("/moved")
            case "/moved":
                raise web.HTTPFound(f"{here.replace('127.0.0.1', 'localhost')}/rss")
        return web.Response(body=FEED.encode(), content_type="application/xml")

    app = web.Application()
    app.router.add_get("/{path:.*}", handle)
    elsewhere = Elsewhere({"127.0.0.1", "localhost"})
    async with TestServer(app, host="127.0.0.1") as server, open_session() as session:
        address = str(server.make_url("/old")).replace("http://", "http://anna:pass-word@")
        try:
            assert await Feed(session, address, elsewhere).items(until=_soon())
        finally:
            await elsewhere.close()
    basic = f"Basic {b64encode(b'anna:pass-word').decode()}"
    assert seen == {"127.0.0.1/old": basic, "127.0.0.1/moved": basic, "localhost/rss": None}


def _soon() -> float:
    return time.monotonic() + 10.0
