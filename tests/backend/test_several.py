"""Several requests in one breath, and those that depend on a condition: over HTTP, with real feeds and services."""

from __future__ import annotations

from typing import Any

import pytest

from backend.languages import SPOKEN, spoken
from backend.sources.uptime_words import Service, holds
from tests.backend.server.test_streaming import events
from tests.backend.sources.homes import state as home_state
from tests.backend.sources.test_news import Paper, item, rss
from tests.backend.sources.test_uptime import Kuma
from tests.backend.test_live_sources import Client, ask, client, kuma, paper, urls

__all__ = ["client", "kuma", "paper", "urls"]

HEADLINE = "Storm closes the harbour."
UNDECIDED = "I can't tell whether that is so."


def named(reply: dict[str, Any], event: str) -> list[dict[str, Any]]:
    return [row for row in reply["explanation"] if row["event"] == event]


async def test_each_request_is_answered_by_its_own_source(client: Client) -> None:
    reply = await ask(
        client, "are all my services up and what's in the news", explain=True, synthesize=True
    )
    assert reply["source_used"] == "fusion"
    assert reply["speech"].startswith(f"All 3 services are up. {HEADLINE}")
    assert named(reply, "decomposed")[0]["parts"] == [
        "are all my services up",
        "what's in the news",
    ]


@pytest.mark.parametrize(
    ("query", "down", "verdict", "heard", "not_heard"),
    [
        ("if any service is down tell me the headlines", True, "true", HEADLINE, UNDECIDED),
        ("if any service is down tell me the headlines", False, "false", "All 3", HEADLINE),
        ("tell me the headlines if no service is down", False, "true", HEADLINE, UNDECIDED),
        ("tell me the headlines if no service is down", True, "false", "NAS is down", HEADLINE),
        ("read me the headlines unless the nas is down", True, "false", "NAS is down", HEADLINE),
        ("tell me the headlines if jellyfin is down", True, "undecidable", UNDECIDED, "nobody"),
        ("tell me the headlines if my train is late", True, "undecidable", UNDECIDED, "NAS"),
    ],
)
async def test_a_condition_is_decided_on_data_or_said_to_be_open(
    query: str, down: bool, verdict: str, heard: str, not_heard: str, client: Client, kuma: Kuma
) -> None:
    kuma.states["NAS"] = 0 if down else 1
    for voice in ({}, {"synthesize": True, "answer_style": "voice"}):
        reply = await ask(client, query, explain=True, **voice)
        assert reply["success"]
        assert heard in reply["speech"]
        assert not_heard not in reply["speech"]
        assert named(reply, "condition")[0]["verdict"] == verdict
        assert (HEADLINE in reply["speech"]) == (verdict != "false")


async def test_what_was_left_open_is_asked_again(client: Client, kuma: Kuma) -> None:
    page, kuma.page = kuma.page, "no status page"
    query = "if any service is down tell me the headlines"
    assert [(await ask(client, query))["speech"].endswith(UNDECIDED) for _ in range(3)] == [
        True
    ] * 3
    kuma.page = page
    reply = await ask(client, query)
    assert reply["speech"].startswith("All 3 services are up.")


async def test_a_source_that_fails_leaves_a_condition_open_and_the_rest_is_answered(
    client: Client, kuma: Kuma
) -> None:
    kuma.page = "no status page"
    reply = await ask(client, "if any service is down tell me the headlines", explain=True)
    assert reply["success"]
    assert reply["source_used"] == "news"
    assert reply["speech"].startswith(HEADLINE)
    assert reply["speech"].endswith(UNDECIDED)


async def test_what_is_said_beside_an_answer_is_its_last_sentence_in_a_stream(
    client: Client, paper: Paper
) -> None:
    text = "The harbour master closed it at noon. " * 8
    paper.pages["/rss"] = rss(item("Storm closes the harbour", 1, text))
    body = {
        "query": "turn on the light and tell me the headlines",
        "synthesize": True,
        "answer_style": "voice",
        "accepts": ["handback"],
    }
    async with client.post(
        "/search", json=body, headers={"Accept": "text/event-stream"}
    ) as response:
        told = await events(response)
    sentences = [data for name, data in told if name == "sentence"]
    done = next(data for name, data in told if name == "done")
    note = spoken("en", "orders_apart")
    assert sentences[-1]["text"] == f" {note}"
    assert [row["index"] for row in sentences] == list(range(len(sentences)))
    assert "".join(row["speech"] for row in sentences) == done["speech"]
    assert done["speech"].endswith(note)
    assert done["answer"].endswith(f"{note} (news)")
    assert not done["handback"]


STATEMENTS = {
    "en": ("any service is down", "all services are up", "the nas is down"),
    "de": ("ein dienst ist ausgefallen", "alle dienste sind erreichbar", "das nas ist offline"),
    "fr": ("un service est en panne", "tous les services sont en ligne", "le nas est hors ligne"),
    "es": (
        "algun servicio esta caido",
        "todos los servicios estan en linea",
        "el nas esta caido",
    ),
    "it": ("un servizio e offline", "tutti i servizi sono online", "il nas e offline"),
    "nl": ("een dienst is offline", "alle diensten zijn bereikbaar", "de nas is offline"),
    "pl": ("jakas usluga nie dziala", "wszystkie uslugi dzialaja", "nas jest offline"),
}


@pytest.mark.parametrize("language", SPOKEN)
@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("up", (False, True, False)),
        ("down", (True, False, True)),
        ("unknown", (None, None, None)),
        ("maintenance", (False, False, False)),
    ],
)
def test_a_statement_of_services_holds_or_not_or_cannot_be_told(
    language: str, state: str, expected: tuple[bool | None, ...]
) -> None:
    services = [Service("1", "Router", "up"), Service("2", "NAS", state)]
    assert tuple(holds(services, text, language, 2026) for text in STATEMENTS[language]) == expected


@pytest.mark.parametrize(
    ("query", "verdict"),
    [
        ("if the front door is locked tell me the headlines", "true"),
        ("if the front door is not locked tell me the headlines", "false"),
        ("tell me the headlines if any window is open", "true"),
        ("tell me the headlines if all windows are closed", "false"),
        ("tell me the headlines if no window is open", "false"),
        ("tell me the headlines if the back door is open", "undecidable"),
        ("tell me the headlines if the sauna is on", "undecidable"),
    ],
)
async def test_a_condition_on_the_house_is_decided_by_the_states_that_come_with_it(
    query: str, verdict: str, client: Client
) -> None:
    states = [
        home_state("lock.front", "Front door", "locked", "Hall"),
        home_state("binary_sensor.back", "Back door", "unavailable", "Kitchen", "door"),
        home_state("binary_sensor.bedroom", "Bedroom window", "on", "Bedroom", "window"),
        home_state("binary_sensor.bath", "Bath window", "off", "Bath", "window"),
    ]
    reply = await ask(client, query, states=states, explain=True)
    assert named(reply, "condition")[0]["verdict"] == verdict
    assert (HEADLINE in reply["speech"]) == (verdict != "false")
    assert (UNDECIDED in reply["speech"]) == (verdict == "undecidable")


async def test_without_states_a_condition_on_the_house_is_open(client: Client) -> None:
    reply = await ask(client, "tell me the headlines if the front door is locked")
    assert reply["speech"].startswith(HEADLINE)
    assert reply["speech"].endswith(UNDECIDED)


async def checked(client: Client, query: str, **fields: Any) -> str:
    reply = await ask(client, f"{query} tell me the headlines", explain=True, **fields)
    assert reply["success"]
    verdict = str(named(reply, "condition")[0]["verdict"])
    assert (HEADLINE in reply["speech"]) == (verdict != "false")
    return verdict


KITCHEN = home_state("binary_sensor.k", "Kitchen window", "on", "Kitchen", "window")
FRONT = home_state("lock.f", "Front door", "locked", "Hall")


@pytest.mark.parametrize(
    ("query", "verdict"),
    [
        ("if the front door is locked and the nas is down", "true"),
        ("if the kitchen window is closed and the front door is locked", "false"),
        ("if the front door is locked and the kitchen window is closed", "false"),
        ("if the kitchen window is closed and the nas is down", "false"),
        ("if the nas is down and the kitchen window is closed", "false"),
        ("if the router is down or the nas is down", "true"),
        ("if the kitchen window is closed or the nas is down", "true"),
        ("if the nas is down and jellyfin is up", "undecidable"),
        ("if the router is down and jellyfin is up", "false"),
        ("if the front door is locked and open", "undecidable"),
        ("if the nas is down and the router is down or the front door is locked", "undecidable"),
        ("unless the nas is up and the router is up", "true"),
        ("unless the nas is down or the router is down", "false"),
        ("if neither the nas nor the router is down", "false"),
        ("if neither the router nor home assistant is down", "true"),
    ],
)
async def test_a_condition_that_states_several_things_is_decided_on_all_of_them(
    query: str, verdict: str, client: Client, kuma: Kuma
) -> None:
    kuma.states["NAS"] = 0
    assert await checked(client, query, states=[KITCHEN, FRONT]) == verdict


@pytest.mark.parametrize(
    ("language", "query", "verdict"),
    [
        ("de", "wenn der router offline ist und das nas offline ist", "false"),
        ("de", "wenn weder das nas noch der router offline ist", "false"),
        ("fr", "si le router est en panne et le nas est en panne", "false"),
        ("es", "si el router esta caido y el nas esta caido", "false"),
        ("it", "se il router è offline e il nas è offline", "false"),
        ("it", "se il router e offline e il nas e offline", "undecidable"),
        ("nl", "als de router offline is en de nas offline is", "false"),
        ("pl", "jesli router jest offline i nas jest offline", "false"),
    ],
)
async def test_conditions_of_several_parts_in_seven_languages(
    language: str, query: str, verdict: str, client: Client, kuma: Kuma
) -> None:
    kuma.states["NAS"] = 0
    headlines = {
        "de": "sag mir die schlagzeilen",
        "fr": "donne moi les titres",
        "es": "dime los titulares",
        "it": "dimmi le notizie",
        "nl": "vertel me het nieuws",
        "pl": "powiedz mi wiadomosci",
    }
    reply = await ask(client, f"{query} {headlines[language]}", language=language, explain=True)
    assert named(reply, "condition")[0]["verdict"] == verdict


@pytest.mark.parametrize(
    ("query", "verdict"),
    [
        ("if the nas or the router is down", "true"),
        ("if the nas or the router is up", "true"),
        ("if the nas and the router are up", "false"),
        ("if the nas is up and the router is down", "false"),
        ("if one of the services is down", "true"),
        ("if all three services are up", "false"),
        ("if more than two services are down", "undecidable"),
        ("if two services are down", "undecidable"),
        ("if exactly one service is down", "undecidable"),
        ("if at least one service is down", "undecidable"),
        ("if only the router is down", "undecidable"),
        ("if all services but the nas are up", "undecidable"),
        ("if the nas was down yesterday", "undecidable"),
        ("if the router has not been down", "undecidable"),
        ("if any service was down last night", "undecidable"),
    ],
)
async def test_what_is_said_of_how_many_or_of_the_past_is_not_decided_on_something_else(
    query: str, verdict: str, client: Client, kuma: Kuma
) -> None:
    kuma.states["NAS"] = 0
    assert await checked(client, query) == verdict


async def test_a_condition_ends_behind_what_it_states(client: Client, kuma: Kuma) -> None:
    reply = await ask(
        client,
        "if the nas is up and the kitchen window is open what's in the news",
        explain=True,
        states=[KITCHEN],
    )
    assert named(reply, "condition")[0]["text"] == "the nas is up and the kitchen window is open"
    assert HEADLINE in reply["speech"]
