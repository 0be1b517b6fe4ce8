"""What composes answers while a model comes and goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from backend.llm.availability import Availability, from_settings
from backend.llm.provider import Call, ModelError
from backend.settings import Settings
from tests.scripted_model import MODEL, ScriptedModel, prose


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as server:
        yield server


def chosen(**settings: Any) -> Availability:
    return from_settings(Settings.model_validate({"llm_model": MODEL, **settings}))


async def until(models: Availability, kind: str, problem: str | None) -> None:
    async with asyncio.timeout(10):
        while (models.kind, models.problem) != (kind, problem):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(("kind", "available"), [("extractive", True), ("none", False)])
async def test_quotes_and_none_need_no_server(kind: str, available: bool) -> None:
    models = chosen(llm_api_type=kind)
    await models.start()
    await models.ready()
    assert models.kind == kind
    assert models.state()["available"] is available
    await models.close()


async def test_unset_takes_ollama_where_it_answers_and_loads_the_model(
    model: ScriptedModel,
) -> None:
    models = chosen(llm_url=model.url)
    assert models.state()["kind"] == "extractive"
    await models.start()
    await models.ready()
    assert models.state() == {
        "kind": "ollama",
        "model": MODEL,
        "available": True,
        "detail": "",
    }
    async with asyncio.timeout(10):
        while not model.loads:
            await asyncio.sleep(0.01)
    await models.close()


async def test_unset_quotes_where_nothing_answers_and_starts_at_once(
    model: ScriptedModel,
) -> None:
    await model.stop()
    models = chosen(llm_url=model.url)
    await models.start()
    await models.ready()
    assert models.kind == "extractive"
    assert models.state()["available"] is True
    await models.close()


async def test_unset_quotes_where_ollama_lacks_the_model(model: ScriptedModel) -> None:
    models = chosen(llm_url=model.url, llm_model="absent")
    await models.start()
    await models.ready()
    assert models.kind == "extractive"
    assert "absent" in models.state()["detail"]
    await models.close()


async def test_a_model_that_is_down_is_named_so_and_comes_back_by_itself(
    model: ScriptedModel,
) -> None:
    models = chosen(llm_api_type="ollama", llm_url=model.url, llm_probe_seconds=0.05)
    await models.start()
    await models.ready()
    assert (models.kind, models.problem) == ("model", None)
    await model.stop()
    models.failed(ModelError("unreachable"))
    assert (models.kind, models.problem) == ("model", "unreachable")
    assert models.state()["available"] is False
    await model.start()
    await until(models, "model", None)
    await models.close()


async def test_a_slow_call_is_no_reason_not_to_ask_again(model: ScriptedModel) -> None:
    models = chosen(llm_api_type="ollama", llm_url=model.url)
    await models.start()
    await models.ready()
    models.failed(ModelError("timeout"))
    assert models.problem is None
    await models.close()


async def test_the_openai_style_is_chosen_by_name(model: ScriptedModel) -> None:
    models = chosen(llm_api_type="openai", llm_url=model.url)
    await models.start()
    await models.ready()
    assert models.state()["kind"] == "openai"
    model.script(prose("Yes."))
    stream = models.provider.stream(Call(system="", user="", timeout=5))
    assert "".join([piece async for piece in stream]) == "Yes."
    await models.close()


@pytest.mark.parametrize(
    ("path", "said"), [(None, "LLM_MODEL_PATH isn't set"), (Path("/no/such.gguf"), "no such.gguf")]
)
async def test_llamacpp_tells_what_it_lacks(path: Path | None, said: str) -> None:
    pytest.importorskip("xllamacpp")
    models = chosen(llm_api_type="llamacpp", llm_model_path=path)
    await models.start()
    await models.ready()
    assert (models.kind, models.problem) == ("model", "no_model")
    assert said.rsplit(maxsplit=1)[-1] in models.state()["detail"]
    with pytest.raises(ModelError, match="no_model"):
        async for _ in models.provider.stream(Call(system="", user="", timeout=5)):
            pass
    await models.close()
