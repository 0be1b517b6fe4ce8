"""A bare aiohttp handler in a process of its own: what no server could be without, beside which others are measured."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import sys
from typing import Final

from tests.end_to_end.process import running

_SERVE: Final = """
import asyncio, json, sys
from aiohttp import web

{handler}

async def main():
    app = web.Application()
    app.router.add_post("/search", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print("listening", runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@asynccontextmanager
async def bare(handler: str, *arguments: str) -> AsyncIterator[str]:
    """Serve what the code `handler` defines as `handle`, at /search; give its address. It finds `arguments` in argv."""
    code = _SERVE.format(handler=handler)
    async with running("a bare handler", [sys.executable, "-c", code, *arguments]) as process:
        yield f"http://127.0.0.1:{(await process.line(r'listening (\d+)', 30))[1]}"
