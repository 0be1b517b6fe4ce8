"""Ollama by its official client, over a socket, against a model that does what a test has it do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
import logging

import pytest

from backend.llm.ollama import Ollama, context_tokens
from backend.llm.provider import Call, ModelError, ReplyCut
from tests.scripted_model import MODEL, Say, ScriptedModel, prose, says

CALL = Call(system="rules", user="question", timeout=5.0, schema={"type": "object"}, max_tokens=64)
SOON = Call(system="rules", user="question", timeout=0.2, max_tokens=64)


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as server:
        yield server


@pytest.fixture
async def ollama(model: ScriptedModel) -> AsyncIterator[Ollama]:
    provider = Ollama(model.url, MODEL, num_ctx=4096, keep_alive="5m")
    yield provider
    await provider.close()


async def whole(provider: Ollama, call: Call = CALL) -> str:
    async with aclosing(provider.stream(call)) as pieces:
        return "".join([piece async for piece in pieces])


async def test_a_call_sets_context_schema_length_and_switches_thinking_off(
    model: ScriptedModel, ollama: Ollama
) -> None:
    model.script(prose("Hello there."))
    assert await whole(ollama) == "Hello there."
    sent = model.requests[0]
    assert sent["messages"][0] == {"role": "system", "content": "rules"}
    assert sent["think"] is False
    assert sent["format"] == {"type": "object"}
    assert sent["keep_alive"] == "5m"
    assert sent["options"] == {"temperature": 0.1, "num_ctx": 4096, "num_predict": 64}


async def test_thoughts_are_left_out_wherever_they_stand(
    model: ScriptedModel, ollama: Ollama
) -> None:
    model.script(
        prose("<think>Let me see</think>Yes.", size=3, thinking="in a field"),
        prose("<think>never closed. Yes.", size=4),
    )
    assert await whole(ollama) == "Yes."
    assert await whole(ollama) == ""


async def test_a_model_that_knows_no_thinking_is_asked_without(
    model: ScriptedModel, ollama: Ollama
) -> None:
    model.script(Say(status=400, error=f'"{MODEL}" does not support thinking'), prose("Yes."))
    assert await whole(ollama) == "Yes."
    assert "think" not in model.requests[1]
    await whole(ollama)
    assert "think" not in model.requests[2]


async def test_a_server_that_knows_no_schema_is_asked_in_prose(
    model: ScriptedModel, ollama: Ollama
) -> None:
    model.script(Say(status=500, error="failed to parse grammar"), prose("Yes."))
    assert await whole(ollama) == "Yes."
    assert "format" not in model.requests[1]
    assert ollama.constrained is False


@pytest.mark.parametrize(
    ("say", "kind"),
    [
        (Say(status=500), "http_500"),
        (Say(status=404, error="model not found"), "no_model"),
        (Say(status=400), "http_400"),
        (Say(raw=b'{"message": {"content": "He'), "bad_reply"),
        (Say(raw=b'{"error": "out of memory"}\n'), "bad_reply"),
        (Say(raw=b"<html>proxy</html>\n"), "bad_reply"),
        (Say(raw=b""), "bad_reply"),
        (Say(["He"], drop=True), "unreachable"),
    ],
    ids=["500", "404", "400", "half a line", "error line", "not JSON", "nothing", "dropped"],
)
async def test_each_trouble_has_its_kind(
    model: ScriptedModel, ollama: Ollama, say: Say, kind: str
) -> None:
    model.script(say)
    with pytest.raises(ModelError) as raised:
        await whole(ollama)
    assert raised.value.kind == kind


async def test_a_server_that_is_down_is_unreachable(model: ScriptedModel, ollama: Ollama) -> None:
    await model.stop()
    with pytest.raises(ModelError) as raised:
        await whole(ollama)
    assert raised.value.kind == "unreachable"
    with pytest.raises(ModelError) as probed:
        await ollama.probe()
    assert probed.value.kind == "unreachable"


async def test_a_call_ends_at_its_limit_and_hangs_up(model: ScriptedModel, ollama: Ollama) -> None:
    model.script(Say(["He"], hang=True))
    with pytest.raises(ModelError) as raised:
        await whole(ollama, SOON)
    assert raised.value.kind == "timeout"
    await asyncio.wait_for(model.hung_up.wait(), 5)


async def test_closing_the_stream_hangs_up(model: ScriptedModel, ollama: Ollama) -> None:
    model.script(Say(["He"], hang=True))
    async with aclosing(ollama.stream(CALL)) as pieces:
        assert await anext(pieces) == "He"
    await asyncio.wait_for(model.hung_up.wait(), 5)


async def test_a_reply_cut_at_its_length_says_so_after_the_last_piece(
    model: ScriptedModel, ollama: Ollama
) -> None:
    model.script(prose("One. Tw", done_reason="length"))
    async with aclosing(ollama.stream(CALL)) as pieces:
        assert await anext(pieces) == "One. Tw"
        with pytest.raises(ReplyCut):
            await anext(pieces)


async def test_a_prompt_that_fills_the_context_is_warned_of(
    model: ScriptedModel, ollama: Ollama, caplog: pytest.LogCaptureFixture
) -> None:
    model.script(prose("Yes.", prompt_tokens=4090))
    with caplog.at_level(logging.WARNING):
        await whole(ollama)
    assert "LLM_NUM_CTX" in caplog.text


async def test_the_probe_asks_for_the_model(model: ScriptedModel, ollama: Ollama) -> None:
    await ollama.probe()
    other = Ollama(model.url, "absent", num_ctx=4096)
    with pytest.raises(ModelError) as raised:
        await other.probe()
    assert raised.value.kind == "no_model"
    await other.close()


async def test_warming_up_loads_the_model_and_is_quiet_about_failures(
    model: ScriptedModel, ollama: Ollama
) -> None:
    await ollama.warm_up()
    assert model.loads == 1
    await model.stop()
    await ollama.warm_up()


async def test_the_key_goes_into_the_header_alone(model: ScriptedModel) -> None:
    provider = Ollama(model.url, MODEL, num_ctx=4096, key="s3cret")
    model.script(says("Yes.", "house"))
    await whole(provider)
    await provider.close()
    assert model.headers[0]["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in str(model.requests[0])


async def test_the_proxy_of_an_environment_is_left_aside(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    provider = Ollama(model.url, MODEL, num_ctx=4096)
    model.script(prose("Yes."))
    assert await whole(provider) == "Yes."
    await provider.close()


def test_the_context_holds_the_budget_and_the_reply() -> None:
    assert context_tokens(6000, 1300) == 7168
    assert context_tokens(60_000, 1300) > 30_000
