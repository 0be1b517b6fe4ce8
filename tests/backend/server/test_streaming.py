"""A reply as it grows: what follows what, and what happens when it can't go on."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiohttp import ClientResponse
from hypothesis import given, strategies as st
import pytest

from backend.server import streaming
from backend.types import Sentence
from tests.backend.server.conftest import Start
from tests.backend.server.scripted import SERVED, ScriptedAsk
from tests.backend.server.test_routes import hangs

RETRIEVED = SERVED.model_copy(
    update={"answer": None, "answer_sources": [], "synthesized": False, "speech": "Quoted."}
)
SENTENCES = (Sentence(0, "One is 1.", "One is 1."), Sentence(1, " Two is 2.", " Two is 2."))
STREAM = {"Accept": "text/event-stream"}
VOICE = {"query": "hello", "answer_style": "voice", "language": "nl"}


async def events(response: ClientResponse) -> list[tuple[str, dict[str, Any]]]:
    """Return the events of the whole stream."""
    found = []
    for block in (await response.text()).split("\n\n"):
        if block.startswith("event: "):
            event, data = block.split("\n")
            found.append((event[7:], json.loads(data[6:])))
    return found


async def event(response: ClientResponse) -> str:
    """Return the next event or comment of a stream as soon as it is there."""
    return (await response.content.readuntil(b"\n\n")).decode()


async def test_each_item_leaves_as_soon_as_it_is_there(start: Start, ask: ScriptedAsk) -> None:
    steps = [asyncio.Event() for _ in range(3)]
    ask.items = [RETRIEVED, steps[0].wait, SENTENCES[0], steps[1].wait, SENTENCES[1], steps[2].wait]
    ask.items.append(SERVED)
    client = await start()
    response = await client.post("/search", json=VOICE, headers=STREAM)
    assert response.headers["Cache-Control"] == "no-cache"
    assert response.headers["X-Accel-Buffering"] == "no"
    assert response.headers["X-Request-ID"] == ask.asked[0].request_id
    assert (await event(response)).startswith("event: retrieval\n")
    steps[0].set()
    assert (await event(response)).startswith("event: sentence\n")
    steps[1].set()
    assert '" Two is 2."' in await event(response)
    steps[2].set()
    assert (await event(response)).startswith("event: done\n")
    assert await response.content.read() == b""


@pytest.mark.parametrize(
    ("accept", "streams"),
    [
        ("text/event-stream", True),
        ("TEXT/EVENT-STREAM; charset=utf-8", True),
        ("text/event-stream, */*", True),
        ("text/event-stream;q=0.9, application/json;q=0.5", True),
        ("text/event-stream, application/json", True),
        ("application/json, text/event-stream", False),
        ("application/json, text/event-stream;q=0.9", False),
        ("text/event-stream;q=0", False),
        ("text/event-stream;q=x", False),
        ("text/event-stream;q=nan", False),
        ("*/*", False),
        ("text/*", False),
        ("", False),
    ],
)
def test_a_stream_is_for_those_who_prefer_it(accept: str, streams: bool) -> None:
    assert streaming.wants_stream(accept) is streams


@given(st.text())
def test_any_accept_header_is_decided(accept: str) -> None:
    assert streaming.wants_stream(accept) in (True, False)


async def test_a_stream_with_nothing_to_say_sends_comments(
    start: Start, ask: ScriptedAsk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "COMMENT_EVERY_SECONDS", 0.02)
    more = asyncio.Event()
    ask.items = [RETRIEVED, more.wait, SERVED]
    client = await start()
    response = await client.post("/search", json=VOICE, headers=STREAM)
    assert (await event(response)).startswith("event: retrieval\n")
    for _ in range(3):
        assert await event(response) == ": still here\n\n"
    more.set()
    text = await response.text()
    assert "event: done\n" in text


async def test_a_fault_before_anything_was_found_is_an_event(
    start: Start, ask: ScriptedAsk
) -> None:
    ask.items = [RuntimeError("the spine broke")]
    client = await start()
    response = await client.post("/search", json=VOICE, headers=STREAM)
    assert response.status == 200
    ((name, data),) = await events(response)
    assert (name, data["error"]) == ("error", "internal")
    assert data["speech"]
    assert "spine" not in str(data)


async def test_a_fault_after_a_sentence_is_the_last_event(start: Start, ask: ScriptedAsk) -> None:
    ask.items = [RETRIEVED, SENTENCES[0], RuntimeError("the spine broke")]
    client = await start()
    response = await client.post("/search", json=VOICE, headers=STREAM)
    assert [name for name, _ in await events(response)] == ["retrieval", "sentence", "error"]


async def test_a_step_that_hangs_before_anything_was_found_ends_in_a_sentence(
    start: Start, ask: ScriptedAsk
) -> None:
    ask.items = [hangs(swallows=True)]
    client = await start(voice_timeout_seconds=0.05)
    response = await client.post("/search", json=VOICE, headers=STREAM)
    ((name, data),) = await events(response)
    assert (name, data["error"], data["success"]) == ("done", "timeout", False)
    assert data["speech"]
    await ask.closed.wait()


async def test_a_step_that_hangs_after_the_retrieval_leaves_what_was_found(
    start: Start, ask: ScriptedAsk
) -> None:
    ask.items = [RETRIEVED, hangs()]
    client = await start(voice_timeout_seconds=0.05)
    response = await client.post("/search", json=VOICE, headers=STREAM)
    (retrieval, data), (done, whole) = await events(response)
    assert (retrieval, done) == ("retrieval", "done")
    assert whole == data
    await ask.closed.wait()


async def test_a_step_that_hangs_after_a_sentence_leaves_what_was_said(
    start: Start, ask: ScriptedAsk
) -> None:
    ask.items = [RETRIEVED, *SENTENCES, hangs()]
    client = await start(voice_timeout_seconds=0.05)
    response = await client.post("/search", json=VOICE, headers=STREAM)
    name, whole = (await events(response))[-1]
    assert name == "done"
    assert whole["answer"] == "One is 1. Two is 2. (house)"
    assert whole["speech"] == "One is 1. Two is 2."
    assert whole["truncated"]
    assert whole["result"] == RETRIEVED.result
    await ask.closed.wait()


async def test_a_client_that_hangs_up_ends_the_question(start: Start, ask: ScriptedAsk) -> None:
    ask.items = [RETRIEVED, hangs(), SERVED]
    client = await start()
    response = await client.post("/search", json=VOICE, headers=STREAM)
    assert (await event(response)).startswith("event: retrieval\n")
    response.close()
    await ask.closed.wait()


async def test_a_wrong_request_is_refused_before_the_stream(start: Start) -> None:
    client = await start()
    response = await client.post("/search", json={"query": ""}, headers=STREAM)
    assert response.status == 422
    assert (await response.json())["field"] == "query"
