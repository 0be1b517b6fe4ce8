"""Questions to sources that are asked over HTTP, from the door to what is said, by the rules alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
import pytest

from backend.bootstrap import build, create_server
from backend.settings import Settings
from tests.backend.sources.test_news import Paper
from tests.backend.sources.test_uptime import Kuma

Client = TestClient[Any, Any]


@asynccontextmanager
async def served(thing: Kuma | Paper) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", thing.handle)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


@pytest.fixture
def kuma() -> Kuma:
    return Kuma()


@pytest.fixture
def paper() -> Paper:
    return Paper()


@pytest.fixture
async def urls(kuma: Kuma, paper: Paper) -> AsyncIterator[tuple[str, str]]:
    async with served(kuma) as uptime, served(paper) as news:
        yield uptime, news


@asynccontextmanager
async def house(tmp_path: Path, **settings: Any) -> AsyncIterator[Client]:
    library = tmp_path / "library"
    library.mkdir(exist_ok=True)
    (library / "boiler.md").write_text("# Boiler\n\nThe boiler pressure is 1.5 bar.\n", "utf-8")
    values = {
        "data_dir": tmp_path / "data",
        "library_dir": library,
        "llm_api_type": "extractive",
        **settings,
    }
    made = await asyncio.to_thread(Settings.model_validate, values)
    async with (
        build(made) as backend,
        TestClient(TestServer(create_server(backend))) as client,
    ):
        yield client


@pytest.fixture
async def client(tmp_path: Path, urls: tuple[str, str]) -> AsyncIterator[Client]:
    uptime, news = urls
    async with house(
        tmp_path,
        uptime_kuma_url=uptime,
        uptime_kuma_status_page="home",
        news_feeds=[f"{news}/rss"],
    ) as client:
        yield client


async def ask(client: Client, query: str, **fields: Any) -> dict[str, Any]:
    async with client.post("/search", json={"query": query, **fields}) as response:
        assert response.status == 200
        reply = await response.json()
        assert isinstance(reply, dict)
        return reply


async def test_a_rule_names_the_source_and_what_it_says_is_said_as_it_is(
    client: Client, kuma: Kuma
) -> None:
    kuma.states["NAS"] = 0
    for voice in ({}, {"synthesize": True, "answer_style": "voice"}):
        reply = await ask(client, "is any service down", **voice)
        assert reply["source_used"] == "uptime"
        assert reply["speech"] == "NAS is down. 2 of 3 services are up."
        assert (reply["success"], reply["error"]) == (True, None)


async def test_news_are_told_in_their_newest_first_headlines(client: Client) -> None:
    reply = await ask(client, "what's in the news", synthesize=True, answer_style="voice")
    assert reply["source_used"] == "news"
    assert reply["speech"].startswith("Storm closes the harbour. Probe lands on the Moon.")


async def test_what_changed_is_told_after_it_was_seen(client: Client, kuma: Kuma) -> None:
    first = await client.post("/snapshots/trigger")
    assert (await first.json())["changes"] == {"uptime": 0, "news": 0}
    kuma.states["NAS"] = 0
    again = await client.post("/snapshots/trigger")
    assert (await again.json())["changes"]["uptime"] == 1
    reply = await ask(client, "what changed in the last hour")
    assert reply["source_used"] == "changes"
    assert reply["speech"].startswith("NAS: down at ")
    (change,) = (await (await client.get("/changes")).json())["changes"]
    assert (change["name"], change["before"], change["after"]) == ("NAS", "up", "down")


@pytest.mark.parametrize(
    ("query", "setting"),
    [("is any service down", "UPTIME_KUMA_URL"), ("what's in the news", "NEWS_FEEDS")],
)
async def test_a_source_that_is_not_set_up_names_its_setting_when_nothing_else_is_found(
    query: str, setting: str, tmp_path: Path
) -> None:
    async with house(tmp_path) as client:
        reply = await ask(client, query)
        assert not reply["success"]
        assert setting in reply["error"]
        assert setting in reply["speech"]
        assert reply["source_used"] == {"UPTIME_KUMA_URL": "uptime"}.get(setting, "news")


async def test_a_source_that_is_away_is_said_to_be_and_the_others_answer(
    client: Client, kuma: Kuma, paper: Paper
) -> None:
    kuma.page, paper.pages["/rss"] = "no status page", 500
    reply = await ask(client, "is any service down")
    assert (reply["success"], reply["error"]) == (False, "bad_reply")
    assert reply["speech"] == "I can't reach the source for that right now."
    assert reply["source_used"] == "uptime"
    counted = await (await client.get("/metrics")).text()
    assert 'mnemolis_questions_total{outcome="bad_reply",source="uptime"} 1.0' in counted
    assert (await ask(client, "what is the boiler pressure"))["success"]
    kuma.page = None
    assert (await ask(client, "is any service down"))["success"]


async def test_what_was_kept_of_another_server_is_not_told_of_this_one(
    tmp_path: Path, kuma: Kuma, urls: tuple[str, str]
) -> None:
    kuma.states["NAS"] = 0
    async with served(Kuma()) as other:
        for url, down in ((urls[0], True), (other, False), (None, False)):
            async with house(
                tmp_path, uptime_kuma_url=url, uptime_kuma_status_page="home"
            ) as client:
                reply = await ask(client, "is any service down")
                assert not reply["cached"]
                assert ("NAS is down" in reply["speech"]) is down
                assert reply["success"] is (url is not None)


@pytest.mark.parametrize(
    ("source", "setting", "value"),
    [
        ("uptime", "uptime_kuma_url", "http://other"),
        ("uptime", "uptime_kuma_status_page", "other"),
        ("ha", "ha_url", "http://other"),
        ("ha", "battery_low_threshold_pct", 5),
        ("news", "news_feeds", ["http://other"]),
        ("forecast", "forecast_wind_threshold_mph", 5),
        ("forecast", "forecast_url", "http://other"),
        ("web", "searxng_url", "http://other"),
        ("web", "web_fetch_pages", False),
    ],
)
async def test_another_setting_makes_what_was_kept_stale(
    source: str, setting: str, value: object, tmp_path: Path
) -> None:
    values: dict[str, Any] = {
        "data_dir": tmp_path / "data",
        "library_dir": tmp_path,
        "llm_api_type": "none",
        "searxng_url": "http://127.0.0.1:9",
    }
    versions = []
    for more in ({}, {setting: value}):
        made = await asyncio.to_thread(Settings.model_validate, values | more)
        async with build(made) as backend:
            versions.append(backend.sources[source].version)
    assert versions[0] != versions[1]


async def test_identical_questions_at_once_are_one_call_upstream(
    client: Client, kuma: Kuma, paper: Paper
) -> None:
    replies = await asyncio.gather(
        *(ask(client, "are all services up") for _ in range(16)),
        *(ask(client, "headlines please") for _ in range(16)),
    )
    assert {reply["speech"] for reply in replies[:16]} == {"All 3 services are up."}
    # The look for changes at the start, and one for all who ask; each takes two requests.
    assert len(kuma.asked) == 4
    # A feed is kept for some minutes.
    assert len(paper.asked) == 1


async def test_both_together_are_fused_and_each_is_heard(client: Client) -> None:
    reply = await ask(
        client, "morning briefing", source="fusion", fusion_sources=["uptime", "news"]
    )
    assert reply["source_used"] == "fusion"
    assert "[UPTIME — Service status]" in reply["result"]
    assert "[NEWS — News]" in reply["result"]


async def test_what_several_sources_were_asked_is_not_kept_for_who_asks_one(client: Client) -> None:
    query = "how is jellyfin"
    shared = await ask(client, query, source="fusion", fusion_sources=["uptime", "news"])
    assert "jellyfin" not in shared["speech"].casefold()
    alone = await ask(client, query, source="uptime")
    assert alone["speech"].startswith("Jellyfin is not monitored.")
