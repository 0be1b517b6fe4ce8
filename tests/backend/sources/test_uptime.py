"""Services are told as they are. A server that speaks Uptime Kuma's addresses stands in for it, which can't be had."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import time
from typing import Any

from aiohttp import BasicAuth, web
from aiohttp.test_utils import TestServer
import pytest

from backend.languages import SPOKEN
from backend.sources.http import open_session
from backend.sources.uptime import Uptime
from backend.store.snapshots import Item
from backend.types import Failed, Found, NotConfigured, Nothing

from .conftest import Asking

KEY = "uk1_secret"
METRICS = """# HELP monitor_status Monitor Status (1 = UP, 0= DOWN, 2= PENDING, 3= MAINTENANCE)
# TYPE monitor_status gauge
monitor_status{monitor_id="1",monitor_name="Router",monitor_type="ping",monitor_url="https://"} 1
monitor_status{monitor_id="2",monitor_name="Media \\"box\\" {old}",monitor_type="http"} 0
monitor_status{monitor_id="3",monitor_name="NAS",monitor_type="ping"} 3
monitor_status{monitor_id="4",monitor_name="Printer",monitor_type="ping"} NaN
monitor_response_time{monitor_id="1",monitor_name="Router"} 12
"""


class Kuma:
    """Says what a test has it say, by status page and by metrics."""

    def __init__(self) -> None:
        self.states: dict[str, int | None] = {"Router": 1, "NAS": 1, "Home Assistant": 1}
        self.metrics = METRICS
        self.page: Any = None
        self.hang = False
        self.asked: list[web.Request] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        if self.hang:
            await asyncio.Event().wait()
        if request.path == "/metrics":
            login = BasicAuth.decode(request.headers.get("Authorization", "Basic Og=="))
            if login.password != KEY:
                raise web.HTTPUnauthorized
            return web.Response(text=self.metrics)
        if self.page is not None:
            return web.Response(text=self.page, content_type="application/json")
        if "/heartbeat/" in request.path:
            beats = {
                str(number): [{"status": 0}, {"status": state}] if state is not None else []
                for number, state in enumerate(self.states.values())
            }
            return web.json_response({"heartbeatList": beats, "uptimeList": {}})
        monitors = [{"id": number, "name": name} for number, name in enumerate(self.states)]
        groups = [
            {"name": "All", "monitorList": monitors},
            {"name": "Again", "monitorList": monitors},
        ]
        return web.json_response({"config": {}, "publicGroupList": groups})


@pytest.fixture
def kuma() -> Kuma:
    return Kuma()


@asynccontextmanager
async def opened(
    kuma: Kuma, *, page: str | None = "home", key: str | None = None
) -> AsyncIterator[Uptime]:
    app = web.Application()
    app.router.add_get("/{path:.*}", kuma.handle)
    async with TestServer(app) as server, open_session() as session:
        url = str(server.make_url("")).rstrip("/")
        yield Uptime(session, url, page=page, key=key, ttl=60)


async def told(source: Uptime, asking: Asking, text: str, language: str = "en") -> list[str]:
    outcome = await source.ask(*asking(text, language))
    assert isinstance(outcome, Found), outcome
    assert all(passage.direct for passage in outcome.passages)
    return [passage.text for passage in outcome.passages]


async def test_all_up_is_one_sentence_and_each_service_counts_once(
    kuma: Kuma, asking: Asking
) -> None:
    async with opened(kuma) as source:
        assert await told(source, asking, "are all services up") == ["All 3 services are up."]


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (0, "NAS is down."),
        (2, "NAS is pending."),
        (3, "NAS is under maintenance."),
        (None, "NAS: the state is unknown."),
        (7, "NAS: the state is unknown."),
    ],
)
async def test_what_is_not_up_is_named_with_its_state_and_no_data_is_not_up(
    state: int | None, said: str, kuma: Kuma, asking: Asking
) -> None:
    kuma.states["NAS"] = state
    async with opened(kuma) as source:
        assert await told(source, asking, "is any service down") == [
            said,
            "2 of 3 services are up.",
        ]
        assert await told(source, asking, "is the nas up") == [said]


async def test_a_service_that_is_named_is_told_alone_by_its_whole_name(
    kuma: Kuma, asking: Asking
) -> None:
    kuma.states |= {"Home": 0, "Up": 1}
    async with opened(kuma) as source:
        assert await told(source, asking, "is home assistant running") == ["Home Assistant is up."]
        assert await told(source, asking, "is the routers page ok") == [
            "Home is down.",
            "4 of 5 services are up.",
        ]


async def test_the_metrics_tell_the_same_with_the_key_as_a_password(
    kuma: Kuma, asking: Asking
) -> None:
    async with opened(kuma, page=None, key=KEY) as source:
        assert await told(source, asking, "what is the status") == [
            'Media "box" {old} is down.',
            "NAS is under maintenance.",
            "Printer: the state is unknown.",
            "1 of 4 services are up.",
        ]
        assert KEY not in str(kuma.asked[0].url)
        items = await source.look(time.monotonic() + 5)
        assert items[0] == Item("1", "Router", "up")
        assert [source.said(item.state, "de") for item in items[:2]] == [
            "erreichbar",
            "nicht erreichbar",
        ]


async def test_a_wrong_key_is_told_and_never_shown(kuma: Kuma, asking: Asking) -> None:
    async with opened(kuma, page=None, key="wrong-key") as source:
        outcome = await source.ask(*asking("status"))
        assert outcome == Failed("bad_reply", "127.0.0.1 refuses the key")
        assert "wrong-key" not in source.state().detail
        assert "refuses the key" in source.state().detail


@pytest.mark.parametrize(
    "page", ["", "no JSON", "[]", '{"publicGroupList": 7}', '{"ok": false, "msg": "Not Found"}']
)
async def test_what_is_no_status_page_is_a_bad_reply(page: str, kuma: Kuma, asking: Asking) -> None:
    kuma.page = page
    async with opened(kuma) as source:
        outcome = await source.ask(*asking("status"))
        assert isinstance(outcome, Failed)
        assert outcome.kind == "bad_reply"


async def test_a_status_page_without_services_has_nothing(kuma: Kuma, asking: Asking) -> None:
    kuma.states = {}
    async with opened(kuma) as source:
        assert await source.ask(*asking("status")) == Nothing()


async def test_a_server_that_hangs_ends_at_the_deadline(kuma: Kuma, asking: Asking) -> None:
    kuma.hang = True
    async with opened(kuma) as source:
        outcome = await source.ask(*asking("status", seconds=0.3))
        assert outcome == Failed("timeout", "no answer from 127.0.0.1")


async def test_what_is_not_set_up_names_what_is_missing_and_sends_nothing(
    kuma: Kuma, asking: Asking
) -> None:
    async with opened(kuma, page=None) as source:
        assert await source.ask(*asking("status")) == NotConfigured("UPTIME_KUMA_STATUS_PAGE")
    assert not kuma.asked
    async with open_session() as session:
        source = Uptime(session, None, page="home", key=None, ttl=60)
        assert await source.ask(*asking("status")) == NotConfigured("UPTIME_KUMA_URL")
        assert not source.state().configured


@pytest.mark.parametrize("language", SPOKEN)
async def test_every_language_has_its_sentences(language: str, kuma: Kuma, asking: Asking) -> None:
    async with opened(kuma) as source:
        (said,) = await told(source, asking, "status", language)
        assert "3" in said
        for state in (0, 2, 3, None):
            kuma.states["NAS"] = state
            assert "NAS" in (await told(source, asking, "nas", language))[0]
    for word in ("up", "down", "pending", "maintenance", "unknown"):
        assert source.said(word, language)
