"""A model that needs no server of its own: llama.cpp by the extra `llamacpp`, loaded when it is first needed.

llama.cpp runs in a child process, since loading a model there holds up every thread of its process for seconds.
It brings a server with an OpenAI-style API, which listens on loopback at a free port, under a key that only the two
know, and is asked like any other such server. The child ends when its parent does, however that ends.

This module is also what the child runs.
"""

from __future__ import annotations

import asyncio
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
import importlib
import importlib.util
import json
import logging
import os
from pathlib import Path
import secrets
import sys
from typing import Any, Final

from backend.llm.openai import OpenAI
from backend.llm.provider import Call, ModelError

_LOGGER = logging.getLogger(__name__)

_SAYS: Final = "mnemolis "
"""Begins the line of the child that its parent reads; llama.cpp may write others."""


class LlamaCpp:
    """A model in a GGUF file."""

    kind = "llamacpp"
    constrained = True

    def __init__(self, path: Path | None, *, num_ctx: int) -> None:
        """Take where the file is; nothing is loaded yet. `num_ctx` is in tokens."""
        self.model = path.stem if path is not None else "none"
        self._path = path
        self._num_ctx = num_ctx
        self._child: Process | None = None
        self._client: OpenAI | None = None
        self._loading: asyncio.Task[OpenAI] | None = None

    async def stream(self, call: Call) -> AsyncGenerator[str]:
        """Yield the reply piece by piece. Raises ModelError."""
        try:
            async with asyncio.timeout(call.timeout):
                client = await self._loaded()
        except TimeoutError as error:
            raise ModelError("timeout", "the model is still loading") from error
        async with aclosing(client.stream(call)) as pieces:
            async for piece in pieces:
                yield piece

    async def probe(self) -> None:
        """Look whether the extra and the file are there. Raises ModelError."""
        await asyncio.to_thread(self._check)

    async def warm_up(self) -> None:
        """Load the model."""
        try:
            await self._loaded()
        except ModelError as error:
            _LOGGER.warning("%s", error.detail)

    async def close(self) -> None:
        """Let the model go, also while it is loading."""
        if self._loading is not None:
            self._loading.cancel()
            with suppress(asyncio.CancelledError, ModelError):
                await self._loading
        await self._end()

    def _check(self) -> Path:
        if importlib.util.find_spec("xllamacpp") is None:
            raise ModelError(
                "no_model", "llamacpp needs its extra, once: EXTRAS=llamacpp scripts/run"
            )
        if self._path is None:
            raise ModelError("no_model", "LLM_MODEL_PATH isn't set; it names a GGUF file")
        if not self._path.is_file():
            raise ModelError("no_model", f"LLM_MODEL_PATH: there is no file {self._path}")
        return self._path

    async def _loaded(self) -> OpenAI:
        gone = self._child is None or self._child.returncode is not None
        if self._client is not None and not gone:
            return self._client
        if self._loading is None or self._loading.done():
            self._loading = asyncio.create_task(self._load())
            self._loading.add_done_callback(lambda task: task.cancelled() or task.exception())
        # Who waits may leave; the load goes on for the next one.
        return await asyncio.shield(self._loading)

    async def _load(self) -> OpenAI:
        await self._end()
        path = await asyncio.to_thread(self._check)
        key = secrets.token_hex(16)
        try:
            self._child = child = await asyncio.create_subprocess_exec(
                sys.executable, "-m", __name__, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
            )
        except OSError as error:
            raise ModelError("no_model", f"no process can be started: {error.strerror}") from error
        assert child.stdin is not None
        assert child.stdout is not None
        order = {"path": str(path), "num_ctx": self._num_ctx, "key": key}
        child.stdin.write(json.dumps(order).encode() + b"\n")
        said: dict[str, str] = {}
        async for line in child.stdout:
            if line.startswith(_SAYS.encode()):
                said = json.loads(line.removeprefix(_SAYS.encode()))
                break
        if "url" not in said:
            raise ModelError("no_model", f"{path} can't be loaded: {said.get('error', 'it broke')}")
        self._client = OpenAI(said["url"], self.model, key=key)
        return self._client

    async def _end(self) -> None:
        """End the child, if there is one."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        child, self._child = self._child, None
        if child is None:
            return
        # It holds nothing that it would have to write.
        with suppress(ProcessLookupError):
            child.kill()
        await child.communicate()


def serve(order: dict[str, Any]) -> Any:
    """Load the model that `order` names and return its server. Raises what llama.cpp raises."""
    xllamacpp = importlib.import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = order["path"]
    parameters.n_ctx = order["num_ctx"]
    parameters.n_parallel = 1
    parameters.use_jinja = True
    parameters.api_keys = [order["key"]]
    return xllamacpp.Server(parameters)


def main() -> None:
    """Be the child: take an order, serve it, and end with the parent."""
    order = json.loads(sys.stdin.readline())
    try:
        server = serve(order)
        said = {"url": server.listening_address}
    except Exception as error:  # noqa: BLE001 (whatever it is, the parent reports it)
        said = {"error": f"{type(error).__name__}: {error}"[:300]}
    sys.stdout.write(f"{_SAYS}{json.dumps(said)}\n")
    sys.stdout.flush()
    # Nobody reads what else is written there.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.stdin.read()


if __name__ == "__main__":
    main()
