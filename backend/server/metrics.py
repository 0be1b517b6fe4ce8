"""What the server counts, in the form that Prometheus reads.

Decides the names and labels; none of them holds a word of a question. What is counted happens elsewhere: every
question is noted here once, as it ends.
"""

from __future__ import annotations

from typing import Final

from aiohttp import web
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from backend.contract import Health, Reply
from backend.types import Question, Style

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS: Final = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 14.0)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._counts: dict[tuple[str, str], Counter] = {}
        self._times: dict[tuple[Style, bool], Histogram] = {}
        ProcessCollector(registry=self._registry)
        self._questions = Counter(
            "mnemolis_questions",
            "Questions, by how they ended and the source that answered or was at fault.",
            ("source", "outcome"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "mnemolis_question_seconds",
            "From a question to its whole reply, by style and whether it was kept from earlier.",
            ("style", "cached"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._sources = Gauge(
            "mnemolis_source_configured",
            "Whether a source is configured.",
            ("source",),
            registry=self._registry,
        )
        self._kept = Gauge(
            "mnemolis_kept", "How many values a cache holds.", ("cache",), registry=self._registry
        )

    def note(self, question: Question, reply: Reply | None, seconds: float) -> None:
        """Count a question that ended after so many seconds; None if the client had gone."""
        labels = ((reply.source_used if reply else "") or "none", _outcome(reply))
        if (count := self._counts.get(labels)) is None:
            count = self._counts[labels] = self._questions.labels(*labels)
        count.inc()
        if reply is None:
            return
        kind = (question.style, reply.cached)
        if (times := self._times.get(kind)) is None:
            cached = "true" if reply.cached else "false"
            times = self._times[kind] = self._seconds.labels(question.style.value, cached)
        times.observe(seconds)

    def text(self, health: Health) -> bytes:
        """Return all figures, with the state that `health` tells."""
        for tag, state in (health.sources or {}).items():
            self._sources.labels(tag).set(bool(state["configured"]))
        for cache in ("results", "answers"):
            self._kept.labels(cache).set((health.cache or {}).get(cache, 0))
        return generate_latest(self._registry)


METRICS: Final = web.AppKey("metrics", Metrics)


def _outcome(reply: Reply | None) -> str:
    if reply is None:
        return "hung_up"
    if reply.handback:
        return "handed_back"
    if not reply.success:
        # "not_configured: SETTING" is one kind, whatever the setting.
        return (reply.error or "failed").partition(":")[0]
    if not reply.synthesized:
        return "found"
    return "answered" if reply.answer_sources else "honest_miss"
