"""The way of a question: plan, gather, evidence, answer, reply. Read it top to bottom.

Each step takes a typed value and returns the next; what a step decided comes back with it as events. This file
decides what a client gets in every case; how a step does its work is in the step's own module.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Hashable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
import time
from typing import Any, Final

from pydantic_core import to_json

from backend.answer.quote import quoted
from backend.answer.speech import speech
from backend.answer.synthesis import Composer
from backend.contract import (
    AUTO,
    RESULT_FAILED,
    RESULT_NOT_CONFIGURED,
    RESULT_NOTHING,
    Citation,
    Reply,
    tagged,
)
from backend.evidence.fusion import Limits, fuse, render
from backend.gather import Gathered, Gatherer, KeptUnder
from backend.languages import spoken
from backend.planning import Planner
from backend.sources.base import Source
from backend.store.log import Entry, Log
from backend.types import FUSION, HOME, Answer, AnswerStatus, Event, Evidence, Question, Sentence

_SPOKEN_CHARS: Final = 400
"""Cap of what is quoted aloud when no answer was composed."""

_LATELY: Final = 64
"""So many questions' evidence is in memory, those asked last."""

_SYNTHESIS: Final = {
    AnswerStatus.SERVED: 1,
    AnswerStatus.NOT_IN_SOURCES: 2,
    AnswerStatus.SKIPPED: 0,
    AnswerStatus.REJECTED: 0,
}
"""How the query log writes the end of composing an answer."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the sources' outcomes come to: the evidence, the reply that it makes without an answer, and what was decided."""

    evidence: Evidence | None
    reply: Reply
    events: tuple[Event, ...]

    def told(self) -> tuple[Event, ...]:
        """Return the events, as of now."""
        return tuple(Event.now(event.event, **event.fields) for event in self.events)


@dataclass(frozen=True)
class Told:
    """A whole reply of which everything had been kept, and what it stands on: it is the same as long as that is."""

    reply: Reply
    gathered: Gathered
    answer: Answer | None
    fresh_until: datetime
    kept: tuple[KeptUnder, ...]
    versions: tuple[tuple[Source, str], ...]
    model: str

    @cached_property
    def json(self) -> tuple[bytes, bytes]:
        """The reply in two pieces: between them is the id of a request."""
        before, _, after = to_json(self.reply).partition(to_json(self.reply.request_id))
        return before, after


class Ask:
    """Answers questions with the parts it is given; `close` once no question is left."""

    def __init__(
        self,
        sources: Mapping[str, Source],
        planner: Planner,
        gatherer: Gatherer,
        composer: Composer,
        log: Log,
        limits: Limits,
    ) -> None:
        self.sources = sources
        self._planner = planner
        self._gatherer = gatherer
        self._composer = composer
        self._log = log
        self._limits = limits
        self._lately: OrderedDict[Hashable, _Seen] = OrderedDict()
        self._told: OrderedDict[Hashable, Told] = OrderedDict()

    async def close(self) -> None:
        """Wait until all questions are in the log."""
        await self._log.written()

    async def reply(self, question: Question, *, explain: bool = False) -> Reply:
        """Return the whole reply."""
        whole: Reply | None = None
        async with aclosing(self._run(question, explain, stream=False)) as items:
            async for item in items:
                if isinstance(item, Reply):
                    whole = item
        assert whole is not None
        return whole

    def stream(
        self, question: Question, *, explain: bool = False
    ) -> AsyncGenerator[Reply | Sentence]:
        """Yield what was retrieved as a reply without an answer, the sentences, and the whole reply.

        On hand-back the whole reply is the only item.
        """
        return self._run(question, explain, stream=True)

    async def _run(
        self, question: Question, explain: bool, *, stream: bool
    ) -> AsyncGenerator[Reply | Sentence]:
        plan = await self._planner.plan(question)
        if plan.handback:
            reply = _handed_back(question, _explained(question, explain, plan.events))
            self._record(question, reply, None, None)
            yield reply
            return

        gathered = await self._gatherer.gather(plan, question)
        seen = await self._seen(question, gathered)
        evidence = seen.evidence
        events = (*plan.events, *gathered.events, *seen.told())
        retrieved = seen.reply.model_copy(
            update={
                "request_id": question.request_id,
                "query": question.text,
                "cached": gathered.cached,
            }
        )
        if stream:
            yield retrieved.model_copy(
                update={"explanation": _explained(question, explain, events)}
            )

        answer: Answer | None = None
        sent = 0
        if question.synthesize:
            composed = self._composer.compose(question, evidence, stream=stream)
            async with aclosing(composed) as items:
                async for item in items:
                    if isinstance(item, Sentence):
                        sent += 1
                        yield item
                    else:
                        answer = item
            events = (*events, *(answer.events if answer else ()))

        note = " ".join(spoken(question.language, key) for key in gathered.notes)
        if note and sent:
            yield Sentence(sent, f" {note}", f" {note}")
        reply = retrieved if answer is None else _answered(retrieved, answer, note)
        if note:
            reply = reply.model_copy(update={"speech": f"{reply.speech} {note}"})
        reply = reply.model_copy(update={"explanation": _explained(question, explain, events)})
        self._record(question, reply, gathered, answer)
        self._remember(question, reply, gathered, answer, evidence)
        yield reply

    def again(self, question: Question) -> Told | None:
        """Return what was told on the same question, word for word, if all that it stands on is still so; None if not."""
        key = _sameness(question)
        if (told := self._told.get(key)) is None:
            return None
        if (
            told.fresh_until <= question.now
            or told.model != self._composer.model
            or any(source.version != version for source, version in told.versions)
            or not self._gatherer.still(told.kept)
        ):
            del self._told[key]
            return None
        self._told.move_to_end(key)
        self._record(question, told.reply, told.gathered, told.answer)
        return told

    def _remember(
        self,
        question: Question,
        reply: Reply,
        gathered: Gathered,
        answer: Answer | None,
        evidence: Evidence | None,
    ) -> None:
        """Keep a reply in memory if everything in it had been kept and nothing was left open.

        Never one on states that came with a question.
        """
        if evidence is None or reply.explanation is not None or question.states or gathered.notes:
            return
        every = gathered.asked
        kept = tuple(asked.kept for asked in every if asked.kept is not None)
        if len(kept) < len(every) or (answer is not None and not answer.cached):
            return
        sources = {asked.source: self.sources[asked.source] for asked in every}
        self._told[_sameness(question)] = Told(
            reply,
            gathered,
            answer,
            evidence.fresh_until,
            kept,
            tuple((source, source.version) for source in sources.values()),
            self._composer.model,
        )
        while len(self._told) > _LATELY:
            self._told.popitem(last=False)

    async def _seen(self, question: Question, gathered: Gathered) -> _Seen:
        """Return what the sources' outcomes come to; what was seen a moment ago isn't looked through again."""
        key = (question.text, question.language, gathered.found)
        seen = self._lately.get(key)
        if seen is not None and seen.evidence is not None:
            if seen.evidence.fresh_until > question.now:
                self._lately.move_to_end(key)
                return seen
            del self._lately[key]
        # In a thread: the first units and dates of a language are read from files.
        seen = await asyncio.to_thread(_look, question, gathered, self._limits)
        # States that came with a question are nobody's but the one's who sent them.
        if seen.evidence is not None and not question.states:
            self._lately[key] = seen
            while len(self._lately) > _LATELY:
                self._lately.popitem(last=False)
        return seen

    def _record(
        self, question: Question, reply: Reply, gathered: Gathered | None, answer: Answer | None
    ) -> None:
        """Log a question; nobody waits for it."""
        self._log.add(_entry(question, reply, gathered, answer))


def _sameness(question: Question) -> Hashable:
    """Return all of a question that a reply may depend on, but for its states."""
    return (
        question.text,
        question.language,
        question.source,
        question.fusion_sources,
        question.style,
        question.synthesize,
        question.place,
        question.units,
        question.time_zone,
        question.history,
        question.area,
        question.accepts_handback,
        bool(question.states),
    )


def _look(question: Question, gathered: Gathered, limits: Limits) -> _Seen:
    """Return what there is to say of what the sources found; blocks."""
    if not gathered.found:
        return _Seen(None, _retrieved(question, gathered, None), ())
    evidence, events = fuse(gathered.found, question.language, question.now, limits)
    return _Seen(evidence, _retrieved(question, gathered, evidence), events)


def _retrieved(question: Question, gathered: Gathered, evidence: Evidence | None) -> Reply:
    """Return the reply without an answer: what was found, or why nothing was."""
    if evidence is None:
        return _nothing(question, gathered)
    tags = evidence.tags
    return Reply(
        request_id=question.request_id,
        query=question.text,
        source_used=tags[0] if len(tags) == 1 else FUSION,
        result=render(evidence),
        success=True,
        speech=_quoted_aloud(question, evidence),
        citations=_citations(evidence),
        language=question.language,
    )


def _quoted_aloud(question: Question, evidence: Evidence) -> str:
    """Return what answers by itself or the best two sentences, to be said, announced if they are in another language than the question.

    Where none is good enough, that is said.
    """
    quote = quoted(question, evidence.sections, cap=_SPOKEN_CHARS)
    said = speech(quote.text, quote.language) if quote else ""
    if quote is None or not said:
        return spoken(question.language, "honest_miss")
    if quote.language == question.language:
        return said
    return f"{spoken(question.language, 'quoted_from', language=quote.language)} {said}"


def _nothing(question: Question, gathered: Gathered) -> Reply:
    """Return the reply where no source found anything: a failure is said before a miss, a miss before a setting.

    `source_used` is the source that this is told of, not the fallback that was asked after it.
    """
    language = question.language
    source = gathered.asked[-1].source
    if gathered.failure is not None:
        source, failure = gathered.failure
        key = "timeout" if failure.kind == "timeout" else "source_failed"
        error, result, said = str(failure.kind), RESULT_FAILED, spoken(language, key)
    elif gathered.missing is not None:
        source, setting = gathered.missing
        error, result = f"not_configured: {setting}", RESULT_NOT_CONFIGURED
        # Who asks for a light hears what is the matter; which setting could mend it is for the owner to read.
        key = "no_states" if source == HOME else "not_configured"
        said = spoken(language, key, setting=setting)
    else:
        error, result, said = "nothing_found", RESULT_NOTHING, spoken(language, "nothing_found")
    return Reply(
        request_id=question.request_id,
        query=question.text,
        source_used=source,
        result=result,
        success=False,
        error=error,
        speech=said,
        language=question.language,
    )


def _answered(retrieved: Reply, answer: Answer, note: str) -> Reply:
    """Return the reply with what was composed; `result` and all that was retrieved stay as they are.

    `note` is what has to be said beside the answer, "" for nothing.
    """
    if answer.text is None:
        return retrieved
    text = f"{answer.text} {note}" if note else answer.text
    return retrieved.model_copy(
        update={
            "answer": tagged(text, answer.sources),
            "answer_sources": list(answer.sources),
            "synthesized": True,
            "speech": answer.speech or retrieved.speech,
            "truncated": answer.truncated,
        }
    )


def _handed_back(question: Question, explanation: list[dict[str, Any]] | None) -> Reply:
    return Reply(
        request_id=question.request_id,
        query=question.text,
        source_used="",
        result="",
        success=False,
        explanation=explanation,
        speech="",
        language=question.language,
        handback=True,
    )


def failure_reply(question: Question, kind: str) -> Reply:
    """Return the reply for a fault of ours or a deadline that is over: `kind` is `timeout` or `internal`."""
    key = "timeout" if kind == "timeout" else "model_free_error"
    return Reply(
        request_id=question.request_id,
        query=question.text,
        source_used="" if question.source == AUTO else question.source,
        result=RESULT_FAILED,
        success=False,
        error=kind,
        speech=spoken(question.language, key),
        language=question.language,
    )


def _citations(evidence: Evidence) -> list[Citation]:
    """Return the documents of the evidence, each section of each once."""
    rows = {
        (p.source, p.title, p.url, p.section): Citation(
            source=p.source, title=p.title, url=p.url, published=p.published, section=p.section
        )
        for section in evidence.sections
        for p in section.passages
    }
    return list(rows.values())


def _explained(
    question: Question, explain: bool, events: tuple[Event, ...]
) -> list[dict[str, Any]] | None:
    if not explain:
        return None
    return [
        {
            "event": event.event,
            "at_ms": max(0, round((event.at - question.received) * 1000)),
            **event.fields,
        }
        for event in events
    ]


def _entry(
    question: Question, reply: Reply, gathered: Gathered | None, answer: Answer | None
) -> Entry:
    """Return the row of the query log, from what the steps said they did."""
    asked = gathered.asked if gathered else ()
    fallback = gathered.fallback if gathered else None
    return Entry(
        at=question.now,
        request_id=question.request_id,
        query=question.text,
        language=question.language,
        source_used=reply.source_used,
        success=reply.success,
        cached=reply.cached,
        fallback=fallback,
        error=reply.error,
        elapsed_ms=(time.monotonic() - question.received) * 1000,
        synthesis=_SYNTHESIS[answer.status] if answer else None,
        sources={each.source: each.elapsed_ms for each in asked if not each.cached},
    )
