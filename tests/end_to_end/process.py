"""A process of ours, followed line by line.

It is known by what it prints: a caller waits for a line, never for a time, and what was printed can be read at any
moment. What the lines mean is left to the callers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
import os
from pathlib import Path
import re
import signal
from typing import Self


class ProcessEnded(Exception):
    """The process ended before it printed what was waited for; the message holds its last lines."""


class Process:
    """A running process; both its outputs are one list of lines."""

    def __init__(
        self, name: str, process: asyncio.subprocess.Process, log: Path | None = None
    ) -> None:
        self.name = name
        self._log = log
        self.lines: list[str] = []
        self._process = process
        self._news = asyncio.Condition()
        self._ended = False
        self._reader = asyncio.create_task(self._read(), name=f"output of {name}")

    @classmethod
    async def start(
        cls,
        name: str,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        log: Path | None = None,
    ) -> Self:
        """Start `command`; `environment` is added to this process's own, "" takes a name away.

        What it prints is also written to the file `log`.
        """
        values = {
            **os.environ,
            "PYTHONUNBUFFERED": "1",
            # Home Assistant starts ten times slower where it can't keep what it has compiled.
            "PYTHONDONTWRITEBYTECODE": "",
            **(environment or {}),
        }
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=2**20,
            cwd=cwd,
            env={key: value for key, value in values.items() if value},
            # Ctrl-C in a terminal reaches the whole group; we end our processes ourselves, in order.
            start_new_session=True,
        )
        return cls(name, process, log)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it hasn't ended yet."""
        return self._process.returncode is None

    @property
    def text(self) -> str:
        """All that it has printed so far."""
        return "\n".join(self.lines)

    @property
    def resident_bytes(self) -> int:
        """Memory that it holds now (Linux)."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def matching(self, pattern: str) -> list[str]:
        """Return the lines so far that hold `pattern`."""
        return [line for line in self.lines if re.search(pattern, line)]

    async def line(self, pattern: str, timeout: float, since: int = 0) -> re.Match[str]:
        """Return the match of the first line, from line `since` on, that holds `pattern`.

        Raises ProcessEnded when it ends without such a line, TimeoutError after `timeout` seconds.
        """
        seen = since
        try:
            async with asyncio.timeout(timeout), self._news:
                while True:
                    for line in self.lines[seen:]:
                        if (match := re.search(pattern, line)) is not None:
                            return match
                    seen = max(seen, len(self.lines))
                    if self._ended:
                        raise ProcessEnded(f"{self.name} ended:\n{self._last()}")
                    await self._news.wait()
        except TimeoutError as error:
            raise TimeoutError(
                f"{self.name} printed no {pattern!r} in {timeout} s:\n{self._last()}"
            ) from error

    async def wait(self, timeout: float | None = None) -> int:
        """Return its exit status once it has ended; TimeoutError after `timeout` seconds."""
        async with asyncio.timeout(timeout):
            status = await self._process.wait()
            await self._reader
        return status

    async def stop(self, timeout: float = 30) -> int:
        """Ask it to end, and end it after `timeout` seconds; return its exit status."""
        if self.running:
            self._signal(signal.SIGTERM)
        try:
            return await self.wait(timeout)
        except TimeoutError:
            self._signal(signal.SIGKILL)
            return await self.wait(timeout)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    def _last(self) -> str:
        return "\n".join(self.lines[-40:])

    async def _read(self) -> None:
        assert self._process.stdout is not None
        with ExitStack() as stack:
            file = stack.enter_context(self._log.open("w", encoding="utf-8")) if self._log else None
            async for raw in self._process.stdout:
                line = raw.decode("utf-8", "replace").rstrip()
                if file is not None:
                    print(line, file=file, flush=True)
                async with self._news:
                    self.lines.append(line)
                    self._news.notify_all()
        async with self._news:
            self._ended = True
            self._news.notify_all()


@asynccontextmanager
async def running(
    name: str,
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> AsyncIterator[Process]:
    """Start a process and stop it at the end."""
    process = await Process.start(name, command, environment=environment, cwd=cwd)
    try:
        yield process
    finally:
        await process.stop()
