"""Services are told as they are. A server that speaks Uptime Kuma's addresses stands in for it, which can't be had."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import re
import time
from typing import Any

from aiohttp import BasicAuth, web
from aiohttp.test_utils import TestServer
from hypothesis import given, strategies as st
import pytest

from backend.sources.http import UpstreamError, open_session
from backend.sources.uptime import Uptime, services_of_metrics, services_of_page
from backend.sources.uptime_words import told as sentences
from backend.store.snapshots import Item
from backend.types import Failed, Found, NotConfigured

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
        self.hang_heartbeats = False
        self.hung_up = asyncio.Event()
        self.asked: list[web.Request] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        if self.hang:
            await asyncio.Event().wait()
        if self.hang_heartbeats and "/heartbeat/" in request.path:
            try:
                await asyncio.Event().wait()
            finally:
                self.hung_up.set()
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
        (None, "The state of NAS is unknown."),
        (7, "The state of NAS is unknown."),
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


async def test_the_metrics_tell_the_same_with_the_key_as_a_password(
    kuma: Kuma, asking: Asking
) -> None:
    async with opened(kuma, page=None, key=KEY) as source:
        assert await told(source, asking, "what is the status") == [
            'Media "box" {old} is down.',
            "NAS is under maintenance.",
            "The state of Printer is unknown.",
            "One of 4 services is up.",
        ]
        assert KEY not in str(kuma.asked[0].url)
        items = await source.look(time.monotonic() + 5)
        assert items[0] == Item("1", "Router", "up")
        assert [source.said(item.state, "de") for item in items[:2]] == [
            "erreichbar",
            "nicht erreichbar",
        ]


async def test_of_two_monitors_with_one_name_and_no_number_none_is_lost(
    kuma: Kuma, asking: Asking
) -> None:
    kuma.metrics = (
        'monitor_status{monitor_name="NAS",monitor_type="http"} 0\n'
        'monitor_status{monitor_name="NAS",monitor_type="ping"} 1\n'
        'monitor_status{monitor_name="NAS",monitor_type="port"} 1\n'
    )
    async with opened(kuma, page=None, key=KEY) as source:
        assert await told(source, asking, "is the nas up") == ["NAS is down.", "NAS is up."]
        items = await source.look(time.monotonic() + 5)
        assert len({item.id for item in items}) == 3


async def test_a_wrong_key_is_told_and_never_shown(kuma: Kuma, asking: Asking) -> None:
    async with opened(kuma, page=None, key="wrong-key") as source:
        outcome = await source.ask(*asking("status"))
        assert outcome == Failed("bad_reply", "127.0.0.1 refuses the key")
        assert "wrong-key" not in source.state().detail
        assert "refuses the key" in source.state().detail


@pytest.mark.parametrize(
    "page",
    [
        "",
        "no JSON",
        "[]",
        '{"publicGroupList": 7}',
        '{"publicGroupList": [7]}',
        '{"publicGroupList": [{"monitorList": 7}]}',
        '{"publicGroupList": [{"monitorList": [{"name": "NAS"}]}]}',
        '{"ok": false, "msg": "Not Found"}',
    ],
)
async def test_what_is_no_status_page_is_a_bad_reply(page: str, kuma: Kuma, asking: Asking) -> None:
    kuma.page = page
    async with opened(kuma) as source:
        outcome = await source.ask(*asking("status"))
        assert isinstance(outcome, Failed)
        assert outcome.kind == "bad_reply"


@pytest.mark.parametrize(
    "metrics",
    [
        "",
        "<!doctype html><html><body>Log in to see monitor_status</body></html>",
        "# HELP process_cpu_seconds_total\nprocess_cpu_seconds_total 3\n",
        METRICS + 'monitor_status{monitor_id="5",monitor_name="cut off\n',
        METRICS + 'monitor_status{monitor_id="5"} 0\n',
    ],
)
async def test_what_are_no_whole_metrics_is_a_bad_reply(
    metrics: str, kuma: Kuma, asking: Asking
) -> None:
    kuma.metrics = metrics
    async with opened(kuma, page=None, key=KEY) as source:
        outcome = await source.ask(*asking("is anything down"))
        assert isinstance(outcome, Failed)
        assert outcome.kind == "bad_reply"


async def test_where_nothing_is_monitored_that_is_said(kuma: Kuma, asking: Asking) -> None:
    kuma.states = {}
    kuma.metrics = "".join(METRICS.splitlines(keepends=True)[:2])
    async with opened(kuma) as page, opened(kuma, page=None, key=KEY) as metrics:
        for source in (page, metrics):
            assert await told(source, asking, "is nas up") == ["No services are monitored."]


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["\ud800", 10**400]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["publicGroupList", "monitorList", "id", "name", "heartbeatList", "status"]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)
PAGES = st.fixed_dictionaries(
    {
        "publicGroupList": st.lists(
            st.fixed_dictionaries(
                {
                    "monitorList": st.lists(
                        st.fixed_dictionaries({"id": ANY_JSON, "name": ANY_JSON}) | ANY_JSON,
                        max_size=3,
                    )
                    | ANY_JSON
                }
            ),
            max_size=2,
        )
    }
)
BEATS = st.fixed_dictionaries(
    {
        "heartbeatList": st.dictionaries(
            st.integers(0, 3).map(str),
            st.lists(st.fixed_dictionaries({"status": ANY_JSON}) | ANY_JSON, max_size=2) | ANY_JSON,
        )
    }
)
LINES = st.lists(
    st.sampled_from(METRICS.splitlines()) | st.text(alphabet='monitor_status{}=",\\\n 1#')
)


@given(page=PAGES | ANY_JSON, beats=BEATS | ANY_JSON)
def test_any_json_is_services_or_a_bad_reply(page: Any, beats: Any) -> None:
    try:
        services = services_of_page(page, beats, "kuma")
    except UpstreamError:
        return
    assert len({service.id for service in services}) == len(services)
    assert all(service.name.encode() for service in services)
    assert sentences(services, "is anything down", "en")


@given(body=LINES.map(lambda lines: "\n".join(lines).encode()) | st.binary())
def test_any_text_is_metrics_or_a_bad_reply(body: bytes) -> None:
    try:
        services = services_of_metrics(body, "kuma")
    except UpstreamError:
        return
    assert len(services) == len(re.findall(rb"^monitor_status\b", body, re.MULTILINE))
    assert sentences(services, "is anything down", "en")


async def test_the_first_of_two_requests_to_fail_ends_the_other(kuma: Kuma, asking: Asking) -> None:
    kuma.hang_heartbeats = True
    kuma.page = "no JSON"
    async with opened(kuma) as source:
        outcome = await source.ask(*asking("status"))
        assert isinstance(outcome, Failed)
        assert outcome.kind == "bad_reply"
        await kuma.hung_up.wait()


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
