"""The server over its real parts: documents, store, a model that says what a test has it say."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
import json
import os
from pathlib import Path
import signal
import sys
from typing import Any

import aiohttp
from aiohttp.test_utils import TestClient, TestServer
import pytest

from backend.bootstrap import build, create_server
from backend.contract import Health, Reply
from backend.settings import Settings
from tests.backend.server.test_streaming import events
from tests.contract import example
from tests.scripted_model import MODEL, Say, ScriptedModel, says

ROOT = Path(__file__).parents[3]
DISHWASHER = """# Dishwasher

## Error codes

Error E24 means that the dishwasher can't pump out the water: the drain filter or the drain hose is blocked. Switch the
dishwasher off, take out the lower basket and rinse the filter under warm water. Check that the drain hose is not
kinked behind the cabinet. The filter is cleaned every 14 days.
"""
E24 = {"query": "what does error E24 on the dishwasher mean", "language": "en-GB"}
VOICE = {**E24, "synthesize": True, "answer_style": "voice"}
STREAM = {"Accept": "text/event-stream"}
ANSWER = "The drain filter or the drain hose is blocked. The filter is cleaned every 14 days."

Client = TestClient[Any, Any]


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as scripted:
        yield scripted


@pytest.fixture
def values(tmp_path: Path, model: ScriptedModel) -> dict[str, Any]:
    """Return the settings of the server."""
    library = tmp_path / "library"
    library.mkdir()
    (library / "dishwasher.md").write_text(DISHWASHER, "utf-8")
    return {
        "data_dir": str(tmp_path / "data"),
        "library_dir": str(library),
        "llm_api_type": "ollama",
        "llm_url": model.url,
        "llm_model": MODEL,
    }


@pytest.fixture
async def client(values: dict[str, Any]) -> AsyncIterator[Client]:
    settings = await asyncio.to_thread(Settings.model_validate, values)
    async with (
        build(settings) as backend,
        TestClient(TestServer(create_server(backend))) as client,
    ):
        await backend.models.ready()
        yield client


async def post(client: Client, body: dict[str, Any]) -> dict[str, Any]:
    response = await client.post("/search", json=body)
    assert response.status == 200
    reply = await response.json()
    assert isinstance(reply, dict)
    return reply


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("served", VOICE),
        ("not_asked_to_compose", E24),
        ("honest_miss", VOICE),
        ("nothing_found", {**VOICE, "query": "who won the village chess cup in 1931"}),
        ("not_configured", {**VOICE, "source": "kiwix"}),
        ("handback", {**VOICE, "query": "turn on the kitchen light", "accepts": ["handback"]}),
    ],
)
async def test_a_reply_has_the_shape_of_its_recorded_example(
    name: str, request_: dict[str, Any], client: Client, model: ScriptedModel
) -> None:
    model.script(says("NOT_IN_SOURCES") if name == "honest_miss" else says(ANSWER, "house"))
    reply = await post(client, request_)
    recorded = example(name).body
    assert reply.keys() == recorded.keys()
    for key in ("success", "handback", "synthesized", "truncated", "error", "source_used"):
        if (key, name) != ("source_used", "nothing_found"):
            assert reply[key] == recorded[key], key
    assert (reply["answer"] is None) == (recorded["answer"] is None)
    assert bool(reply["speech"]) == bool(recorded["speech"])
    assert bool(reply["citations"]) == bool(recorded["citations"])
    if not reply["success"]:
        assert reply["result"] == recorded["result"]


async def test_a_stream_and_a_whole_reply_say_the_same(
    client: Client, model: ScriptedModel
) -> None:
    model.script(says(ANSWER, "house"))
    response = await client.post("/search", json=VOICE, headers=STREAM)
    found = await events(response)
    assert [name for name, _ in found] == ["retrieval", "sentence", "sentence", "done"]
    retrieval, done = found[0][1], found[-1][1]
    assert retrieval["answer"] is None
    assert retrieval["speech"]
    assert done["answer"] == f"{ANSWER} (house)"
    assert done["result"] == retrieval["result"]
    assert "".join(data["speech"] for name, data in found if name == "sentence") == done["speech"]

    whole = await post(client, VOICE)
    ignored = {"request_id", "cached", "explanation"}
    assert {k: v for k, v in whole.items() if k not in ignored} == {
        k: v for k, v in done.items() if k not in ignored
    }
    assert model.calls == 1


async def test_a_gate_ends_a_stream_as_recorded(client: Client, model: ScriptedModel) -> None:
    model.script(says(ANSWER.replace("14", "45"), "house"))
    response = await client.post("/search", json={**VOICE, "explain": True}, headers=STREAM)
    found = await events(response)
    assert [name for name, _ in found] == [
        name for name, _ in example("stream_ended_by_gate").events
    ]
    done = found[-1][1]
    assert done["truncated"]
    assert done["speech"] == found[1][1]["speech"]
    (rejected,) = [e for e in done["explanation"] if e["event"] == "synthesis_rejected"]
    assert (rejected["gate"], rejected["kept_sentences"]) == ("numbers", 1)


async def test_a_handed_back_stream_is_one_event(client: Client) -> None:
    body = {**VOICE, "query": "set a timer for 5 minutes", "accepts": ["handback"]}
    found = await events(await client.post("/search", json=body, headers=STREAM))
    assert [name for name, _ in found] == ["done"]
    assert found[0][1]["handback"]


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["json", "stream"])
async def test_a_model_that_hangs_costs_the_answer_and_not_the_time(
    headers: dict[str, str], values: dict[str, Any], model: ScriptedModel
) -> None:
    settings = await asyncio.to_thread(
        Settings.model_validate, {**values, "voice_timeout_seconds": 0.6}
    )
    model.script(Say(hang=True))
    async with (
        build(settings) as backend,
        TestClient(TestServer(create_server(backend))) as client,
    ):
        await backend.models.ready()
        await post(client, E24)
        response = await client.post("/search", json=VOICE, headers=headers)
        reply = (await events(response))[-1][1] if headers else await response.json()
    assert reply["success"]
    assert reply["answer"] is None
    assert "E24" in reply["speech"]


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["json", "stream"])
async def test_a_client_that_hangs_up_ends_the_model_s_call(
    headers: dict[str, str], client: Client, model: ScriptedModel
) -> None:
    model.script(Say(hang=True))
    asked = asyncio.create_task(client.post("/search", json=VOICE, headers=headers))
    await model.called.wait()
    if headers:
        (await asked).close()
    else:
        asked.cancel()
    await model.hung_up.wait()


async def test_health_logs_and_caches_say_what_happened(
    client: Client, model: ScriptedModel
) -> None:
    model.script(says(ANSWER, "house"))
    await post(client, VOICE)
    await post(client, VOICE)

    health = await (await client.get("/health")).json()
    recorded = example("health_with_key").body
    assert Health.model_validate(health).status == "ok"
    assert health.keys() == recorded.keys()
    assert health["model"].keys() == recorded["model"].keys()
    assert health["sources"]["house"]["documents"] == 1
    assert health["cache"]["results"] == health["cache"]["answers"] == 1

    stats = await (await client.get("/logs/stats")).json()
    assert (stats["total"], stats["unique"], stats["synthesis"]["served"]) == (2, 1, 2)
    (newest, _) = (await (await client.get("/logs", params={"limit": "5"})).json())["logs"]
    assert newest["query"] == E24["query"]

    assert await (await client.post("/cache/clear")).json() == {
        "status": "ok",
        "entries_removed": 2,
    }
    assert (await (await client.post("/logs/clear")).json())["entries_removed"] == 2
    assert await (await client.get("/cache")).json() == {"results": 0, "answers": 0}


async def test_every_hostile_text_is_a_question_like_any_other(client: Client) -> None:
    for text in (
        '" OR 1=1 --',
        "NEAR(a b)",
        "*",
        "((((",
        "\u202e\ufeff",
        "😀" * 500,
        "a\u0301" * 900,
    ):
        reply = await post(client, {"query": text, "language": "xx", "synthesize": True})
        assert reply["speech"], text
        Reply.model_validate(reply)


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["json", "stream"])
async def test_a_server_told_to_stop_says_the_answer_it_is_at(
    headers: dict[str, str], values: dict[str, Any], model: ScriptedModel
) -> None:
    gate = asyncio.Event()
    model.script(says(ANSWER, "house", gate=gate))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "backend",
        "serve",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        # No file of settings that the checkout may have.
        "--config",
        os.devnull,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **{name.upper(): text for name, text in values.items()}},
        stderr=PIPE,
    )
    assert process.stderr is not None
    try:
        url = ""
        while not url:
            line = (await process.stderr.readline()).decode()
            assert line, "the server ended"
            url = line.split("address=")[1].strip().strip('"') if "address=" in line else ""
        async with aiohttp.ClientSession() as session:

            async def ask() -> str:
                async with session.post(f"{url}/search", json=VOICE, headers=headers) as response:
                    return await response.text()

            asked = asyncio.create_task(ask())
            await model.called.wait()
            process.send_signal(signal.SIGTERM)
            while b"stopping" not in await process.stderr.readline():
                pass
            gate.set()
            text = await asked
        last = text.strip().split("data: ")[-1]
        assert json.loads(last)["answer"] == f"{ANSWER} (house)"
        rest = (await process.stderr.read()).decode()
        assert await process.wait() == 0
        assert "Traceback" not in rest
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        process._transport.close()  # type: ignore[attr-defined]
