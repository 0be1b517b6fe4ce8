"""The machine with the backend is off: the household's commands, what is said to a question, and coming back.

Home Assistant is started while it is away, as after a power cut. That it goes away later is tested along with the
commands.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.scripted_model import ScriptedModel, says

from .conftest import COMMANDS, House, outcome

pytestmark = pytest.mark.asyncio(loop_scope="package")

QUESTION = "what does error E24 on the dishwasher mean"


@pytest_asyncio.fixture(scope="module", loop_scope="package")
async def dark_house(house: House) -> AsyncIterator[House]:
    """Start Home Assistant while the backend is away."""
    async with house.backend_away():
        await house.home.stop()
        await house.home.start()
        yield house


@pytest.mark.parametrize("pipeline", ["default agent", "ours", "ours, local first"])
async def test_commands_work(dark_house: House, pipeline: str) -> None:
    """The rule that comes before all others: the lights never depend on us."""
    await dark_house.turn_light_off()
    for command in COMMANDS:
        turn = await dark_house.home.say(command, dark_house.pipelines[pipeline])
        assert outcome(turn) == outcome(dark_house.without_us[command])
    assert await dark_house.light() == "on"


@pytest.mark.parametrize(
    ("pipeline", "question", "words"),
    [
        ("ours", QUESTION, "can't reach"),
        ("ours, local first", QUESTION, "can't reach"),
        ("ours, German", "was bedeutet Fehler E24 am Geschirrspüler", "nicht erreichen"),
        ("default agent", "look up the boiler pressure", "can't reach"),
    ],
)
async def test_a_question_is_answered_in_its_language_that_nobody_can_be_reached(
    dark_house: House, pipeline: str, question: str, words: str
) -> None:
    """A sentence, never an error and never silence."""
    turn = await dark_house.home.say(question, dark_house.pipelines[pipeline])
    assert turn.error is None
    assert words in turn.speech
    assert turn.content == turn.speech


async def test_it_is_back_without_hands_once_the_backend_is(
    dark_house: House, model: ScriptedModel
) -> None:
    """Nothing is reloaded, and no minute has to pass: the next question is answered."""
    model.then = says("The water does not drain away.", "house")
    await dark_house.backend.start()
    try:
        turn = await dark_house.home.say(QUESTION, dark_house.pipelines["ours"])
        assert turn.speech == "The water does not drain away."
    finally:
        await dark_house.backend.stop()
