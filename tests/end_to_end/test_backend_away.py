"""What is said while the backend can't be reached, and how it comes back."""

from __future__ import annotations

import pytest

from .conftest import House
from .model import ScriptedModel

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "what does error E24 on the dishwasher mean"


@pytest.mark.parametrize(
    ("pipeline", "question", "words"),
    [
        ("ours", QUESTION, "reach"),
        ("ours, local first", QUESTION, "reach"),
        ("ours, German", "was bedeutet Fehler E24 am Geschirrspüler", "erreich"),
    ],
)
async def test_a_question_is_answered_in_its_language_that_nobody_can_be_reached(
    house: House, pipeline: str, question: str, words: str
) -> None:
    """A sentence, never an error and never silence."""
    async with house.backend_away():
        turn = await house.home.say(question, house.pipelines[pipeline])
    assert turn.error is None
    assert words in turn.speech
    assert turn.content == turn.speech


async def test_it_is_back_without_hands_once_the_backend_is(
    house: House, model: ScriptedModel
) -> None:
    """Also when Home Assistant was started while the backend was away."""
    model.will_say("The water does not drain away.")
    pipeline = house.pipelines["ours"]
    async with house.backend_away():
        await house.home.stop()
        await house.home.start()
        assert "reach" in (await house.home.say(QUESTION, pipeline)).speech
    # No wait and no hand in between: less than the minute that is promised.
    assert (await house.home.say(QUESTION, pipeline)).speech == "The water does not drain away."
