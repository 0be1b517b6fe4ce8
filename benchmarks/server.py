"""What the server costs where nothing has to be looked up: cached questions beside a bare handler, start, memory.

The real server and the bare aiohttp JSON handler run in processes of their own and are asked by the same client, in
turns within the same run. The bare handler parses the body and returns the bytes that the server returns.

    python -m benchmarks.server [--seconds 3] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
import statistics
import sys
import tempfile
import time
from typing import Any, Final

import aiohttp

from benchmarks._bare import bare
from benchmarks.voice import megabytes
from tests.end_to_end.backend import Backend

QUESTION: Final = {"query": "what does error E24 on the dishwasher mean", "language": "en"}
AT_ONCE: Final = 8
TURNS: Final = 3
TARGET_SHARE: Final = 0.5
TARGET_START_SECONDS: Final = 1.0
TARGET_MB: Final = 120.0

_BARE: Final = """
REPLY = open(sys.argv[1], encoding="utf-8").read()

async def handle(request):
    json.loads(await request.read())
    return web.Response(text=REPLY, content_type="application/json")
"""


async def load(http: aiohttp.ClientSession, url: str, seconds: float) -> tuple[float, list[float]]:
    """Ask from AT_ONCE callers for so long; return requests a second and each one's milliseconds."""
    body = json.dumps(QUESTION).encode()
    headers = {"Content-Type": "application/json"}
    taken: list[float] = []
    end = time.perf_counter() + seconds

    async def caller() -> None:
        while (began := time.perf_counter()) < end:
            async with http.post(f"{url}/search", data=body, headers=headers) as response:
                await response.read()
            taken.append((time.perf_counter() - began) * 1000)

    await asyncio.gather(*(caller() for _ in range(AT_ONCE)))
    return len(taken) / seconds, taken


async def alone(http: aiohttp.ClientSession, url: str, count: int = 200) -> float:
    """Return the p50 in milliseconds of one question after the other."""
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        async with http.post(f"{url}/search", json=QUESTION) as response:
            await response.read()
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


async def first_answer(backend: Backend) -> float:
    """Start a server that knows its library; return the seconds to its first answer."""
    began = time.perf_counter()
    await backend.start()
    reply = await backend.ask("what is the boiler pressure")
    assert reply["success"], reply
    return time.perf_counter() - began


async def measure(seconds: float) -> dict[str, Any]:
    """Return all figures."""
    with tempfile.TemporaryDirectory() as folder:
        backend = Backend(Path(folder) / "data")
        await first_answer(backend)
        await backend.stop()
        start = await first_answer(backend)
        rest = megabytes(backend)
        try:
            # What was found before the library had been read isn't kept.
            for _ in range(3):
                reply = await backend.ask(**QUESTION)
            assert reply["cached"], reply
            file = Path(folder) / "reply.json"
            file.write_text(json.dumps(reply, ensure_ascii=False), "utf-8")
            async with bare(_BARE, str(file)) as bare_url, aiohttp.ClientSession() as http:
                rates: dict[str, list[float]] = {"ours": [], "bare": []}
                for _ in range(TURNS):
                    for name, url in (("ours", backend.url), ("bare", bare_url)):
                        rate, _taken = await load(http, url, seconds)
                        rates[name].append(rate)
                p50 = {
                    "ours": await alone(http, backend.url),
                    "bare": await alone(http, bare_url),
                }
            afterwards = megabytes(backend)
        finally:
            await backend.stop()
    ours, bare_rate = statistics.median(rates["ours"]), statistics.median(rates["bare"])
    return {
        "requests_a_second": round(ours),
        "requests_a_second_bare": round(bare_rate),
        "share_of_bare": round(ours / bare_rate, 2),
        "p50_ms": round(p50["ours"], 2),
        "p50_ms_bare": round(p50["bare"], 2),
        "start_to_first_answer_seconds": round(start, 2),
        "resident_mb_at_rest": rest,
        "resident_mb_afterwards": afterwards,
    }


def main() -> int:
    """Measure; exit with 1 when a figure misses its target."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.server")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each turn under load")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    figures = asyncio.run(measure(arguments.seconds))
    if arguments.json:
        print(json.dumps(figures, indent=1))
    else:
        for name, value in figures.items():
            print(f"{name.replace('_', ' '):<36}{value:>10}")
    met = (
        figures["share_of_bare"] >= TARGET_SHARE
        and figures["start_to_first_answer_seconds"] <= TARGET_START_SECONDS
        and figures["resident_mb_at_rest"] <= TARGET_MB
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
