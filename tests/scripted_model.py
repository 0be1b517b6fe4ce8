"""A model that says what a test has it say: a real HTTP server with Ollama's API and the OpenAI-style one.

Replies are scripted call by call: text, pieces, pauses, status codes, silence, broken lines, thoughts in a field.
The server counts the calls, keeps the requests, and sees who hangs up. It runs in the loop of the test, so a client
in another process needs the test to go on; what a model is worth is decided elsewhere.

    async with ScriptedModel() as model:
        model.script(says("The filter is blocked.", "house"))
        ... ask a server with LLM_URL=model.url ...
        assert model.calls == 1
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
import json
import socket
from typing import Any, Self

from aiohttp import web

MODEL = "scripted:1b"


@dataclass(frozen=True)
class Say:
    """What the model does when it is called.

    `pieces` come one after the other with `pause` seconds between them, the first after `delay` seconds and, if
    given, once `gate` is set. `thinking` comes in the field of its own, before. `status` other than 200 answers
    with `error`. `hang`: after the pieces nothing more comes, and the reply never ends. `drop`: the connection is
    closed instead. `raw` is sent as it is, in place of lines.
    """

    pieces: Sequence[str] = ()
    delay: float = 0.0
    pause: float = 0.0
    gate: asyncio.Event | None = None
    thinking: str = ""
    status: int = 200
    error: str = "scripted failure"
    hang: bool = False
    drop: bool = False
    raw: bytes | None = None
    done_reason: str = "stop"
    prompt_tokens: int = 100


def says(text: str, *sources: str, size: int = 7, **how: Any) -> Say:
    """Return a reply in the agreed JSON form, in pieces of `size` characters."""
    return prose(json.dumps({"sources": list(sources), "text": text}), size=size, **how)


def prose(text: str, size: int = 7, **how: Any) -> Say:
    """Return a reply of exactly `text`, in pieces of `size` characters."""
    return Say([text[i : i + size] for i in range(0, len(text), size)], **how)


@dataclass
class ScriptedModel:
    """The server; `then` is what it does once the script is at its end."""

    then: Say = field(default_factory=lambda: says("NOT_IN_SOURCES"))
    models: tuple[str, ...] = (MODEL,)
    port: int = 0

    def __post_init__(self) -> None:
        self.calls = 0
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.loads = 0
        self.called = asyncio.Event()
        self.hung_up = asyncio.Event()
        self._script: list[Say] = []
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def script(self, *replies: Say) -> None:
        """Have the next calls answered by `replies`, one each."""
        self._script = list(replies)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen; on the same port when it was stopped before."""
        app = web.Application(client_max_size=1 << 24)
        app.router.add_get("/", self._alive)
        app.router.add_get("/api/version", self._version)
        app.router.add_get("/api/tags", self._tags)
        app.router.add_get("/api/ps", self._tags)
        app.router.add_post("/api/show", self._show)
        app.router.add_post("/api/generate", self._generate)
        app.router.add_post("/api/chat", self._chat)
        app.router.add_get("/v1/models", self._v1_models)
        app.router.add_post("/v1/chat/completions", self._v1_chat)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None
        )
        await self._runner.setup()
        with socket.create_server(("127.0.0.1", self.port)) as listening:
            self.port = listening.getsockname()[1]
            await web.SockSite(self._runner, listening.dup()).start()

    async def stop(self) -> None:
        """Stop listening, as a model server that is down."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _alive(self, request: web.Request) -> web.Response:
        return web.Response(text="Ollama is running")

    async def _version(self, request: web.Request) -> web.Response:
        return web.json_response({"version": "0.13.0"})

    async def _tags(self, request: web.Request) -> web.Response:
        return web.json_response(
            {"models": [{"name": name, "model": name} for name in self.models]}
        )

    async def _show(self, request: web.Request) -> web.Response:
        name = (await request.json())["model"]
        if name not in self.models:
            return web.json_response({"error": f"model '{name}' not found"}, status=404)
        return web.json_response(
            {"details": {"family": "scripted"}, "model_info": {}, "capabilities": ["completion"]}
        )

    async def _generate(self, request: web.Request) -> web.Response:
        self.loads += 1
        return web.json_response(
            {"model": MODEL, "response": "", "done": True, "done_reason": "load"}
        )

    async def _v1_models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": name} for name in self.models]})

    async def _next(self, request: web.Request) -> Say:
        self.calls += 1
        self.requests.append(await request.json())
        self.headers.append(dict(request.headers))
        self.called.set()
        return self._script.pop(0) if self._script else self.then

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        say = await self._next(request)
        if say.status != 200:
            return web.json_response({"error": say.error}, status=say.status)
        model = self.requests[-1]["model"]

        def line(content: str = "", **more: Any) -> bytes:
            message = {"role": "assistant", "content": content, **more.pop("message", {})}
            return (
                json.dumps({"model": model, "message": message, "done": False, **more}).encode()
                + b"\n"
            )

        lines = [line(message={"thinking": say.thinking})] if say.thinking else []
        lines += [line(piece) for piece in say.pieces]
        end = line(
            done=True,
            done_reason=say.done_reason,
            prompt_eval_count=say.prompt_tokens,
            eval_count=9,
        )
        return await self._send(request, say, lines, end, "application/x-ndjson")

    async def _v1_chat(self, request: web.Request) -> web.StreamResponse:
        say = await self._next(request)
        if say.status != 200:
            return web.json_response({"error": {"message": say.error}}, status=say.status)

        def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            chunk = {"object": "chat.completion.chunk", "choices": [choice]}
            return b"data: " + json.dumps(chunk).encode() + b"\n\n"

        lines = [event({"role": "assistant", "content": None})]
        lines += [event({"reasoning_content": say.thinking})] if say.thinking else []
        lines += [event({"content": piece}) for piece in say.pieces]
        end = event({}, say.done_reason) + b"data: [DONE]\n\n"
        return await self._send(request, say, lines, end, "text/event-stream")

    async def _send(
        self, request: web.Request, say: Say, lines: list[bytes], end: bytes, content_type: str
    ) -> web.StreamResponse:
        try:
            await asyncio.sleep(say.delay)
            if say.gate is not None:
                await say.gate.wait()
            response = web.StreamResponse(headers={"Content-Type": content_type})
            await response.prepare(request)
            if say.raw is not None:
                await response.write(say.raw)
            for line in lines if say.raw is None else ():
                await response.write(line)
                if say.pause:
                    await asyncio.sleep(say.pause)
            if say.hang:
                await asyncio.Event().wait()
            if say.drop and request.transport is not None:
                request.transport.abort()
                return response
            if say.raw is None:
                await response.write(end)
            with suppress(ConnectionError):
                await response.write_eof()
        except (asyncio.CancelledError, ConnectionError):
            self.hung_up.set()
            raise
        return response
