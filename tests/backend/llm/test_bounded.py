"""A model call ends in time, and ends on the server too, however many ways to end it meet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from backend.llm.provider import ModelError, bounded


class Call:
    """A call that says one word, hangs, and closes when it is let."""

    def __init__(self) -> None:
        self.closing = asyncio.Event()
        self.go = asyncio.Event()
        self.closed = asyncio.Event()

    async def pieces(self) -> AsyncGenerator[str]:
        try:
            yield "word"
            await asyncio.Event().wait()
        finally:
            self.closing.set()
            await self.go.wait()
            self.closed.set()


async def take(call: Call, seconds: float) -> list[str]:
    return [piece async for piece in bounded(call.pieces(), seconds)]


async def test_a_call_that_takes_too_long_is_a_timeout_once_it_is_closed() -> None:
    call = Call()
    call.go.set()
    with pytest.raises(ModelError, match="timeout"):
        await take(call, 0.05)
    assert call.closed.is_set()


async def test_who_hangs_up_while_the_call_is_closing_does_not_end_the_closing() -> None:
    call = Call()
    asking = asyncio.create_task(take(call, 0.05))
    await call.closing.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    call.go.set()
    await asyncio.wait_for(call.closed.wait(), 5)


async def test_a_failure_of_the_call_is_raised_after_what_it_said() -> None:
    async def pieces() -> AsyncGenerator[str]:
        yield "word"
        raise ModelError("http_500")

    said: list[str] = []

    async def listen() -> None:
        said.extend([piece async for piece in bounded(pieces(), 5)])

    with pytest.raises(ModelError, match="http_500"):
        await listen()
