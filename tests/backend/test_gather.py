"""Sources are asked at once, each within its time; only what was found is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
import time

import pytest

from backend.gather import Gathered, Gatherer
from backend.sources.base import SourceState
from backend.store import Store
from backend.types import (
    Failed,
    Found,
    HomeState,
    NotConfigured,
    Nothing,
    Outcome,
    Passage,
    Plan,
    Question,
    Step,
)


def found(text: str = "Rinse the filter.") -> Found:
    return Found((Passage("house", "Dishwasher", text),), datetime.now(UTC) + timedelta(hours=1))


class Scripted:
    """A source that answers with what it is given, and counts the calls."""

    ttl = 60.0

    def __init__(self, tag: str, outcome: Outcome | Exception) -> None:
        self.tag = tag
        self.version = "1"
        self.outcome = outcome
        self.calls = 0
        self.go: asyncio.Event | None = None
        self.meanwhile: Callable[[], None] = lambda: None

    async def ask(self, step: Step, question: Question) -> Outcome:
        self.calls += 1
        if self.go is not None:
            await self.go.wait()
        self.meanwhile()
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    async def start(self) -> None:
        """Begin nothing."""

    async def close(self) -> None:
        """End nothing."""

    def state(self) -> SourceState:
        return SourceState(True)


class Asking:
    """Asks `sources` over one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(
        self, plan: Plan, *sources: Scripted, seconds: float = 8.0, text: str = "error E24"
    ) -> Gathered:
        return await self.gatherer(*sources).gather(plan, question(text, seconds))

    def gatherer(self, *sources: Scripted) -> Gatherer:
        return Gatherer({s.tag: s for s in sources}, self._store.results, timeout=12.0)


@pytest.fixture
async def asking(tmp_path: Path) -> AsyncIterator[Asking]:
    store = await Store.open(tmp_path / "store.sqlite")
    yield Asking(store)
    await store.close()


def question(text: str = "error E24", seconds: float = 8.0) -> Question:
    now = time.monotonic()
    return Question(text, "en", datetime.now(UTC), received=now, deadline=now + seconds)


def plan(*tags: str, fallbacks: tuple[str, ...] = ()) -> Plan:
    steps = tuple(Step(tag, "error E24", fallbacks=fallbacks) for tag in tags)
    return Plan(steps, "default")


async def test_what_was_found_is_kept_until_the_source_changes(asking: Asking) -> None:
    house = Scripted("house", found())
    assert not (await asking(plan("house"), house)).cached
    assert (await asking(plan("house"), house)).cached
    house.version = "2"
    assert not (await asking(plan("house"), house)).cached
    assert house.calls == 2


async def test_what_was_found_while_the_source_changed_is_not_kept(asking: Asking) -> None:
    house = Scripted("house", found())
    house.meanwhile = lambda: setattr(house, "version", "2")
    await asking(plan("house"), house)
    house.version = "1"
    house.meanwhile = lambda: None
    assert not (await asking(plan("house"), house)).cached


@pytest.mark.parametrize(
    "outcome",
    [
        Nothing(),
        Failed("unreachable"),
        NotConfigured("ZIM_DIR"),
        ValueError("a fault of ours"),
        Found((), datetime.now(UTC) + timedelta(hours=1)),
    ],
    ids=["nothing", "failed", "not configured", "raised", "no passages"],
)
async def test_nothing_and_failures_are_never_kept(
    asking: Asking, outcome: Outcome | Exception
) -> None:
    house = Scripted("house", outcome)
    for _ in range(2):
        gathered = await asking(plan("house"), house)
        assert not gathered.found
        assert not gathered.cached
    assert house.calls == 2


async def test_what_the_states_of_one_who_asks_tell_is_neither_kept_nor_shared(
    asking: Asking,
) -> None:
    home, house = Scripted("ha", found()), Scripted("house", found())
    on, off = (
        replace(question(), states=(HomeState("light.a", "Lamp", state),))
        for state in ("on", "off")
    )
    gatherer = asking.gatherer(home, house)
    await asyncio.gather(*(gatherer.gather(plan("ha", "house"), asked) for asked in (on, off, on)))
    assert (home.calls, house.calls) == (2, 1)
    assert not (await gatherer.gather(plan("ha"), on)).cached


async def test_a_slow_source_slows_only_itself_and_the_deadline_is_kept(asking: Asking) -> None:
    house, kiwix = Scripted("house", found()), Scripted("kiwix", found())
    kiwix.go = asyncio.Event()
    gathered = await asking(plan("house", "kiwix"), house, kiwix, seconds=0.6)
    assert [tag for tag, _ in gathered.found] == ["house"]
    assert gathered.failure is not None
    source, failure = gathered.failure
    assert (source, failure.kind) == ("kiwix", "timeout")


async def test_the_same_at_once_is_asked_once(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "store.sqlite")
    house = Scripted("house", found())
    house.go = asyncio.Event()
    gatherer = Gatherer({"house": house}, store.results, timeout=12.0)
    callers = [asyncio.create_task(gatherer.gather(plan("house"), question())) for _ in range(10)]
    while not house.calls:
        await asyncio.sleep(0)
    house.go.set()
    assert all(gathered.found for gathered in await asyncio.gather(*callers))
    assert house.calls == 1
    await store.close()


async def test_fallbacks_are_asked_until_one_finds_something(asking: Asking) -> None:
    web, house = Scripted("web", Failed("unreachable")), Scripted("house", Nothing())
    kiwix = Scripted("kiwix", found())
    gathered = await asking(plan("web", fallbacks=("house", "kiwix")), web, house, kiwix)
    assert gathered.fallback == ("web", "kiwix")
    told = [dict(event.fields) for event in gathered.events if event.event == "fallback"]
    assert [(each["from"], each["to"], each["why"]) for each in told] == [
        ("web", "house", "failed"),
        ("house", "kiwix", "nothing"),
    ]


async def test_a_missing_setting_is_named_only_where_nothing_else_of_the_plan_was_asked(
    asking: Asking,
) -> None:
    house, kiwix = Scripted("house", Nothing()), Scripted("kiwix", NotConfigured("ZIM_DIR"))
    assert (await asking(plan("house", "kiwix"), house, kiwix)).missing is None
    assert (await asking(plan("kiwix"), house, kiwix)).missing == ("kiwix", "ZIM_DIR")
    named = await asking(plan("kiwix", fallbacks=("house",)), house, kiwix)
    assert named.missing == ("kiwix", "ZIM_DIR")
