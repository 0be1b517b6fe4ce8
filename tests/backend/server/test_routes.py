"""The addresses beside `/search`, and how a question ends at the door."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
import logging
from typing import Any

import pytest

from backend.server.routes import ROUTES
from backend.store.database import StoreError
from tests.backend.server.conftest import Start
from tests.backend.server.scripted import SERVED, FakeLog, ScriptedAsk


async def test_sources_tell_tag_label_and_state(start: Start) -> None:
    client = await start()
    body = await (await client.get("/sources")).json()
    assert body == {
        "sources": [
            {
                "tag": "house",
                "label": "House documents",
                "configured": True,
                "detail": "",
                "documents": 9,
            },
            {
                "tag": "kiwix",
                "label": "Encyclopedia",
                "configured": False,
                "detail": "no ZIM file in library",
                "setting": "ZIM_DIR",
            },
        ]
    }


@pytest.mark.parametrize("limit", ["1", "1000", "007"])
async def test_a_limit_in_bounds_reaches_the_log(limit: str, start: Start) -> None:
    client = await start()
    response = await client.get("/logs", params={"limit": limit})
    assert response.status == 200
    assert await response.json() == {"logs": [{"query": "what does E24 mean", "success": True}]}


@pytest.mark.parametrize("limit", ["0", "1001", "-5", "99999999999", "", "ten", "1.5", "٣", " 5"])
async def test_a_limit_out_of_bounds_is_refused(limit: str, start: Start) -> None:
    client = await start()
    response = await client.get("/logs", params={"limit": limit})
    assert response.status == 422
    assert (await response.json())["allowed"] == ["1..1000"]


async def test_changes_are_told_for_the_hours_asked_for(start: Start) -> None:
    client = await start()
    body = await (await client.get("/changes", params={"hours": "48"})).json()
    assert body["hours"] == 48
    (change,) = body["changes"]
    assert (change["name"], change["before"], change["after"]) == ("Front door", "closed", "open")
    since, at = (datetime.fromisoformat(change[key]) for key in ("since", "at"))
    assert at - since == timedelta(hours=48)
    looked = await client.post("/snapshots/trigger")
    assert await looked.json() == {"status": "ok", "changes": {"ha": 1}}


@pytest.mark.parametrize("hours", ["0", "169", "-5", "99999999999", "", "1.5"])
async def test_hours_out_of_bounds_are_refused(hours: str, start: Start) -> None:
    client = await start()
    response = await client.get("/changes", params={"hours": hours})
    assert response.status == 422
    assert (await response.json())["allowed"] == ["1..168"]


async def test_logs_and_caches_can_be_counted_and_cleared(start: Start) -> None:
    client = await start()
    assert await (await client.get("/logs/stats")).json() == {"total": 3}
    assert await (await client.get("/cache")).json() == {"results": 3, "answers": 1}
    for path, removed in (("/logs/clear", 3), ("/cache/clear", 4), ("/cache/clear", 0)):
        response = await client.post(path)
        assert await response.json() == {"status": "ok", "entries_removed": removed}


async def test_a_store_that_fails_says_why(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(self: FakeLog) -> int:
        raise StoreError("data/mnemolis.sqlite: the disk is full; make room")

    monkeypatch.setattr(FakeLog, "clear", fail)
    client = await start()
    response = await client.post("/logs/clear")
    assert response.status == 500
    assert "the disk is full" in (await response.json())["message"]


async def test_a_fault_in_a_handler_tells_the_log_and_not_the_client(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(self: FakeLog) -> dict[str, Any]:
        raise RuntimeError("the inside of the server")

    monkeypatch.setattr(FakeLog, "stats", fail)
    client = await start()
    response = await client.get("/logs/stats")
    assert response.status == 500
    text = await response.text()
    assert response.headers["X-Request-ID"] in text
    assert "inside" not in text
    assert "the inside of the server" in caplog.text


async def test_the_root_says_what_this_is(start: Start) -> None:
    client = await start()
    body = await (await client.get("/")).json()
    assert body["name"] == "mnemolis"
    assert body["ask"] == "POST /search"


async def test_the_openapi_document_describes_every_address(start: Start) -> None:
    client = await start()
    document = await (await client.get("/openapi.json")).json()
    for route in ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        assert operation["summary"]
        assert {"200", "401"} <= operation["responses"].keys()
    search = document["paths"]["/search"]["post"]
    assert set(search["responses"]) == {"200", "400", "401", "413", "415", "422", "429"}
    assert set(search["responses"]["200"]["content"]) == {"application/json", "text/event-stream"}

    schemas = document["components"]["schemas"]
    assert "speech" in schemas["Reply"]["required"]
    assert schemas["SearchRequest"]["properties"]["query"]["maxLength"] == 2000
    references: list[str] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            references.extend(value for key, value in node.items() if key == "$ref")
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(document)
    assert {ref.removeprefix("#/components/schemas/") for ref in references} <= schemas.keys()


async def test_no_reply_is_kept_or_guessed_at_by_a_browser(start: Start) -> None:
    client = await start()
    for path in ("/health", "/nothing"):
        response = await client.get(path)
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Content-Type-Options"] == "nosniff"


async def test_a_fault_while_answering_is_a_reply_with_a_sentence(
    start: Start, ask: ScriptedAsk, caplog: pytest.LogCaptureFixture
) -> None:
    ask.items = [RuntimeError("the spine broke")]
    client = await start()
    response = await client.post("/search", json={"query": "wie spät", "language": "de"})
    assert response.status == 200
    body = await response.json()
    assert (body["success"], body["error"], body["language"]) == (False, "internal", "de")
    assert body["request_id"] == response.headers["X-Request-ID"]
    assert body["speech"]
    assert "spine" not in str(body)
    assert "the spine broke" in caplog.text


def hangs(swallows: bool = False) -> Callable[[], Any]:
    """Return a step that doesn't end by itself, and maybe not when it is told to."""

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if not swallows:
                raise
            await asyncio.sleep(0.5)

    return hang


@pytest.mark.parametrize("swallows", [False, True])
async def test_a_step_that_hangs_is_left_behind_after_the_deadline(
    swallows: bool, start: Start, ask: ScriptedAsk
) -> None:
    ask.items = [hangs(swallows), SERVED]
    client = await start(voice_timeout_seconds=0.05)
    response = await client.post(
        "/search", json={"query": "qué hora", "language": "es", "answer_style": "voice"}
    )
    # Nobody waits for a step that doesn't let itself be stopped.
    assert ask.closed.is_set() is not swallows
    body = await response.json()
    assert (response.status, body["success"], body["error"]) == (200, False, "timeout")
    assert body["speech"]
    await ask.closed.wait()


async def test_a_cancellation_from_within_is_a_fault_not_a_lost_connection(
    start: Start, ask: ScriptedAsk
) -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    ask.items = [cancelled]
    client = await start()
    body = await (await client.post("/search", json={"query": "hello"})).json()
    assert body["error"] == "internal"


async def test_a_client_that_hangs_up_ends_the_question(start: Start, ask: ScriptedAsk) -> None:
    began = asyncio.Event()

    async def begin() -> None:
        began.set()

    ask.items = [begin, hangs(), SERVED]
    client = await start()
    asked = asyncio.create_task(client.post("/search", json={"query": "hello"}))
    await began.wait()
    asked.cancel()
    await ask.closed.wait()


async def test_a_question_is_logged_in_one_line_without_its_words(
    start: Start, ask: ScriptedAsk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    ask.items = [SERVED]
    client = await start(api_keys=["a-key"])
    body = {
        "query": "very private words",
        "states": [{"entity_id": "lock.door", "name": "Door", "state": "unlocked-state"}],
    }
    response = await client.post("/search", json=body, headers={"X-API-Key": "a-key"})
    assert response.status == 200
    lines = [record for record in caplog.records if record.name.startswith("backend")]
    (line,) = lines
    assert line.getMessage() == "answered"
    assert vars(line)["source"] == "house"
    assert vars(line)["elapsed_ms"] >= 0
    assert "private" not in str(vars(line))

    caplog.set_level(logging.DEBUG)
    await client.post("/search", json=body, headers={"X-API-Key": "a-key"})
    logged = "".join(str(vars(r)) for r in caplog.records if r.name.startswith("backend"))
    assert "very private words" in logged
    assert "unlocked-state" not in logged
    assert "a-key" not in logged


async def test_a_question_over_the_number_at_once_waits_for_nobody(
    start: Start, ask: ScriptedAsk
) -> None:
    free = asyncio.Event()
    began = asyncio.Event()

    async def begin() -> None:
        began.set()
        await free.wait()

    ask.items = [begin, SERVED]
    client = await start(searches_at_once=1)
    first = asyncio.create_task(client.post("/search", json={"query": "one"}))
    await began.wait()
    second = await client.post("/search", json={"query": "two"})
    assert (second.status, second.headers["Retry-After"]) == (429, "1")
    assert (await client.get("/health")).status == 200
    free.set()
    assert (await first).status == 200
    assert (await client.post("/search", json={"query": "three"})).status == 200
