"""Servers that speak the OpenAI-style chat API: vLLM, SGLang, llama.cpp, LM Studio and others.

They differ in what else they take: a JSON schema, a switch for thinking. What a server refuses is left out from
then on. The key goes into a header, never into a URL, a log or an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
import json
import logging
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from backend.llm.provider import Call, ModelError, ReplyCut, bounded
from backend.llm.thoughts import without_thoughts

_LOGGER = logging.getLogger(__name__)

_CONNECT_SECONDS: Final = 3.0
_PROBE_SECONDS: Final = 2.0
_LINE_BYTES: Final = 1 << 20
_LIST_BYTES: Final = 4 << 20
_REFUSED: Final = (400, 422, 501)


class OpenAI:
    """A model of a server with an OpenAI-style API."""

    kind = "openai"

    def __init__(self, url: str, model: str, *, key: str | None = None) -> None:
        """Take where the API is, with or without its `/v1`; nothing is sent before the first call."""
        self.url = url if urlsplit(url).path.strip("/") else f"{url.rstrip('/')}/v1"
        self.model = model
        self._key = key
        self._session: aiohttp.ClientSession | None = None
        self._refused = 0

    @property
    def constrained(self) -> bool:
        """Whether the server takes a JSON schema, as far as is known."""
        return self._refused < 2

    def stream(self, call: Call) -> AsyncGenerator[str]:
        """Yield the reply piece by piece. Raises ModelError."""
        return without_thoughts(bounded(self._pieces(call), call.timeout))

    async def probe(self) -> None:
        """Ask whether the server is there, takes the key and has the model. Raises ModelError."""
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                async with self._opened().get(
                    f"{self.url}/models", headers=self._headers()
                ) as reply:
                    status = reply.status
                    body = await reply.content.read(_LIST_BYTES)
                if status in (401, 403) or status >= 500:
                    raise ModelError(f"http_{status}", f"{self.url} refuses the request")
                listed = _listed(body) if status == 200 else None
                if listed is None or self.model not in listed:
                    await self._try(listed is not None)
        except TimeoutError as error:
            raise ModelError("timeout", f"no answer from {self.url}") from error
        except (aiohttp.ClientError, OSError) as error:
            raise self._error(error) from error

    async def _try(self, listing: bool) -> None:
        """Ask for a reply to nothing: a server with one model may list it by another name, and not all list theirs."""
        body = {"model": self.model, "messages": [], "max_tokens": 1}
        async with self._opened().post(
            f"{self.url}/chat/completions", json=body, headers=self._headers()
        ) as reply:
            if reply.content_type == "text/html" or (reply.status in (404, 405) and not listing):
                raise ModelError("http_404", f"{self.url} is no OpenAI-style API")
            if reply.status == 404:
                raise ModelError("no_model", f"{self.url} has no model {self.model}")

    async def warm_up(self) -> None:
        """Do nothing: these servers load a model when they start."""

    async def close(self) -> None:
        """Close the connections to the server."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS)
            )
        return self._session

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _body(self, call: Call, refused: int) -> dict[str, Any]:
        """Return the request, without the `refused` first of what not every server takes."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": call.system},
                {"role": "user", "content": call.user},
            ],
            "stream": True,
            "temperature": call.temperature,
            "max_tokens": call.max_tokens,
        }
        if refused < 1:
            body["chat_template_kwargs"] = {"enable_thinking": False}
        if refused < 2 and call.schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": call.schema, "strict": True},
            }
        return body

    async def _pieces(self, call: Call) -> AsyncGenerator[str]:
        refused = self._refused
        begun = stale = False
        while True:
            try:
                async with self._opened().post(
                    f"{self.url}/chat/completions",
                    json=self._body(call, refused),
                    headers=self._headers(),
                ) as reply:
                    if reply.status in _REFUSED and refused < 2:
                        refused += 1
                        continue
                    if reply.status != 200:
                        detail = (await reply.content.read(200)).decode("utf-8", "replace")
                        kind = "no_model" if reply.status == 404 else f"http_{reply.status}"
                        raise ModelError(kind, detail)
                    if refused != self._refused:
                        _LOGGER.info("%s refuses options; asking with fewer", self.url)
                        self._refused = refused
                    begun = True
                    if reply.content_type == "application/json":
                        piece, ends = _piece(await reply.read(), "message")
                        yield piece
                        if ends == "length":
                            raise ReplyCut
                        return
                    async for piece in _events(reply.content):
                        yield piece
                    return
            except aiohttp.ServerDisconnectedError as error:
                # The server had closed a connection that was kept open between calls.
                if begun or stale:
                    raise self._error(error) from error
                stale = True
            except TimeoutError as error:
                raise ModelError("unreachable", f"no connection to {self.url}") from error
            except (aiohttp.ClientError, OSError) as error:
                raise self._error(error) from error

    def _error(self, error: Exception) -> ModelError:
        kind = "bad_reply" if isinstance(error, aiohttp.ClientPayloadError) else "unreachable"
        if kind == "unreachable":
            return ModelError(kind, f"no connection to {self.url}")
        return ModelError(kind, f"{self.url}: {type(error).__name__}")


def _listed(body: bytes) -> set[str] | None:
    """Return the names of a list of models; None if it is none."""
    try:
        return {str(row["id"]) for row in json.loads(body)["data"]}
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


async def _events(content: aiohttp.StreamReader) -> AsyncGenerator[str]:
    """Yield the pieces of a reply that comes as server-sent events."""
    cut = done = False
    async for line in _lines(content):
        if not line.startswith(b"data:"):
            continue
        data = line[5:].strip()
        if data == b"[DONE]":
            done = True
            break
        piece, ends = _piece(data, "delta")
        cut = cut or ends == "length"
        done = done or ends is not None
        if piece:
            yield piece
    if cut:
        raise ReplyCut
    if not done:
        raise ModelError("bad_reply", "the reply ended before it was done")


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    buffer = b""
    async for chunk in content.iter_any():
        *lines, buffer = (buffer + chunk).split(b"\n")
        for line in lines:
            yield line.rstrip(b"\r")
        if len(buffer) > _LINE_BYTES:
            raise ModelError("bad_reply", "a line without end")
    if buffer:
        yield buffer


def _piece(data: bytes, key: str) -> tuple[str, str | None]:
    """Return the text of a chunk, and why the reply ended if it did. Raises ModelError."""
    try:
        chunk = json.loads(data)
        if "error" in chunk:
            raise ModelError("bad_reply", str(chunk["error"])[:200])
        choices = chunk.get("choices") or []
        if not choices:
            return "", None
        return choices[0].get(key, {}).get("content") or "", choices[0].get("finish_reason")
    except (ValueError, AttributeError, TypeError) as error:
        raise ModelError("bad_reply", f"not a chunk of a reply: {data[:80]!r}") from error
