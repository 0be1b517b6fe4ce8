"""Questions for news, from the door to what is said and shown, whatever the feeds of the house do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import gzip
import logging
from pathlib import Path
from typing import Any

import pytest

from backend.languages import SPOKEN
from backend.sources import news
from tests.backend.test_live_sources import ask, house, served

from .test_news import FEED, Paper, item, rss

GENERAL = "what's in the news"
GERMAN = rss(
    item("Der Sturm hat den Hafen der Stadt geschlossen", 4),
    item("Die Fähre fährt wieder nach der Insel", 5),
    language="de",
)


@pytest.fixture
def paper() -> Paper:
    return Paper()


@pytest.fixture
async def url(paper: Paper) -> AsyncIterator[str]:
    async with served(paper) as address:
        yield address


def feeds(url: str, *paths: str) -> dict[str, Any]:
    return {"news_feeds": [f"{url}{path}" for path in paths]}


async def test_the_news_are_five_headlines_newest_first_each_once_and_nothing_about_articles(
    paper: Paper, url: str, tmp_path: Path
) -> None:
    hours = {
        "Council raises bus fares": 7, "Probe lands on the Moon": 2, "Storm closes the harbour": 1,
        "Museum opens a new wing": 6, "Ferry returns to the island": 4, "Library lends tools": 3,
        "School wins a prize": 5, "Bakery turns a hundred": 8,
    }  # fmt: skip
    items = [item(title, at, f"<p>{title}, as everyone says.</p>") for title, at in hours.items()]
    paper.pages |= {"/one": rss(*items[:6]), "/two": rss(*items[3:])}
    async with house(tmp_path, **feeds(url, "/one", "/two")) as client:
        for synthesize in (False, True):
            reply = await ask(client, GENERAL, synthesize=synthesize, answer_style="voice")
            assert reply["speech"] == (
                "Storm closes the harbour. Probe lands on the Moon. Library lends tools. "
                "Ferry returns to the island. School wins a prize."
            )
    cited = [(row["title"], row["url"]) for row in reply["citations"]]
    assert [title for title, _ in cited] == sorted(hours, key=lambda title: hours[title])[:5]
    assert len(set(cited)) == len(cited)
    assert all(address for _, address in cited)
    assert reply["result"].startswith("Storm closes the harbour.\n\nProbe lands")


@pytest.mark.parametrize(
    "page",
    [
        None,
        500,
        404,
        b"",
        "<!doctype html><html><head><title>Sign in</title></head><body><p>Hello.</p></body></html>",
        rss(),
        rss("<item></item>", "<item><title></title></item>"),
        b"\x1f\x8b\x08 not gzip",
        FEED.encode("utf-16"),
        b"<rss version='2.0'><channel>" + b" " * 2_100_000 + b"</channel></rss>",
        b"<rss version='2.0'><channel>" + b"<item><title>t</title></item>" * 60_000,
        b"<!DOCTYPE a [<!ENTITY a '0123456789'>"
        + b"".join(b"<!ENTITY a%d '%s'>" % (n, b"&a%s;" % (b"%d" % (n - 1)) * 10) for n in range(1, 12))
        + b"]><rss version='2.0'><channel><item><title>&a11;</title></item></channel></rss>",
    ],
    ids=[
        "hangs", "fails", "is away", "is empty", "is a page", "has no items", "has empty items", "is noise",
        "is in another encoding", "is too large", "is endless", "has entities that grow",
    ],
)  # fmt: skip
async def test_whatever_a_feed_is_the_others_are_told(
    page: Any, paper: Paper, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news, "_SECONDS", 1.0)
    paper.pages["/odd"] = page
    async with house(tmp_path, **feeds(url, "/odd", "/rss")) as client:
        reply = await ask(client, GENERAL, answer_style="voice")
        assert reply["speech"].startswith("Storm closes the harbour.")
        again = await ask(client, "any news about the space program")
    assert again["speech"] == "The space program landed a probe. It works."


async def test_what_unpacks_to_more_than_a_feed_is_not_unpacked(
    paper: Paper, url: str, tmp_path: Path
) -> None:
    paper.pages["/bomb"] = await asyncio.to_thread(gzip.compress, b"<a>" + b" " * 200_000_000, 9)
    paper.headers["/bomb"] = {"Content-Encoding": "gzip"}
    async with house(tmp_path, **feeds(url, "/bomb")) as client:
        reply = await ask(client, GENERAL, explain=True)
    assert (reply["success"], reply["error"]) == (False, "bad_reply")
    details = [event.get("detail", "") for event in reply["explanation"]]
    assert any("sends more than 1953 kB" in detail for detail in details)


async def test_a_packed_feed_is_unpacked(paper: Paper, url: str, tmp_path: Path) -> None:
    paper.pages["/packed"] = await asyncio.to_thread(gzip.compress, FEED.encode())
    paper.headers["/packed"] = {"Content-Encoding": "gzip"}
    async with house(tmp_path, **feeds(url, "/packed")) as client:
        assert (await ask(client, GENERAL))["speech"].startswith("Storm closes the harbour.")


@pytest.mark.parametrize("page", [FEED, "no feed", 403, 404, 503, None])
async def test_neither_the_path_nor_the_key_of_a_feed_is_logged_or_shown(
    page: Any,
    paper: Paper,
    url: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(news, "_SECONDS", 0.5)
    caplog.set_level(logging.DEBUG)
    paper.pages["/of-anna/feed"] = page
    address = f"{url}/of-anna/feed?token=very-secret".replace("http://", "http://anna:pass-word@")
    async with house(tmp_path, news_feeds=[address]) as client:
        reply = await ask(client, GENERAL, explain=True)
        shown = [str(reply)]
        for path in ("/sources", "/health", "/logs", "/metrics", "/changes"):
            async with client.get(path) as response:
                shown.append(await response.text())
    # What the test's own client and server say of their requests is theirs.
    logged = [
        r.getMessage() for r in caplog.records if not r.name.startswith(("aiohttp", "asyncio"))
    ]
    for text in (*shown, *logged):
        assert "of-anna" not in text
        assert "very-secret" not in text
        assert "pass-word" not in text


@pytest.mark.parametrize(
    "validator", [{"ETag": '"v1"'}, {"Last-Modified": "Sun, 01 Mar 2026 11:00:00 GMT"}]
)
async def test_a_feed_that_has_not_changed_is_not_sent_again(
    validator: dict[str, str],
    paper: Paper,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(news, "_FRESH_SECONDS", 0.0)
    paper.headers["/rss"] = validator
    async with house(tmp_path, cache_ttl_news_seconds=0, **feeds(url, "/rss")) as client:
        first = await ask(client, GENERAL)
        paper.sent.clear()
        again = await ask(client, GENERAL)
        assert paper.sent == [304]
        assert again["speech"] == first["speech"]
        # What changes is told, with or without a name for how it is now.
        for headers in ({name: f"{value}2" for name, value in validator.items()}, {}):
            paper.headers["/rss"] = headers
            paper.pages["/rss"] = rss(item(f"Tide is high {len(headers)}", 0.1))
            paper.sent.clear()
            changed = await ask(client, GENERAL)
            assert changed["speech"] == f"Tide is high {len(headers)}."
            assert paper.sent == [200]


async def test_a_server_that_says_unchanged_to_who_knows_nothing_sends_no_feed(
    paper: Paper, url: str, tmp_path: Path
) -> None:
    paper.pages["/rss"] = 304
    async with house(tmp_path, **feeds(url, "/rss")) as client:
        assert (await ask(client, GENERAL))["error"] == "bad_reply"


async def test_a_state_of_a_feed_that_could_be_more_than_a_header_is_not_sent_back(
    paper: Paper, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news, "_FRESH_SECONDS", 0.0)
    for etag in ('"' + "x" * 5_000 + '"', '"a\tb"', '"\u00e9\u0085"'):
        paper.headers["/rss"] = {"ETag": etag}
        async with house(tmp_path, cache_ttl_news_seconds=0, **feeds(url, "/rss")) as client:
            for _ in range(2):
                assert (await ask(client, GENERAL))["success"]
        assert set(paper.sent) == {200}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"freshrss_url": "http://127.0.0.1:9"}, "FRESHRSS_USER"),
        ({"freshrss_url": "http://127.0.0.1:9", "freshrss_user": "anna"}, "FRESHRSS_API_PASSWORD"),
        ({"freshrss_url": "http://127.0.0.1:9", "freshrss_api_password": "x"}, "FRESHRSS_USER"),
        ({"freshrss_user": "anna", "freshrss_api_password": "x"}, "FRESHRSS_URL"),
        ({}, "NEWS_FEEDS"),
    ],
)
async def test_what_a_feed_reader_lacks_is_named(
    given: dict[str, str], named: str, url: str, tmp_path: Path
) -> None:
    async with house(tmp_path, **given) as client:
        reply = await ask(client, GENERAL)
        assert reply["error"] == f"not_configured: {named}"
        assert named in reply["speech"]
    async with house(tmp_path, **given, **feeds(url, "/rss")) as client:
        assert (await ask(client, GENERAL))["success"]
        state = (await (await client.get("/health")).json())["sources"]["news"]
    assert state["configured"]
    assert (named in state["detail"]) == bool(given)


async def test_headlines_are_told_in_the_language_of_who_asks_where_there_are_any(
    paper: Paper, url: str, tmp_path: Path
) -> None:
    paper.pages["/de"] = GERMAN
    async with house(tmp_path, **feeds(url, "/rss", "/de")) as client:
        reply = await ask(client, "was gibt es neues in den nachrichten", language="de")
        assert reply["speech"] == (
            "Der Sturm hat den Hafen der Stadt geschlossen. Die Fähre fährt wieder nach der Insel."
        )
        reply = await ask(client, GENERAL)
        assert reply["speech"].startswith("Storm closes the harbour. Probe lands on the Moon.")


@pytest.mark.parametrize("said", ["de", "en", ""], ids=["right", "wrong", "not at all"])
async def test_headlines_in_another_language_are_announced_whatever_the_feed_says_of_itself(
    said: str, paper: Paper, url: str, tmp_path: Path
) -> None:
    paper.pages["/de"] = GERMAN.replace("<language>de", f"<language>{said}")
    async with house(tmp_path, **feeds(url, "/de")) as client:
        for synthesize in (False, True):
            reply = await ask(client, GENERAL, synthesize=synthesize)
            assert reply["speech"].startswith("From a document in German: Der Sturm hat den Hafen")


async def test_a_headline_that_asks_is_not_the_last_word(
    paper: Paper, url: str, tmp_path: Path
) -> None:
    paper.pages["/rss"] = rss(
        item("Will the ferry run again?", 1), item("Storm closes the harbour", 2),
        item("Is the council right?", 3), item("Who pays for the bridge?", 4),
    )  # fmt: skip
    async with house(tmp_path, **feeds(url, "/rss")) as client:
        reply = await ask(client, GENERAL)
    assert reply["speech"] == "Will the ferry run again? Storm closes the harbour."
    assert "Who pays for the bridge?" in reply["result"]


async def test_pages_that_differ_in_their_address_alone_are_all_told(
    paper: Paper, url: str, tmp_path: Path
) -> None:
    paper.pages["/rss"] = rss(
        item("Storm closes the harbour", 1, link="https://paper.example/?4711"),
        item("Ferry returns to the island", 2, link="https://paper.example/?4712"),
        item("Library lends tools", 3, link="https://paper.example:8080/"),
    )
    async with house(tmp_path, **feeds(url, "/rss")) as client:
        assert len((await ask(client, GENERAL))["citations"]) == 3


ASKED = {
    "en": (
        "tell me the news", "can you give me the headlines please", "read me the latest news", "play the news",
        "anything new in the newspapers", "let me hear the top stories", "what's in the papers", "daily news briefing",
    ),
    "de": (
        "lies mir die nachrichten vor", "zeig mir bitte die schlagzeilen", "ich möchte die nachrichten hören",
        "erzähl mir die neuesten nachrichten", "was gibt's neues in der welt", "was steht in der zeitung",
        "nachrichten bitte", "hast du neuigkeiten",
    ),
    "fr": (
        "donne-moi les gros titres", "dis-moi les actualités", "je veux entendre les infos", "les infos du jour",
        "lis-moi les titres de la presse s'il te plaît", "raconte-moi les dernières nouvelles",
    ),
    "es": (
        "dame los titulares", "cuéntame las noticias", "quiero escuchar las noticias", "ponme las noticias por favor",
        "léeme los titulares", "hay alguna novedad",
    ),
    "it": (
        "dimmi i titoli dei giornali", "leggimi le notizie", "voglio sentire le notizie", "dammi le ultime notizie",
        "raccontami le notizie per favore", "ci sono novità",
    ),
    "nl": (
        "geef me de krantenkoppen", "lees het nieuws voor", "ik wil het nieuws horen", "nieuws alsjeblieft",
        "laat me het laatste nieuws zien", "vertel me het nieuws",
    ),
    "pl": (
        "podaj nagłówki", "powiedz mi wiadomości", "chcę usłyszeć wiadomości", "wiadomości proszę",
        "czy są jakieś nowości", "przeczytaj najnowsze wiadomości",
    ),
}  # fmt: skip
TOPICS = {
    "en": "tell me the news about the harbour",
    "de": "erzähl mir bitte die nachrichten über den hafen",
    "fr": "dis-moi les nouvelles du port",
    "es": "cuéntame las noticias sobre el puerto",
    "it": "dimmi le notizie sul porto",
    "nl": "geef me het nieuws over de haven",
    "pl": "podaj wiadomości o port",
}
HARBOURS = {
    "en": "The harbour is closed", "de": "Der Hafen ist zu", "fr": "Le port est fermé", "es": "El puerto está cerrado",
    "it": "Il porto è chiuso", "nl": "De haven is dicht", "pl": "Port jest zamknięty",
}  # fmt: skip


@pytest.mark.parametrize("language", SPOKEN)
async def test_however_the_news_are_asked_for_the_asking_is_no_topic(
    language: str, paper: Paper, url: str, tmp_path: Path
) -> None:
    paper.pages["/rss"] = rss(
        item(HARBOURS[language], 1), item("Anna Kowalska 2030", 2), language=language
    )
    told = f"{HARBOURS[language]}. Anna Kowalska 2030."
    async with house(tmp_path, **feeds(url, "/rss")) as client:
        for query in ASKED[language]:
            reply = await ask(client, query, language=language, source="news")
            assert (query, reply["result"].replace("\n\n", " ")) == (query, told)
        reply = await ask(client, TOPICS[language], language=language, source="news")
    assert reply["result"] == f"{HARBOURS[language]}."
