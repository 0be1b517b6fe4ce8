"""Services are told as they are. A server that speaks Uptime Kuma's addresses stands in for it, which can't be had."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
import re
import time
from typing import Any

from aiohttp import BasicAuth, web
from aiohttp.test_utils import TestServer
from hypothesis import given, strategies as st
import pytest

from backend.languages import SPOKEN, own_or_default
from backend.sources.http import UpstreamError, open_session
from backend.sources.uptime import Uptime, services_of_metrics, services_of_page
from backend.sources.uptime_words import Service, told as sentences
from backend.store.snapshots import Item
from backend.text.words import fold
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


QUESTIONS = {
    # Something that nobody monitors is never passed over.
    "is jellyfin up": ["Jellyfin is not monitored."],
    "Is the Café server down?": ["Café is not monitored."],
    "is the website up": ["Website is not monitored."],
    "is home assistant or plex running": ["Home Assistant is up.", "Plex is not monitored."],
    "are all jellyfin services up": [
        "Jellyfin is not monitored.",
        "NAS is down.",
        "4 of 5 services are up.",
    ],
    "is nas 2 up": ["NAS is down.", "Nas 2 is not monitored."],
    "jellyfin": ["Jellyfin is not monitored.", "NAS is down.", "4 of 5 services are up."],
    # Nothing in particular is named.
    "are my services up": ["NAS is down.", "4 of 5 services are up."],
    "is everything running right now": ["NAS is down.", "4 of 5 services are up."],
    "is anything down": ["NAS is down.", "4 of 5 services are up."],
    "are all 5 servers online": ["NAS is down.", "4 of 5 services are up."],
    "are any of my websites at home down": ["NAS is down.", "4 of 5 services are up."],
    "what's the status": ["NAS is down.", "4 of 5 services are up."],
    # The whole name, however its words are joined and ended, or what nothing but a part of it fits.
    "is home assistant up": ["Home Assistant is up."],
    "is homeassistant up": ["Home Assistant is up."],
    "is home-assistant's status ok": ["Home Assistant is up."],
    "are the routers up": ["Router is up."],
    "is next cloud reachable": ["Nextcloud (LAN) is up."],
    "is the router server and the NAS up": ["NAS is down.", "Router is up."],
    "is assistant up": ["Home Assistant is up."],
    # One that is named with all of them doesn't hide the others.
    "is everything up, also the router": [
        "Router is up.",
        "NAS is down.",
        "4 of 5 services are up.",
    ],
    # As it is asked.
    "how many services are down": ["One of 5 services is down.", "NAS is down."],
    "how many services aren't running": ["One of 5 services is down.", "NAS is down."],
    "how many are up": ["4 of 5 services are up.", "NAS is down."],
    "which services are down": ["NAS is down.", "4 of 5 services are up."],
    "which services are up": [
        "Router, Home Assistant, Home, and Nextcloud (LAN) are up.",
        "NAS is down.",
    ],
}


@pytest.mark.parametrize("question", QUESTIONS)
async def test_an_answer_is_about_what_was_asked(question: str, kuma: Kuma, asking: Asking) -> None:
    kuma.states = {"Router": 1, "NAS": 0, "Home Assistant": 1, "Home": 1, "Nextcloud (LAN)": 1}
    async with opened(kuma) as source:
        assert await told(source, asking, question) == QUESTIONS[question]


@pytest.mark.parametrize("name", ["Up", "Down", "All", "All services", "Server", "Is it up?", "🟢"])
async def test_a_monitor_named_like_a_general_word_hides_no_outage(
    name: str, kuma: Kuma, asking: Asking
) -> None:
    kuma.states = {name: 1, "NAS": 0}
    async with opened(kuma) as source:
        for question in ("are all services up", "is any server down", "is it up"):
            assert await told(source, asking, question) == [
                "NAS is down.",
                "One of 2 services is up.",
            ]
        kuma.states = {name: 0, "NAS": 1}
        assert await told(source, asking, "are all services up") == [
            f"{name} is down.",
            "One of 2 services is up.",
        ]


async def test_what_is_not_named_of_many_is_counted(kuma: Kuma, asking: Asking) -> None:
    kuma.states = {f"Camera {place}": 0 for place in "ABCDEFGHIJ"}
    async with opened(kuma) as source:
        down = "Camera A, Camera B, Camera C, Camera D, Camera E, Camera F, and 4 more are down."
        assert await told(source, asking, "is anything down") == [
            down,
            "None of the 10 services is up.",
        ]
        assert await told(source, asking, "are the cameras up") == [down]
        kuma.states |= {"Server": 0}
        assert (await told(source, asking, "is the server down"))[0].startswith("Server, Camera A,")


async def test_one_service_is_told_by_its_name_and_two_are_both(kuma: Kuma, asking: Asking) -> None:
    kuma.states = {"NAS": 1}
    async with opened(kuma) as source:
        assert await told(source, asking, "are all services up") == ["NAS is up."]
        assert await told(source, asking, "are plex and everything up") == [
            "Plex is not monitored.",
            "NAS is up.",
        ]
        kuma.states = {"NAS": 1, "Router": 1}
        assert await told(source, asking, "are all services up") == ["Both services are up."]


async def test_none_is_only_said_to_be_down_of_what_is_known(kuma: Kuma, asking: Asking) -> None:
    kuma.states["NAS"] = 3
    async with opened(kuma) as source:
        assert await told(source, asking, "how many services are down") == [
            "None of the 3 services is down.",
            "NAS is under maintenance.",
        ]
        kuma.states["NAS"] = None
        assert await told(source, asking, "how many services are down") == [
            "The state of NAS is unknown."
        ]


async def test_a_question_about_something_else_has_nothing_but_what_others_are_asked_too(
    kuma: Kuma, asking: Asking
) -> None:
    async with opened(kuma) as source:
        text = "how do I get my grandmother's old recipe for plum cake online"
        step, question = asking(text)
        assert await source.ask(step, question) == Nothing()
        for text in ("morning briefing", "the weather today"):
            step, question = asking(text)
            outcome = await source.ask(step, replace(question, source="fusion"))
            assert isinstance(outcome, Found)
            assert [passage.text for passage in outcome.passages] == ["All 3 services are up."]


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


SERVICES = st.lists(
    st.builds(
        Service,
        st.uuids().map(str),
        st.text(max_size=20) | st.sampled_from(["Up", "NAS", "All services", "Home Assistant"]),
        st.sampled_from(["up", "down", "pending", "maintenance", "unknown"]),
    ),
    max_size=10,
)


@given(services=SERVICES, query=st.text(max_size=60), language=st.sampled_from([*SPOKEN, "sv"]))
def test_any_question_is_answered_and_never_all_up_while_one_is_not(
    services: list[Service], query: str, language: str
) -> None:
    said = sentences(services, query, language)
    assert all(sentence.strip() for sentence in said)
    counted = own_or_default(language, "uptime")["counted"]["all_up"]
    if any(service.state != "up" for service in services):
        total = len(services)
        assert not {form.format(total=total) for form in counted.values()} & set(said)


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


LANGUAGES = {
    # All are up, one is down, one that nobody monitors, a name that is joined and ended, how many are down.
    "en": (
        [
            "are my services up",
            "is everything running",
            "is anything down",
            "are there any outages",
            "which ones are down",
            "did anything go down last night",
            "are our docker containers running",
            "is everything okay with the servers at home",
        ],
        ["is jellyfin up", "Jellyfin is not monitored."],
        ["are the homeassistants running", "Home Assistant is up."],
        ["how many services are down", "One of 3 services is down. NAS is down."],
        "All 3 services are up.",
    ),
    "de": (
        [
            "laufen meine dienste",
            "läuft alles",
            "ist irgendwas ausgefallen",
            "sind alle server da",
            "sind irgendwelche dienste gestört",
            "ist einer der dienste ausgefallen",
            "was ist gerade nicht erreichbar",
            "gibt es störungen",
        ],
        ["läuft der jellyfin-server", "Jellyfin wird nicht überwacht."],
        ["ist der homeassistantserver erreichbar", "Home Assistant ist erreichbar."],
        [
            "wie viele dienste laufen nicht",
            "Einer von 3 Diensten ist nicht erreichbar. NAS ist nicht erreichbar.",
        ],
        "Alle 3 Dienste sind erreichbar.",
    ),
    "fr": (
        [
            "est-ce que mes services marchent",
            "tout fonctionne",
            "y a-t-il quelque chose en panne",
            "quels services sont hors ligne",
            "nos serveurs sont-ils en ligne",
            "est-ce qu'un service est en panne",
        ],
        ["est-ce que jellyfin est en ligne", "Aucun service surveillé ne s'appelle jellyfin."],
        ["homeassistant fonctionne-t-il", "Home Assistant est en ligne."],
        [
            "combien de services sont en panne",
            "Un service sur 3 est hors ligne. NAS est hors ligne.",
        ],
        "Les 3 services sont tous en ligne.",
    ),
    "es": (
        [
            "funcionan mis servicios",
            "funciona todo",
            "hay algo caído",
            "está todo bien",
            "hay alguna avería en casa",
            "están funcionando todos nuestros servidores",
            "qué servicios están caídos",
        ],
        ["funciona jellyfin", "Ningún servicio vigilado se llama jellyfin."],
        ["está activo el homeassistant", "Home Assistant funciona."],
        ["cuántos servicios no funcionan", "Uno de 3 servicios no funciona. NAS no funciona."],
        "Los 3 servicios funcionan.",
    ),
    "it": (
        [
            "funzionano i miei servizi",
            "funziona tutto",
            "c'è qualcosa che non va",
            "stanno funzionando tutti i nostri server",
            "c'è qualche servizio fermo",
            "quali servizi sono offline",
        ],
        ["jellyfin funziona", "Nessun servizio monitorato si chiama jellyfin."],
        ["l'homeassistant è raggiungibile", "Home Assistant funziona."],
        ["quanti servizi non funzionano", "Non funziona un servizio su 3. NAS non funziona."],
        "Tutti i 3 servizi funzionano.",
    ),
    "nl": (
        [
            "zijn mijn diensten bereikbaar",
            "werkt alles",
            "ligt er iets plat",
            "is er een storing",
            "welke diensten werken niet",
            "doet alles het",
        ],
        ["draait jellyfin", "Jellyfin wordt niet bewaakt."],
        ["doet de homeassistant het", "Home Assistant is bereikbaar."],
        [
            "hoeveel diensten zijn er niet bereikbaar",
            "Een van de 3 diensten is niet bereikbaar. NAS is niet bereikbaar.",
        ],
        "Alle 3 diensten zijn bereikbaar.",
    ),
    "pl": (
        [
            "czy moje usługi działają",
            "czy wszystko działa",
            "czy coś nie działa",
            "czy są jakieś awarie",
            "które usługi nie działają",
            "czy nasze serwery działają",
        ],
        ["czy jellyfin działa", "Usługa jellyfin nie jest monitorowana."],
        ["jaki jest stan homeassistanta", "Home Assistant działa."],
        ["ile usług nie działa", "Nie działa jedna z 3 usług. NAS nie działa."],
        "Wszystkie 3 usługi działają.",
    ),
}


@pytest.mark.parametrize("language", SPOKEN)
async def test_every_language_knows_its_words_for_all_and_its_names(
    language: str, kuma: Kuma, asking: Asking
) -> None:
    for_all, unwatched, joined, how_many, all_up = LANGUAGES[language]
    async with opened(kuma) as source:
        for question in for_all:
            assert await told(source, asking, question, language) == [all_up], question
        for question, said in (unwatched, joined):
            assert await told(source, asking, question, language) == [said]
        kuma.states["NAS"] = 0
        for question in for_all:
            assert "NAS" in (await told(source, asking, question, language))[0], question
        assert " ".join(await told(source, asking, how_many[0], language)) == how_many[1]


@pytest.mark.parametrize("language", SPOKEN)
def test_every_language_has_a_sentence_for_every_state_and_number(language: str) -> None:
    english = own_or_default("en", "uptime")
    words = own_or_default(language, "uptime")
    assert set(words) == set(english)
    for table in ("named", "counted", "states", "asked"):
        assert set(words[table]) == set(english[table])
    for name, text in words["asked"].items():
        for row in [text] if isinstance(text, str) else text:
            assert fold(row) == " ".join(row.split()), name
    for total in (1, 2, 3, 5, 10, 22):
        for state in ("up", "down", "pending", "maintenance", "unknown"):
            services = [
                Service(str(number), f"Box {number}", state if number % 2 == 0 else "up")
                for number in range(total)
            ]
            for query in ("", "box", words["asked"]["how_many"][0] + " offline"):
                text = " ".join(sentences(services, query, language))
                assert "{" not in text
                assert "Box" in text or state == "up"


def test_a_name_that_is_a_common_word_elsewhere_is_a_name() -> None:
    services = [Service("1", "Router", "up"), Service("2", "Plex", "up")]
    assert sentences(services, "czy nas działa", "pl") == ["Usługa nas nie jest monitorowana."]
    services.append(Service("3", "NAS", "down"))
    assert sentences(services, "czy nas działa", "pl") == ["NAS nie działa."]


def test_numbers_are_said_as_a_pole_says_them() -> None:
    for total, said in (
        (2, "Obie usługi działają."),
        (4, "Wszystkie 4 usługi działają."),
        (5, "Wszystkie 5 usług działa."),
        (22, "Wszystkie 22 usługi działają."),
    ):
        services = [Service(str(number), "NAS", "up") for number in range(total)]
        assert sentences(services, "czy wszystko działa", "pl") == [said]
