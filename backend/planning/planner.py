"""From a question to a plan over the sources that are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
import time
from typing import Final

from backend.contract import AUTO
from backend.planning.rules import plan_rules
from backend.sources.base import Source
from backend.types import FUSION, Event, Plan, Question, Step

_FALLBACKS: Final = ("house", "kiwix")
"""What is asked, in this order, when the source that a question names finds nothing."""


class Planner:
    """Plans questions; `sources` are all that are built in, configured or not."""

    def __init__(self, sources: Mapping[str, Source], *, max_steps: int) -> None:
        self._sources = sources
        self._max_steps = max_steps

    def plan(self, question: Question) -> Plan:
        """Return the plan of a question; its only event is `route`."""
        started = time.monotonic()
        plan = self._plan(question)
        route = Event.now(
            "route",
            by=plan.by,
            steps=[{"source": step.source, "query": step.query} for step in plan.steps],
            elapsed_ms=round((time.monotonic() - started) * 1000),
        )
        return replace(plan, events=(route,))

    def _plan(self, question: Question) -> Plan:
        if question.source == FUSION:
            tags = question.fusion_sources or self._configured() or _FALLBACKS[:1]
            return Plan(
                tuple(Step(tag, question.text) for tag in dict.fromkeys(tags))[: self._max_steps],
                "rule",
            )
        ruled = plan_rules(question.text, question.language, question.history)
        query = ruled.steps[0].query if ruled.steps else question.text
        if question.source != AUTO:
            return Plan((Step(question.source, query),), "rule")
        if ruled.handback and question.accepts_handback:
            return ruled
        if ruled.by == "rule" and ruled.steps:
            return replace(ruled, steps=tuple(self._with_fallbacks(step) for step in ruled.steps))
        configured = self._configured()
        tags = tuple(tag for tag in _FALLBACKS if tag in configured) or _FALLBACKS[:1]
        return Plan(tuple(Step(tag, query) for tag in tags[: self._max_steps]), "default")

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
