"""Identical work at once is done once: the first caller starts it, the others look on.

A flight is one task that produces items; any number of callers follow it, each from the first item on. When the
last follower leaves, the task is cancelled: a model doesn't work for somebody who has hung up. Nothing is kept
after the flight ends: caching is somebody else's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import aclosing


class _Flight[T]:
    """One run of the work: what it has produced so far, and who looks on."""

    def __init__(self, produce: Callable[[], AsyncGenerator[T]]) -> None:
        self.items: list[T] = []
        self.followers: set[asyncio.Queue[T | None]] = set()
        self.task = asyncio.create_task(self._run(produce))

    async def _run(self, produce: Callable[[], AsyncGenerator[T]]) -> None:
        try:
            async with aclosing(produce()) as items:
                async for item in items:
                    self.items.append(item)
                    for queue in self.followers:
                        queue.put_nowait(item)
        finally:
            for queue in self.followers:
                queue.put_nowait(None)


class Flights[T]:
    """Flights by key; None can't be an item."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    async def follow(
        self, key: Hashable, produce: Callable[[], AsyncGenerator[T]]
    ) -> AsyncGenerator[T]:
        """Yield the items of the flight under `key`, which `produce` starts if none is in the air.

        Raises what the work raises, to every follower. Close the iterator (`aclosing`) to stop looking on.
        """
        flight = self._flights.get(key)
        # One that has just ended is taken off the list a moment later; nobody would tell a new follower of its end.
        if flight is None or flight.task.done():
            flight = self._start(key, produce)
        queue: asyncio.Queue[T | None] = asyncio.Queue()
        for past in flight.items:
            queue.put_nowait(past)
        flight.followers.add(queue)
        try:
            while (item := await queue.get()) is not None:
                yield item
            await asyncio.wait((flight.task,))
            flight.task.result()
        finally:
            flight.followers.discard(queue)
            if not flight.followers and not flight.task.done():
                self._land(key, flight)
                flight.task.cancel()

    async def last(self, key: Hashable, produce: Callable[[], AsyncGenerator[T]]) -> T:
        """Return the last item of the flight under `key`; LookupError if it produced none."""
        last: T | None = None
        async with aclosing(self.follow(key, produce)) as items:
            async for item in items:
                last = item
        if last is None:
            raise LookupError("the work ended without a result")
        return last

    def _start(self, key: Hashable, produce: Callable[[], AsyncGenerator[T]]) -> _Flight[T]:
        flight = self._flights[key] = _Flight(produce)
        flight.task.add_done_callback(lambda _: self._land(key, flight))
        return flight

    def _land(self, key: Hashable, flight: _Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
