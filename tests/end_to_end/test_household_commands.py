"""The lights never depend on us: Home Assistant's own commands do what they did before we came."""

from __future__ import annotations

import pytest

from .conftest import COMMANDS, House, outcome

pytestmark = pytest.mark.asyncio(loop_scope="package")

PIPELINES = ("default agent", "ours", "ours, local first")


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
