"""What becomes of a server that is slow, away, or says what it shouldn't, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
import gzip
import time

from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
import pytest

from backend.sources.http import Moved, UpstreamError, fetch, fetch_json, fetch_whole, open_session
from tests.services.searxng import forever

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[tuple[ClientSession, str]]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    async with TestServer(app) as server, open_session() as session:
        yield session, str(server.make_url("/key-in-path"))


def soon(seconds: float = 20.0) -> float:
    return time.monotonic() + seconds


def saying(status: int = 200, body: bytes = b"", **headers: str) -> Handler:
    async def say(request: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, body=body, headers=named)

    return say


async def refused(handler: Handler, *, seconds: float = 20.0, **asked: object) -> UpstreamError:
    async with serving(handler) as (session, url):
        with pytest.raises(UpstreamError) as raised:
            await fetch(session, url, until=soon(seconds), **asked)  # type: ignore[arg-type]
    assert "key-in-path" not in str(raised.value)
    return raised.value


@pytest.mark.parametrize(
    ("status", "kind", "detail"),
    [
        (401, "bad_reply", "127.0.0.1 refuses the key"),
        (403, "bad_reply", "127.0.0.1 refuses the key"),
        (404, "bad_reply", "127.0.0.1 says 404"),
        (418, "bad_reply", "127.0.0.1 says 418"),
        (429, "busy", "127.0.0.1 says 429"),
        (500, "bad_reply", "127.0.0.1 says 500"),
        (503, "busy", "127.0.0.1 says 503"),
    ],
)
async def test_what_a_server_refuses_is_told_with_its_status(
    status: int, kind: str, detail: str
) -> None:
    error = await refused(saying(status))
    assert (error.failed.kind, error.failed.detail, error.status) == (kind, detail, status)


async def test_a_server_that_says_nothing_is_not_waited_for_longer_than_there_is_time() -> None:
    assert (await refused(forever, seconds=0.1)).failed.kind == "timeout"
    assert (await refused(saying(), seconds=-1)).failed.kind == "timeout"


async def test_a_server_that_stops_in_the_middle_is_told_as_late_or_as_gone() -> None:
    async def stopping(request: web.Request) -> web.StreamResponse:
        reply = web.StreamResponse(headers={"Content-Length": "100"})
        await reply.prepare(request)
        await reply.write(b"the first")
        if request.method == "GET":
            await asyncio.Event().wait()
        assert request.transport is not None
        request.transport.abort()
        return reply

    assert (await refused(stopping, seconds=0.2)).failed.kind == "timeout"
    gone = await refused(stopping, method="POST")
    assert gone.failed.kind in ("unreachable", "bad_reply")


async def test_a_server_that_is_not_there_is_told_by_its_host_alone() -> None:
    async with open_session() as session:
        with pytest.raises(UpstreamError) as raised:
            await fetch(session, "http://127.0.0.1:1/key-in-path", until=soon())
    assert raised.value.failed.kind == "unreachable"
    assert "127.0.0.1" in str(raised.value) and "key-in-path" not in str(raised.value)


async def test_no_more_is_read_than_there_is_room_for_packed_or_not() -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        reply = web.StreamResponse()
        await reply.prepare(request)
        while True:
            await reply.write(b"on and on" * 4096)

    bomb = saying(body=gzip.compress(bytes(50_000_000)), Content_Encoding="gzip")
    for handler in (endless, bomb):
        error = await refused(handler, most_bytes=100_000)
        assert error.failed.kind == "bad_reply"
        assert "sends more than 97 kB" in error.failed.detail


async def test_what_is_not_of_the_kind_that_was_asked_for_is_not_read() -> None:
    error = await refused(saying(Content_Type="text/html"), kind="application/json")
    assert error.failed.detail == "127.0.0.1 sends text/html"


async def test_a_server_that_leads_in_circles_is_left_and_one_that_leads_elsewhere_can_be_asked_where() -> (
    None
):
    circle = saying(302, Location="/again")
    assert (await refused(circle)).failed.kind == "bad_reply"
    moved = await refused(saying(302, Location="http://elsewhere.example/"), follow=False)
    assert isinstance(moved, Moved)
    assert (moved.location, moved.status) == ("http://elsewhere.example/", 302)


async def test_what_did_not_change_has_no_body_and_headers_are_found_in_any_case() -> None:
    async with serving(saying(304, ETag='"1"')) as (session, url):
        answered = await fetch_whole(session, url, until=soon())
    assert (answered.status, answered.body, answered.headers["etag"]) == (304, b"", '"1"')


async def test_nothing_of_one_reply_goes_into_the_next_request() -> None:
    cookies: list[str | None] = []

    async def baking(request: web.Request) -> web.StreamResponse:
        cookies.append(request.headers.get("Cookie"))
        reply = web.Response(text="{}")
        reply.set_cookie("a", "b")
        return reply

    async with serving(baking) as (session, url):
        for _ in range(2):
            await fetch(session, url, until=soon())
    assert cookies == [None, None]


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b"\xff", b"[" * 200_000])
async def test_what_is_no_json_is_told_as_that(body: bytes) -> None:
    async with serving(saying(body=body)) as (session, url):
        with pytest.raises(UpstreamError) as raised:
            await fetch_json(session, url, until=soon())
    assert str(raised.value) == "bad_reply: 127.0.0.1 sends no JSON"


async def test_json_is_read_with_what_was_asked() -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        return web.json_response(
            {"q": request.query["q"], "key": request.headers["X-Key"], "by": request.method}
        )

    async with serving(echo) as (session, url):
        got = await fetch_json(
            session, url, until=soon(), params={"q": "a b&c=d"}, headers={"X-Key": "k"}
        )
    assert got == {"q": "a b&c=d", "key": "k", "by": "GET"}


async def test_who_leaves_hangs_up() -> None:
    began, hung_up = asyncio.Event(), asyncio.Event()

    async def hanging(request: web.Request) -> web.StreamResponse:
        began.set()
        try:
            return await forever(request)
        finally:
            hung_up.set()

    async with serving(hanging) as (session, url):
        asking = asyncio.create_task(fetch(session, url, until=soon(60)))
        await began.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        async with asyncio.timeout(20):
            await hung_up.wait()
