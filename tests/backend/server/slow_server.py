"""A process that serves questions which wait for a line on its stdin: `python -m tests.backend.server.slow_server`.

It tells on stdout what happens: `port N`, `asked`, `closed` (the question's work has ended).
"""

from __future__ import annotations

import asyncio
import sys
import threading

from backend.logs import set_up
from backend.server.app import create_app
from backend.server.run import serve
from backend.settings import Settings
from tests.backend.server.scripted import SERVED, FakeStore, ScriptedAsk, healthy, look


def tell(*words: object) -> None:
    """Print one line, at once."""
    print(*words, flush=True)


async def main(host: str, port: int) -> int:
    """Serve until a signal comes."""
    loop = asyncio.get_running_loop()
    go = asyncio.Event()

    def listen() -> None:
        for _ in sys.stdin:
            loop.call_soon_threadsafe(go.set)

    threading.Thread(target=listen, daemon=True).start()

    async def wait() -> None:
        tell("asked")
        try:
            await go.wait()
        finally:
            tell("closed")

    ask = ScriptedAsk()
    ask.items = [SERVED, wait, SERVED]
    app = create_app(ask, settings=Settings(), health=healthy, store=FakeStore(), look=look)
    return await serve(app, host, port, grace=20, ready=lambda bound: tell("port", bound))


if __name__ == "__main__":
    set_up("INFO")
    sys.exit(asyncio.run(main(sys.argv[1], int(sys.argv[2]))))
