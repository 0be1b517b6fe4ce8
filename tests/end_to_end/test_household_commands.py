"""The lights never depend on us: Home Assistant's own commands do what they did before we came."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import COMMANDS, House
from .home_assistant import Turn

pytestmark = pytest.mark.asyncio(loop_scope="session")

PIPELINES = ("default agent", "ours", "ours, local first")


def outcome(turn: Turn) -> dict[str, Any]:
    """Return what a command led to, ids and times aside."""
    response = turn.response
    return {
        "intents": turn.intents,
        "response_type": response["response_type"],
        "targets": response["data"],
        "speech": response["speech"]["plain"]["speech"],
        "in the chat log": turn.content,
        "goes on": turn.end["intent_output"]["continue_conversation"],
    }


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("command", COMMANDS)
async def test_a_command_is_carried_out_as_without_us(
    house: House, command: str, pipeline: str
) -> None:
    """Same intent, targets, response type and speech, whichever agent listens."""
    turn = await house.home.say(command, house.pipelines[pipeline])
    assert outcome(turn) == outcome(house.without_us[command])


@pytest.mark.parametrize("pipeline", PIPELINES)
async def test_the_light_is_on_once_its_command_is_answered(house: House, pipeline: str) -> None:
    """It isn't only said."""
    await house.turn_light_off()
    await house.home.say("turn on the kitchen light", house.pipelines[pipeline])
    assert await house.light() == "on"


@pytest.mark.parametrize("pipeline", PIPELINES)
async def test_commands_work_while_the_backend_is_away(house: House, pipeline: str) -> None:
    """The machine with the GPU is off, and nobody in the kitchen notices."""
    async with house.backend_away():
        for command in COMMANDS:
            turn = await house.home.say(command, house.pipelines[pipeline])
            assert outcome(turn) == outcome(house.without_us[command])


async def test_commands_work_when_home_assistant_starts_while_the_backend_is_away(
    house: House,
) -> None:
    """Also after a power cut, when Home Assistant is up first."""
    async with house.backend_away():
        await house.home.stop()
        await house.home.start()
        for pipeline in PIPELINES:
            await house.turn_light_off()
            for command in COMMANDS:
                turn = await house.home.say(command, house.pipelines[pipeline])
                assert outcome(turn) == outcome(house.without_us[command]), pipeline
            assert await house.light() == "on"
