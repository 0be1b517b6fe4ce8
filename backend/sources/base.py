"""What a source is.

A source is asked with a step of a plan and answers with a typed outcome; whether something was found is a type,
never a phrase in a text. It is one file in this folder plus its settings; only `backend.bootstrap` knows which
there are. Limits on concurrent calls, deadlines, caching and identical questions at once are `backend.gather`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
import hashlib
from typing import Any, Protocol, runtime_checkable

from backend.store.snapshots import Item
from backend.types import Outcome, Question, Step


@dataclass(frozen=True, slots=True)
class SourceState:
    """How a source is doing: `setting` names what is missing when it isn't configured."""

    configured: bool
    setting: str | None = None
    detail: str = ""
    documents: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the state as `/health` and `/sources` show it."""
        state: dict[str, Any] = {"configured": self.configured, "detail": self.detail}
        if self.setting is not None and not self.configured:
            state["setting"] = self.setting
        if self.documents is not None:
            state["documents"] = self.documents
        return state


def made_of(*settings: object) -> str:
    """Return a `version` for a source that holds nothing itself: what was kept under other settings is stale.

    A secret doesn't belong in it, only whether there is one.
    """
    return hashlib.sha256(repr(settings).encode()).hexdigest()[:16]


class Source(Protocol):
    """One place to look things up."""

    @property
    def tag(self) -> str:
        """The tag on the wire, one of the keys of `backend.contract.LABELS`."""

    @property
    def ttl(self) -> float:
        """Seconds that an outcome may be kept; 0 keeps none."""

    @property
    def version(self) -> str:
        """What the source holds now, in a word: a change makes every kept outcome of it stale."""

    async def ask(self, step: Step, question: Question) -> Outcome:
        """Look the words of `step` up until `question.deadline`.

        Failures of the upstream are outcomes; an exception is a fault of ours and is reported as such.
        """

    async def start(self) -> None:
        """Begin what runs in the background; returns at once, also when the upstream is dead."""

    async def close(self) -> None:
        """End what `start` began."""

    def state(self) -> SourceState:
        """Return how the source is doing, without asking the upstream."""


@runtime_checkable
class Observed(Source, Protocol):
    """A source whose state is looked at again and again, so that changes of it can be told."""

    @property
    def every(self) -> float:
        """Seconds between two looks."""

    @property
    def lasting(self) -> bool:
        """Whether an item that is missing is gone; news only come."""

    async def look(self, until: float) -> tuple[Item, ...]:
        """Return what there is now, by `until` (monotonic). Raises UpstreamError."""

    def said(self, state: str, language: str) -> str:
        """Return the word for an item's state; "" where the name of the item says it all."""


@runtime_checkable
class Catalogued(Source, Protocol):
    """A source of books, of which there is a list."""

    def books(self) -> list[dict[str, Any]]:
        """Return what is known of each book: `name`, `language` (None: several, or unknown), `articles`, `from`."""

    async def refresh(self) -> None:
        """Look for books now. Raises UpstreamError."""


@runtime_checkable
class Placed(Source, Protocol):
    """A source that knows the areas of the house."""

    async def areas(self, until: float) -> set[str]:
        """Return their names by `until` (monotonic), none where they can't be had."""
