"""A question travels through Home Assistant's pipeline to the backend, and its answer comes back as speech."""

from __future__ import annotations

import pytest

from .conftest import House
from .home_assistant import Turn
from .model import ScriptedModel

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "what does error E24 on the dishwasher mean"
GOOD = ("Error E24 means that the water does not drain away.", "Straighten the drain hose.")
INVENTED = "It happens 73 times a day."


def said(turn: Turn) -> list[str]:
    """Return what was streamed, delta by delta."""
    return [delta["content"] for delta in turn.deltas if "content" in delta]


async def spoken_by_the_backend(house: House, question: str) -> str:
    """Return `speech` of the `done` event of the same question, asked of the backend itself."""
    events = await house.backend.streamed(question, answer_style="voice", language="en")
    name, done = events[-1]
    assert name == "done"
    speech: str = done["speech"]
    return speech


@pytest.mark.parametrize("pipeline", ["ours", "ours, local first"])
async def test_an_answer_streams_sentence_by_sentence(
    house: House, model: ScriptedModel, pipeline: str
) -> None:
    """The first delta has its role, or the speaker would stay silent until the end."""
    model.will_say(" ".join(GOOD))
    await house.backend.forget()
    turn = await house.home.say(QUESTION, house.pipelines[pipeline])
    assert turn.deltas[0]["role"] == "assistant"
    assert [delta.strip() for delta in said(turn)] == list(GOOD)
    assert "".join(said(turn)) == turn.content == turn.speech
    assert turn.speech == await spoken_by_the_backend(house, QUESTION)
    assert not turn.end["intent_output"]["continue_conversation"]

    again = await house.home.say(QUESTION, house.pipelines[pipeline])
    assert said(again) == said(turn)


async def test_what_left_before_a_gate_ended_the_stream_is_all_there_is(
    house: House, model: ScriptedModel
) -> None:
    """A number that no document has isn't said, and what was said is not taken back."""
    model.will_say(f"{GOOD[0]} {INVENTED} {GOOD[1]}")
    question = "what is error E24 of the dishwasher"
    turn = await house.home.say(question, house.pipelines["ours"])
    assert turn.deltas[0]["role"] == "assistant"
    assert "".join(said(turn)) == turn.content == turn.speech == GOOD[0]
    assert turn.speech == await spoken_by_the_backend(house, question)


async def test_without_a_usable_answer_the_documents_are_quoted(
    house: House, model: ScriptedModel
) -> None:
    """The person who asked always hears something that is true."""
    model.will_say(INVENTED)
    question = "what about error E24 at the dishwasher"
    turn = await house.home.say(question, house.pipelines["ours"])
    assert "E24" in turn.speech
    assert "73" not in turn.speech
    assert "".join(said(turn)) == turn.content == turn.speech
    assert turn.speech == await spoken_by_the_backend(house, question)


async def test_the_default_agent_looks_things_up_by_sentence(
    house: House, model: ScriptedModel
) -> None:
    """Nobody has to change the pipeline for that."""
    model.will_say("The boiler pressure should be between 1.2 and 1.5 bar.")
    turn = await house.home.say("look up the boiler pressure", house.pipelines["default agent"])
    assert turn.speech.startswith("The boiler pressure should be between 1.2 and 1.5 bar")


async def test_a_follow_up_knows_what_was_spoken_of(house: House, model: ScriptedModel) -> None:
    """The conversation goes along with the question."""
    model.will_say(GOOD[0])
    first = await house.home.say(QUESTION, house.pipelines["ours"])
    await house.home.say(
        "and what about E15", house.pipelines["ours"], conversation_id=first.conversation_id
    )
    assert "leak" in model.calls[-1].prompt


async def test_a_question_in_german_is_answered_from_german_documents(
    house: House, model: ScriptedModel
) -> None:
    """The request's language reaches the model."""
    model.will_say("Das Wasser läuft nicht ab.")
    turn = await house.home.say(
        "was bedeutet Fehler E24 am Geschirrspüler", house.pipelines["ours, German"]
    )
    assert turn.speech == "Das Wasser läuft nicht ab."
    assert "German" in model.calls[-1].prompt
