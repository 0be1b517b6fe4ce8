"""News of a real Miniflux, asked for as a house asks: over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.backend.test_live_sources import ask, house, served
from tests.services.miniflux import API_PASSWORD, USER, Miniflux, serving

from .test_news import FEED, Paper, item, rss


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Miniflux]:
    with serving(tmp_path_factory.mktemp("miniflux")) as miniflux:
        yield miniflux


@pytest.fixture
async def paper(reader: Miniflux) -> AsyncIterator[str]:
    """Serve feeds that the reader knows: one of the town, one in German."""
    pages = Paper()
    pages.pages |= {
        "/rss": FEED,
        "/de": rss(
            item("Der Sturm hat den Hafen der Stadt geschlossen", 3, "Bis zum Freitag."),
            language="de",
        ),
    }
    async with served(pages) as url:
        await asyncio.to_thread(reader.clear)
        for path in ("/rss", "/de"):
            await asyncio.to_thread(reader.add, f"{url}{path}")
        yield url


def settings(reader: Miniflux, password: str = API_PASSWORD, **more: Any) -> dict[str, Any]:
    return {
        "freshrss_url": reader.url,
        "freshrss_user": USER,
        "freshrss_api_password": password,
        **more,
    }


async def test_the_newest_headlines_of_a_feed_reader_are_told_and_cited(
    reader: Miniflux, paper: str, tmp_path: Path
) -> None:
    async with house(tmp_path, **settings(reader)) as client:
        reply = await ask(client, "what's in the news", synthesize=True, answer_style="voice")
        assert reply["speech"] == (
            "Storm closes the harbour. Probe lands on the Moon. Council raises bus fares."
        )
        assert [row["title"] for row in reply["citations"]] == [
            "Storm closes the harbour", "Probe lands on the Moon", "Council raises bus fares",
        ]  # fmt: skip
        assert reply["citations"][0]["url"] == "https://paper.example/Storm-closes-the-harbour"
        assert reply["citations"][0]["published"]


async def test_a_topic_is_told_by_what_the_reader_holds_of_it(
    reader: Miniflux, paper: str, tmp_path: Path
) -> None:
    async with house(tmp_path, **settings(reader)) as client:
        reply = await ask(client, "any news about the space program")
        assert reply["speech"] == "The space program landed a probe. It works."
        reply = await ask(client, "was gibt es neues in den nachrichten", language="de")
        assert reply["speech"] == "Der Sturm hat den Hafen der Stadt geschlossen."


async def test_an_item_of_a_reader_and_of_a_feed_is_told_once(
    reader: Miniflux, paper: str, tmp_path: Path
) -> None:
    async with house(tmp_path, **settings(reader, news_feeds=[f"{paper}/rss"])) as client:
        reply = await ask(client, "what's in the news")
    assert reply["speech"].count("Storm closes the harbour.") == 1
    assert len(reply["citations"]) == 3


@pytest.mark.parametrize("user", [USER, "nobody"])
async def test_a_wrong_password_is_a_failure_that_names_neither(
    user: str, reader: Miniflux, paper: str, tmp_path: Path
) -> None:
    wrong = settings(reader, "not-this-one") | {"freshrss_user": user}
    async with house(tmp_path, **wrong) as client:
        reply = await ask(client, "what's in the news", explain=True)
        assert (reply["success"], reply["error"]) == (False, "bad_reply")
        assert "refuses the key" in str(reply["explanation"])
        assert "not-this-one" not in str(reply)
    async with house(tmp_path, **wrong, news_feeds=[f"{paper}/rss"]) as client:
        assert (await ask(client, "what's in the news"))["speech"].startswith("Storm closes")


async def test_a_reader_without_feeds_has_nothing(reader: Miniflux, tmp_path: Path) -> None:
    await asyncio.to_thread(reader.clear)
    async with house(tmp_path, **settings(reader)) as client:
        reply = await ask(client, "what's in the news", source="news")
    assert (reply["success"], reply["error"]) == (False, "nothing_found")
