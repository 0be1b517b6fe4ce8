"""A question travels through Home Assistant's pipeline to the backend, and its answer comes back as speech."""

from __future__ import annotations

import re

import pytest

from tests.scripted_model import ScriptedModel, says

from .conftest import House
from .home_assistant import INTEGRATION, Turn

pytestmark = pytest.mark.asyncio(loop_scope="package")

QUESTION = "what does error E24 on the dishwasher mean"
GOOD = ("Error E24 means that the water does not drain away.", "Straighten the drain hose.")
INVENTED = "It happens 73 times a day."


def said(turn: Turn) -> list[str]:
    """Return what was streamed, delta by delta."""
    return [delta["content"] for delta in turn.deltas if "content" in delta]


def prompt(model: ScriptedModel) -> str:
    """Return all that the model was told last."""
    return "\n".join(message["content"] for message in model.requests[-1]["messages"])


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
    model.then = says(" ".join(GOOD), "house")
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
    model.then = says(f"{GOOD[0]} {INVENTED} {GOOD[1]}", "house")
    question = "what is error E24 of the dishwasher"
    turn = await house.home.say(question, house.pipelines["ours"])
    assert turn.deltas[0]["role"] == "assistant"
    assert "".join(said(turn)) == turn.content == turn.speech == GOOD[0]
    assert turn.speech == await spoken_by_the_backend(house, question)


async def test_without_a_usable_answer_the_documents_are_quoted(
    house: House, model: ScriptedModel
) -> None:
    """The person who asked always hears something that is true."""
    model.then = says(INVENTED, "house")
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
    model.then = says("The boiler pressure should be between 1.2 and 1.5 bar.", "house")
    turn = await house.home.say("look up the boiler pressure", house.pipelines["default agent"])
    assert turn.speech.startswith("The boiler pressure should be between 1.2 and 1.5 bar")


async def test_a_follow_up_knows_what_was_spoken_of(house: House, model: ScriptedModel) -> None:
    """The conversation goes along with the question."""
    model.then = says(GOOD[0], "house")
    first = await house.home.say(QUESTION, house.pipelines["ours"])
    await house.home.say(
        "and what about E15", house.pipelines["ours"], conversation_id=first.conversation_id
    )
    assert "leak" in prompt(model)


async def test_a_question_in_german_is_answered_from_german_documents(
    house: House, model: ScriptedModel
) -> None:
    """The request's language reaches the model."""
    model.then = says("Das Wasser läuft nicht ab.", "house")
    turn = await house.home.say(
        "was bedeutet Fehler E24 am Geschirrspüler", house.pipelines["ours, German"]
    )
    assert turn.speech == "Das Wasser läuft nicht ab."
    assert "German" in prompt(model)


@pytest.mark.parametrize("pipeline", ["ours", "ours, local first"])
async def test_a_question_about_a_person_is_not_taken_for_one_about_the_house(
    house: House, pipeline: str
) -> None:
    """Home Assistant's own sentence for "who is at home" would answer "nobody"."""
    turn = await house.home.say("who is Marie Curie", house.pipelines[pipeline])
    assert turn.intents == []
    assert turn.speech == await spoken_by_the_backend(house, "who is Marie Curie")


async def test_home_assistants_log_holds_no_complaint_about_us(house: House) -> None:
    """Neither a fault of ours, nor a call that Home Assistant doesn't want to see from an integration."""
    await house.home.say(QUESTION, house.pipelines["ours"])
    assert house.home.process is not None
    complaints = house.home.process.matching(r"(WARNING|ERROR|CRITICAL).*mnemolis")
    expected = r"has not been tested by Home Assistant|Error fetching Mnemolis data"
    assert [line for line in complaints if not re.search(expected, line)] == []
    assert house.home.process.matching(r"custom_components/mnemolis_intents/\w+\.py") == []


async def test_an_automation_asks_by_an_action(house: House, model: ScriptedModel) -> None:
    """The action gives the reply back, for a notification or a display."""
    model.then = says("Rinse aid lasts about 70 runs.", "house")
    reply = await house.home.rest(
        "POST",
        f"/api/services/{INTEGRATION.name}/ask?return_response",
        {"query": "how many runs does the rinse aid last"},
    )
    assert reply["service_response"]["speech"] == "Rinse aid lasts about 70 runs."
