"""What the server keeps, as one part: `results`, `answers`, `routes`, `log`, `passages`, `snapshots`.

Decides what happens when the file can't be used: the server goes on with a file of its own that is gone when it
stops, and says so. Nobody's question fails for want of a cache.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
import logging
from pathlib import Path
import tempfile
from typing import Final, Self

from pydantic import TypeAdapter

from backend.store import cache, log, passages, snapshots
from backend.store.cache import Cache
from backend.store.claim import Claim
from backend.store.database import Database, Migration, StoreError
from backend.store.journal import Journal
from backend.store.log import Log
from backend.store.passages import Passages
from backend.store.snapshots import Snapshots
from backend.types import Answer, Choice, Found

_LOGGER = logging.getLogger(__name__)

FILE: Final = "mnemolis.sqlite"
MIGRATIONS: Final[tuple[Migration, ...]] = (
    cache.create,
    log.create,
    log.add_synthesis,
    passages.create,
    snapshots.create,
    # Again, for the table that came after the first two.
    cache.create,
    snapshots.add_begun,
)
_FOUND: Final = TypeAdapter(Found)
_ANSWER: Final = TypeAdapter(Answer)
_CHOICE: Final = TypeAdapter(Choice)


class Store:
    """One file of one server. Make it with `open`, end it with `close`."""

    def __init__(self, database: Database, size: int, routes: int) -> None:
        self._database = database
        self._spare: tempfile.TemporaryDirectory[str] | None = None
        self._claim: Claim | None = None
        self._problem: str | None = None
        # Events belong to the question that caused them, not to the answer.
        self.answers = Cache(
            database, "answers", _ANSWER, size, trim=lambda answer: replace(answer, events=())
        )
        self.results = Cache(database, "results", _FOUND, size, also=(self.answers,))
        self.routes = Cache(database, "routes", _CHOICE, routes)
        self.log = Log(database, journal=Journal(database.path))
        self.passages = Passages(database)
        self.snapshots = Snapshots(database)

    @classmethod
    async def open(
        cls, path: Path, *, size: int = 500, routes: int = 1000, library: str | None = None
    ) -> Self:
        """Open the file at `path`, for the passages of `library`, with room for `size` results, as many answers, and `routes`.

        Never fails for the file's sake: `error` tells what is wrong with it. Raises StoreError when not even a
        temporary file can be had.
        """
        return await asyncio.to_thread(cls._open, path, size, routes, library)

    @classmethod
    def check(cls, path: Path) -> None:
        """Raise StoreError if the file at `path` can't be used; blocks."""
        database = Database(path)
        try:
            database.open(MIGRATIONS)
        finally:
            database.close()

    @classmethod
    def _open(cls, path: Path, size: int, routes: int, library: str | None) -> Self:
        database = Database(path)
        claim = None if library is None else Claim(path.parent, library)
        try:
            if claim is not None:
                claim.take()
            database.open(MIGRATIONS)
        except StoreError as error:
            database.close()
            if claim is not None:
                claim.close()
            problem = str(error)
        else:
            store = cls(database, size, routes)
            store._claim = claim
            store.log.restore()
            return store
        try:
            spare = tempfile.TemporaryDirectory(prefix="mnemolis-")
        except OSError as error:
            raise StoreError(
                f"{problem}; nor is there a temporary folder ({error.strerror})"
            ) from error
        database = Database(Path(spare.name) / FILE)
        try:
            database.open(MIGRATIONS)
        except StoreError:
            database.close()
            spare.cleanup()
            raise
        store = cls(database, size, routes)
        store._spare = spare
        store._problem = f"{problem}. Until then nothing is kept beyond a restart."
        _LOGGER.warning("%s", store._problem)
        return store

    @property
    def error(self) -> str | None:
        """What is wrong with the store, and the remedy; None while it works."""
        failing = self._database.error
        return self._problem or (None if failing is None else str(failing))

    @property
    def path(self) -> Path:
        """The file that is in use."""
        return self._database.path

    def copy(self, target: Path) -> None:
        """Write all that is kept to a new file at `target`; blocks, raises StoreError."""
        self._database.copy(target)

    async def close(self) -> None:
        """Wait for work that has begun, then close the file."""
        await self.log.written()
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._database.close()
        self.log.close()
        if self._claim is not None:
            self._claim.close()
        if self._spare is not None:
            self._spare.cleanup()
