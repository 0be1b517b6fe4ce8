"""From a question to a plan over the sources that are there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
import time
from typing import Final

from backend.contract import AUTO
from backend.planning.chooser import Chooser
from backend.planning.reading import Part, Reading, read
from backend.sources.base import Source
from backend.text.words import fold
from backend.types import FUSION, By, Check, Choice, Condition, Event, Plan, Question, Step

_FALLBACKS: Final = ("house", "kiwix")
"""What is asked, in this order, when the source that a question names finds nothing."""


class Planner:
    """Plans questions; `sources` are all that are built in, configured or not, `chooser` chooses where no rule does."""

    def __init__(
        self, sources: Mapping[str, Source], *, max_steps: int, chooser: Chooser | None = None
    ) -> None:
        self._sources = sources
        self._max_steps = max_steps
        self._chooser = chooser
        self._spoken: set[str] = set()

    async def plan(self, question: Question) -> Plan:
        """Return the plan of a question, with the events `route` and, where it asks for several things, `decomposed`."""
        started = time.monotonic()
        plan = await self._plan(question)
        route = Event.now(
            "route",
            by=plan.by,
            steps=[{"source": step.source, "query": step.query} for step in plan.steps],
            elapsed_ms=round((time.monotonic() - started) * 1000),
        )
        return replace(plan, events=(route, *plan.events))

    async def _plan(self, question: Question) -> Plan:
        if question.source == FUSION:
            tags = question.fusion_sources or self._configured() or _FALLBACKS[:1]
            return Plan(
                tuple(Step(tag, question.text) for tag in dict.fromkeys(tags))[: self._max_steps],
                "rule",
            )
        reading = await self._read(question)
        if question.source != AUTO:
            query = reading.parts[0].query if len(reading.parts) == 1 else question.text
            return Plan((Step(question.source, query),), "rule")
        if reading.handback:
            if question.accepts_handback:
                return Plan((), "rule", handback=True)
            reading = Reading((Part(question.text),))
        by: By = "rule" if any(part.sources for part in reading.parts) else "default"
        chosen = await self._chosen(reading, question)
        if chosen is not None:
            reading, by = chosen
        return self._of(reading, by)

    async def _read(self, question: Question) -> Reading:
        """Return what is asked; the rules of a language are made by a thread, once."""
        language = question.language
        if language not in self._spoken:
            await asyncio.to_thread(read, question.text, language, question.history)
            self._spoken.add(language)
        return read(question.text, language, question.history)

    async def _chosen(self, reading: Reading, question: Question) -> tuple[Reading, By] | None:
        """Return the reading with what a model chose for the parts that no rule has a source for; None for no choice."""
        if self._chooser is None or all(part.sources for part in reading.parts):
            return None
        chooser, tags = self._chooser, self._configured()

        async def choose(part: Part) -> tuple[Choice, bool] | None:
            return None if part.sources else await chooser.choose(part.query, question, tags)

        choices = await asyncio.gather(*(choose(part) for part in reading.parts))
        made = [choice for choice in choices if choice is not None]
        if not made:
            return None
        parts = tuple(
            part
            if choice is None
            else replace(part, sources=choice[0].sources, also=choice[0].query)
            for part, choice in zip(reading.parts, choices, strict=True)
        )
        return replace(reading, parts=parts), "cache" if all(kept for _, kept in made) else "model"

    def _of(self, reading: Reading, by: By) -> Plan:
        """Return the plan of what was read: a step each for what is asked, then what else may know of it."""
        first: list[Step] = []
        more: list[Step] = []
        for part in reading.parts:
            steps = list(self._steps(part))
            first += steps[:1]
            more += steps[1:]
        steps = list(dict.fromkeys((*first, *more)))[: max(self._max_steps, len(first))]
        parts = [part.query for part in reading.parts]
        return Plan(
            tuple(steps),
            by,
            condition=self._condition(reading),
            notes=("orders_apart",) if reading.orders else (),
            events=(Event.now("decomposed", parts=parts),) if len(parts) > 1 else (),
        )

    def _condition(self, reading: Reading) -> Condition | None:
        said = reading.condition
        if said is None:
            return None
        checks = tuple(
            Check(
                Step(part.source, part.text)
                if part.source and part.source in self._sources
                else None,
                part.negated,
            )
            for part in said.parts
        )
        return Condition(said.text, checks, said.every)

    def _steps(self, part: Part) -> Iterator[Step]:
        """Yield the steps of one thing that is asked, the first above all."""
        for tag in part.sources:
            yield self._with_fallbacks(Step(tag, part.query))
            if part.also and fold(part.also) != fold(part.query):
                yield Step(tag, part.also)
        if not part.sources:
            configured = self._configured()
            for tag in [tag for tag in _FALLBACKS if tag in configured] or _FALLBACKS[:1]:
                yield Step(tag, part.query)

    def _with_fallbacks(self, step: Step) -> Step:
        """Return the step with the fallbacks that are configured; a source that isn't there gives way to them."""
        chain = [
            tag
            for tag in dict.fromkeys((step.source, *_FALLBACKS))
            if tag in self._sources
            and (tag == step.source or self._sources[tag].state().configured)
        ]
        chain = chain or list(_FALLBACKS[:1])
        return replace(step, source=chain[0], fallbacks=tuple(chain[1:]))

    def _configured(self) -> tuple[str, ...]:
        return tuple(tag for tag, source in self._sources.items() if source.state().configured)
