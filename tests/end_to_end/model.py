"""A model server that says what a test tells it to, over Ollama's HTTP interface.

It speaks as much of it as the official client uses. What a model of flesh would say is of no interest here: the
tests that need real tokens drive llama.cpp.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
import json
import time
from typing import Any, Final, Self

from aiohttp import web

_PIECE_CHARS: Final = 6
"""About a token: no sentence, tag or quote arrives whole."""
_CALL_SECONDS: Final = 15.0


@dataclass(slots=True)
class Call:
    """One call of the model; moments are those of `time.perf_counter()`."""

    body: dict[str, Any]
    began: float
    ended: float | None = None
    hung_up: bool = False
    """Whether the caller left before the reply was whole."""
    _done: asyncio.Event = field(default_factory=asyncio.Event)

    def end(self) -> None:
        """Note that it is over."""
        self.ended = time.perf_counter()
        self._done.set()

    async def over(self) -> None:
        """Wait for its end; TimeoutError when it goes on and on."""
        async with asyncio.timeout(_CALL_SECONDS):
            await self._done.wait()

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
        self._called = asyncio.Event()
        self._go_on = asyncio.Event()
        self._go_on.set()
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
        self._go_on.set()
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

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Stop each reply after its first piece, until the end of the block or `go_on`."""
        self._called.clear()
        self._go_on.clear()
        try:
            yield
        finally:
            self._go_on.set()

    def go_on(self) -> None:
        """Have held replies go on."""
        self._go_on.set()

    async def call(self) -> Call:
        """Return the first call since it is held; TimeoutError when none comes."""
        async with asyncio.timeout(_CALL_SECONDS):
            await self._called.wait()
        return self.calls[-1]

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        call = Call(await request.json(), time.perf_counter())
        self.calls.append(call)
        self._called.set()
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        try:
            await response.prepare(request)
            raw = json.dumps({"sources": self.sources, "text": self.text}, ensure_ascii=False)
            for start in range(0, len(raw), _PIECE_CHARS):
                piece = {"role": "assistant", "content": raw[start : start + _PIECE_CHARS]}
                await response.write(_line(message=piece, done=False))
                await self._go_on.wait()
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
            call.end()
        return response

    async def _generate(self, request: web.Request) -> web.Response:
        body = await request.json()
        return web.json_response({"model": body["model"], "response": "", "done": True})

    async def _show(self, request: web.Request) -> web.Response:
        return web.json_response({"details": {}, "model_info": {}, "capabilities": ["completion"]})


def _line(**fields: Any) -> bytes:
    return json.dumps({"model": "scripted", **fields}).encode() + b"\n"
