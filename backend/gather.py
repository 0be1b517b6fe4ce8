"""Asks the sources of a plan, all at once, and says what came back.

Decided here: the time and the number of calls that each source gets, what of it is kept, that identical questions
at once are one call, and which fallback is asked when nothing was found. A slow source slows only itself: what is
there when the time is over is what there is. Failures are outcomes, and none of them is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
import logging
import time
from typing import Final

from backend.flights import Flights
from backend.sources.base import Source
from backend.store.cache import Cache, Kept
from backend.text.words import fold
from backend.types import (
    FUSION,
    HOME,
    Check,
    Condition,
    Event,
    Failed,
    Found,
    NotConfigured,
    Nothing,
    Outcome,
    Plan,
    Question,
    Step,
)

_LOGGER = logging.getLogger(__name__)

_RESERVE: Final = 0.3
"""Seconds of a deadline that are kept for everything after the sources."""


KeptUnder = tuple[str, Kept[Found]]
"""What was kept, after the key that it is kept under."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How one source answered; `cached` tells that nobody had to be asked, `kept` under which key that was kept."""

    source: str
    outcome: Outcome
    elapsed_ms: int
    cached: bool = False
    age: float = 0.0
    kept: KeptUnder | None = None


@dataclass(frozen=True, slots=True)
class Gathered:
    """All answers of a plan, a chain a step (its source, then its fallbacks), and what happened on the way.

    `notes` are keys of what has to be said beside the answer.
    """

    chains: tuple[tuple[Asked, ...], ...]
    events: tuple[Event, ...]
    notes: tuple[str, ...] = ()

    @property
    def found(self) -> tuple[tuple[str, Found], ...]:
        """Tags and passages of the sources that found something."""
        return tuple((a.source, a.outcome) for a in self.asked if isinstance(a.outcome, Found))

    @property
    def cached(self) -> bool:
        """Whether all that was found had been kept from earlier."""
        found = [asked for asked in self.asked if isinstance(asked.outcome, Found)]
        return bool(found) and all(asked.cached for asked in found)

    @property
    def fallback(self) -> tuple[str, str] | None:
        """Who was asked first and who answered instead, in the first step where they differ."""
        return next(
            (
                (chain[0].source, chain[-1].source)
                for chain in self.chains
                if len(chain) > 1 and isinstance(chain[-1].outcome, Found)
            ),
            None,
        )

    @property
    def asked(self) -> tuple[Asked, ...]:
        """All answers, in the order of the plan."""
        return tuple(asked for chain in self.chains for asked in chain)

    @property
    def failure(self) -> tuple[str, Failed] | None:
        """The first source that failed, and how."""
        return next(
            ((a.source, a.outcome) for a in self.asked if isinstance(a.outcome, Failed)), None
        )

    @property
    def missing(self) -> tuple[str, str] | None:
        """The first source that isn't set up, and the setting it needs; None where another one of the plan was asked.

        A fallback is none of the plan: that it finds nothing doesn't tell what the source would have found.
        """
        first = [chain[0] for chain in self.chains]
        if any(isinstance(asked.outcome, Nothing) for asked in first):
            return None
        return next(
            (
                (asked.source, asked.outcome.setting)
                for asked in first
                if isinstance(asked.outcome, NotConfigured)
            ),
            None,
        )


class Gatherer:
    """Asks sources on behalf of questions.

    `timeout` in seconds bounds a source where several are asked; `calls` bounds the concurrent calls of each.
    """

    def __init__(
        self,
        sources: Mapping[str, Source],
        results: Cache[Found],
        *,
        timeout: float,
        calls: int = 8,
    ) -> None:
        self._sources = sources
        self._results = results
        self._timeout = timeout
        self._slots = {tag: asyncio.Semaphore(calls) for tag in sources}
        self._flights: Flights[Asked] = Flights()

    def still(self, kept: Iterable[KeptUnder]) -> bool:
        """Return whether all of it is still kept."""
        return all(self._results.peek(key) is value for key, value in kept)

    async def gather(self, plan: Plan, question: Question) -> Gathered:
        """Ask the sources of `plan`; return by `question.deadline`."""
        notes, steps = plan.notes, plan.steps
        decided: list[tuple[list[Asked], list[Event]]] = []
        if plan.condition is not None:
            verdict, decided = await self._decide(plan.condition, question)
            if verdict is None:
                notes = (*notes, "undecidable")
            elif not verdict:
                steps = ()
        limit = question.left - _RESERVE
        if len(steps) > 1:
            limit = min(limit, self._timeout)
        until = time.monotonic() + limit
        if len(steps) == 1:
            asked = [await self._chain(steps[0], question, until)]
        else:
            asked = await asyncio.gather(*(self._chain(step, question, until) for step in steps))
        told = (*decided, *asked)
        return Gathered(
            tuple(tuple(chain) for chain, _ in told if chain),
            tuple(event for _, events in told for event in events),
            notes,
        )

    async def _decide(
        self, condition: Condition, question: Question
    ) -> tuple[bool | None, list[tuple[list[Asked], list[Event]]]]:
        """Return whether a condition holds (None: it can't be told), and what was found on each thing that it states.

        What decides is evidence too: who gets no answer to the rest hears why. A source that fails leaves it open.
        """
        until = time.monotonic() + (question.left - _RESERVE) / 2
        checked = await asyncio.gather(
            *(self._check(check, question, until) for check in condition.checks)
        )
        verdict = _together([each for each, _, _ in checked], every=condition.every)
        word = "undecidable" if verdict is None else "true" if verdict else "false"
        told = [(chain, events) for _, chain, events in checked]
        told.append(([], [Event.now("condition", text=condition.text, verdict=word)]))
        return verdict, told

    async def _check(
        self, check: Check, question: Question, until: float
    ) -> tuple[bool | None, list[Asked], list[Event]]:
        if check.step is None:
            return None, [], []
        chain, events = await self._chain(check.step, question, until)
        outcome = chain[-1].outcome
        if not isinstance(outcome, Found):
            return None, [], events
        verdict = None if outcome.verdict is None else outcome.verdict is not check.negated
        return verdict, chain, events

    async def _chain(
        self, step: Step, question: Question, until: float
    ) -> tuple[list[Asked], list[Event]]:
        """Ask a step's source, then its fallbacks while nothing is found."""
        chain: list[Asked] = []
        events: list[Event] = []
        for tag in (step.source, *step.fallbacks):
            if chain:
                why = _name(chain[-1].outcome)
                events.append(
                    Event.now("fallback", **{"from": chain[-1].source, "to": tag, "why": why})
                )
            asked = await self._ask(tag, step, question, until)
            chain.append(asked)
            events += _told(asked)
            if isinstance(asked.outcome, Found):
                break
        return chain, events

    async def _ask(self, tag: str, step: Step, question: Question, until: float) -> Asked:
        source = self._sources[tag]
        started = time.monotonic()
        key = _key(source, step, question)

        if _keeps(source, question) and (kept := self._results.peek(key)) is not None:
            return Asked(
                tag, kept.value, _since(started), cached=True, age=kept.age_s, kept=(key, kept)
            )

        async def fly() -> AsyncGenerator[Asked]:
            yield await self._call(source, key, step, question)

        outcome: Outcome
        try:
            async with asyncio.timeout_at(until):
                return await self._flights.last(key, fly)
        except TimeoutError:
            outcome = Failed("timeout", f"no answer within {until - started:.1f} s")
        except Exception as error:
            # A fault of a source is that source's alone: the others still answer.
            _LOGGER.exception("Source %s raised", tag)
            outcome = Failed("bad_reply", type(error).__name__)
        return Asked(tag, outcome, _since(started))

    async def _call(self, source: Source, key: str, step: Step, question: Question) -> Asked:
        started = time.monotonic()
        keeps = _keeps(source, question)
        if keeps and (kept := await self._results.get(key)) is not None:
            return Asked(source.tag, kept.value, _since(started), cached=True, age=kept.age_s)
        async with self._slots[source.tag]:
            outcome = await source.ask(step, question)
        if isinstance(outcome, Found) and not outcome.passages:
            outcome = Nothing()
        # Where the source has changed meanwhile, what it found may be of before or after.
        unchanged = key == _key(source, step, question)
        if isinstance(outcome, Found) and keeps and unchanged:
            await self._results.put(key, outcome, outcome.fresh_until)
        return Asked(source.tag, outcome, _since(started))


def _together(verdicts: Sequence[bool | None], *, every: bool) -> bool | None:
    """Return whether every one is so, or any; what isn't known leaves open what the others don't settle."""
    if (not every) in verdicts:
        return not every
    return None if None in verdicts else every


def _key(source: Source, step: Step, question: Question) -> str:
    """Return what makes two questions to a source the same; the satellite doesn't."""
    place = step.place or question.place
    parts: tuple[Hashable, ...] = (
        source.tag,
        source.version,
        fold(step.query),
        question.language,
        (place.name, place.latitude, place.longitude) if place else None,
        question.units,
        question.time_zone,
        question.states if _private(source, question) else None,
        # "Which lights are on in here."
        question.area if source.tag == HOME else None,
        # Among several sources, words that one doesn't know may be another's.
        question.source == FUSION,
    )
    return repr(parts)


def _keeps(source: Source, question: Question) -> bool:
    return source.ttl > 0 and not _private(source, question)


def _private(source: Source, question: Question) -> bool:
    """Whether a source reads the states that came with a question: what it finds is never kept."""
    return source.tag == HOME and bool(question.states)


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def _name(outcome: Outcome) -> str:
    return {Found: "found", Nothing: "nothing", NotConfigured: "not_configured"}.get(
        type(outcome), "failed"
    )


def _told(asked: Asked) -> list[Event]:
    outcome = asked.outcome
    events = []
    if isinstance(outcome, Found):
        events.append(Event.now("cache", store="results", hit=asked.cached, age_s=round(asked.age)))
    detail = ""
    if isinstance(outcome, Failed):
        detail = f"{outcome.kind}: {outcome.detail}" if outcome.detail else outcome.kind
    elif isinstance(outcome, NotConfigured):
        detail = outcome.setting
    events.append(
        Event.now(
            "source",
            source=asked.source,
            outcome=_name(outcome),
            passages=len(outcome.passages) if isinstance(outcome, Found) else 0,
            elapsed_ms=asked.elapsed_ms,
            detail=detail,
        )
    )
    return events
