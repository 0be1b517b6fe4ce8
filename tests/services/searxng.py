"""The real SearXNG, from the environment that `scripts/services/searxng` makes, with engines that ask a test's own server.

SearXNG is a process of its own, and is asked over HTTP alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
import json
import os
from pathlib import Path
import signal
import socket
import subprocess
import time
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from aiohttp import web
import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".cache" / "services" / "searxng" / "bin" / "python"
_STARTS_WITHIN = 90.0
Page = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Found:
    """One result as an engine has it."""

    path: str
    title: str
    content: str
    host: str = ""


@dataclass
class Internet:
    """What the engines find, and the pages that it leads to; `asked` are the searches, `read` the pages."""

    port: int
    results: list[Found] = field(default_factory=list)
    dated: list[dict[str, str]] = field(default_factory=list)
    summary: dict[str, Any] | None = None
    pages: dict[str, str | Page] = field(default_factory=dict)
    status: int = 200
    asked: list[str] = field(default_factory=list)
    read: list[web.Request] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def add(self, path: str, title: str, content: str, page: str | Page | None = None) -> None:
        """Have a page found."""
        self.results.append(Found(path, title, content))
        if page is not None:
            self.pages[path] = page

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/engine":
            self.asked.append(request.query["q"])
            if self.status != 200:
                return web.Response(status=self.status)
            found = [
                {
                    "url": f"{one.host or self.url}{one.path}",
                    "title": one.title,
                    "content": one.content,
                }
                for one in self.results
            ]
            return web.json_response({"results": found})
        if request.path == "/w/api.php":
            return web.json_response({"query": {"search": self.dated}})
        if request.path.startswith("/summary/"):
            if self.summary is None:
                return web.Response(status=404)
            return web.json_response(self.summary)
        self.read.append(request)
        page = self.pages.get(request.path)
        if page is None:
            return web.Response(status=404)
        if isinstance(page, str):
            return web.Response(text=page, content_type="text/html")
        return await page(request)


class SearxServer:
    """One SearXNG; the engines ask `internet`, a socket that listens."""

    def __init__(self, folder: Path, internet: socket.socket, formats: Sequence[str]) -> None:
        if not PYTHON.exists():
            pytest.fail("SearXNG isn't installed: run scripts/services/searxng")
        self.internet = internet
        self._folder = folder
        self._formats = formats
        self._log = folder / "searxng.log"
        self._process: subprocess.Popen[bytes] | None = None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port: int = free.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start it, and return once it answers."""
        settings = self._folder / "settings.yml"
        # JSON is YAML.
        settings.write_text(json.dumps(self._settings()), "utf-8")
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [PYTHON, "-m", "searx.webapp"],
                stdout=log,
                stderr=log,
                cwd=self._folder,
                env={
                    **os.environ,
                    "SEARXNG_SETTINGS_PATH": str(settings),
                    "TMPDIR": str(self._folder),
                },
                start_new_session=True,
            )
        until = time.monotonic() + _STARTS_WITHIN
        while True:
            if self._process.poll() is not None or time.monotonic() > until:
                pytest.fail(f"SearXNG doesn't run: {self._log.read_text('utf-8', 'replace')}")
            try:
                with urlopen(f"{self.url}/healthz", timeout=5) as reply:
                    if reply.status == 200:
                        return
            except (URLError, OSError):
                time.sleep(0.05)

    def _settings(self) -> dict[str, Any]:
        internet = f"http://127.0.0.1:{self.internet.getsockname()[1]}"
        return {
            "use_default_settings": {"engines": {"keep_only": []}},
            "general": {"instance_name": "ours", "enable_metrics": False},
            "search": {
                "formats": list(self._formats),
                "safe_search": 0,
                "ban_time_on_fail": 0,
                "max_ban_time_on_fail": 0,
            },
            "server": {
                "bind_address": "127.0.0.1",
                "port": self._port,
                "secret_key": "of a test",
                "limiter": False,
            },
            # One of the plugins that are on by default fetches lists at the start.
            "plugins": {"searx.plugins.calculator.SXNGPlugin": {"active": True}},
            "outgoing": {"request_timeout": 10.0, "enable_http2": False},
            "engines": [
                {
                    "name": "ours",
                    "engine": "json_engine",
                    "shortcut": "our",
                    "categories": ["general"],
                    "search_url": f"{internet}/engine?q={{query}}",
                    "results_query": "results",
                    "url_query": "url",
                    "title_query": "title",
                    "content_query": "content",
                    "enable_http": True,
                },
                {
                    "name": "wiki",
                    "engine": "mediawiki",
                    "shortcut": "mw",
                    "categories": ["general"],
                    "base_url": f"{internet}/",
                    "enable_http": True,
                },
                {
                    "name": "summaries",
                    "engine": "wikipedia",
                    "shortcut": "wp",
                    "categories": ["general"],
                    "display_type": ["infobox"],
                    "rest_v1_summary_url": f"{internet}/summary/{{title}}",
                    "enable_http": True,
                },
            ],
        }

    @asynccontextmanager
    async def leading_to(self) -> AsyncIterator[Internet]:
        """Have the engines find what a test says."""
        internet = Internet(self.internet.getsockname()[1])
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", internet.handle)
        # A page that hangs does so until who asks hangs up.
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.SockSite(runner, self.internet.dup()).start()
        try:
            yield internet
        finally:
            await runner.cleanup()

    def freeze(self) -> None:
        """Have it take connections and answer nothing."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it, if it runs."""
        if self._process is not None:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        os.killpg(self._process.pid, number)


@contextmanager
def running(folder: Path, formats: Sequence[str] = ("html", "json")) -> Iterator[SearxServer]:
    """Have a SearXNG run that answers in `formats`."""
    with socket.create_server(("127.0.0.1", 0)) as internet:
        server = SearxServer(folder, internet, formats)
        try:
            server.start()
            yield server
        finally:
            server.kill()


async def forever(request: web.Request) -> web.StreamResponse:
    """Be a page that takes connections and says nothing."""
    await asyncio.Event().wait()
    raise AssertionError
