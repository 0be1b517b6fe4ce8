"""The real backend in a process of its own, and a client of its HTTP interface.

It decides how one is started and how its streams are read; which settings it gets and what the replies are worth is
the callers'.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from io import BytesIO
import json
import os
from pathlib import Path
import re
import sys
from typing import Any, Final

import aiohttp

from .process import Process

ROOT: Final = Path(__file__).parents[2]
LIBRARY: Final = ROOT / "library"

_READY: Final = r"listening\b.*http://127\.0\.0\.1:(\d+)"
_START_SECONDS: Final = 60.0
_REPLY_SECONDS: Final = aiohttp.ClientTimeout(total=60)


def environment(data: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a backend: `settings`, and nothing of the caller's that looks like one."""
    inherited = [
        name for name in os.environ if re.match(r"(LLM|SYNTHESIS|CACHE|FUSION|HA)_|API_KEYS", name)
    ]
    return {
        **dict.fromkeys(inherited, ""),
        "DATA_DIR": str(data),
        "LIBRARY_DIR": str(LIBRARY),
        "LLM_API_TYPE": "extractive",
        **settings,
    }


class Backend:
    """A server with a data folder of its own; it keeps its port when it is started again."""

    def __init__(
        self,
        data: Path,
        settings: Mapping[str, str] | None = None,
        *,
        port: int = 0,
        config: Path | None = Path(os.devnull),
    ) -> None:
        """Keep everything in the folder `data`; take settings by their names in the environment, over those of the tests.

        `config` is the file of settings; None is the one that the checkout may have.
        """
        self.port = port
        self.config = config
        self.process: Process | None = None
        self.data = data
        self.settings = settings or {}

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """Its process id; AssertionError while it isn't started."""
        assert self.process is not None
        return self.process.pid

    async def start(self) -> None:
        """Start it, and return once it listens."""
        self.process = await Process.start(
            "the backend",
            [
                sys.executable,
                "-m",
                "backend",
                "serve",
                "--host",
                "127.0.0.1",
                "--port",
                str(self.port),
                *(("--config", str(self.config)) if self.config is not None else ()),
            ],
            environment=environment(self.data, self.settings),
            cwd=ROOT,
            log=self.data.with_suffix(".log"),
        )
        self.port = int((await self.process.line(_READY, _START_SECONDS))[1])

    async def stop(self) -> int:
        """Stop it and return its exit status."""
        assert self.process is not None
        return await self.process.stop()

    async def ask(self, query: str, **fields: Any) -> dict[str, Any]:
        """Return the reply to a question."""
        status, reply = await self.post("/search", {"query": query, **fields})
        assert status == 200, reply
        return reply

    async def post(
        self,
        path: str,
        body: Any = None,
        *,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, dict[str, Any]]:
        """Post JSON, or raw bytes as such; return the status and the JSON that came back."""
        headers = {"Content-Type": "application/json", **(headers or {})}
        async with (
            aiohttp.ClientSession(timeout=_REPLY_SECONDS) as http,
            http.post(
                self.url + path,
                json=body,
                # aiohttp warns of large bytes, which it would send without a pause.
                data=None if data is None else BytesIO(data),
                headers=headers,
            ) as response,
        ):
            return response.status, await response.json()

    async def forget(self) -> None:
        """Have it forget the results and answers that it keeps."""
        status, _ = await self.post("/cache/clear")
        assert status == 200

    async def get(self, path: str) -> tuple[int, dict[str, Any]]:
        """Return the status and the JSON of a page."""
        async with (
            aiohttp.ClientSession(timeout=_REPLY_SECONDS) as http,
            http.get(self.url + path) as response,
        ):
            return response.status, await response.json()

    @asynccontextmanager
    async def stream(
        self, query: str, **fields: Any
    ) -> AsyncIterator[AsyncIterator[tuple[str, dict[str, Any]]]]:
        """Ask for a stream and give its events, by name; leaving hangs up."""
        async with (
            aiohttp.ClientSession(timeout=_REPLY_SECONDS) as http,
            http.post(
                f"{self.url}/search",
                json={"query": query, "synthesize": True, **fields},
                headers={"Accept": "text/event-stream"},
            ) as response,
        ):
            assert response.status == 200, await response.text()
            yield _events(response.content)

    async def streamed(self, query: str, **fields: Any) -> list[tuple[str, dict[str, Any]]]:
        """Return all events of a stream."""
        async with self.stream(query, **fields) as events:
            return [event async for event in events]


async def _events(lines: aiohttp.StreamReader) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """Read server-sent events; comments are left out."""
    name, data = "", ""
    async for raw in lines:
        line = raw.decode().rstrip("\r\n")
        if line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            data += line.removeprefix("data:").strip()
        elif not line and data:
            yield name, json.loads(data)
            name, data = "", ""
