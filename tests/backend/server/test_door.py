"""What comes through the door as a question, and what is turned away."""

from __future__ import annotations

import asyncio
from datetime import timedelta
import json
import time
from typing import Any

from hypothesis import given, settings, strategies as st
from pydantic import ValidationError
import pytest

from backend.contract import SearchRequest
from backend.server.errors import Refusal, invalid
from backend.types import HomeState, Place, Style, Turn
from tests.backend.server.conftest import Start
from tests.backend.server.scripted import SERVED, ScriptedAsk

JSON = {"Content-Type": "application/json"}


async def test_what_a_request_names_is_what_the_question_holds(
    start: Start, ask: ScriptedAsk
) -> None:
    ask.items = [SERVED]
    client = await start()
    before = time.monotonic()
    response = await client.post(
        "/search",
        json={
            "query": "  will it rain in\u0000Lyon ",
            "source": "fusion",
            "fusion_sources": ["house", "kiwix"],
            "explain": True,
            "synthesize": True,
            "answer_style": "voice",
            "language": "fr-CA",
            "units": "us",
            "time_zone": "America/Toronto",
            "place": {"name": "Null Island", "latitude": 0, "longitude": 0.0},
            "history": [{"role": "user", "text": "hello"}],
            "conversation_id": "c1",
            "satellite": "kitchen",
            "area": "Kitchen",
            "states": [{"entity_id": "lock.door", "name": "Door", "state": "locked"}],
            "accepts": ["handback", "something newer"],
            "something_newer": {"deep": []},
        },
        headers={"X-Request-ID": "from-the-client-1"},
    )
    assert response.status == 200
    assert response.headers["X-Request-ID"] == "from-the-client-1"
    assert ask.explained == [True]
    (question,) = ask.asked
    assert question.text == "will it rain in Lyon"
    assert question.language == "fr"
    assert question.source == "fusion"
    assert question.fusion_sources == ("house", "kiwix")
    assert question.style is Style.VOICE
    assert question.synthesize
    assert question.units == "us"
    assert question.time_zone == "America/Toronto"
    assert question.now.utcoffset() in (timedelta(hours=-5), timedelta(hours=-4))
    assert question.place == Place("Null Island", 0.0, 0.0)
    assert question.history == (Turn("user", "hello"),)
    assert (question.conversation_id, question.satellite, question.area) == (
        "c1",
        "kitchen",
        "Kitchen",
    )
    assert question.states == (HomeState("lock.door", "Door", "locked"),)
    assert question.accepts_handback
    assert question.request_id == "from-the-client-1"
    assert before <= question.received <= time.monotonic()
    assert question.deadline - question.received == pytest.approx(8)


async def test_what_a_request_leaves_out_is_the_house_s(start: Start, ask: ScriptedAsk) -> None:
    ask.items = [SERVED]
    client = await start(local_timezone="Asia/Tokyo", language="pl-PL", request_timeout_seconds=5)
    response = await client.post("/search", json={"query": "jaki jest kod"})
    assert response.status == 200
    (question,) = ask.asked
    assert question.language == "pl"
    assert question.now.utcoffset() == timedelta(hours=9)
    assert (question.units, question.time_zone, question.source) == (
        "metric",
        "Asia/Tokyo",
        "auto",
    )
    assert question.style is Style.BRIEF
    assert question.deadline - question.received == pytest.approx(5)
    assert not question.synthesize
    assert not question.accepts_handback
    assert ask.explained == [False]


@pytest.mark.parametrize(
    "headers",
    [
        JSON,
        {"Content-Type": "application/json; charset=utf-8"},
        {"Content-Type": "application/ld+json"},
        None,
    ],
)
async def test_json_is_taken_under_its_names_and_without_one(
    headers: dict[str, str] | None, start: Start, ask: ScriptedAsk
) -> None:
    ask.items = [SERVED]
    client = await start()
    response = await client.post(
        "/search",
        data=b'{"query": "hello"}',
        headers=headers,
        skip_auto_headers=() if headers else ("Content-Type",),
    )
    assert response.status == 200


@pytest.mark.parametrize(
    "request_id", ["", "short", "with space and more", "x" * 65, "новый-номер"]
)
async def test_an_unfit_request_id_is_replaced(request_id: str, start: Start) -> None:
    client = await start()
    response = await client.get("/health", headers={"X-Request-ID": request_id})
    assert len(response.headers["X-Request-ID"]) == 32
    assert response.headers["X-Request-ID"].isalnum()


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b"", 400, None),
        (b"\xff\xfe", 400, None),
        (b"[]", 422, None),
        (b"null", 422, None),
        (b'"question"', 422, None),
        (b"{}", 422, "query"),
        (b'{"query": null}', 422, "query"),
        (b'{"query": 5}', 422, "query"),
        (b'{"query": ["a"]}', 422, "query"),
        (b'{"query": "\\u0000\\u0001"}', 422, "query"),
        (b'{"query": "\\ud800"}', 422, None),
        (b'{"query": "a\\udc00b"}', 422, None),
        (b'{"query": "a", "source": ""}', 422, "source"),
        (b'{"query": "a", "source": "HOUSE"}', 422, "source"),
        (b'{"query": "a", "fusion_sources": ["house", "news"]}', 422, "fusion_sources"),
        (b'{"query": "a", "answer_style": null}', 422, "answer_style"),
        (b'{"query": "a", "language": "english!"}', 422, "language"),
        (b'{"query": "a", "language": "a"}', 422, "language"),
        (b'{"query": "a", "units": "imperial"}', 422, "units"),
        (b'{"query": "a", "time_zone": "../../etc/passwd"}', 422, "time_zone"),
        (b'{"query": "a", "time_zone": "Europe"}', 422, "time_zone"),
        (b'{"query": "a", "time_zone": "a\\u0000b"}', 422, "time_zone"),
        (
            b'{"query": "a", "place": {"name": "x", "latitude": NaN, "longitude": 0}}',
            422,
            "place.latitude",
        ),
        (
            b'{"query": "a", "place": {"name": "x", "latitude": 1e999, "longitude": 0}}',
            422,
            "place.latitude",
        ),
        (
            b'{"query": "a", "place": {"name": "x", "latitude": 91, "longitude": 0}}',
            422,
            "place.latitude",
        ),
        (b'{"query": "a", "history": [{"role": "system", "text": "x"}]}', 422, "history.0.role"),
        (b'{"query": "a", "synthesize": 1}', 422, "synthesize"),
        (b'{"query": "a", "explain": ' + b"9" * 4_000 + b"}", 422, "explain"),
    ],
    ids=lambda value: repr(value)[:60],
)
async def test_what_is_wrong_with_a_body_is_said(
    body: bytes, status: int, field: str | None, start: Start, ask: ScriptedAsk
) -> None:
    client = await start()
    response = await client.post("/search", data=body, headers=JSON)
    said = await response.json()
    assert response.status == status, said
    assert said.get("field") == field
    assert not ask.asked
    ask.items = [SERVED]
    assert (await client.post("/search", json={"query": "hello"})).status == 200


@pytest.mark.parametrize("closed", [True, False])
async def test_a_bottomless_body_is_refused(closed: bool, start: Start) -> None:
    client = await start()
    body = b'{"query": "a", "more": ' + b"[" * 20_000 + (b"]" * 20_000 + b"}") * closed
    response = await client.post("/search", data=body, headers=JSON)
    assert response.status in (400, 422)
    assert "recursion" in (await response.json())["message"]


async def test_eleven_turns_are_over_the_limit(start: Start) -> None:
    client = await start()
    body = {"query": "a", "history": [{"role": "user", "text": "x"}] * 11}
    response = await client.post("/search", json=body)
    assert response.status == 422
    said = await response.json()
    assert said["field"] == "history"
    assert "10" in said["message"]


async def test_a_body_of_the_limit_is_read_and_one_byte_more_is_not(
    start: Start, ask: ScriptedAsk
) -> None:
    ask.items = [SERVED]
    client = await start()
    shell = b'{"query": "a", "padding": ""}'
    for size, status in ((65_536, 200), (65_537, 413)):
        body = shell.replace(b'""', b'"' + b"x" * (size - len(shell)) + b'"')
        response = await client.post("/search", data=body, headers=JSON)
        assert response.status == status


async def test_of_a_field_given_twice_the_last_one_counts(start: Start, ask: ScriptedAsk) -> None:
    ask.items = [SERVED]
    client = await start()
    body = b'{"query": "first", "query": "second", "extra": NaN, "big": 1e400}'
    assert (await client.post("/search", data=body, headers=JSON)).status == 200
    assert ask.asked[0].text == "second"


async def test_a_body_that_never_ends_is_given_up(start: Start) -> None:
    client = await start(request_timeout_seconds=0.05)
    reader, writer = await asyncio.open_connection(client.host, client.port)
    try:
        writer.write(
            b"POST /search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b'Content-Length: 100\r\n\r\n{"query'
        )
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
    finally:
        writer.close()
        await writer.wait_closed()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=5,
    ),
    st.sampled_from(sorted(SearchRequest.model_fields)),
)
@settings(max_examples=200, deadline=None)
def test_any_value_in_any_field_is_taken_or_refused_with_words(value: Any, field: str) -> None:
    body = json.dumps({"query": "hello", field: value})
    try:
        SearchRequest.model_validate_json(body)
    except ValidationError as error:
        refusal = invalid(error, body.encode())
        assert isinstance(refusal, Refusal)
        assert refusal.body.message.endswith(".")
