"""The backend as a process: callers that leave, callers that come at once, and input that is no good."""

from __future__ import annotations

import asyncio
from pathlib import Path
import shutil
import sys
from typing import Any

import pytest

from tests.scripted_model import ScriptedModel, says

from .backend import LIBRARY, ROOT, Backend, environment
from .process import running

pytestmark = pytest.mark.asyncio(loop_scope="package")

VOICE = {"answer_style": "voice", "synthesize": True}
KEY = "a-key-for-tests"


async def within(seconds: float, event: asyncio.Event) -> None:
    """Wait for `event`; TimeoutError when it doesn't come."""
    async with asyncio.timeout(seconds):
        await event.wait()


async def test_a_listener_who_leaves_a_stream_ends_the_model_call(
    backend: Backend, model: ScriptedModel
) -> None:
    """The model doesn't work for nobody."""
    model.then = says("The filter is cleaned every two weeks.", "house", hang=True)
    async with backend.stream("how often is the filter cleaned") as events:
        assert (await anext(events))[0] == "retrieval"
        await within(15, model.called)
        assert not model.hung_up.is_set()
    await within(15, model.hung_up)


async def test_a_client_that_gives_up_ends_the_model_call(
    backend: Backend, model: ScriptedModel
) -> None:
    """Also without a stream, and before the model has said anything."""
    model.then = says("Dose 3 it is.", "house", gate=asyncio.Event())
    asking = asyncio.create_task(backend.ask("what does rinse aid dose 3 mean", **VOICE))
    await within(15, model.called)
    asking.cancel()
    await within(15, model.hung_up)


async def test_the_model_goes_on_for_those_who_stay(backend: Backend, model: ScriptedModel) -> None:
    """Two ask the same; one leaves, the other still gets its answer."""
    answer = "It lasts about 70 runs. The tank holds 110 ml."
    model.then = says(answer, "house", pause=0.1)
    question = "how long does the rinse aid last"
    before = model.calls
    leaving = asyncio.create_task(backend.ask(question, **VOICE))
    await within(15, model.called)
    async with backend.stream(question, answer_style="voice") as events:
        assert (await anext(events))[0] == "retrieval"
        # With the first sentence it is sure that both hear the same call.
        assert (await anext(events))[0] == "sentence"
        leaving.cancel()
        name, done = [event async for event in events][-1]
    assert name == "done"
    assert done["answer"] == f"{answer} (house)"
    assert model.calls == before + 1
    assert not model.hung_up.is_set()


async def test_ten_identical_questions_at_once_are_one_model_call(
    backend: Backend, model: ScriptedModel
) -> None:
    """A house full of satellites hears the same question."""
    model.then = says("Take the grey filling hose.", "house")
    before = model.calls

    async def ask() -> str:
        reply = await backend.ask("how do I top up the water of the boiler", **VOICE)
        return str(reply["answer"])

    answers = await asyncio.gather(*(ask() for _ in range(10)))
    assert model.calls == before + 1
    assert set(answers) == {"Take the grey filling hose. (house)"}


async def test_composing_leaves_the_result_as_it_is(backend: Backend, model: ScriptedModel) -> None:
    """Byte for byte what a client that doesn't ask for an answer gets."""
    model.then = says("The boiler pressure should be between 1.2 and 1.5 bar.", "house")
    plain = await backend.ask("what is the boiler pressure")
    answered = await backend.ask("what is the boiler pressure", **VOICE)
    assert answered["answer"] is not None
    assert answered["result"] == plain["result"]
    assert plain["answer"] is None


@pytest.mark.parametrize(
    ("body", "status", "field", "allowed"),
    [
        (b"{not json", 400, None, None),
        (b"[1, 2]", 422, None, None),
        (b'{"query": 7}', 422, "query", None),
        (b'{"query": "  "}', 422, "query", None),
        (b'{"query": "' + b"a" * 2_001 + b'"}', 422, "query", None),
        (b'{"query": "' + b"a" * 2**20 + b'"}', 413, None, None),
        (b'{"query": "q", "source": "nowhere"}', 422, "source", "house"),
        (b'{"query": "q", "answer_style": "loud"}', 422, "answer_style", "voice"),
        (b'{"query": "q", "synthesize": "yes"}', 422, "synthesize", None),
        (
            b'{"query": "q", "place": {"name": "x", "latitude": 91, "longitude": 0}}',
            422,
            "place.latitude",
            None,
        ),
    ],
    ids=(
        "not JSON",
        "a list",
        "a number for a question",
        "an empty question",
        "a long question",
        "a megabyte",
        "an unknown source",
        "an unknown style",
        "text for a truth",
        "a place off the globe",
    ),
)
async def test_bad_input_is_refused_by_its_name(
    backend: Backend, body: bytes, status: int, field: str | None, allowed: str | None
) -> None:
    """The reply says what is wrong, and what would be right; the next question is answered."""
    got, reply = await backend.post("/search", data=body)
    assert (got, reply.get("field")) == (status, field)
    assert reply["message"]
    assert allowed is None or allowed in reply["allowed"]
    assert (await backend.ask("what does error E24 mean"))["success"]


async def test_a_wrong_key_is_refused_and_never_repeated(tmp_path: Path) -> None:
    """Neither in the reply nor in the log."""
    backend = Backend(tmp_path / "data", {"API_KEYS": KEY})
    await backend.start()
    try:
        for headers in ({}, {"X-API-Key": "a-wrong-key"}):
            status, reply = await backend.post("/search", {"query": "q"}, headers=headers)
            assert status == 401
            assert "a-wrong-key" not in str(reply)
        status, reply = await backend.post("/search", {"query": "E24"}, headers={"X-API-Key": KEY})
        assert status == 200
        assert (await backend.get("/health"))[1].get("sources") is None
    finally:
        assert await backend.stop() == 0
    assert backend.process is not None
    assert KEY not in backend.process.text
    assert "a-wrong-key" not in backend.process.text


async def test_unreadable_files_stop_nothing_else(tmp_path: Path) -> None:
    """An owner's folder holds a broken ZIM and a PDF that is none: both are named, the rest answers."""
    library = tmp_path / "library"
    library.mkdir()
    shutil.copy(LIBRARY / "dishwasher.md", library)
    (library / "broken.zim").write_bytes(b"ZIM\x04 but not really")
    (library / "invoice.pdf").write_bytes(b"this is no PDF")
    backend = Backend(tmp_path / "data", {"LIBRARY_DIR": str(library)})
    await backend.start()
    try:
        reply = await backend.ask("what does error E24 mean")
        assert reply["success"]
        assert "E24" in reply["speech"]
        assert backend.process is not None
        for name in ("broken.zim", "invoice.pdf"):
            await backend.process.line(name, 10)
    finally:
        assert await backend.stop() == 0


@pytest.mark.parametrize(
    ("settings", "toml", "words"),
    [
        ({"LLM_MODLE": "qwen3:8b"}, "", ("LLM_MODLE", "LLM_MODEL")),
        ({}, 'libary_dir = "x"\n', ("libary_dir", "library_dir")),
        ({"VOICE_TIMEOUT_SECONDS": "soon"}, "", ("VOICE_TIMEOUT_SECONDS",)),
        ({"LLM_API_TYPE": "gpt"}, "", ("LLM_API_TYPE", "extractive")),
    ],
    ids=("in the environment", "in the file", "not a number", "not a choice"),
)
async def test_a_wrong_setting_is_named_at_the_start(
    tmp_path: Path, settings: dict[str, str], toml: str, words: tuple[str, ...]
) -> None:
    """It says what is wrong and what was meant, and doesn't start."""
    config = tmp_path / "mnemolis.toml"
    config.write_text(toml, "utf-8")
    command: list[Any] = [
        sys.executable,
        "-m",
        "backend",
        "serve",
        "--port",
        "0",
        "--config",
        config,
    ]
    async with running(
        "backend", command, environment=environment(tmp_path / "data", settings), cwd=ROOT
    ) as process:
        assert await process.wait(30) == 2
        for word in words:
            assert word in process.text
        assert "Traceback" not in process.text
