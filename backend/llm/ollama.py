"""Ollama, by its official client.

Sets the context so that a prompt within the budget is never cut silently, keeps the model loaded, and switches
thinking off. The client is imported when it is first needed: the server starts without it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
import importlib
import logging
import sys
from typing import Any, Final
from urllib.parse import urlsplit

from backend.llm.provider import Call, ModelError, ReplyCut, bounded
from backend.llm.thoughts import without_thoughts

_LOGGER = logging.getLogger(__name__)

DEFAULT_URL: Final = "http://127.0.0.1:11434"
_CONNECT_SECONDS: Final = 3.0
_PROBE_SECONDS: Final = 2.0
_LOAD_SECONDS: Final = 300.0

_CHARS_PER_TOKEN: Final = 2
"""Fewer than any of our languages has, so that a prompt surely fits."""
_OVERHEAD_CHARS: Final = 4_500
"""What a prompt holds besides the material: the rules, headers, and the longest question."""


def context_tokens(budget_chars: int, reply_tokens: int) -> int:
    """Return the context that a prompt with `budget_chars` of material needs, in tokens."""
    needed = (budget_chars + _OVERHEAD_CHARS) // _CHARS_PER_TOKEN + reply_tokens
    return -(-needed // 1024) * 1024


class Ollama:
    """A model of an Ollama server."""

    kind = "ollama"

    def __init__(
        self, url: str, model: str, *, num_ctx: int, keep_alive: str = "30m", key: str | None = None
    ) -> None:
        """Take where the server is; nothing is sent before the first call. `num_ctx` is in tokens."""
        self.url = url
        self.model = model
        self.constrained = True
        self._num_ctx = num_ctx
        # A bare number is seconds for Ollama only when it isn't a string.
        self._keep_alive: str | float = (
            float(keep_alive) if keep_alive.lstrip("-").isdecimal() else keep_alive
        )
        self._key = key
        self._think: bool | None = False
        self._client: Any = None
        self._opening = asyncio.Lock()

    def stream(self, call: Call) -> AsyncGenerator[str]:
        """Yield the reply piece by piece. Raises ModelError."""
        return without_thoughts(bounded(self._pieces(call), call.timeout))

    async def probe(self) -> None:
        """Ask whether the server has the model. Raises ModelError."""
        parts = urlsplit(self.url)
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                # A server that isn't there is found out without loading the client.
                port = parts.port or (443 if parts.scheme == "https" else 80)
                _, writer = await asyncio.open_connection(parts.hostname, port)
                writer.close()
                await writer.wait_closed()
            client = await self._opened()
            async with asyncio.timeout(_PROBE_SECONDS):
                with suppress(ValueError):
                    # A description that this client can't read is one nevertheless.
                    await client.show(self.model)
        except TimeoutError as error:
            raise ModelError("timeout", f"no answer from {self.url}") from error
        except Exception as error:
            raise self._error(error) from error

    async def warm_up(self) -> None:
        """Have the server load the model."""
        try:
            client = await self._opened()
            async with asyncio.timeout(_LOAD_SECONDS):
                await client.generate(
                    self.model, keep_alive=self._keep_alive, options={"num_ctx": self._num_ctx}
                )
        except Exception as error:  # noqa: BLE001 (a model that isn't loaded yet is loaded by the first question)
            _LOGGER.debug("%s isn't loaded yet: %s", self.model, error)

    async def close(self) -> None:
        """Close the connections to the server."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _opened(self) -> Any:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._open)
        return self._client

    def _open(self) -> Any:
        """Make the client; loads modules and certificates."""
        ollama = importlib.import_module("ollama")
        httpx = importlib.import_module("httpx")
        return ollama.AsyncClient(
            host=self.url,
            headers={"Authorization": f"Bearer {self._key}"} if self._key else None,
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            # The house's model server is never behind the proxy of an environment.
            trust_env=False,
        )

    async def _pieces(self, call: Call) -> AsyncGenerator[str]:
        client = await self._opened()
        begun = False
        while True:
            think, schema = self._think, call.schema if self.constrained else None
            try:
                reply = await client.chat(
                    model=self.model,
                    messages=[
                        {"role": "system", "content": call.system},
                        {"role": "user", "content": call.user},
                    ],
                    stream=True,
                    think=think,
                    format=schema,
                    keep_alive=self._keep_alive,
                    options={
                        "temperature": call.temperature,
                        "num_ctx": self._num_ctx,
                        "num_predict": call.max_tokens,
                    },
                )
                async with aclosing(reply):
                    async for part in reply:
                        begun = True
                        if part.message.content:
                            yield part.message.content
                        if part.done:
                            break
                    else:
                        part = None
            except Exception as error:
                if begun or not self._relaxed(error, think, schema):
                    raise self._error(error) from error
                continue
            if part is None:
                raise ModelError("bad_reply", "the reply ended before it was done")
            self._check_context(part.prompt_eval_count, call)
            if part.done_reason == "length":
                raise ReplyCut
            return

    def _relaxed(self, error: Exception, think: bool | None, schema: dict[str, Any] | None) -> bool:
        """Give up what the server refuses; return whether there is something left to try."""
        if getattr(error, "status_code", None) not in (400, 422, 500, 501):
            return False
        reason = str(error).lower()
        if think is not None and "think" in reason:
            self._think = None
            return True
        if schema is not None and any(word in reason for word in ("format", "grammar", "schema")):
            _LOGGER.warning("%s can't hold %s to a schema; asking in prose", self.url, self.model)
            self.constrained = False
            return True
        return False

    def _check_context(self, prompt_tokens: int | None, call: Call) -> None:
        if prompt_tokens is not None and prompt_tokens + call.max_tokens > self._num_ctx:
            _LOGGER.warning(
                "A prompt of %s tokens and a reply of %s don't fit into a context of %s;"
                " the server may have cut it. Raise LLM_NUM_CTX or lower SYNTHESIS_INPUT_BUDGET_CHARS",
                prompt_tokens,
                call.max_tokens,
                self._num_ctx,
            )

    def _error(self, error: Exception) -> ModelError:
        """Return what the client raised as an error of the seam."""
        status = getattr(error, "status_code", None)
        if status == 404 and "model" in str(error).lower():
            return ModelError("no_model", f"{self.url} has no model {self.model}")
        if status == 404:
            return ModelError("http_404", f"{self.url} is no Ollama")
        if isinstance(status, int) and status > 0:
            return ModelError(f"http_{status}", str(error)[:200])
        httpx = sys.modules.get("httpx")
        if isinstance(error, OSError) or (
            httpx is not None and isinstance(error, httpx.TransportError | httpx.InvalidURL)
        ):
            return ModelError("unreachable", f"no connection to {self.url}")
        return ModelError("bad_reply", f"{type(error).__name__}: {str(error)[:200]}")
