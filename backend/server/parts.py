"""What the server is handed, by type: it builds none of its parts, and a test hands in its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

from aiohttp import web

from backend.contract import Health
from backend.server.asking import Asking
from backend.settings import Settings
from backend.store.snapshots import Change


class Row(Protocol):
    """One question in the query log."""

    def as_dict(self) -> dict[str, Any]:
        """Return the row as `/logs` shows it."""


class QueryLog(Protocol):
    """The log of questions: `backend.store.log.Log`."""

    async def written(self) -> None:
        """Wait until every row is written, or lost."""

    async def recent(self, limit: int) -> Sequence[Row]:
        """Return the newest rows, the newest first."""

    async def stats(self) -> dict[str, Any]:
        """Return the statistics of `/logs/stats`; raises StoreError."""

    async def clear(self) -> int:
        """Forget all rows and return how many there were; raises StoreError."""


class Cache(Protocol):
    """Kept results or answers: `backend.store.cache.Cache`."""

    async def count(self) -> int:
        """Return how many are fresh."""

    async def clear(self) -> int:
        """Forget all and return how many there were; raises StoreError."""


class Snapshots(Protocol):
    """What sources looked like, and what has changed: `backend.store.snapshots.Snapshots`."""

    async def changes(
        self, since: datetime, until: datetime, sources: Sequence[str] = ()
    ) -> Sequence[Change]:
        """Return the changes noticed in a span, the oldest first; raises StoreError."""


class Keeping(Protocol):
    """What the server keeps: `backend.store.Store`."""

    @property
    def log(self) -> QueryLog:
        """The query log."""

    @property
    def results(self) -> Cache:
        """Results of sources."""

    @property
    def answers(self) -> Cache:
        """Composed answers."""

    @property
    def routes(self) -> Cache:
        """Choices of a source."""

    @property
    def path(self) -> Path:
        """The file of the database."""

    def copy(self, target: Path) -> None:
        """Write all that is kept to a new file; blocks, raises StoreError."""

    @property
    def snapshots(self) -> Snapshots:
        """Changes of the last week."""


HealthCheck = Callable[[], Awaitable[Health]]
Look = Callable[[], Awaitable[dict[str, int]]]
"""Looks at every source whose changes are told, and returns how many each had."""

ASK: Final = web.AppKey("ask", Asking)
SETTINGS: Final = web.AppKey("settings", Settings)
HEALTH: Final[web.AppKey[HealthCheck]] = web.AppKey("health")
LOOK: Final[web.AppKey[Look]] = web.AppKey("look")
STORE: Final = web.AppKey("store", Keeping)
