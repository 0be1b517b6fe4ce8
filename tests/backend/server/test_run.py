"""A real process: it listens, stops without leaving anybody unanswered, and notices who hangs up."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
import signal
import socket
import sys

import aiohttp
import pytest

ROOT = Path(__file__).parents[3]
STREAM = {"Accept": "text/event-stream"}


class Server:
    """The process of `slow_server`, followed line by line."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.url = ""

    async def line(self) -> str:
        """Return the next line that the process tells."""
        assert self.process.stdout is not None
        return (await self.process.stdout.readline()).decode().strip()

    async def listening(self) -> None:
        """Wait until the server listens."""
        word, port = (await self.line()).split()
        assert word == "port"
        self.url = f"http://127.0.0.1:{port}"

    def go_on(self) -> None:
        """Let the questions in work end."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"go\n")

    async def ended(self) -> tuple[int, str]:
        """Wait for the end of the process; return its exit code and what it logged."""
        assert self.process.stderr is not None
        logged = (await self.process.stderr.read()).decode()
        return await self.process.wait(), logged


Launch = Callable[..., Awaitable[Server]]


@pytest.fixture
async def launch() -> AsyncIterator[Launch]:
    """Return what starts a server process; none outlives the test."""
    processes: list[Process] = []

    async def start(host: str = "127.0.0.1", port: int = 0) -> Server:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.backend.server.slow_server",
            host,
            str(port),
            cwd=ROOT,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
        )
        processes.append(process)
        return Server(process)

    yield start
    for process in processes:
        if process.returncode is None:
            process.kill()
        await process.communicate()
        process._transport.close()  # type: ignore[attr-defined]


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    """Return a client."""
    async with aiohttp.ClientSession() as client:
        yield client


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("headers", [{}, STREAM], ids=["json", "stream"])
async def test_on_a_signal_the_question_in_work_is_answered_first(
    number: signal.Signals,
    headers: dict[str, str],
    launch: Launch,
    session: aiohttp.ClientSession,
) -> None:
    server = await launch()
    await server.listening()
    # A connection that is only kept open mustn't hold the stop up.
    async with session.get(f"{server.url}/health") as health:
        assert health.status == 200

    async def ask() -> tuple[int, str]:
        async with session.post(
            f"{server.url}/search", json={"query": "hello"}, headers=headers
        ) as response:
            return response.status, await response.text()

    asked = asyncio.create_task(ask())
    assert await server.line() == "asked"
    server.process.send_signal(number)
    while True:
        # From now on nobody new is let in.
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", int(server.url.split(":")[2]))
        except ConnectionError:
            break
        writer.close()
        await writer.wait_closed()
    assert not asked.done()
    server.go_on()
    status, text = await asked
    assert status == 200
    assert "The retrieved sources" not in text
    assert "drain filter" in text
    if headers:
        assert "event: done\n" in text
    code, logged = await server.ended()
    assert code == 0
    assert "stopping" in logged
    assert "Traceback" not in logged


async def test_a_second_signal_ends_the_process_at_once(
    launch: Launch, session: aiohttp.ClientSession
) -> None:
    server = await launch()
    await server.listening()
    asked = asyncio.create_task(session.post(f"{server.url}/search", json={"query": "hello"}))
    assert await server.line() == "asked"
    server.process.send_signal(signal.SIGTERM)
    assert server.process.stderr is not None
    while b"stopping" not in await server.process.stderr.readline():
        pass
    server.process.send_signal(signal.SIGTERM)
    code, _ = await server.ended()
    assert code == 128 + signal.SIGTERM
    with pytest.raises(aiohttp.ClientError):
        await asked


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["json", "stream"])
async def test_a_client_that_hangs_up_ends_the_work_for_it(
    headers: dict[str, str], launch: Launch
) -> None:
    server = await launch()
    await server.listening()
    async with aiohttp.ClientSession() as session:
        asked = asyncio.create_task(
            session.post(f"{server.url}/search", json={"query": "hello"}, headers=headers)
        )
        assert await server.line() == "asked"
        if headers:
            (await asked).close()
        else:
            asked.cancel()
    assert await server.line() == "closed"
    server.process.send_signal(signal.SIGTERM)
    code, logged = await server.ended()
    assert code == 0
    assert "the client hung up" in logged
    assert "Traceback" not in logged


async def test_a_port_that_is_taken_is_named_with_its_setting(launch: Launch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = await launch(port=port)
        code, logged = await server.ended()
    assert code == 1
    assert f"port {port} is taken; set PORT" in logged
    assert "Traceback" not in logged


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
async def test_an_address_that_isn_t_ours_is_named_with_its_setting(
    host: str, launch: Launch
) -> None:
    server = await launch(host=host)
    code, logged = await server.ended()
    assert code == 1
    assert f"can't listen on {host}" in logged
    assert "HOST" in logged


async def test_the_address_is_logged_once_the_server_listens(launch: Launch) -> None:
    server = await launch()
    await server.listening()
    server.process.send_signal(signal.SIGTERM)
    code, logged = await server.ended()
    assert code == 0
    assert f"listening address={server.url}\n" in logged.replace('"', "")
