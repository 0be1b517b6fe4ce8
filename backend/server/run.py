"""Listening, and stopping without leaving anybody without an answer.

The first SIGTERM or SIGINT closes the door and lets the questions inside run to their ends, which their deadlines
bound; a second one ends the process at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import errno
import logging
import os
import signal
from typing import Final

from aiohttp import web

from backend.server.connections import BACKLOG, Connections, most_connections

_LOGGER = logging.getLogger(__name__)

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


def _why(error: OSError | UnicodeError, host: str, port: int) -> str:
    """Return what keeps us from listening, and the remedy."""
    if isinstance(error, UnicodeError):
        # Names of hosts have parts of at most 63 characters.
        return f"can't listen on {host}: no name of a host; set HOST (or --host) to an address of this machine"
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} is taken; set PORT (or --port) to a free one, or stop what listens there"
        )
    if error.errno == errno.EACCES:
        return f"port {port} may not be used without root; set PORT (or --port) to one above 1023"
    return f"can't listen on {host}: {error.strerror or error}; set HOST (or --host) to an address of this machine"


async def serve(
    app: web.Application,
    host: str,
    port: int,
    *,
    grace: float,
    ready: Callable[[int], None] = lambda port: None,
) -> int:
    """Serve `app` until a signal comes; return the exit code.

    `port` 0 takes a free one; `ready` is called with the port once requests are taken. On a signal, questions in
    work have `grace` seconds.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()

    def asked_to_stop(number: signal.Signals) -> None:
        if stop.is_set():
            # Asked twice: whatever still holds us isn't worth waiting for, and mustn't be able to.
            os._exit(128 + number)
        _LOGGER.info("stopping: open questions are answered first", extra={"signal": number.name})
        stop.set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, asked_to_stop, number)
    # Without handler_cancellation the model works on for a client that has hung up.
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=grace)
    door: asyncio.Server | None = None
    try:
        await runner.setup()
        assert runner.server is not None
        connections = Connections(runner.server, most_connections())
        try:
            door = await loop.create_server(
                connections, host, port, backlog=BACKLOG, reuse_address=True
            )
        except (OSError, UnicodeError) as error:
            _LOGGER.error("%s", _why(error, host, port))
            return 1
        bound = door.sockets[0].getsockname()[1]
        _LOGGER.info("listening", extra={"address": f"http://{host}:{bound}"})
        ready(bound)
        await stop.wait()
        return 0
    finally:
        if door is not None:
            door.close()
        await runner.cleanup()
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
