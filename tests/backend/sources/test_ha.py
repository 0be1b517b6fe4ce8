"""Questions on the things of a house: over HTTP with the states in the request, and at Home Assistant's API where it fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

from tests.backend.test_live_sources import Client, ask, house

TOKEN = "a-long-lived-token"


def state(
    entity_id: str,
    name: str,
    value: str,
    area: str | None = None,
    device_class: str | None = None,
    unit: str | None = None,
) -> dict[str, Any]:
    """Return a state as the contract has it."""
    return {
        "entity_id": entity_id,
        "name": name,
        "area": area,
        "domain": entity_id.partition(".")[0],
        "device_class": device_class,
        "state": value,
        "unit": unit,
    }


HOME = [
    state("light.kitchen", "Kitchen light", "on", "Kitchen"),
    state("light.counter", "Counter", "off", "Kitchen"),
    state("light.hall", "Hall lamp", "on", "Hall"),
    state("lock.front", "Front door", "locked", "Hall"),
    state("binary_sensor.front", "Front door", "off", "Hall", "door"),
    state("binary_sensor.back", "Back door", "unavailable", "Kitchen", "door"),
    state("cover.garage", "Garage door", "closed", "Garage", "garage"),
    state("media_player.band", "Garage Band", "playing", "Garage"),
    state("binary_sensor.bedroom", "Bedroom window", "on", "Bedroom", "window"),
    state("binary_sensor.bath", "Bath window", "off", "Bath", "window"),
    state("sensor.kitchen", "Temperature", "21.5", "Kitchen", "temperature", "°C"),
    state("sensor.fridge", "Fridge temperature", "4.2", "Kitchen", "temperature", "°C"),
    state("sensor.remote", "Remote battery", "12", None, "battery", "%"),
    state("sensor.door", "Door sensor battery", "87", None, "battery", "%"),
    state("person.anna", "Anna", "home"),
    state("person.ben", "Ben", "Office"),
    state("switch.oven", "Oven", "off", "Kitchen"),
    state("binary_sensor.motion", "Hall motion", "on", "Hall", "motion"),
    state("sensor.washer", "Washer power", "1234.56", "Bath", "power", "W"),
    state("climate.hall", "Thermostat", "heat", "Hall"),
]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with house(tmp_path) as client:
        yield client


async def said(client: Client, query: str, states: list[dict[str, Any]] = HOME, **more: Any) -> str:
    """Return what is said of a house with these states."""
    reply = await ask(client, query, source="ha", states=states, **more)
    speech: str = reply["speech"]
    return speech


@pytest.mark.parametrize(
    ("query", "speech"),
    [
        ("is the kitchen light on", "Yes, Kitchen light is on."),
        ("is the hall lamp off", "No, Hall lamp is on."),
        ("which lights are on", "Kitchen light and Hall lamp are on."),
        ("which lights are on in the kitchen", "Kitchen light is on."),
        ("are the kitchen lights on", "Kitchen light is on. Counter is off."),
        ("how many lights are on", "2 of 3: Kitchen light and Hall lamp are on."),
        ("is any window open", "Yes, Bedroom window is open."),
        ("are all windows closed", "No, Bedroom window is open."),
        ("which windows are not closed", "Bedroom window is open."),
        ("is the front door locked", "Yes, Front door is locked."),
        ("is the front door open", "No, Front door is closed."),
        ("did i leave the oven on", "No, Oven is off."),
        ("did i lock the front door", "Yes, Front door is locked."),
        ("how warm is it in the kitchen", "Kitchen Temperature is at 21.5 degrees Celsius."),
        ("what is the temperature of the fridge", "Fridge temperature is at 4.2 degrees Celsius."),
        ("which batteries are low", "Remote battery at 12 percent is low."),
        ("what is the battery of the remote", "Remote battery is at 12 percent."),
        ("is anyone home", "Yes, Anna is home."),
        ("is everybody home", "No, Ben is at Office."),
        ("where is ben", "Ben is at Office."),
        ("is there motion in the hall", "Yes, Hall motion reports motion."),
        ("how much power is the washer using", "Washer power is at 1235 watts."),
        ("what about the front door", "Front door is locked and is closed."),
    ],
)
async def test_a_question_is_answered_from_the_states_that_come_with_it(
    query: str, speech: str, client: Client
) -> None:
    assert await said(client, query) == speech


@pytest.mark.parametrize(
    ("query", "speech"),
    [
        (
            "are all doors closed",
            "All doors I can see are closed. The state of Back door isn't known.",
        ),
        ("is any door open", "All doors I can see are closed. The state of Back door isn't known."),
        (
            "which doors are open",
            "All doors I can see are closed. The state of Back door isn't known.",
        ),
        ("is the back door closed", "The state of Back door isn't known."),
    ],
)
async def test_what_does_not_report_is_not_known_and_never_makes_an_all_clear(
    query: str, speech: str, client: Client
) -> None:
    assert await said(client, query) == speech


@pytest.mark.parametrize("value", ["unavailable", "unknown", "Unavailable", ""])
@pytest.mark.parametrize("query", ["is the lamp on", "is the lamp off", "which lights are on"])
async def test_an_unknown_state_is_neither_on_nor_off(
    value: str, query: str, client: Client
) -> None:
    lamp = [state("light.lamp", "Lamp", value)]
    assert await said(client, query, lamp) == "The state of Lamp isn't known."


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("is the sauna on", "sauna"),
        ("is the front door bell on", "front door bell"),
        ("is the cellar door locked", "cellar door"),
        ("is the light in the attic on", "attic"),
        ("how warm is it in the sauna", "sauna"),
    ],
)
async def test_what_is_not_among_the_states_is_missing_and_no_other_thing_is_told(
    query: str, what: str, client: Client
) -> None:
    assert await said(client, query) == f"I see no {what} among the devices I may see."


async def test_of_two_things_the_one_that_is_there_is_told(client: Client) -> None:
    assert (
        await said(client, "are the oven and the sauna on")
        == "I see no sauna among the devices I may see. No, Oven is off."
    )


async def test_a_state_that_a_thing_cannot_have_is_not_answered_with_yes_or_no(
    client: Client,
) -> None:
    door = [state("binary_sensor.back", "Back door", "off", None, "door")]
    assert (
        await said(client, "is the back door locked", door)
        == "I can't see whether that is so. Back door is closed."
    )


async def test_words_are_whole_words(client: Client) -> None:
    front = [
        state("light.front", "Front", "off"),
        state("media_player.band", "Garage Band", "on"),
    ]
    assert await said(client, "is front off", front) == "Yes, Front is off."
    assert (
        await said(client, "is the garage door open", front)
        == "I see no garage door among the devices I may see."
    )
    assert await said(client, "is the garage band on", front) == "Yes, Garage Band is on."


async def test_one_thing_that_several_entities_tell_of_is_told_once(client: Client) -> None:
    lamps = [
        state("light.lamp", "Lamp", "on", "Hall"),
        state("switch.lamp", "Lamp", "on", "Hall"),
        state("light.other", "Lamp", "on", "Bedroom"),
    ]
    assert (
        await said(client, "how many lights are on", lamps)
        == "2 of 2: Hall Lamp and Bedroom Lamp are on."
    )


async def test_in_here_is_where_someone_asks(client: Client) -> None:
    assert await said(client, "which lights are on in here", area="Hall") == "Hall lamp is on."
    assert (
        await said(client, "is the light on", area="Kitchen")
        == "Kitchen light is on. Counter is off."
    )


async def test_without_states_that_is_said_in_every_language(client: Client) -> None:
    for language, speech in (
        ("en", "I can't see the states of your home right now."),
        ("de", "Ich kann die Zustände deines Zuhauses gerade nicht sehen."),
    ):
        reply = await ask(client, "is the front door locked", source="ha", language=language)
        assert (reply["success"], reply["error"]) == (False, "not_configured: HA_TOKEN")
        assert reply["speech"] == speech


async def test_a_rule_names_it_and_states_that_were_sent_are_not_kept(client: Client) -> None:
    query = "is the kitchen light on"
    first = await ask(client, query, states=HOME, synthesize=True, answer_style="voice")
    assert (first["source_used"], first["speech"]) == ("ha", "Yes, Kitchen light is on.")
    dark = [state("light.kitchen", "Kitchen light", "off", "Kitchen")]
    second = await ask(client, query, states=dark, synthesize=True, answer_style="voice")
    assert (second["cached"], second["speech"]) == (False, "No, Kitchen light is off.")
    third = await ask(client, query)
    assert "light is" not in third["speech"]
    kept = await (await client.get("/cache")).json()
    assert kept["results"] == 0, kept


class FaultyHome:
    """Home Assistant's API where something is wrong with it."""

    def __init__(self) -> None:
        self.status = 200
        self.body: Any = []
        self.hang = False
        self.asked: list[web.Request] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        if self.hang:
            await asyncio.Event().wait()
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise web.HTTPUnauthorized
        if self.status != 200:
            return web.Response(status=self.status)
        if request.path == "/api/states":
            return web.json_response(self.body)
        return web.Response(text="")


@asynccontextmanager
async def asked_of(home: FaultyHome, tmp_path: Path, token: str = TOKEN) -> AsyncIterator[Client]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", home.handle)
    async with TestServer(app) as server:
        url = str(server.make_url("")).rstrip("/")
        async with house(tmp_path, ha_url=url, ha_token=token) as client:
            yield client


@pytest.mark.parametrize(
    ("status", "error"), [(503, "busy"), (401, "bad_reply"), (404, "bad_reply"), (500, "bad_reply")]
)
async def test_a_home_assistant_that_refuses_or_starts_is_a_failure_of_its_kind(
    status: int, error: str, tmp_path: Path
) -> None:
    home = FaultyHome()
    home.status = status
    async with asked_of(home, tmp_path) as client:
        reply = await ask(client, "is the front door locked", source="ha")
        assert (reply["success"], reply["error"]) == (False, error)
        assert reply["speech"] == "I can't reach the source for that right now."


async def test_a_wrong_token_is_told_to_the_owner_and_never_shown(tmp_path: Path) -> None:
    async with asked_of(FaultyHome(), tmp_path, token="wrong-token") as client:
        reply = await ask(client, "is the front door locked", source="ha", explain=True)
        assert reply["error"] == "bad_reply"
        health = await (await client.get("/health")).json()
        assert "refuses the key" in health["sources"]["ha"]["detail"]
        assert "wrong-token" not in str(reply) + str(health)


@pytest.mark.parametrize(
    "body", [None, {}, "states", [None, 7, {}, {"entity_id": 1}, {"entity_id": "light.x"}]]
)
async def test_what_is_no_list_of_states_tells_nothing(body: Any, tmp_path: Path) -> None:
    home = FaultyHome()
    home.body = body
    async with asked_of(home, tmp_path) as client:
        reply = await ask(client, "is the front door locked", source="ha")
        assert not reply["success"]
        assert reply["error"] == ("nothing_found" if isinstance(body, list) else "bad_reply")


async def test_states_that_were_sent_win_over_the_api(tmp_path: Path) -> None:
    home = FaultyHome()
    async with asked_of(home, tmp_path) as client:
        await client.post("/snapshots/trigger")
        before = len(home.asked)
        assert await said(client, "is the oven on") == "No, Oven is off."
        assert len(home.asked) == before
