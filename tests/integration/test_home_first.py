"""The household's own commands: the same with and without us, with either agent, with the server up and down."""

from __future__ import annotations

from typing import Any

from homeassistant.components.conversation import HOME_ASSISTANT_AGENT
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from .broker import Broker
from .conftest import set_up
from .house import House

UTTERANCES = (
    "turn on the kitchen light",
    "what is the temperature in the kitchen",
    "set a timer for 5 minutes",
    "is anna home",
    "never mind",
)


async def _lived(house: House, pipeline: str) -> list[Any]:
    """Return what comes of all utterances."""
    house.timers.clear()
    house.service_calls.clear()
    responses = [(await house.say(text, pipeline)).response for text in UTTERANCES]
    calls = [(call.domain, call.service, dict(call.data)) for call in house.service_calls]
    await house.say("cancel all timers", pipeline)
    return [responses, calls, [(event, seconds) for event, seconds, _ in house.timers]]


@pytest.mark.parametrize("prefer_local", [False, True])
@pytest.mark.parametrize("state", ["up", "stopped", "stopped before the start", "refusing"])
async def test_commands_states_and_timers_are_home_assistants(
    hass: HomeAssistant,
    house: House,
    entry: MockConfigEntry,
    broker: Broker,
    prefer_local: bool,
    state: str,
) -> None:
    without_us = await _lived(house, await house.pipeline(prefer_local=prefer_local))
    assert without_us[0][0]["data"]["success"], "the light"
    assert "21.5" in without_us[0][1]["speech"]["plain"]["speech"], "the temperature"
    assert without_us[2], "the timer"

    if state == "refusing":
        broker.key = "another"
    elif state == "stopped before the start":
        await broker.stop()
    agent = await set_up(hass, entry)
    if state == "stopped":
        await broker.stop()

    with_us = await _lived(house, await house.pipeline(prefer_local=prefer_local))
    ours = await _lived(house, await house.pipeline(agent, prefer_local=prefer_local))
    assert with_us == without_us
    assert ours == without_us
    assert not broker.asked


@pytest.mark.parametrize("prefer_local", [False, True])
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "who is marie curie"),
        ("en", "who is in the resistance"),
        ("en", "how many people are in china"),
        ("en", "is anna a teacher"),
        ("de", "wer ist marie curie"),
        ("de", "wie viele leute sind in china"),
        ("fr", "qui est marie curie"),
        ("es", "quién está en el gobierno de españa"),
        ("it", "chi c'è nel governo italiano"),
        ("nl", "wie is marie curie"),
        ("pl", "czy jest ktoś na marsie"),
    ],
)
async def test_questions_about_the_world_reach_the_server(
    house: House, agent: str, broker: Broker, prefer_local: bool, language: str, text: str
) -> None:
    pipeline = await house.pipeline(agent, prefer_local=prefer_local, language=language)
    await house.say(text, pipeline)
    assert [asked["query"] for asked in broker.asked] == [text]
    assert broker.asked[0]["language"] == language


@pytest.mark.parametrize("text", ["who is at home", "is anna at work", "who is at work"])
async def test_questions_about_the_people_of_the_house_do_not(
    house: House, agent: str, broker: Broker, text: str
) -> None:
    ours = await house.say(text, await house.pipeline(agent))
    theirs = await house.say(text, await house.pipeline(HOME_ASSISTANT_AGENT))
    assert ours.response == theirs.response
    assert not broker.asked


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "will it rain in 2 hours"),
        ("de", "wird es regnen in 2 stunden"),
        ("fr", "est-ce qu'il va pleuvoir dans 2 heures"),
        ("es", "va a llover en 2 horas"),
        ("it", "pioverà tra 2 ore"),
        ("nl", "gaat het regenen over 2 uur"),
        ("pl", "czy będzie padać za 2 godziny"),
    ],
)
@pytest.mark.parametrize("prefer_local", [False, True])
async def test_a_question_with_a_time_ahead_is_no_timer(
    house: House, agent: str, broker: Broker, language: str, text: str, prefer_local: bool
) -> None:
    pipeline = await house.pipeline(agent, language=language, prefer_local=prefer_local)
    await house.say(text, pipeline)
    assert [asked["query"] for asked in broker.asked] == [text]
    assert not house.timers


async def test_an_order_with_a_time_ahead_is_a_timer(
    house: House, agent: str, broker: Broker
) -> None:
    await house.say("turn on the kitchen light in 5 minutes", await house.pipeline(agent))
    assert [command for _, _, command in house.timers] == [] and not broker.asked
