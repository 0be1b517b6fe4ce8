"""The agent, through real pipelines."""

from __future__ import annotations

from tests.contract import example

from .broker import Broker
from .house import House


async def test_a_question_is_answered_in_whole_sentences(
    house: House, agent: str, broker: Broker
) -> None:
    heard = await house.say(
        "what does error E24 on the dishwasher mean", await house.pipeline(agent)
    )
    events = example("stream_served").events
    assert [delta["content"] for delta in heard.deltas] == [
        data["speech"] for event, data in events if event == "sentence"
    ]
    assert heard.deltas[0]["role"] == "assistant"
    assert heard.streamed == heard.speech == events[-1][1]["speech"]
