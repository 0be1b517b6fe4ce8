"""Parts that do what a test says, in place of what is behind the door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from backend.ask import Told
from backend.contract import Health, Reply
from backend.sources.base import Source, SourceState
from backend.store.snapshots import Change
from backend.types import Nothing, Outcome, Question, Sentence, Step
from tests.contract import example

Item = Reply | Sentence | Exception | Callable[[], Awaitable[object]]
"""What a scripted answer consists of: what to yield, what to raise, what to wait for."""


class FakeSource:
    """A source that holds nothing."""

    ttl = 0.0
    version = "1"

    def __init__(self, tag: str, state: SourceState) -> None:
        self.tag = tag
        self._state = state

    async def ask(self, step: Step, question: Question) -> Outcome:
        return Nothing()

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    def state(self) -> SourceState:
        return self._state


class ScriptedAsk:
    """Answers every question with the same items, and notes what became of it."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.asked: list[Question] = []
        self.explained: list[bool] = []
        self.closed = asyncio.Event()
        self.sources: Mapping[str, Source] = {
            "house": FakeSource("house", SourceState(configured=True, documents=9)),
            "kiwix": FakeSource(
                "kiwix", SourceState(False, setting="ZIM_DIR", detail="no ZIM file in library")
            ),
        }

    def again(self, question: Question) -> Told | None:
        return None

    async def reply(self, question: Question, *, explain: bool) -> Reply:
        last: Reply | None = None
        async for item in self.stream(question, explain=explain):
            if isinstance(item, Reply):
                last = item
        assert last is not None
        return last

    async def stream(
        self, question: Question, *, explain: bool
    ) -> AsyncGenerator[Reply | Sentence]:
        self.asked.append(question)
        self.explained.append(explain)
        try:
            for item in self.items:
                if isinstance(item, Exception):
                    raise item
                if isinstance(item, Reply | Sentence):
                    yield item
                else:
                    await item()
        finally:
            self.closed.set()


class FakeRow:
    """A row of the log."""

    def as_dict(self) -> dict[str, Any]:
        return {"query": "what does E24 mean", "success": True}


class FakeLog:
    """A log of three rows."""

    limit: int | None = None

    async def written(self) -> None: ...

    async def recent(self, limit: int) -> list[FakeRow]:
        self.limit = limit
        return [FakeRow()]

    async def stats(self) -> dict[str, Any]:
        return {"total": 3}

    async def clear(self) -> int:
        return 3


class FakeCache:
    """A cache of `count` values."""

    def __init__(self, count: int) -> None:
        self._count = count

    async def count(self) -> int:
        return self._count

    async def clear(self) -> int:
        count, self._count = self._count, 0
        return count


class FakeSnapshots:
    """A door that was opened."""

    asked: tuple[datetime, datetime] | None = None

    async def changes(
        self, since: datetime, until: datetime, sources: Sequence[str] = ()
    ) -> list[Change]:
        self.asked = (since, until)
        return [Change("ha", "door", "Front door", "closed", "open", since, until)]


async def look() -> dict[str, int]:
    """Find one change."""
    return {"ha": 1}


class FakeStore:
    """What the server keeps."""

    path = Path("mnemolis.sqlite")

    def copy(self, target: Path) -> None:
        target.write_bytes(b"all that is kept")

    def __init__(self) -> None:
        self.snapshots = FakeSnapshots()
        self.log = FakeLog()
        self.results = FakeCache(3)
        self.answers = FakeCache(1)
        self.routes = FakeCache(2)


HEALTH = Health.model_validate(example("health_with_key").body)
SERVED = Reply.model_validate(example("served").body)


async def healthy() -> Health:
    """Return the health of the recorded example."""
    return HEALTH
