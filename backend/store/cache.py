"""Values kept for a while under a key, over restarts: results of sources, composed answers.

Decides how many are kept and which go first: those over their time, then those not used for the longest. What a
key is made of, and how long a value may be kept, is the caller's. A store that fails, or that is busy with something
larger, is a cache that misses: what was found is never lost for want of being kept. What was used last is in memory
too: nobody waits for a thread to say again what was said a moment ago.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
import logging
import sqlite3
import time
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from backend.store.database import Database, StoreError, moment

_LOGGER = logging.getLogger(__name__)

_CLOCK_SECONDS: Final = 60.0
"""What was stored so much later than now was stored while the clock was wrong: nobody knows how old it is."""

TABLES: Final = ("results", "answers", "routes")
_IN_MEMORY: Final = 128
"""So many values at most are in memory, those used last."""
_PATIENCE: Final = 0.25
"""So long, in seconds, a question waits for its value to be read or kept."""


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of all caches."""
    for table in TABLES:
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {table} (key TEXT PRIMARY KEY, value TEXT NOT NULL,"
            " stored_at REAL NOT NULL, fresh_until REAL NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID"
        )
        connection.execute(f"CREATE INDEX IF NOT EXISTS {table}_used ON {table} (used)")


@dataclass(frozen=True, slots=True)
class Kept[T]:
    """A value and its times (aware, UTC)."""

    value: T
    stored_at: datetime
    fresh_until: datetime

    @property
    def age_s(self) -> float:
        """Seconds since the value was put."""
        return max(0.0, time.time() - self.stored_at.timestamp())


class Cache[T]:
    """At most `size` values of one kind; 0 keeps none. `clear` clears `also` too."""

    def __init__(
        self,
        database: Database,
        table: str,
        values: TypeAdapter[T],
        size: int,
        *,
        also: Sequence[Cache[Any]] = (),
        trim: Callable[[T], T] = lambda value: value,
    ) -> None:
        self._database = database
        self.table = table
        self._values = values
        self._size = size
        self._also = also
        self._trim = trim
        # Uses since the last write, by key: reading would else wait for the writer.
        self._used: dict[str, int] = {}
        self._memory: OrderedDict[str, Kept[T]] = OrderedDict()
        self._cleared = 0
        self._clock = time.time_ns()

    def peek(self, key: str) -> Kept[T] | None:
        """Return the value under `key` if it is in memory and still fresh; at once."""
        kept = self._memory.get(key)
        if kept is None:
            return None
        now = time.time()
        if kept.fresh_until.timestamp() <= now or kept.stored_at.timestamp() > now + _CLOCK_SECONDS:
            del self._memory[key]
            return None
        self._memory.move_to_end(key)
        self._used[key] = self._tick()
        return kept

    async def get(self, key: str) -> Kept[T] | None:
        """Return the value under `key` if it is still fresh."""
        if (kept := self.peek(key)) is not None:
            return kept
        cleared = self._cleared
        now = time.time()
        try:
            async with asyncio.timeout(_PATIENCE):
                row = await self._database.read(
                    lambda connection: connection.execute(
                        f"SELECT value, stored_at, fresh_until FROM {self.table} WHERE key = ?"
                        " AND fresh_until > ? AND stored_at <= ?",
                        (key, now, now + _CLOCK_SECONDS),
                    ).fetchone()
                )
        except (StoreError, TimeoutError):
            return None
        if row is None:
            return None
        try:
            value = self._values.validate_json(row[0])
        except ValidationError:
            # Written by another version of the server; the next put replaces it.
            _LOGGER.debug("A kept value of %s can't be read any more", self.table)
            return None
        self._used[key] = self._tick()
        kept = Kept(value, moment(row[1]), moment(row[2]))
        if cleared == self._cleared:
            self._remember(key, kept)
        return kept

    async def put(self, key: str, value: T, fresh_until: datetime) -> None:
        """Keep `value` until `fresh_until` (aware), if there is room for any."""
        now = time.time()
        if self._size == 0 or fresh_until.timestamp() <= now:
            return
        value = self._trim(value)
        self._used[key] = self._tick()
        try:
            text = self._values.dump_json(value).decode()
        except (ValueError, UnicodeError) as error:
            _LOGGER.debug("A value of %s can't be kept: %s", self.table, error)
            return
        self._remember(key, Kept(value, moment(now), fresh_until))

        # Taken here: the writer's thread must not look through what the loop's goes on to fill.
        used, self._used = self._used, {}

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                f"INSERT OR REPLACE INTO {self.table} VALUES (?, ?, ?, ?, 0)",
                (key, text, now, fresh_until.timestamp()),
            )
            connection.executemany(
                f"UPDATE {self.table} SET used = ? WHERE key = ?",
                [(tick, key) for key, tick in used.items()],
            )
            connection.execute(
                f"DELETE FROM {self.table} WHERE fresh_until <= ? OR stored_at > ?",
                (now, now + _CLOCK_SECONDS),
            )
            connection.execute(
                f"DELETE FROM {self.table} WHERE key IN (SELECT key FROM {self.table}"
                " ORDER BY used DESC LIMIT -1 OFFSET ?)",
                (self._size,),
            )

        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._database.write(work)

    async def count(self) -> int:
        """Return how many values are fresh."""
        try:
            return await self._database.read(
                lambda connection: connection.execute(
                    f"SELECT count(*) FROM {self.table} WHERE fresh_until > ?", (time.time(),)
                ).fetchone()[0]
            )
        except StoreError:
            return 0

    async def clear(self) -> int:
        """Forget all, also what stands on it; return how many values of this kind there were.

        Raises StoreError: who clears a cache must not believe that it is empty when it isn't.
        """

        def work(connection: sqlite3.Connection) -> int:
            for cache in self._also:
                connection.execute(f"DELETE FROM {cache.table}")
            return connection.execute(f"DELETE FROM {self.table}").rowcount

        try:
            return await self._database.write(work)
        finally:
            for cache in (self, *self._also):
                cache.forget()

    def forget(self) -> None:
        """Forget what is in memory, also what is being read right now."""
        self._memory.clear()
        self._cleared += 1

    def _remember(self, key: str, kept: Kept[T]) -> None:
        self._memory[key] = kept
        self._memory.move_to_end(key)
        while len(self._memory) > min(self._size, _IN_MEMORY):
            self._memory.popitem(last=False)

    def _tick(self) -> int:
        self._clock = max(self._clock + 1, time.time_ns())
        return self._clock
