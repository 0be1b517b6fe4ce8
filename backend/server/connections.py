"""Connections: how many, how long they may say nothing, and what is answered to what isn't HTTP.

What comes in as a request is the application's. A client that opens connections and doesn't use them can't keep the
others out: where there are too many, the one that has been idle for the longest gives way.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any, Final

from aiohttp import web

from backend.contract import ErrorBody
from backend.server.errors import json_response

_LOGGER = logging.getLogger(__name__)

BACKLOG: Final = 64
IDLE_SECONDS: Final = 75.0
"""So long a connection may take over the head of its first request, and be kept open between two."""
_MOST: Final = 512
_LEAST: Final = 16
_RESERVED_FILES: Final = 128
"""Files that are left for documents, the store, and calls to others; a backlog is accepted in one go besides."""
_WANTED_FILES: Final = 4_096


def most_connections() -> int:
    """Return how many connections this process may hold; asks the system for more files if it has few."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _WANTED_FILES if hard == resource.RLIM_INFINITY else min(hard, _WANTED_FILES)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        if soft != resource.RLIM_INFINITY:
            return max(_LEAST, min(_MOST, soft - _RESERVED_FILES - BACKLOG))
    return _MOST


class Connections:
    """Makes the protocols of a listening socket, at most `most` at once."""

    def __init__(self, server: web.Server, most: int) -> None:
        self._server = server
        self._most = most
        self._busy: set[web.RequestHandler] = set()
        # In the order in which they came or were last used.
        self._idle: dict[web.RequestHandler, None] = {}
        handler = server.request_handler

        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            connection = request.protocol
            self._idle.pop(connection, None)
            self._busy.add(connection)
            try:
                return await handler(request)
            finally:
                self._busy.discard(connection)
                if connection.transport is not None:
                    self._idle[connection] = None

        server.request_handler = handle

    def __call__(self) -> asyncio.BaseProtocol:
        """Return the protocol of a new connection."""
        if len(self._idle) + len(self._busy) >= self._most:
            oldest = next(iter(self._idle), None)
            if oldest is None:
                return _TurnedAway()
            del self._idle[oldest]
            if isinstance(oldest, _Connection):
                oldest.abort()
        connection = _Connection(self._server, self._idle)
        self._idle[connection] = None
        return connection


class _Connection(web.RequestHandler):
    """A connection, in `idle` while nothing is asked over it."""

    __slots__ = ("_idle", "_wire")

    def __init__(self, server: web.Server, idle: dict[web.RequestHandler, None]) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=IDLE_SECONDS,
            access_log=None,  # type: ignore[arg-type]  # None is what AppRunner is told, too
        )
        self._idle = idle
        self._wire: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport; aiohttp's own forgets it before the last byte is out."""
        self._wire = transport
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Forget the connection."""
        self._idle.pop(self, None)
        super().connection_lost(exc)

    def abort(self) -> None:
        """End the connection at once, whatever is still to be sent."""
        if isinstance(self._wire, asyncio.WriteTransport):
            self._wire.abort()

    def log_exception(self, *args: object, **kw: Any) -> None:
        """Log a fault; a body that nobody could decode was refused, and is no fault."""
        if not isinstance(kw.get("exc_info"), web.RequestPayloadError):
            super().log_exception(*args, **kw)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what isn't HTTP, in the shape of every other error; faults of ours are aiohttp's to log."""
        if status >= 500:
            return super().handle_error(request, status, exc, message)
        # What follows the colon are the bytes that came.
        why = (message or "").partition(":")[0].strip().removesuffix(".") or "Bad request"
        _LOGGER.info("not understood", extra={"status": status, "error": why})
        response = json_response(
            ErrorBody(error="bad_request", message=f"The request is not valid HTTP ({why})."),
            status,
        )
        response.force_close()
        return response


class _TurnedAway(asyncio.Protocol):
    """A connection for which there is no room."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close it."""
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n")
        transport.close()
