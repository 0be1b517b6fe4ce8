"""The recorded examples are what the models allow and what the running server says."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel
import pytest

from backend.contract import ErrorBody, ErrorEvent, Health, Reply, SearchRequest, SentenceEvent
from backend.types import Sentence
from tests.backend.server.conftest import Start
from tests.backend.server.scripted import Item, ScriptedAsk
from tests.contract import Example, example, names

OLDER = {"older_broker", "health_older_broker"}
EVENTS: dict[str, type[BaseModel]] = {
    "retrieval": Reply,
    "sentence": SentenceEvent,
    "done": Reply,
    "error": ErrorEvent,
}


def _exactly(model: type[BaseModel], body: Any, **dump: Any) -> None:
    assert model.model_validate(body).model_dump(mode="json", **dump) == body


@pytest.mark.parametrize("name", sorted(set(names()) - OLDER))
def test_every_example_is_what_the_models_say(name: str) -> None:
    one = example(name)
    if one.stream is not None:
        for event, data in one.events:
            _exactly(EVENTS[event], data)
    elif one.status != 200:
        _exactly(ErrorBody, one.body, exclude_none=True)
    elif one.path == "/health":
        _exactly(Health, one.body, exclude_unset=True)
    else:
        _exactly(Reply, one.body)
    if one.path == "/search" and one.raw and one.status == 200:
        SearchRequest.model_validate_json(one.raw)


def _script(one: Example) -> list[Item]:
    """Return what the spine produces in the example."""
    if one.stream is None:
        return [Reply.model_validate(one.body)]
    items: list[Item] = []
    for event, data in one.events:
        if event == "sentence":
            items.append(Sentence(**data))
        elif event == "error":
            items.append(RuntimeError("the spine broke"))
        else:
            items.append(Reply.model_validate(data))
    return items


ANSWERED = sorted(
    name
    for name in set(names()) - OLDER
    if example(name).path == "/search" and example(name).status == 200
)


@pytest.mark.parametrize("name", ANSWERED)
async def test_the_server_answers_as_recorded(name: str, start: Start, ask: ScriptedAsk) -> None:
    one = example(name)
    ask.items = _script(one)
    client = await start(**one.settings)
    response = await client.request(one.method, one.path, data=one.raw, headers=one.headers)
    assert response.status == 200
    if one.stream is None:
        assert response.content_type == "application/json"
        assert await response.json() == one.body
    else:
        assert response.content_type == "text/event-stream"
        comments = re.compile(rb"^:[^\n]*\n\n", re.MULTILINE)
        recorded = comments.sub(b"", one.stream)
        said = await response.read()
        # What is said on a fault is a text of the languages' own.
        assert _unspoken(said) == _unspoken(recorded)


def _unspoken(stream: bytes) -> bytes:
    return re.sub(rb'(event: error\n.*"speech":")[^"]+', rb"\1", stream)


REFUSED = [name for name in names() if example(name).status >= 400]


@pytest.mark.parametrize("name", REFUSED)
async def test_the_server_refuses_as_recorded(name: str, start: Start, ask: ScriptedAsk) -> None:
    one = example(name)
    client = await start(searches_at_once=0 if one.status == 429 else 64, **one.settings)
    response = await client.request(one.method, one.path, data=one.raw, headers=one.headers)
    assert response.status == one.status
    assert await response.json() == one.body
    assert len(response.headers["X-Request-ID"]) == 32
    assert not ask.asked


@pytest.mark.parametrize("name", ["health_open", "health_with_key"])
async def test_health_is_as_recorded(name: str, start: Start) -> None:
    one = example(name)
    client = await start(**one.settings)
    response = await client.request(one.method, one.path, headers=one.headers)
    assert response.status == 200
    body = await response.json()
    assert {key: value for key, value in body.items() if key in one.body} == one.body
    assert not [key for key in body.keys() - one.body.keys() if body[key] is not None]


def test_joined_sentences_are_what_the_done_event_speaks() -> None:
    for name in names("stream_"):
        events = example(name).events
        said = "".join(data["speech"] for event, data in events if event == "sentence")
        if said and events[-1][0] == "done":
            assert said == events[-1][1]["speech"]
