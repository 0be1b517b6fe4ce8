"""The real kiwix-serve, in the two versions that `scripts/services/kiwix-serve` puts into this checkout."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import lru_cache
import os
from pathlib import Path
import re
import signal
import socket
import subprocess
import tempfile

from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
import pytest

ROOT = Path(__file__).parents[2]
HOME = ROOT / ".cache" / "services" / "kiwix-serve"
VERSIONS = ("3.3", "3.7")
_STARTS_WITHIN = 20.0


@lru_cache
def _library(programs: Path, books: tuple[Path, ...]) -> str:
    """Return a library that kiwix-manage has put `books` into."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library.xml"
        library.write_text('<library version="20110515"/>\n')
        for book in books:
            subprocess.run(
                [programs / "kiwix-manage", library, "add", book], check=True, capture_output=True
            )
        text = library.read_text("utf-8")
        # It names them as they lie from where it lies itself.
        return re.sub(
            'path="([^"]*)"', lambda found: f'path="{(Path(folder) / found[1]).resolve()}"', text
        )


class KiwixServer:
    """One kiwix-serve, which serves what its library lists; `path` is what its addresses begin with."""

    def __init__(self, version: str, folder: Path, *, path: str = "") -> None:
        self._programs = HOME / version
        if not (self._programs / "kiwix-manage").exists():
            pytest.fail("kiwix-serve isn't installed: run scripts/services/kiwix-serve")
        folder.mkdir(parents=True, exist_ok=True)
        self._library = folder / "library.xml"
        self._log = folder / "kiwix-serve.log"
        self._path = path
        self._process: subprocess.Popen[bytes] | None = None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port: int = free.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}{self._path}"

    async def list(self, books: Iterable[Path]) -> None:
        """Have the library hold these books, as its owner would."""
        await asyncio.to_thread(self.write_library, _library(self._programs, tuple(books)))

    def write_library(self, text: str) -> None:
        self._library.write_text(text, "utf-8")

    async def start(self) -> None:
        """Start it, and return once it answers."""
        self._process = self._begin()
        async with asyncio.timeout(_STARTS_WITHIN), ClientSession() as session:
            while True:
                if self._process.poll() is not None:
                    pytest.fail(f"kiwix-serve ended: {self._log.read_text('utf-8', 'replace')}")
                try:
                    async with session.get(f"{self.url}/catalog/v2/entries?count=1") as reply:
                        if reply.status == 200:
                            return
                except OSError:
                    pass
                await asyncio.sleep(0.02)

    def _begin(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [
                    self._programs / "kiwix-serve",
                    "--library",
                    "--address=127.0.0.1",
                    f"--port={self._port}",
                    *((f"--urlRootLocation={self._path}",) if self._path else ()),
                    self._library,
                ],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    async def reload(self, holds: int) -> None:
        """Have it read its library again, which now holds so many books."""
        self._signal(signal.SIGHUP)
        async with asyncio.timeout(_STARTS_WITHIN), ClientSession() as session:
            while True:
                async with session.get(f"{self.url}/catalog/v2/entries?count=-1") as reply:
                    if f"<totalResults>{holds}<" in await reply.text():
                        return
                await asyncio.sleep(0.02)

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
        self._process.send_signal(number)


@asynccontextmanager
async def serving(
    version: str, folder: Path, books: Iterable[Path], *, path: str = ""
) -> AsyncIterator[KiwixServer]:
    """Have a kiwix-serve of `version` serve `books`; `folder` is where it keeps its library."""
    server = KiwixServer(version, folder, path=path)
    await server.list(books)
    try:
        await server.start()
        yield server
    finally:
        server.kill()


@asynccontextmanager
async def watched(url: str) -> AsyncIterator[tuple[str, list[str]]]:
    """Stand before a server: yield the address to ask, and the list of what it was asked for."""
    asked: list[str] = []
    async with ClientSession() as session:

        async def handle(request: web.Request) -> web.Response:
            asked.append(str(request.rel_url))
            async with session.get(f"{url}{request.rel_url}", allow_redirects=False) as reply:
                headers = {
                    name: reply.headers[name]
                    for name in ("Content-Type", "Location")
                    if name in reply.headers
                }
                return web.Response(body=await reply.read(), status=reply.status, headers=headers)

        app = web.Application()
        app.router.add_get("/{path:.*}", handle)
        async with TestServer(app) as server:
            yield str(server.make_url("")).rstrip("/"), asked
