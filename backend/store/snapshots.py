"""What sources looked like when they were last looked at, and what has changed since: rows, never texts.

Decides what a change is, and how long it is kept: a week by time, whatever the rhythm of a source. Who looks, and how
often, is `sources.changes`'; what a state means is its source's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
import sqlite3
from typing import Final

from backend.store.database import Database, has_column, moment

KEEP: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a source tells of: `id` names it for good, `name` is what it is called, `state` a word of its source's."""

    id: str
    name: str
    state: str


@dataclass(frozen=True, slots=True)
class Change:
    """What an item was and is; None where it wasn't or isn't there. It happened between two looks, `since` and `at`."""

    source: str
    item: str
    name: str
    before: str | None
    after: str | None
    since: datetime
    at: datetime


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of snapshots and changes."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS snapshots (source TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE IF NOT EXISTS snapshot_items (source TEXT NOT NULL, item TEXT NOT NULL, name TEXT NOT NULL,"
        " state TEXT NOT NULL, PRIMARY KEY (source, item)) WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE IF NOT EXISTS changes (id INTEGER PRIMARY KEY, source TEXT NOT NULL, item TEXT NOT NULL,"
        " name TEXT NOT NULL, before TEXT, after TEXT, since REAL NOT NULL, at REAL NOT NULL)"
    )
    connection.execute("CREATE INDEX IF NOT EXISTS changes_at ON changes (at)")


def add_begun(connection: sqlite3.Connection) -> None:
    """Keep when a source was first looked at; of one that has been, its last look is the first that is known."""
    if not has_column(connection, "snapshots", "begun"):
        connection.execute("ALTER TABLE snapshots ADD COLUMN begun REAL")
    connection.execute("UPDATE snapshots SET begun = at WHERE begun IS NULL")


class Snapshots:
    """The last look at each source, and the changes of the last week."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(
        self, source: str, items: Iterable[Item], at: datetime, *, lasting: bool = True
    ) -> int:
        """Take what a source tells at `at` (aware) for its state; return how many changes there are.

        The first look finds none. `lasting` tells that an item which is missing is gone; news only come. Raises
        StoreError.
        """
        now = {item.id: item for item in items}
        seconds = at.timestamp()

        def work(connection: sqlite3.Connection) -> int:
            connection.execute(
                "DELETE FROM changes WHERE at < ?", (seconds - KEEP.total_seconds(),)
            )
            known = {
                item: (name, state)
                for item, name, state in connection.execute(
                    "SELECT item, name, state FROM snapshot_items WHERE source = ?", (source,)
                )
            }
            before = connection.execute(
                "SELECT at, begun FROM snapshots WHERE source = ?", (source,)
            ).fetchone()
            changes: list[tuple[str, str, str | None, str | None]] = []
            if before is not None:
                changes += [
                    (item.id, item.name, known.get(item.id, ("", None))[1], item.state)
                    for item in now.values()
                    if known.get(item.id, ("", None))[1] != item.state
                ]
                if lasting:
                    changes += [
                        (item, name, state, None)
                        for item, (name, state) in known.items()
                        if item not in now
                    ]
            connection.executemany(
                "INSERT INTO changes (source, item, name, before, after, since, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (source, *change, before[0] if before else seconds, seconds)
                    for change in changes
                ],
            )
            connection.execute("DELETE FROM snapshot_items WHERE source = ?", (source,))
            connection.executemany(
                "INSERT INTO snapshot_items VALUES (?, ?, ?, ?)",
                [(source, item.id, item.name, item.state) for item in now.values()],
            )
            connection.execute(
                "INSERT OR REPLACE INTO snapshots (source, at, begun) VALUES (?, ?, ?)",
                (source, seconds, before[1] if before else seconds),
            )
            return len(changes)

        return await self._database.write(work)

    async def changes(
        self, since: datetime, until: datetime, sources: Sequence[str] = ()
    ) -> list[Change]:
        """Return what was noticed after `since` and up to `until` (aware), the oldest first; raises StoreError."""
        where, values = "", [since.timestamp(), until.timestamp()]
        if sources:
            where = f" AND source IN ({', '.join('?' * len(sources))})"
        rows = await self._database.read(
            lambda connection: connection.execute(
                "SELECT source, item, name, before, after, since, at FROM changes"
                f" WHERE at > ? AND at <= ?{where} ORDER BY at, id",
                (*values, *sources),
            ).fetchall()
        )
        return [
            Change(source, item, name, before, after, moment(begun), moment(at))
            for source, item, name, before, after, begun, at in rows
        ]

    async def begun(self) -> dict[str, datetime]:
        """Return by source when it was first looked at; raises StoreError."""
        rows = await self._database.read(
            lambda connection: connection.execute("SELECT source, begun FROM snapshots").fetchall()
        )
        return {source: moment(at) for source, at in rows}
