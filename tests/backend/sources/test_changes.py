"""What has changed is told in sentences, by the time that was asked for."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
import re
import time
from zoneinfo import ZoneInfo

import pytest

from backend.languages import SPOKEN, table
from backend.sources.base import SourceState
from backend.sources.changes import Changes
from backend.sources.http import UpstreamError
from backend.store import Store
from backend.store.snapshots import Item
from backend.text.since import Hours
from backend.types import Failed, Found, NotConfigured, Nothing, Outcome, Question, Step

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 9, 16, 15, 30, tzinfo=BERLIN)


class Door:
    """A source that tells of one door, as a test has it."""

    tag = "ha"
    ttl = 0.0
    version = "1"
    every = 3600.0
    lasting = True

    def __init__(self) -> None:
        self.configured = True
        self.fails = False
        self.items = (Item("door", "Front door", "closed"),)

    async def ask(self, step: Step, question: Question) -> Outcome:
        return Nothing()

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    def state(self) -> SourceState:
        return SourceState(self.configured)

    async def look(self, until: float) -> tuple[Item, ...]:
        if self.fails:
            raise UpstreamError(Failed("unreachable", "no connection to house"))
        return self.items

    def said(self, state: str, language: str) -> str:
        return {"de": {"open": "offen", "closed": "zu"}}.get(language, {}).get(state, state)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Store]:
    store = await Store.open(tmp_path / "mnemolis.sqlite")
    yield store
    await store.close()


@pytest.fixture
def door() -> Door:
    return Door()


@pytest.fixture
def changes(door: Door, store: Store) -> Changes:
    return Changes([door], store.snapshots, ttl=120, hours=Hours())


async def saw(store: Store, *states: tuple[datetime, str]) -> None:
    for at, state in states:
        await store.snapshots.put("ha", [Item("door", "Front door", state)], at)


async def told(changes: Changes, query: str, language: str = "en") -> list[str]:
    now = time.monotonic()
    question = Question(query, language, NOW, now, now + 8)
    outcome = await changes.ask(Step("changes", query), question)
    assert isinstance(outcome, Found), outcome
    assert all(passage.direct for passage in outcome.passages)
    return [passage.text for passage in outcome.passages]


async def test_what_happened_in_the_time_asked_for_is_told_with_its_moment(
    changes: Changes, store: Store
) -> None:
    await saw(
        store,
        (NOW.replace(day=14, hour=23, minute=0), "closed"),
        (NOW.replace(day=15, hour=23, minute=10), "open"),
        (NOW.replace(hour=7, minute=5), "closed"),
        (NOW.replace(hour=7, minute=15), "open"),
    )
    (today,) = await told(changes, "what changed today")
    assert " ".join(today.split()) == "Front door: closed at 7:05 AM, open at 7:15 AM."
    (night,) = await told(changes, "was ist letzte Nacht passiert", "de")
    assert night == "Front door: offen am Dienstag um 23:10."
    assert await told(changes, "what changed in the last hour") == [
        "Nothing has changed in that time."
    ]


@pytest.mark.parametrize("language", SPOKEN)
async def test_every_language_tells_that_nothing_changed(
    language: str, changes: Changes, store: Store
) -> None:
    await saw(store, (NOW.replace(day=14), "closed"))
    assert await told(changes, "", language) == [table(language, "changes")["nothing"]]


@pytest.mark.parametrize("language", SPOKEN)
async def test_what_was_not_watched_yet_is_not_said_to_have_stayed_as_it_was(
    language: str, changes: Changes, store: Store
) -> None:
    words = table(language, "changes")
    await saw(store, (NOW.replace(hour=15, minute=0), "closed"))
    so_far, begun = await told(changes, "", language)
    assert so_far == words["so_far"]
    assert re.search(r"\b(15[:.]00|3:00)", begun)
    await saw(store, (NOW.replace(hour=15, minute=10), "open"))
    door, begun = await told(changes, "", language)
    assert door.startswith("Front door: ")
    assert begun.startswith(words["begun"].split("{", maxsplit=1)[0])


async def test_of_a_time_before_all_watching_nothing_is_told(
    changes: Changes, store: Store
) -> None:
    await saw(store, (NOW.replace(hour=12, minute=0), "closed"))
    (begun,) = await told(changes, "what happened last night")
    assert " ".join(begun.split()) == "I have only been watching all of it since 12:00 PM."
    await saw(store, (NOW.replace(day=16, hour=13), "closed"))
    assert len(await told(changes, "what changed in the last hour")) == 1


async def test_what_cannot_be_seen_now_is_said(changes: Changes, door: Door, store: Store) -> None:
    await saw(store, (NOW.replace(day=14), "closed"))
    door.fails = True
    await changes.look()
    assert await told(changes, "what changed today") == [
        "Nothing has changed in that time.",
        "I can't see all of it right now.",
    ]


async def test_without_anything_to_look_at_the_setting_is_named(
    changes: Changes, door: Door
) -> None:
    door.configured = False
    now = time.monotonic()
    question = Question("what changed", "en", NOW, now, now + 8)
    assert await changes.ask(Step("changes", "what changed"), question) == NotConfigured(
        "UPTIME_KUMA_URL"
    )
    assert not changes.state().configured


async def test_what_has_never_been_seen_is_no_calm(changes: Changes, door: Door) -> None:
    door.fails = True
    assert await changes.look() == {"ha": 0}
    now = time.monotonic()
    question = Question("what changed", "en", NOW, now, now + 8)
    outcome = await changes.ask(Step("changes", "what changed"), question)
    assert isinstance(outcome, Failed)
    assert "no connection to house" in outcome.detail
    assert "no connection" in changes.state().detail


async def test_what_could_not_be_seen_for_a_while_has_not_gone(
    changes: Changes, door: Door, store: Store
) -> None:
    await changes.look()
    door.fails = True
    await changes.look()
    door.fails = False
    door.items = (Item("door", "Front door", "open"),)
    before = changes.version
    assert await changes.look() == {"ha": 1}
    assert changes.version != before
    span = (datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC) + timedelta(hours=1))
    (change,) = await store.snapshots.changes(*span)
    assert (change.before, change.after) == ("closed", "open")


async def test_looking_begins_with_the_start_and_ends_with_the_close(
    changes: Changes, store: Store
) -> None:
    await changes.start()
    await changes.start()
    while not await store.snapshots.begun():
        await store.snapshots.changes(NOW, NOW)
    await changes.close()
