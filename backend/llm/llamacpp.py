"""A model inside this process: llama.cpp by the extra `llamacpp`, loaded when it is first needed.

llama.cpp brings a server with an OpenAI-style API; it listens on loopback at a free port, under a key that only this
process knows, and is asked like any other such server. The server belongs to the process and lives as long as it is
referred to.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
import importlib
import importlib.util
import logging
from pathlib import Path
import secrets
from typing import Any

from backend.llm.openai import OpenAI
from backend.llm.provider import Call, ModelError

_LOGGER = logging.getLogger(__name__)


class LlamaCpp:
    """A model in a GGUF file."""

    kind = "llamacpp"
    constrained = True

    def __init__(self, path: Path | None, *, num_ctx: int) -> None:
        """Take where the file is; nothing is loaded yet. `num_ctx` is in tokens."""
        self.model = path.stem if path is not None else "none"
        self._path = path
        self._num_ctx = num_ctx
        self._server: Any = None
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
        """Let the model go, once it has come."""
        if self._loading is not None and not self._loading.done():
            await asyncio.wait((self._loading,))
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        server, self._server = self._server, None
        if server is not None:
            # Stopping llama.cpp's threads takes its time.
            await asyncio.to_thread(_release, [server])

    def _check(self) -> Path:
        if importlib.util.find_spec("xllamacpp") is None:
            raise ModelError(
                "no_model", "llamacpp needs its extra: pip install 'mnemolis[llamacpp]'"
            )
        if self._path is None:
            raise ModelError("no_model", "LLM_MODEL_PATH isn't set; it names a GGUF file")
        if not self._path.is_file():
            raise ModelError("no_model", f"LLM_MODEL_PATH: there is no file {self._path}")
        return self._path

    async def _loaded(self) -> OpenAI:
        if self._client is not None:
            return self._client
        if self._loading is None or self._loading.done():
            self._loading = asyncio.create_task(self._load())
            self._loading.add_done_callback(lambda task: task.cancelled() or task.exception())
        # Who waits may leave; the load goes on for the next one.
        return await asyncio.shield(self._loading)

    async def _load(self) -> OpenAI:
        key = secrets.token_hex(16)
        self._server, url = await asyncio.to_thread(self._serve, key)
        self._client = OpenAI(url, self.model, key=key)
        return self._client

    def _serve(self, key: str) -> tuple[Any, str]:
        path = self._check()
        xllamacpp = importlib.import_module("xllamacpp")
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.n_ctx = self._num_ctx
        parameters.use_jinja = True
        parameters.api_keys = [key]
        try:
            server = xllamacpp.Server(parameters)
        except (RuntimeError, ValueError, OSError) as error:
            raise ModelError("no_model", f"{path} can't be loaded: {error}") from error
        return server, server.listening_address


def _release(held: list[Any]) -> None:
    held.clear()
