"""One SQLite file, off the event loop.

Decides how the file is opened, which threads touch it, and what an error of SQLite means to the owner. What is in
the tables is the business of the modules beside this one.

One thread writes, so that writers never wait for each other inside SQLite; a few threads read beside it (WAL). A
caller that is cancelled leaves at once: a piece of work that hasn't begun is dropped, one that has runs to its end
in its own transaction, and a read that takes too long is stopped inside SQLite.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
import logging
from pathlib import Path
import sqlite3
import threading
import time
from typing import Final

_LOGGER = logging.getLogger(__name__)

_READERS: Final = 3
_BUSY_SECONDS: Final = 5.0
_READ_SECONDS: Final = 10.0
"""A read is stopped after this: nobody waits longer for an answer."""
_CHECK_SECONDS: Final = 1.0
_OPCODES: Final = 2_000
"""How many steps of SQLite's machine lie between two looks at the clock, about a millisecond."""

Migration = Callable[[sqlite3.Connection], None]
"""Brings the tables one version on. It may run twice: after a crash it does."""


class StoreError(Exception):
    """The store can't be used; the message names what is wrong, and the remedy."""


def explain(path: Path, error: sqlite3.Error | OSError) -> StoreError:
    """Return what `error` means to the owner of `path`."""
    if isinstance(error, OSError):
        return StoreError(
            f"{path.parent} can't be used ({error.strerror}); let DATA_DIR name a folder that the server may write"
        )
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return StoreError(f"{path}: the disk is full; make room")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreError(
            f"{path}: can't be written; let DATA_DIR name a folder that the server may write"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(
            f"{path}: another process holds it; stop the other server of this DATA_DIR"
        )
    if code == sqlite3.SQLITE_INTERRUPT:
        return StoreError(
            f"{path}: a look-up took longer than {_READ_SECONDS:.0f} s and was stopped"
        )
    if code == sqlite3.SQLITE_IOERR:
        return StoreError(f"{path}: the disk doesn't answer ({error}); check it")
    return StoreError(f"{path}: {error}")


def damaged(path: Path) -> StoreError:
    """Return what a file that isn't as SQLite wrote it means to its owner."""
    return StoreError(
        f"{path}: the file is damaged; move it away and restart, it is made anew from the documents"
    )


def has_column(connection: sqlite3.Connection, table: str, column: str) -> bool:
    """Return whether `table` has `column`."""
    rows = connection.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", (table, column))
    return rows.fetchone() is not None


def moment(timestamp: float) -> datetime:
    """Return a stored time (seconds of the Unix clock) as one that is aware, in UTC."""
    return datetime.fromtimestamp(timestamp, UTC)


class Database:
    """The connections to one file. Open it with `open`, in a thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer_threads = ThreadPoolExecutor(1, "store-write")
        self._reader_threads = ThreadPoolExecutor(_READERS, "store-read")
        self._readers = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._failing: dict[str, StoreError] = {}

    @property
    def error(self) -> StoreError | None:
        """What the last write or read failed of; None once it has gone well again."""
        return next(iter(self._failing.values()), None)

    def open(self, migrations: Sequence[Migration]) -> None:
        """Open the file and bring its tables up to date; blocks, raises StoreError."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = self._writer = self._connect()
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            self._check(connection)
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version > len(migrations):
                raise StoreError(
                    f"{self.path}: written by a newer version ({version}, known are {len(migrations)});"
                    " update, or let DATA_DIR name another folder"
                )
            for number, migrate in enumerate(migrations[version:], version + 1):
                connection.execute("BEGIN IMMEDIATE")
                migrate(connection)
                connection.execute(f"PRAGMA user_version = {number}")
                connection.execute("COMMIT")
            # A file that may only be read opens without complaint; the first write doesn't.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA user_version = {len(migrations)}")
            connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise explain(self.path, error) from error

    def _check(self, connection: sqlite3.Connection) -> None:
        """Look for damage as far as time allows; raises StoreError. Found later, it takes the library with it."""
        end = time.monotonic() + _CHECK_SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > end, _OPCODES)
        try:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            return
        finally:
            connection.set_progress_handler(None, 0)
        if found != "ok":
            _LOGGER.debug("%s: %s", self.path, found)
            raise damaged(self.path)

    async def write[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction of the one writer; raises StoreError."""

        return await self._run(self._writer_threads, lambda: self.write_now(work))

    def write_now[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction of its own; blocks, raises StoreError. Only before others write, or in their thread."""
        connection = self._writer
        assert connection is not None
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except (sqlite3.Error, UnicodeEncodeError) as error:
            raise self._failed("write", error) from error
        self._failing.pop("write", None)
        return result

    async def read[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` beside the writer; raises StoreError."""

        def run() -> T:
            end = time.monotonic() + _READ_SECONDS
            try:
                connection = self._reader()
                # https://docs.python.org/3/library/sqlite3.html#sqlite3.Connection.set_progress_handler
                connection.set_progress_handler(lambda: time.monotonic() > end, _OPCODES)
                result = work(connection)
            except (sqlite3.Error, UnicodeEncodeError) as error:
                raise self._failed("read", error) from error
            self._failing.pop("read", None)
            return result

        return await self._run(self._reader_threads, run)

    def copy(self, target: Path) -> None:
        """Write all that is committed to a new file, also while others write; blocks, raises StoreError."""
        try:
            # Connections of its own: a backup holds one for as long as it takes.
            source = sqlite3.connect(self.path, timeout=_BUSY_SECONDS)
            copied = sqlite3.connect(target)
            try:
                source.backup(copied)
            finally:
                copied.close()
                source.close()
        except sqlite3.Error as error:
            raise explain(self.path, error) from error

    def close(self) -> None:
        """End the threads and close the file; blocks until running work has ended."""
        for threads in (self._reader_threads, self._writer_threads):
            threads.shutdown(wait=True, cancel_futures=True)
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._writer = None

    async def _run[T](self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        try:
            future = asyncio.get_running_loop().run_in_executor(threads, work)
        except RuntimeError as error:
            raise StoreError(f"{self.path}: the store is closed") from error
        return await future

    def _failed(self, doing: str, error: sqlite3.Error | UnicodeEncodeError) -> StoreError:
        """Return what `error` means; the owner is told once, until it goes well again."""
        if isinstance(error, UnicodeEncodeError):
            # Half a surrogate pair, from a client or a document: no text that SQLite could hold.
            return StoreError(f"{self.path}: a text is not valid Unicode")
        told = explain(self.path, error)
        if self._failing.get(doing) is None:
            _LOGGER.warning("%s. Until then caches miss and the query log loses rows.", told)
        self._failing[doing] = told
        return told

    def _reader(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._readers, "connection", None)
        if connection is None:
            connection = self._readers.connection = self._connect()
            connection.execute("PRAGMA query_only = ON")
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        with self._lock:
            self._connections.append(connection)
        return connection
