"""Identical work at once is done once: the first caller starts it, the others look on.

A flight is one task that produces items; any number of callers follow it, each from the first item on. When the
last follower leaves, the task is cancelled: a model doesn't work for somebody who has hung up. Nothing is kept
after the flight ends, caching is somebody else's; but while someone holds the key, to look whether the work has
been kept or to keep it, a flight that came to its end can still be followed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Hashable, Iterator
from contextlib import aclosing, contextmanager


class _Flight[T]:
    """One run of the work: what it has produced so far, and who looks on."""

    def __init__(self, produce: Callable[[], AsyncGenerator[T]]) -> None:
        self.items: list[T] = []
        self.followers: set[asyncio.Queue[T | None]] = set()
        self.task = asyncio.create_task(self._run(produce))

    @property
    def failed(self) -> bool:
        """Whether it ended before its end."""
        return self.task.done() and (self.task.cancelled() or self.task.exception() is not None)

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
        self._held: Counter[Hashable] = Counter()

    @contextmanager
    def hold(self, key: Hashable) -> Iterator[None]:
        """Have a flight under `key` that comes to its end stay until this, and everyone else's hold, is over."""
        self._held[key] += 1
        try:
            yield
        finally:
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]
                flight = self._flights.get(key)
                if flight is not None and flight.task.done():
                    self._land(key, flight)

    async def follow(
        self, key: Hashable, produce: Callable[[], AsyncGenerator[T]]
    ) -> AsyncGenerator[T]:
        """Yield the items of the flight under `key`, which `produce` starts if none is in the air.

        Raises what the work raises, to every follower. Close the iterator (`aclosing`) to stop looking on.
        """
        flight = self._flights.get(key)
        # One that has just ended is taken off the list a moment later, if nobody holds it.
        if flight is None or flight.failed or (flight.task.done() and key not in self._held):
            flight = self._start(key, produce)
        queue: asyncio.Queue[T | None] = asyncio.Queue()
        for past in flight.items:
            queue.put_nowait(past)
        if flight.task.done():
            queue.put_nowait(None)
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
        flight.task.add_done_callback(lambda _: self._done(key, flight))
        return flight

    def _done(self, key: Hashable, flight: _Flight[T]) -> None:
        if flight.failed or key not in self._held:
            self._land(key, flight)

    def _land(self, key: Hashable, flight: _Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
