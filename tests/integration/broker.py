"""A server that speaks the contract by its recorded examples, or does what servers shouldn't."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
import ssl
from typing import Any, Final

from aiohttp import web

from tests.contract import example

Behaviour = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]

KEY: Final = "right"


def recorded(name: str) -> Behaviour:
    """Return the behaviour of answering as in the example of that name, a stream in pieces of a few bytes."""

    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        recording = example(name)
        if recording.stream is None:
            return web.json_response(recording.body, status=recording.status)
        return await stream(request, recording.stream)

    return behave


async def stream(
    request: web.Request, data: bytes, *, hang_up: bool = False, piece: int = 700
) -> web.StreamResponse:
    """Send `data` as an event stream."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    for start in range(0, len(data), piece):
        await response.write(data[start : start + piece])
        await asyncio.sleep(0)
    if hang_up:
        assert request.transport is not None
        request.transport.abort()
    else:
        await response.write_eof()
    return response


class Broker:
    """The server: `search` and `health` say how it behaves, `asked` what it was asked."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.search: Behaviour = recorded("stream_served")
        self.health: Any = example("health_with_key").body
        self.health_status = 200
        self.silent: asyncio.Event | None = None
        self.key: str | None = None
        self.sources: Behaviour | None = None
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.health_asked = asyncio.Event()
        self.port = 0
        self._tls = tls
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Listen, on the same port again after the first time."""
        app = web.Application()
        app.router.add_get("/health", self._health)
        app.router.add_get("/sources", self._sources)
        app.router.add_post("/search", self._search)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(
            self._runner, "127.0.0.1", self.port, ssl_context=self._tls, reuse_address=True
        )
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Be gone, as a machine that is switched off."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def _refused(self, request: web.Request) -> web.Response | None:
        if self.key is None or request.headers.get("X-API-Key") == self.key:
            return None
        return web.json_response(example("error_401").body, status=401)

    async def _health(self, request: web.Request) -> web.StreamResponse:
        self.health_asked.set()
        if self.silent is not None:
            await self.silent.wait()
        if "X-API-Key" in request.headers and (refused := self._refused(request)):
            return refused
        if isinstance(self.health, str):
            return web.Response(text=self.health, status=self.health_status)
        return web.json_response(self.health, status=self.health_status)

    async def _sources(self, request: web.Request) -> web.StreamResponse:
        if self.sources is None:
            raise web.HTTPNotFound
        return await self.sources(request, {})

    async def _search(self, request: web.Request) -> web.StreamResponse:
        if refused := self._refused(request):
            return refused
        body = await request.json()
        self.asked.append(body)
        self.headers.append(dict(request.headers))
        return await self.search(request, body)
