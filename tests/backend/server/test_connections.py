"""Connections that say nothing, or nothing that is HTTP, keep nobody out and fill no log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing, suppress
import json
import logging
from typing import Any

from aiohttp import web
import pytest

from backend.server.app import create_app
from backend.server.connections import Connections
from backend.settings import Settings
from tests.backend.server.scripted import SERVED, FakeStore, ScriptedAsk, healthy, look

MOST = 4
BODY = b'{"query": "what does error E24 mean"}'


def posted(body: bytes = BODY, *lines: bytes) -> bytes:
    """Return a question on the wire."""
    head = (
        b"POST /search HTTP/1.1",
        b"Host: x",
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
        *lines,
    )
    return b"\r\n".join(head) + b"\r\n\r\n" + body


@pytest.fixture
async def port(ask: ScriptedAsk) -> AsyncIterator[int]:
    """Return the port of a server that takes a few connections at once."""
    app = create_app(
        ask,
        settings=await asyncio.to_thread(Settings),
        health=healthy,
        store=FakeStore(),
        look=look,
    )
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
    await runner.setup()
    assert runner.server is not None
    door = await asyncio.get_running_loop().create_server(
        Connections(runner.server, MOST), "127.0.0.1", 0
    )
    yield door.sockets[0].getsockname()[1]
    door.close()
    await runner.cleanup()
    await door.wait_closed()


async def said(port: int, data: bytes) -> tuple[bytes, dict[str, Any]]:
    """Send bytes; return the head of what comes back, and its body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with closing(writer):
        writer.write(data)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        return head, json.loads(await reader.readexactly(length))


@pytest.mark.parametrize("begun", [b"", b"GET /health HTTP/1.1\r\nHost:"])
async def test_connections_that_say_nothing_give_way_to_those_that_ask(
    begun: bytes, port: int, ask: ScriptedAsk
) -> None:
    ask.items = [SERVED]
    idle = []
    for _ in range(3 * MOST):
        idle.append(await asyncio.open_connection("127.0.0.1", port))
        idle[-1][1].write(begun)
    head, _ = await said(port, posted())
    assert head.startswith(b"HTTP/1.1 200 ")
    first_reader, _ = idle[0]
    with suppress(ConnectionResetError):
        assert await first_reader.read() == b""
    for _, writer in idle:
        writer.transport.abort()


async def test_a_question_in_work_does_not_give_way(port: int, ask: ScriptedAsk) -> None:
    go, asked = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        asked.set()
        await go.wait()

    ask.items = [wait, SERVED]
    working = asyncio.create_task(said(port, posted()))
    await asked.wait()
    idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3 * MOST)]
    go.set()
    head, _ = await working
    assert head.startswith(b"HTTP/1.1 200 ")
    for _, writer in idle:
        writer.transport.abort()


async def test_where_all_are_at_work_one_more_is_turned_away(port: int, ask: ScriptedAsk) -> None:
    go, working = asyncio.Event(), asyncio.Semaphore(0)

    async def wait() -> None:
        working.release()
        await go.wait()

    ask.items = [wait, SERVED]
    tasks = [asyncio.create_task(said(port, posted())) for _ in range(MOST)]
    for _ in tasks:
        await working.acquire()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    assert (await reader.read()).startswith(b"HTTP/1.1 503 ")
    writer.close()
    go.set()
    assert all(head.startswith(b"HTTP/1.1 200 ") for head, _ in await asyncio.gather(*tasks))


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01\xff\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 200,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /hea lth HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nX-API-Key: geheim\x00\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nX-API-Key: geheim" + b"a" * 20_000 + b"\r\n\r\n",
        b"GET http://[/health HTTP/1.1\r\nHost: x\r\n\r\n",
        posted(BODY, b"Content-Length: 5"),
        posted(BODY, b"Transfer-Encoding: chunked"),
        posted(BODY, b"Content-Encoding: gzip"),
        posted(BODY, b"Content-Encoding: deflate"),
        posted(BODY, b"Origin: http://["),
        posted(BODY, b"Origin: null"),
    ],
    ids=lambda data: repr(data)[:60],
)
async def test_what_is_not_http_is_refused_with_words_and_one_line_in_the_log(
    data: bytes, port: int, ask: ScriptedAsk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    head, body = await said(port, data)
    assert head.split()[1] == b"400"
    assert head.lower().count(b"content-type: application/json") == 1
    assert body.keys() <= {"error", "message", "field", "allowed"}
    assert "geheim" not in body["message"]
    assert not ask.asked
    ask.items = [SERVED]
    assert (await said(port, posted()))[0].startswith(b"HTTP/1.1 200 ")
    assert not [r for r in caplog.records if r.exc_info or r.levelno >= logging.WARNING]
    assert "geheim" not in caplog.text


async def test_what_may_be_got_may_be_looked_at(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"HEAD /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    head, _, rest = (await reader.read()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert rest == b""
    writer.close()
