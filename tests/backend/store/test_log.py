"""The query log: its rows, its statistics, and the file of an older version."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
import sqlite3

import pytest

from backend.store import Store
from backend.store.database import Database, StoreError
from backend.store.journal import Journal
from backend.store.log import Entry, Log

ENTRY = Entry(
    at=datetime(2026, 11, 30, 21, 34, 5, 250_000, tzinfo=UTC),
    request_id="r-1",
    query="What does E24 mean?",
    language="en",
    source_used="house",
    success=True,
    cached=False,
    elapsed_ms=12.5,
    fallback=None,
    error=None,
    synthesis=1,
    sources={"house": 10.0},
)


async def test_rows_come_back_newest_first_as_they_were(store: Store) -> None:
    second = replace(
        ENTRY, request_id="r-2", fallback=("web", "kiwix"), error="timeout", synthesis=None
    )
    store.log.add(ENTRY)
    store.log.add(second)
    assert await store.log.recent(10) == [second, ENTRY]
    assert await store.log.recent(1) == [second]


async def test_the_oldest_rows_go_when_there_are_too_many(store: Store) -> None:
    log = Log(store._database, keep=2)
    for number in range(4):
        log.add(replace(ENTRY, request_id=str(number)))
    assert [entry.request_id for entry in await log.recent(10)] == ["3", "2"]


async def test_statistics_count_what_was_asked(store: Store) -> None:
    rows = (
        ENTRY,
        replace(
            ENTRY, query="  what does E24 MEAN? ", cached=True, sources={"house": 2.0}, synthesis=0
        ),
        replace(
            ENTRY,
            query="weather",
            success=False,
            error="timeout",
            fallback=("forecast", "web"),
            sources={"forecast": 900.0, "web": 30.0},
            synthesis=2,
        ),
        replace(ENTRY, query="other", synthesis=None),
        replace(ENTRY, query="a test", probe=True, success=False),
    )
    for row in rows:
        store.log.add(row)
    assert await store.log.stats() == {
        "total": 4,
        "unique": 3,
        "cache_hit_percent": 25.0,
        "success_percent": 75.0,
        "fallback_percent": 25.0,
        "latency_ms": {
            "forecast": {"count": 1, "mean": 900.0, "max": 900.0},
            "house": {"count": 3, "mean": 7.3, "max": 10.0},
            "web": {"count": 1, "mean": 30.0, "max": 30.0},
        },
        "fallbacks": {"web": 1},
        "top": [
            {"query": "what does e24 mean?", "count": 2},
            {"query": "other", "count": 1},
            {"query": "weather", "count": 1},
        ],
        "synthesis": {
            "requested": 3,
            "served": 1,
            "not_in_sources": 1,
            "rejected_or_skipped": 1,
        },
    }


async def test_an_empty_log_has_statistics_too(store: Store) -> None:
    stats = await store.log.stats()
    assert (stats["total"], stats["success_percent"], stats["top"]) == (0, 0.0, [])


async def test_clearing_tells_how_many_rows_there_were(store: Store) -> None:
    store.log.add(ENTRY)
    assert await store.log.clear() == 1
    assert await store.log.recent(10) == []


async def test_a_file_of_an_older_version_gets_the_synthesis_column_once(tmp_path: Path) -> None:
    path = tmp_path / "mnemolis.sqlite"
    first = await Store.open(path)
    first.log.add(replace(ENTRY, synthesis=None))
    await first.close()
    # As a version without that column left it.
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE query_log DROP COLUMN synthesis")
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    for request in ("after", "again"):
        store = await Store.open(path)
        store.log.add(replace(ENTRY, request_id=request))
        await store.close()
        # As if the server had been killed between the change and the note of it.
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 2")
        connection.close()
    store = await Store.open(path)
    rows = [(entry.request_id, entry.synthesis) for entry in await store.log.recent(10)]
    error = store.error
    await store.close()
    assert rows == [("again", 1), ("after", 1), ("r-1", None)]
    assert error is None


def in_journal(folder: Path) -> list[Path]:
    return [file for file in folder.glob("*-journal?") if file.stat().st_size]


class Away(Database):
    """A database that takes no rows, as when the process ends before it could."""

    async def write[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        raise StoreError("away")


@pytest.mark.parametrize("end", [b"", b'[1764577000.0, "r-9", "hal', b"\x00\xff\n[]\n7\n"])
async def test_a_row_outlives_a_process_that_ends_before_it_is_in_the_database(
    end: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "mnemolis.sqlite"
    await (await Store.open(path)).close()
    journal = Journal(path)
    await asyncio.to_thread(journal.open)
    rows = [replace(ENTRY, request_id=f"r-{number}") for number in range(3)]
    for row in rows:
        Log(Away(path), journal=journal).add(row)
    journal.close()
    left = in_journal(tmp_path)
    assert len(left) == 1
    with left[0].open("ab") as file:
        file.write(end)
    for _ in range(2):
        store = await Store.open(path)
        assert await store.log.recent(10) == list(reversed(rows))
        await store.close()
    assert not in_journal(tmp_path)
