"""The way of a spoken question, step by step, and what the server holds in memory.

The real server runs in a process of its own on the sample library and is asked over a socket as Home Assistant asks:
a stream, spoken style. A scripted model answers at once, so what remains is ours. Nothing is taken from a cache.
Beside it, in the same run, a bare aiohttp handler takes and returns the same bytes: what no server could be without.

    python -m benchmarks.voice [--questions 200] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import dataclass
import itertools
import json
from pathlib import Path
import statistics
import sys
import tempfile
import time
from typing import Any, Final

import aiohttp
from aiohttp import web

from benchmarks._bare import bare
from tests.end_to_end.backend import Backend
from tests.scripted_model import MODEL, ScriptedModel, says

ANSWER: Final = "Error E24 means that the water does not drain away. Straighten the drain hose."
QUESTIONS: Final = (
    "what does error E24 on the dishwasher mean",
    "how do I clean the filter of the dishwasher when E24 comes back",
    "why does the dishwasher show E24 and leave water in the tub",
    "what should I check first when error E24 is on the display",
)
WARM_UP: Final = 10
TARGET_MS: Final = 30.0
TARGET_MB: Final = 90.0

_BARE: Final = """
async def handle(request):
    body = await request.read()
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    await response.write(body)
    return response
"""


class TimedModel(ScriptedModel):
    """Says ANSWER at once; notes when a call came and when its reply was out, by this process's clock."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.then = says(ANSWER, "house")
        self.taken: list[tuple[float, float]] = []

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        began = time.perf_counter()
        response = await super()._chat(request)
        self.taken.append((began, time.perf_counter()))
        return response


@dataclass(frozen=True, slots=True)
class Way:
    """How long each part of one question took, in milliseconds, and how many bytes came back."""

    route: float
    retrieve: float
    prompt: float
    model: float
    first_sentence: float
    gates_and_speech: float
    total: float
    received_bytes: int

    @property
    def ours(self) -> float:
        """All but the model."""
        return self.total - self.model


async def ask(http: aiohttp.ClientSession, url: str, model: TimedModel, question: str) -> Way:
    """Ask once, and return where the time went.

    The moments are those of one clock: the client, the model and this code are one process. `at_ms` of the
    explanation tells the steps inside the server.
    """
    body = {
        "query": question,
        "synthesize": True,
        "answer_style": "voice",
        "language": "en",
        "explain": True,
        "accepts": ["handback"],
    }
    calls = len(model.taken)
    received = 0
    retrieved = spoken = None
    reply: dict[str, Any] = {}
    name = ""
    started = time.perf_counter()
    async with http.post(
        f"{url}/search", json=body, headers={"Accept": "text/event-stream"}
    ) as response:
        async for line in response.content:
            received += len(line)
            if line.startswith(b"event:"):
                name = line[6:].strip().decode()
                now = time.perf_counter()
                if name == "retrieval":
                    retrieved = now
                elif name == "sentence" and spoken is None:
                    spoken = now
            elif line.startswith(b"data:") and name == "done":
                reply = json.loads(line[5:])
    ended = time.perf_counter()
    if reply.get("speech") != ANSWER or retrieved is None or spoken is None:
        raise SystemExit(f"not the answer that was scripted: {json.dumps(reply, indent=1)}")
    ((called, said),) = model.taken[calls:]
    events = {event["event"]: event for event in reply["explanation"]}
    route = float(events["route"]["at_ms"])
    return Way(
        route=route,
        retrieve=(retrieved - started) * 1000 - route,
        prompt=(called - retrieved) * 1000,
        model=(said - called) * 1000,
        first_sentence=(spoken - started) * 1000,
        gates_and_speech=(ended - said) * 1000,
        total=(ended - started) * 1000,
        received_bytes=received,
    )


async def bare_ms(http: aiohttp.ClientSession, url: str, size: int) -> float:
    """Send and get back `size` bytes; return the milliseconds."""
    started = time.perf_counter()
    async with http.post(f"{url}/search", data=b"x" * size) as response:
        await response.read()
    return (time.perf_counter() - started) * 1000


async def measure(count: int) -> dict[str, Any]:
    """Ask `count` questions and return all figures."""
    with tempfile.TemporaryDirectory() as folder:
        async with TimedModel() as model, bare(_BARE) as bare_url, aiohttp.ClientSession() as http:
            backend = Backend(
                Path(folder) / "data",
                {
                    "LLM_API_TYPE": "ollama",
                    "LLM_URL": model.url,
                    "LLM_MODEL": MODEL,
                    "CACHE_MAX_SIZE": "0",
                },
            )
            first = await at_rest(backend)
            await backend.stop()
            # From the second start on, the library is known: that is how a server runs.
            rest = await at_rest(backend)
            assert backend.process is not None
            try:
                questions = itertools.cycle(QUESTIONS)
                for _ in range(WARM_UP):
                    way = await ask(http, backend.url, model, next(questions))
                    await bare_ms(http, bare_url, way.received_bytes)
                ways, bares = [], []
                for _ in range(count):
                    way = await ask(http, backend.url, model, next(questions))
                    ways.append(way)
                    bares.append(await bare_ms(http, bare_url, way.received_bytes))
                afterwards = megabytes(backend)
            finally:
                await backend.stop()
    return {
        "questions": count,
        "p50_ms": {
            name: round(statistics.median(getattr(way, name) for way in ways), 2)
            for name in (*Way.__dataclass_fields__, "ours")
            if name != "received_bytes"
        },
        "p95_ours_ms": round(statistics.quantiles([way.ours for way in ways], n=20)[-1], 2),
        "p50_bare_handler_ms": round(statistics.median(bares), 2),
        "bytes_to_home_assistant": round(statistics.median(way.received_bytes for way in ways)),
        "resident_mb_at_rest": rest,
        "resident_mb_after_reading_the_library": first,
        "resident_mb_afterwards": afterwards,
    }


async def at_rest(backend: Backend) -> float:
    """Start it and return what it holds, in MB, once it has read the library and found the model."""
    await backend.start()
    while True:
        _, health = await backend.get("/health")
        if health["sources"]["house"].get("documents") and health["model"]["available"]:
            return megabytes(backend)
        await asyncio.sleep(0.1)


def megabytes(backend: Backend) -> float:
    """Return the resident memory of its process in MB, of 1,000,000 bytes."""
    assert backend.process is not None
    return round(backend.process.resident_bytes / 1e6, 1)


def show(figures: dict[str, Any]) -> None:
    """Print the figures for a person."""
    p50 = figures["p50_ms"]
    rows = (
        ("to the route, the request read", p50["route"]),
        ("retrieve, until Home Assistant has it", p50["retrieve"]),
        ("prompt, until the model has it", p50["prompt"]),
        ("model (scripted)", p50["model"]),
        ("gates, speech, the last byte", p50["gates_and_speech"]),
        ("whole", p50["total"]),
        ("all but the model", p50["ours"]),
        ("first sentence heard of", p50["first_sentence"]),
        ("a bare handler, as many bytes", figures["p50_bare_handler_ms"]),
    )
    print(f"p50 of {figures['questions']} questions, in ms (steps are medians of their own)")
    for name, value in rows:
        print(f"  {name:<40}{value:>8.2f}")
    print(f"  {'all but the model, p95':<40}{figures['p95_ours_ms']:>8.2f}")
    print(f"bytes to Home Assistant: {figures['bytes_to_home_assistant']}")
    print(
        f"resident memory: {figures['resident_mb_at_rest']} MB at rest,"
        f" {figures['resident_mb_afterwards']} MB after the questions,"
        f" {figures['resident_mb_after_reading_the_library']} MB in the run that reads the library first"
    )


def main() -> int:
    """Measure; exit with 1 when a figure misses its target."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.voice")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    figures = asyncio.run(measure(arguments.questions))
    if arguments.json:
        print(json.dumps(figures, indent=1))
    else:
        show(figures)
    met = figures["p50_ms"]["ours"] < TARGET_MS and figures["resident_mb_at_rest"] < TARGET_MB
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
