"""What has changed is told by rows: each change once, for a week."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
import sqlite3

import pytest

from backend.store import Store
from backend.store.snapshots import Item

NOON = datetime(2026, 9, 16, 12, tzinfo=UTC)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Store]:
    store = await Store.open(tmp_path / "mnemolis.sqlite")
    yield store
    await store.close()


async def look(store: Store, minutes: int, *, lasting: bool = True, **states: str) -> int:
    items = [Item(name, name.capitalize(), state) for name, state in states.items()]
    at = NOON + timedelta(minutes=minutes)
    return await store.snapshots.put("ha", items, at, lasting=lasting)


async def told(store: Store, since: int = -10, until: int = 10_000) -> list[str]:
    changes = await store.snapshots.changes(
        NOON + timedelta(minutes=since), NOON + timedelta(minutes=until)
    )
    return [f"{change.name}: {change.before} -> {change.after}" for change in changes]


async def test_the_first_look_finds_no_change(store: Store) -> None:
    assert await look(store, 0, door="closed") == 0
    assert await told(store) == []


async def test_each_change_is_told_once_also_of_what_went_to_and_fro(store: Store) -> None:
    for minute, state in enumerate(["closed", "open", "closed", "closed", "open"]):
        await look(store, minute, door=state)
    assert await told(store) == [
        "Door: closed -> open",
        "Door: open -> closed",
        "Door: closed -> open",
    ]


async def test_what_comes_and_goes_is_a_change(store: Store) -> None:
    await look(store, 0, door="closed")
    await look(store, 1, door="closed", lamp="on")
    await look(store, 2, lamp="on")
    assert await told(store) == ["Lamp: None -> on", "Door: closed -> None"]


async def test_news_only_come(store: Store) -> None:
    await look(store, 0, lasting=False, first="published")
    await look(store, 1, lasting=False, second="published")
    assert await told(store) == ["Second: None -> published"]


async def test_a_change_lies_between_two_looks_and_in_the_span_it_was_noticed_in(
    store: Store,
) -> None:
    await look(store, 0, door="closed")
    await look(store, 5, door="open")
    (change,) = await store.snapshots.changes(NOON, NOON + timedelta(hours=1))
    assert (change.since, change.at) == (NOON, NOON + timedelta(minutes=5))
    assert await told(store, since=5) == []
    assert await told(store, until=4) == []
    assert len(await told(store, since=4, until=5)) == 1


async def test_changes_are_kept_for_a_week_by_time_whatever_their_number(store: Store) -> None:
    await look(store, 0, door="closed")
    await look(store, 1, door="open")
    week = 7 * 24 * 60
    await look(store, week, door="open")
    assert len(await told(store, until=week)) == 1
    await look(store, week + 2, door="closed")
    assert await told(store, until=week + 2) == ["Door: open -> closed"]


async def test_what_was_seen_outlives_a_restart(store: Store, tmp_path: Path) -> None:
    await look(store, 0, door="closed")
    await store.close()
    again = await Store.open(tmp_path / "mnemolis.sqlite")
    await look(again, 1, door="open")
    assert await told(again) == ["Door: closed -> open"]
    assert (await again.snapshots.begun()) == {"ha": NOON}
    await again.close()


async def test_sources_are_told_apart(store: Store) -> None:
    for source in ("ha", "uptime"):
        await store.snapshots.put(source, [Item("1", source, "up")], NOON)
        await store.snapshots.put(source, [Item("1", source, "down")], NOON + timedelta(minutes=1))
    span = (NOON, NOON + timedelta(hours=1))
    assert len(await store.snapshots.changes(*span)) == 2
    assert [c.name for c in await store.snapshots.changes(*span, sources=["uptime"])] == ["uptime"]


async def test_a_file_of_an_older_version_has_been_watched_since_its_last_look(
    store: Store, tmp_path: Path
) -> None:
    await look(store, 0, door="closed")
    await store.close()
    connection = sqlite3.connect(tmp_path / "mnemolis.sqlite")
    connection.execute("ALTER TABLE snapshots DROP COLUMN begun")
    connection.execute("PRAGMA user_version = 6")
    connection.close()
    again = await Store.open(tmp_path / "mnemolis.sqlite")
    await look(again, 1, door="open")
    begun = await again.snapshots.begun()
    await again.close()
    assert begun == {"ha": NOON}
