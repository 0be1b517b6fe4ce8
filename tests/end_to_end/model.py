"""A model server that says what a test tells it to, over Ollama's HTTP interface.

It speaks as much of it as the official client uses. What a model of flesh would say is of no interest here: the
tests that need real tokens drive llama.cpp.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
import json
import time
from typing import Any, Final, Self

from aiohttp import web

_PIECE_CHARS: Final = 6
"""About a token: no sentence, tag or quote arrives whole."""


@dataclass(slots=True)
class Call:
    """One call of the model; moments are those of `time.perf_counter()`."""

    body: dict[str, Any]
    began: float
    ended: float | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)
    hung_up: bool = False
    """Whether the caller left before the reply was whole."""

    @property
    def prompt(self) -> str:
        """Everything that the model was told."""
        return "\n".join(message["content"] for message in self.body["messages"])


class ScriptedModel:
    """The server; `async with` it. It says `text`, standing on `sources`."""

    def __init__(self) -> None:
        self.text = ""
        self.sources: tuple[str, ...] = ("house",)
        self.calls: list[Call] = []
        self.called = asyncio.Event()
        """Set with each call; clear it to wait for the next."""
        self.go_on = asyncio.Event()
        """While it isn't set, a reply stops after its first piece."""
        self.go_on.set()
        app = web.Application()
        app.router.add_post("/api/chat", self._chat)
        app.router.add_post("/api/generate", self._generate)
        app.router.add_post("/api/show", self._show)
        # Without handler_cancellation nobody would notice that a caller hung up.
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True)

    async def __aenter__(self) -> Self:
        """Listen on a free port of 127.0.0.1."""
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening."""
        self.go_on.set()
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    @property
    def settings(self) -> dict[str, str]:
        """The settings of a backend that uses it."""
        return {"LLM_API_TYPE": "ollama", "LLM_URL": self.url, "LLM_MODEL": "scripted"}

    def will_say(self, text: str, *sources: str) -> None:
        """Say `text` from now on."""
        self.text, self.sources = text, sources or ("house",)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        call = Call(await request.json(), time.perf_counter())
        self.calls.append(call)
        self.called.set()
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        try:
            await response.prepare(request)
            raw = json.dumps({"sources": self.sources, "text": self.text}, ensure_ascii=False)
            for start in range(0, len(raw), _PIECE_CHARS):
                piece = {"role": "assistant", "content": raw[start : start + _PIECE_CHARS]}
                await response.write(_line(message=piece, done=False))
                await self.go_on.wait()
            await response.write(
                _line(
                    message={"role": "assistant", "content": ""},
                    done=True,
                    done_reason="stop",
                    prompt_eval_count=len(call.prompt) // 4,
                    eval_count=len(raw) // 4,
                )
            )
        except (asyncio.CancelledError, ConnectionError):
            call.hung_up = True
            raise
        finally:
            call.ended = time.perf_counter()
            call.done.set()
        return response

    async def _generate(self, request: web.Request) -> web.Response:
        body = await request.json()
        return web.json_response({"model": body["model"], "response": "", "done": True})

    async def _show(self, request: web.Request) -> web.Response:
        return web.json_response({"details": {"family": "scripted"}, "capabilities": ["completion"]})


def _line(**fields: Any) -> bytes:
    return json.dumps({"model": "scripted", **fields}).encode() + b"\n"
