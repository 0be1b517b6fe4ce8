"""What has changed in the house: services that went down, doors that opened, news that came.

Decides how often each source is looked at, and how its changes are told. What a change is, is kept by
`store.snapshots`; which time is asked for, `text.since` reads from the words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
import logging
import time
from typing import Any, Final

from backend.languages import own_or_default
from backend.sources.base import Observed, SourceState
from backend.sources.http import UpstreamError
from backend.store import StoreError
from backend.store.snapshots import Change, Snapshots
from backend.text.since import Hours, window
from backend.types import Failed, Found, NotConfigured, Outcome, Passage, Question, Step

_LOGGER = logging.getLogger(__name__)

SETTING: Final = "UPTIME_KUMA_URL"
_LOOK_SECONDS: Final = 20.0
_MOST_ITEMS: Final = 12
_MOST_STATES: Final = 4
"""Of an item that went to and fro more often, the last ones are told."""


class Changes:
    """Looks at `observed`, and tells what has changed; an outcome may be kept for `ttl` seconds."""

    tag = "changes"

    def __init__(
        self, observed: Sequence[Observed], snapshots: Snapshots, *, ttl: float, hours: Hours
    ) -> None:
        self._observed: Mapping[str, Observed] = {source.tag: source for source in observed}
        self._snapshots = snapshots
        self._hours = hours
        self._tasks: list[asyncio.Task[None]] = []
        self._looks = 0
        self._problems: dict[str, str] = {}
        self.ttl = ttl

    @property
    def version(self) -> str:
        """A word that changes with every look."""
        return str(self._looks)

    async def start(self) -> None:
        """Begin to look; returns at once."""
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._watch(source), name=f"changes-{tag}")
                for tag, source in self._observed.items()
            ]

    async def close(self) -> None:
        """Stop looking."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    def state(self) -> SourceState:
        """Return what can't be looked at, and why."""
        if not self._looked_at():
            return SourceState(False, SETTING, "no source that can be looked at is set up")
        told = [f"{tag}: {problem}" for tag, problem in sorted(self._problems.items()) if problem]
        return SourceState(True, detail="; ".join(told))

    def _looked_at(self) -> list[Observed]:
        return [source for source in self._observed.values() if source.state().configured]

    async def ask(self, step: Step, question: Question) -> Outcome:
        """Tell what has changed in the time that the words name."""
        if not self._looked_at():
            return NotConfigured(SETTING)
        since, until = window(step.query, question.language, question.now, self._hours)
        try:
            begun = await self._snapshots.begun()
            changes = await self._snapshots.changes(since, until)
        except StoreError as error:
            return Failed("unreadable", str(error))
        seen = [begun[source.tag] for source in self._looked_at() if source.tag in begun]
        if not seen:
            return Failed("unreachable", self.state().detail or "nothing has been looked at yet")
        passages = await asyncio.to_thread(
            self._told,
            changes,
            question,
            begun=max(seen) if max(seen) > since else None,
            until=until,
            whole=not any(
                source.tag not in begun or self._problems.get(source.tag)
                for source in self._looked_at()
            ),
        )
        return Found(passages, datetime.now(UTC) + timedelta(seconds=self.ttl))

    async def look(self) -> dict[str, int]:
        """Look at every source that is set up now; return how many changes each had. Raises StoreError."""
        sources = self._looked_at()
        counts = await asyncio.gather(*(self._look(source) for source in sources))
        return {source.tag: count for source, count in zip(sources, counts, strict=True)}

    async def _watch(self, source: Observed) -> None:
        while True:
            try:
                if source.state().configured:
                    await self._look(source)
            except StoreError as error:
                self._problems[source.tag] = str(error)
            except Exception:
                # A fault of ours in one look; the next one may go well.
                _LOGGER.exception("Looking at %s failed", source.tag)
            await asyncio.sleep(source.every)

    async def _look(self, source: Observed) -> int:
        try:
            items = await source.look(time.monotonic() + _LOOK_SECONDS)
        except UpstreamError as error:
            # What can't be seen has not changed.
            self._problems[source.tag] = str(error)
            return 0
        self._problems[source.tag] = ""
        count = await self._snapshots.put(
            source.tag, items, datetime.now(UTC), lasting=source.lasting
        )
        self._looks += 1
        return count

    def _told(
        self,
        changes: Sequence[Change],
        question: Question,
        *,
        begun: datetime | None,
        until: datetime,
        whole: bool,
    ) -> tuple[Passage, ...]:
        """Return a line for each item that changed, the newest first, and what can't be known; blocks while words are read.

        `begun` is when all of it was first looked at, where that came after what is asked for began: before then
        nothing is known to have stayed as it was. `whole` tells that all of it can be seen now.
        """
        words = own_or_default(question.language, "changes")
        by_item: dict[tuple[str, str], list[Change]] = {}
        for change in changes:
            by_item.setdefault((change.source, change.item), []).append(change)
        rows = sorted(by_item.values(), key=lambda row: row[-1].at, reverse=True)
        passages = [
            _passage(self._line(row, words, question), row[-1].at) for row in rows[:_MOST_ITEMS]
        ]
        if not rows and (begun is None or begun < until):
            passages.append(_passage(words["nothing" if begun is None else "so_far"], None))
        if begun is not None:
            since = _moment(begun, question)
            passages.append(_passage(str(words["begun"]).format(since=since), None))
        if not whole:
            passages.append(_passage(words["unseen"], None))
        return tuple(passages)

    def _line(self, row: Sequence[Change], words: Mapping[str, Any], question: Question) -> str:
        source = self._observed.get(row[0].source)
        states = []
        for change in row[-_MOST_STATES:]:
            state = str(words["gone"])
            if change.after is not None:
                state = source.said(change.after, question.language) if source else change.after
            if state:
                states.append(_at(change.at, state, words, question))
        name = row[-1].name
        return f"{name}: {', '.join(states)}." if states else f"{name.rstrip('.')}."


def _at(at: datetime, state: str, words: Mapping[str, Any], question: Question) -> str:
    """Return a state with its moment in the house's zone, and with the day where that isn't today."""
    local, time_of_day = _clock(at, question)
    if local.date() == question.now.date():
        return str(words["today"]).format(state=state, time=time_of_day)
    day = words["days"][local.weekday()]
    return str(words["earlier"]).format(state=state, day=day, time=time_of_day)


def _moment(at: datetime, question: Question) -> str:
    """Return a moment in the house's zone, with the day where that isn't today."""
    from babel.dates import format_date

    local, time_of_day = _clock(at, question)
    if local.date() == question.now.date():
        return time_of_day
    return f"{format_date(local, 'EEEE', locale=question.language)} {time_of_day}"


def _clock(at: datetime, question: Question) -> tuple[datetime, str]:
    """Return a moment in the house's zone, and its time of day as it is said."""
    from babel.dates import format_time

    local = at.astimezone(question.now.tzinfo)
    return local, format_time(local, "short", locale=question.language)


def _passage(text: str, at: datetime | None) -> Passage:
    return Passage(source=Changes.tag, title="", text=text, published=at, direct=True)
