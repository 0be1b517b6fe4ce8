"""News from real feeds on a server of this machine, and from a stand-in of a reader's API, which can't be had."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
import time
from typing import Any
from xml.sax.saxutils import escape

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

from backend.languages import SPOKEN, table
from backend.settings import Settings
from backend.sources.http import open_session
from backend.sources.news import News
from backend.types import Failed, Found, NotConfigured, Nothing

from .conftest import Asking

NOW = datetime.now(UTC)


def item(title: str, hours: float | None, text: str = "", link: str = "") -> str:
    dated = "" if hours is None else format_datetime(NOW - timedelta(hours=hours))
    link = link or f"https://paper.example/{title.replace(' ', '-')}"
    return (
        f"<item><title>{escape(title)}</title><link>{escape(link)}</link>"
        f"<description>{escape(text)}</description>"
        f"{f'<pubDate>{dated}</pubDate>' if dated else ''}</item>"
    )


def rss(*items: str, language: str = "en") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>Paper</title>'
        f"<language>{language}</language>{''.join(items)}</channel></rss>"
    )


SPACE = item(
    "Probe lands on the Moon", 2, "<p>The <b>space program</b> landed a probe.</p><p>It works.</p>"
)
FEED = rss(item("Council raises bus fares", 30), SPACE, item("Storm closes the harbour", 1))
ATOM = f"""<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>Wire</title>
<entry><title>Museum opens new wing</title><link href="https://wire.example/a"/><id>1</id>
<updated>{(NOW - timedelta(minutes=10)).isoformat()}</updated><summary>It shows maps.</summary></entry>
<entry><title>Storm closes the harbour</title><link href="http://www.paper.example/Storm-closes-the-harbour/?utm_source=x#top"/>
<id>2</id><updated>{(NOW - timedelta(hours=1)).isoformat()}</updated></entry></feed>"""


class Paper:
    """Serves what a test has it serve, by path, with the headers of that path; None hangs.

    As servers do, it sends nothing again to whoever knows the ETag or the date of it.
    """

    def __init__(self) -> None:
        self.pages: dict[str, str | bytes | int | None] = {"/rss": FEED, "/atom": ATOM}
        self.headers: dict[str, dict[str, str]] = {}
        self.asked: list[str] = []
        self.sent: list[int] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path_qs)
        response = await self.answer(request)
        self.sent.append(response.status)
        return response

    async def answer(self, request: web.Request) -> web.StreamResponse:
        headers = self.headers.get(request.path, {})
        for told, asks in (("ETag", "If-None-Match"), ("Last-Modified", "If-Modified-Since")):
            if headers.get(told, "") == request.headers.get(asks):
                return web.Response(status=304, headers=headers)
        page = self.pages.get(request.path, 404)
        if page is None:
            await asyncio.Event().wait()
        if isinstance(page, int):
            return web.Response(status=page, headers=headers)
        body = page.encode() if isinstance(page, str) else page
        return web.Response(body=body, headers={"Content-Type": "application/xml", **headers})


@pytest.fixture
def paper() -> Paper:
    return Paper()


@asynccontextmanager
async def opened(paper: Paper, *paths: str, **settings: Any) -> AsyncIterator[News]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", paper.handle)
    async with TestServer(app) as server, open_session() as session:
        feeds = [str(server.make_url(path)) for path in paths]
        made = await asyncio.to_thread(Settings.model_validate, {"news_feeds": feeds, **settings})
        source = News.from_settings(made, session)
        yield source
        await source.close()


async def told(source: News, asking: Asking, text: str, language: str = "en") -> Found:
    outcome = await source.ask(*asking(text, language))
    assert isinstance(outcome, Found), outcome
    return outcome


async def test_a_general_question_is_told_the_newest_headlines_of_all_feeds_each_once(
    paper: Paper, asking: Asking
) -> None:
    async with opened(paper, "/rss", "/atom") as source:
        found = await told(source, asking, "what's in the news")
    assert [passage.text for passage in found.passages if passage.direct] == [
        "Museum opens new wing.",
        "Storm closes the harbour.",
        "Probe lands on the Moon.",
        "Council raises bus fares.",
    ]


async def test_a_topic_is_told_by_what_the_items_on_it_say(paper: Paper, asking: Asking) -> None:
    async with opened(paper, "/rss", "/atom") as source:
        found = await told(source, asking, "any news about the space program")
        (passage,) = found.passages
        assert passage.title == "Probe lands on the Moon"
        assert passage.text == "The space program landed a probe.\n\nIt works."
        assert passage.url == "https://paper.example/Probe-lands-on-the-Moon"
        assert passage.published is not None
        assert passage.published.tzinfo is UTC
        assert await source.ask(*asking("news about quantum chess")) == Nothing()


async def test_a_time_that_is_named_bounds_what_is_told(paper: Paper, asking: Asking) -> None:
    async with opened(paper, "/rss") as source:
        found = await told(source, asking, "news of the last 5 hours")
    assert "Council raises bus fares." not in {passage.text for passage in found.passages}


async def test_a_feed_that_fails_or_hangs_takes_no_other_with_it(
    paper: Paper, asking: Asking
) -> None:
    paper.pages |= {"/gone": 500, "/hangs": None, "/page": "<html><body>Hello</body></html>"}
    async with opened(paper, "/gone", "/rss", "/page", "/missing") as source:
        found = await told(source, asking, "headlines")
        assert len(found.passages) >= 3
        detail = source.state().detail
        assert "127.0.0.1 says 500" in detail
        assert "sends no feed" in detail
    async with opened(paper, "/gone") as source:
        assert await source.ask(*asking("headlines")) == Failed("bad_reply", "127.0.0.1 says 500")
    async with opened(paper, "/hangs") as source:
        outcome = await source.ask(*asking("headlines", seconds=1.0))
        assert outcome == Failed("timeout", "no answer from 127.0.0.1")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe\x00",
        b"<rss><channel><item><title>Half",
        (
            b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
            b"<rss><channel><title>&b;</title><item><title>&b;</title></item></channel></rss>"
        ),
        (
            b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
            b"<rss><channel><item><title>&x;</title></item></channel></rss>"
        ),
        b"<rss version='2.0'><channel>"
        + b"<item><title>t</title></item>" * 5_000
        + b"</channel></rss>",
    ],
    ids=["empty", "no text", "half", "entities", "file", "many"],
)
async def test_whatever_a_feed_holds_the_others_are_told(
    body: bytes, paper: Paper, asking: Asking
) -> None:
    paper.pages["/odd"] = body
    async with opened(paper, "/odd", "/rss") as source:
        found = await told(source, asking, "news about the storm at the harbour")
    assert found.passages[0].title == "Storm closes the harbour"
    assert "root:" not in str(found)


async def test_dates_that_are_missing_or_still_to_come_tell_nothing(
    paper: Paper, asking: Asking
) -> None:
    paper.pages["/rss"] = rss(
        item("Undated notice from the town", None), item("Tomorrow came early", -48), SPACE
    )
    async with opened(paper, "/rss") as source:
        found = await told(source, asking, "headlines")
    assert found.passages[0].text == "Probe lands on the Moon."
    published = {passage.text: passage.published for passage in found.passages if passage.direct}
    assert published["Tomorrow came early."] is None
    assert published["Undated notice from the town."] is None


async def test_the_address_of_a_feed_is_never_told(paper: Paper, asking: Asking) -> None:
    async with opened(paper, "/private?token=secret-key") as source:
        outcome = await source.ask(*asking("headlines"))
        assert "secret" not in repr((outcome, source.state()))
    assert paper.asked == ["/private?token=secret-key"]


async def test_two_questions_in_a_row_fetch_a_feed_once(paper: Paper, asking: Asking) -> None:
    async with opened(paper, "/rss") as source:
        await asyncio.gather(*(told(source, asking, "headlines") for _ in range(5)))
        await told(source, asking, "news about the storm")
    assert paper.asked == ["/rss"]


async def test_what_is_new_can_be_looked_at(paper: Paper) -> None:
    async with opened(paper, "/rss") as source:
        items = await source.look(time.monotonic() + 5)
    assert [item.name for item in items][0] == "Storm closes the harbour"
    assert len({item.id for item in items}) == 3


async def test_without_a_feed_the_setting_is_named(asking: Asking) -> None:
    async with open_session() as session:
        source = News.from_settings(Settings(), session)
        assert await source.ask(*asking("headlines")) == NotConfigured("NEWS_FEEDS")
        assert not source.state().configured


@pytest.mark.parametrize("language", SPOKEN)
def test_every_language_tells_what_names_no_topic(language: str) -> None:
    assert table(language, "news")["names_no_topic"]
