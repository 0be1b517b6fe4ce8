"""What was answered is there after the process was killed: again and again, in the middle of writing."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
import random
import signal
from typing import Any, Final

import aiohttp

from .backend import Backend

_TIMES: Final = 50
_CALLERS: Final = 4


async def _ask_until_it_is_gone(
    http: aiohttp.ClientSession, url: str, caller: int, answered: set[str]
) -> None:
    """Ask one question after the other, some of them new, and note those that were answered."""
    number = 0
    while True:
        number += 1
        query = f"what does error E24 mean {caller} {number if number % 3 else 0}"
        try:
            async with http.post(f"{url}/search", json={"query": query}) as response:
                assert response.status == 200
                reply: dict[str, Any] = await response.json()
        except (aiohttp.ClientError, OSError):
            return
        answered.add(reply["request_id"])


async def test_killed_fifty_times_it_starts_again_with_all_that_was_answered(
    tmp_path: Path,
) -> None:
    chance = random.Random(4)
    backend = Backend(tmp_path / "data")
    answered: set[str] = set()
    total = 0
    async with aiohttp.ClientSession() as http:
        for _ in range(_TIMES):
            await backend.start()
            async with http.get(f"{backend.url}/logs", params={"limit": 1000}) as response:
                kept = {row["request_id"] for row in (await response.json())["logs"]}
            assert answered - kept == set()
            async with http.get(f"{backend.url}/health") as response:
                assert (await response.json())["cache"]["error"] is None
            answered.clear()
            callers = [
                asyncio.create_task(_ask_until_it_is_gone(http, backend.url, caller, answered))
                for caller in range(_CALLERS)
            ]
            # Somewhere within a few transactions of the log.
            enough = chance.randint(1, 40)
            while len(answered) < enough:
                await asyncio.sleep(0.001)
            os.kill(backend.pid, signal.SIGKILL)
            await asyncio.gather(*callers)
            await backend.stop()
            total += len(answered)
    assert total >= _TIMES
