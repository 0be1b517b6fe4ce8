"""The query log: what was asked, what answered, how long it took.

Decides how many rows are kept and what the statistics count. A row is in the journal before its question is answered,
and in the database soon after; one that can't be written is dropped: nobody waits for the log. Traffic of tests and probes is kept apart from the statistics.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import batched
import json
import logging
import sqlite3
from typing import Any, Final

from backend.store.database import Database, StoreError, has_column, moment
from backend.store.journal import Journal

_LOGGER = logging.getLogger(__name__)

KEEP: Final = 100_000
_TOP: Final = 10
_ROWS: Final = 1_000
"""So many are written at once: https://sqlite.org/limits.html allows 32,766 values."""
_PAUSE: Final = 0.25
"""So long, in seconds, rows are gathered for one transaction."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One question. `at` is aware; times are milliseconds.

    `fallback` is (asked first, answered instead). `synthesis` is None when not requested, 1 served, 2 honest miss,
    0 skipped or rejected. `sources` is the time that each source took. `probe` marks traffic of tests.
    """

    at: datetime
    request_id: str
    query: str
    language: str
    source_used: str
    success: bool
    cached: bool
    elapsed_ms: float
    fallback: tuple[str, str] | None = None
    error: str | None = None
    synthesis: int | None = None
    sources: Mapping[str, float] = field(default_factory=dict)
    probe: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the row as `/logs` shows it."""
        return {
            "at": self.at.isoformat(),
            "request_id": self.request_id,
            "query": self.query,
            "language": self.language,
            "source_used": self.source_used,
            "success": self.success,
            "cached": self.cached,
            "fallback": None if self.fallback is None else "->".join(self.fallback),
            "error": self.error,
            "elapsed_ms": round(self.elapsed_ms, 1),
            "synthesis": self.synthesis,
            "sources": {source: round(ms, 1) for source, ms in self.sources.items()},
            "probe": self.probe,
        }


def create(connection: sqlite3.Connection) -> None:
    """Make the table as the first version had it."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS query_log (id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL,"
        " request_id TEXT NOT NULL, query TEXT NOT NULL, folded TEXT NOT NULL, language TEXT NOT NULL,"
        " source_used TEXT NOT NULL, success INTEGER NOT NULL, cached INTEGER NOT NULL,"
        " fallback_from TEXT, fallback_to TEXT, error TEXT, elapsed_ms REAL NOT NULL,"
        " sources TEXT NOT NULL, probe INTEGER NOT NULL)"
    )


def add_synthesis(connection: sqlite3.Connection) -> None:
    """Add how composing the answer ended."""
    if not has_column(connection, "query_log", "synthesis"):
        connection.execute("ALTER TABLE query_log ADD COLUMN synthesis INTEGER")


_COLUMNS: Final = (
    "at, request_id, query, folded, language, source_used, success, cached, fallback_from, fallback_to,"
    " error, elapsed_ms, sources, probe, synthesis"
)


class Log:
    """The rows of the query log, the newest `keep` of them."""

    def __init__(
        self, database: Database, keep: int = KEEP, journal: Journal | None = None
    ) -> None:
        self._database = database
        self._keep = keep
        self._journal = journal
        self._waiting: list[tuple[Any, ...]] = []
        self._writing: asyncio.Task[None] | None = None
        self._now = asyncio.Event()

    def restore(self) -> None:
        """Bring in what an earlier process left in the journal; blocks. Without a journal the log goes on."""
        if self._journal is None:
            return
        try:
            left = self._journal.open()
            if left:
                self._database.write_now(partial(self._insert_new, left))
        except (OSError, StoreError) as error:
            _LOGGER.warning("Rows of the query log may be lost: %s", error)
            return
        for _ in range(2):
            self._journal.turn()
            self._journal.forget()

    def close(self) -> None:
        """Give back the journal, once all is `written`."""
        if self._journal is not None:
            self._journal.close()

    def add(self, entry: Entry) -> None:
        """Append a row: to the journal at once, to the database with those that come soon after it."""
        started, ended = entry.fallback or (None, None)
        row = (
            entry.at.timestamp(),
            entry.request_id,
            entry.query,
            " ".join(entry.query.casefold().split()),
            entry.language,
            entry.source_used,
            entry.success,
            entry.cached,
            started,
            ended,
            entry.error,
            entry.elapsed_ms,
            json.dumps(dict(entry.sources)) if entry.sources else "{}",
            entry.probe,
            entry.synthesis,
        )
        if self._journal is not None:
            self._journal.add(row)
        self._waiting.append(row)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())

    async def written(self) -> None:
        """Wait until every row that was added is written, or lost."""
        while self._writing is not None:
            self._now.set()
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        """Write what is waiting, and what comes meanwhile; the oldest rows go when there are too many."""
        try:
            while self._waiting:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_PAUSE):
                        await self._now.wait()
                rows, self._waiting = self._waiting, []
                if self._journal is not None:
                    self._journal.turn()
                with suppress(StoreError):
                    await self._database.write(partial(self._insert, rows))
                if self._journal is not None:
                    self._journal.forget()
        finally:
            self._writing = None
            self._now.clear()

    def _insert(self, rows: Sequence[tuple[Any, ...]], connection: sqlite3.Connection) -> None:
        marks = f"({', '.join('?' * len(rows[0]))})"
        # One statement for many rows: each one lets go of the interpreter and has to get hold of it again.
        for some in batched(rows, _ROWS):
            values = ", ".join([marks] * len(some))
            connection.execute(
                f"INSERT INTO query_log ({_COLUMNS}) VALUES {values}",
                [value for row in some for value in row],
            )
        (last,) = connection.execute("SELECT max(id) FROM query_log").fetchone()
        connection.execute("DELETE FROM query_log WHERE id <= ?", (last - self._keep,))

    def _insert_new(self, rows: Sequence[Sequence[Any]], connection: sqlite3.Connection) -> None:
        """Insert those that aren't there: the process may have ended after it had brought them in."""
        (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM query_log").fetchone()
        known = set(
            connection.execute(
                "SELECT at, request_id FROM query_log WHERE id > ?", (last - len(rows),)
            )
        )
        width = _COLUMNS.count(",") + 1
        new = [tuple(row) for row in rows if isinstance(row, list) and len(row) == width]
        new = [row for row in new if row[:2] not in known]
        if new:
            with suppress(sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError):
                self._insert(new, connection)

    async def recent(self, limit: int) -> list[Entry]:
        """Return the newest rows, the newest first; none if the store fails."""
        await self.written()
        try:
            rows = await self._database.read(
                lambda connection: connection.execute(
                    f"SELECT {_COLUMNS} FROM query_log ORDER BY id DESC LIMIT ?", (limit,)
                ).fetchall()
            )
        except StoreError:
            return []
        return [_entry(row) for row in rows]

    async def clear(self) -> int:
        """Forget all rows and return how many there were; raises StoreError."""
        await self.written()
        return await self._database.write(
            lambda connection: connection.execute("DELETE FROM query_log").rowcount
        )

    async def stats(self) -> dict[str, Any]:
        """Return the statistics of `/logs/stats`; raises StoreError. Percentages are of all rows."""
        await self.written()
        return await self._database.read(_stats)


def _entry(row: tuple[Any, ...]) -> Entry:
    return Entry(
        at=moment(row[0]),
        request_id=row[1],
        query=row[2],
        language=row[4],
        source_used=row[5],
        success=bool(row[6]),
        cached=bool(row[7]),
        fallback=None if row[8] is None else (row[8], row[9]),
        error=row[10],
        elapsed_ms=row[11],
        sources=json.loads(row[12]),
        probe=bool(row[13]),
        synthesis=row[14],
    )


def _stats(connection: sqlite3.Connection) -> dict[str, Any]:
    counted = connection.execute(
        "SELECT count(*), count(DISTINCT folded), total(cached), total(success),"
        " count(fallback_to), count(synthesis), total(synthesis = 1), total(synthesis = 2),"
        " total(synthesis = 0) FROM query_log WHERE NOT probe"
    ).fetchone()
    total, unique, cached, success, fallbacks, requested, served, missed, rejected = counted

    def percent(part: float) -> float:
        return round(100 * part / total, 1) if total else 0.0

    return {
        "total": total,
        "unique": unique,
        "cache_hit_percent": percent(cached),
        "success_percent": percent(success),
        "fallback_percent": percent(fallbacks),
        "latency_ms": {
            source: {"count": count, "mean": round(mean, 1), "max": round(most, 1)}
            for source, count, mean, most in connection.execute(
                "SELECT each.key, count(*), avg(each.value), max(each.value) FROM query_log,"
                " json_each(query_log.sources) AS each WHERE NOT probe GROUP BY each.key"
                " ORDER BY each.key"
            )
        },
        "fallbacks": dict(
            connection.execute(
                "SELECT fallback_to, count(*) FROM query_log WHERE NOT probe AND fallback_to IS NOT NULL"
                " GROUP BY fallback_to ORDER BY 2 DESC, 1"
            ).fetchall()
        ),
        "top": [
            {"query": query, "count": count}
            for query, count in connection.execute(
                "SELECT folded, count(*) FROM query_log WHERE NOT probe GROUP BY folded"
                " ORDER BY 2 DESC, max(id) DESC LIMIT ?",
                (_TOP,),
            )
        ],
        "synthesis": {
            "requested": requested,
            "served": int(served),
            "not_in_sources": int(missed),
            "rejected_or_skipped": int(rejected),
        },
    }
