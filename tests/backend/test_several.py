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
    assert tuple(holds(services, text, language) for text in STATEMENTS[language]) == expected


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
