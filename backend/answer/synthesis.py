"""Whether an answer is composed, and by what.

The order: skips that need no content, the answer cache, skips for content, the prompt, one model call, the gates,
the cache. Every way ends in an `Answer` with the event that explains it; nothing is raised but cancellation. What of
a reply may be said is the judges'. The text that was retrieved isn't touched here, and what is said where there is
no answer is decided by the spine.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
import logging
import time
from typing import Final, Protocol

from backend.answer import verdicts
from backend.answer.gates import Rejection
from backend.answer.judge import BySentence, Whole
from backend.answer.prompt import PROMPT_VERSION, build, reply_tokens, schema, shown
from backend.answer.quote import quoted
from backend.answer.speech import prepare
from backend.answer.verdicts import Skip, Task
from backend.evidence.signature import signature
from backend.flights import Flights
from backend.llm.availability import Availability, Kind
from backend.llm.provider import Call, ModelError, Provider, ReplyCut
from backend.settings import Settings
from backend.types import HOME, Answer, AnswerStatus, Event, Evidence, Question, Sentence, Style

_LOGGER = logging.getLogger(__name__)

_RESERVE: Final = 0.3
"""Seconds of a question's time that are kept for all that follows the model."""
_SHORTEST_CALL: Final = 0.2
"""With less time than this in seconds, a model isn't asked at all."""
_QUOTED: Final = {Style.VOICE: 2, Style.BRIEF: 2, Style.DETAILED: 4}
"""How many sentences a quote has."""


class KeptAnswer(Protocol):
    """An answer and how long it has been kept."""

    @property
    def value(self) -> Answer:
        """The answer."""

    @property
    def age_s(self) -> float:
        """Seconds since it was put."""


class Answers(Protocol):
    """Keeps answers; a store that fails is one that holds nothing."""

    async def get(self, key: str) -> KeptAnswer | None:
        """Return the answer under `key` if it is still fresh."""

    async def put(self, key: str, value: Answer, fresh_until: datetime) -> None:
        """Keep an answer until `fresh_until` (aware)."""


class Composer:
    """Composes answers; one for a server."""

    def __init__(
        self, settings: Settings, models: Availability, answers: Answers, flights: Flights[str]
    ) -> None:
        """Take the settings, what composes, where answers are kept, and the flights of model calls."""
        self._settings = settings
        self._models = models
        self._answers = answers
        self._flights = flights
        self._spoken: set[str] = set()

    @property
    def model(self) -> str:
        """Name of what composes the next answer."""
        return self._models.model

    async def compose(
        self, question: Question, evidence: Evidence | None, *, stream: bool
    ) -> AsyncGenerator[Sentence | Answer]:
        """Yield the sentences as they may leave, if `stream`, and last the answer.

        The joined texts and speeches of the sentences are those of the answer. Closing the generator ends the
        model call, unless others wait for the same.
        """
        sent: list[Sentence] = []
        try:
            async with aclosing(self._compose(question, evidence, stream=stream)) as items:
                async for item in items:
                    if isinstance(item, Sentence):
                        sent.append(item)
                    yield item
        except Exception:
            _LOGGER.exception("Composing an answer failed")
            yield verdicts.ended(question, sent, (), Rejection("empty", "internal"))

    async def _compose(
        self, question: Question, evidence: Evidence | None, *, stream: bool
    ) -> AsyncGenerator[Sentence | Answer]:
        started = time.monotonic()
        kind = self._models.kind
        if not self._settings.synthesis_enabled:
            yield verdicts.skipped("disabled")
            return
        if kind == "none":
            yield verdicts.skipped("llm_unconfigured")
            return
        if evidence is None or not evidence.sections:
            yield verdicts.skipped("empty_result")
            return

        await self._load(question.language)
        task = self._task(question, evidence, kind, started)
        # Whoever asks the same between the end of a model call and the answer being kept gets the same reply.
        with self._flights.hold(task.key):
            composed = self._composed(task, evidence, kind, stream=stream)
            async with aclosing(composed):
                async for item in composed:
                    yield item

    async def _composed(
        self, task: Task, evidence: Evidence, kind: Kind, *, stream: bool
    ) -> AsyncGenerator[Sentence | Answer]:
        """Yield what was kept, what is quoted, or what the model says."""
        answer = await self._kept(task)
        if answer is None and (reason := self._needless(evidence)) is not None:
            yield verdicts.skipped(reason)
            return
        if answer is None and kind == "extractive":
            answer = _quoted(task)
            await self._keep(task, answer)
        if answer is not None:
            if stream:
                for sentence in verdicts.again(answer, task.question.language):
                    yield sentence
            yield answer
            return

        asked = self._asked(task, stream=stream)
        async with aclosing(asked):
            async for item in asked:
                yield item

    async def _load(self, language: str) -> None:
        """Have the words of a language read by a thread, once, before they are needed here."""
        if language not in self._spoken:
            self._spoken.add(language)
            await asyncio.to_thread(prepare, language)

    def _task(self, question: Question, evidence: Evidence, kind: Kind, started: float) -> Task:
        budget = self._settings.synthesis_input_budget_chars
        cap = self._settings.cap(question.style)
        sections = shown(evidence, budget, question.language)
        # What composes may change meanwhile; this question keeps to what it began with.
        provider = self._models.provider if kind == "model" else None
        model = provider.model if provider is not None else kind
        constrained = provider is not None and provider.constrained
        prompt = build(question, sections, cap=cap, constrained=constrained)
        key = signature(
            prompt.material,
            question=question.text,
            model=model,
            prompt_version=f"{PROMPT_VERSION}/{cap}/{'schema' if constrained else 'text'}",
            language=question.language,
            style=question.style,
        )
        return Task(
            question=question,
            sections=sections,
            fresh_until=evidence.fresh_until,
            prompt=prompt,
            cap=cap,
            key=key,
            # States that came with a question are nobody's but the one's who sent them.
            private=bool(question.states) and HOME in evidence.tags,
            model=model,
            started=started,
        )

    def _needless(self, evidence: Evidence) -> Skip | None:
        """Return why the evidence is better spoken as it is, None if it isn't."""
        if len(evidence.sections) > 1:
            return None
        only = evidence.sections[0]
        length = sum(len(passage.text) for passage in only.passages)
        if length == 0:
            return "empty_result"
        if length < self._settings.synthesis_min_input_chars:
            return "input_too_short"
        return "changes_prose" if only.source == "changes" else None

    async def _kept(self, task: Task) -> Answer | None:
        if task.private:
            return None
        kept = await self._answers.get(task.key)
        if kept is None:
            return None
        event = Event.now("synthesis_cached", age_s=round(kept.age_s))
        return replace(
            verdicts.whole(kept.value, task.question.language), cached=True, events=(event,)
        )

    async def _keep(self, task: Task, answer: Answer) -> None:
        """Keep an answer that was served; a miss or a failure never."""
        if answer.status is AnswerStatus.SERVED and not task.private:
            await self._answers.put(task.key, answer, task.fresh_until)

    async def _asked(self, task: Task, *, stream: bool) -> AsyncGenerator[Sentence | Answer]:
        """Ask the model, and yield what of its reply may be said."""
        question = task.question
        if (problem := self._models.problem) is not None:
            yield verdicts.rejected(Rejection("empty", problem))
            return
        timeout = self._settings.synthesis_timeout_seconds
        seconds = min(timeout, question.left - _RESERVE)
        if seconds < _SHORTEST_CALL:
            yield verdicts.rejected(Rejection("empty", "timeout"))
            return
        limit = asyncio.get_running_loop().time() + seconds

        provider = self._models.provider
        call = Call(
            system=task.prompt.system,
            user=task.prompt.user,
            # The call is everybody's who asks the same; each waits no longer than its own time.
            timeout=timeout,
            schema=schema(task.prompt.tags) if provider.constrained else None,
            max_tokens=reply_tokens(task.cap),
            temperature=self._settings.synthesis_temperature,
        )
        judge = BySentence(task) if stream else Whole(task)
        failure: ModelError | None = None
        pieces = self._flights.follow(task.key, lambda: self._run(provider, call))
        async with aclosing(pieces):
            try:
                while not judge.over:
                    async with asyncio.timeout_at(limit):
                        piece = await anext(pieces, None)
                    if piece is None:
                        break
                    for sentence in judge.feed(piece):
                        yield sentence
            except TimeoutError:
                failure = ModelError("timeout")
                self._models.failed(failure)
            except ModelError as error:
                failure = error
        for sentence in judge.finish(failure):
            yield sentence
        answer = judge.answer()
        if stream and answer.status is AnswerStatus.NOT_IN_SOURCES:
            for sentence in verdicts.again(answer, question.language):
                yield sentence
        if judge.keepable:
            await self._keep(task, answer)
        yield answer

    async def _run(self, provider: Provider, call: Call) -> AsyncGenerator[str]:
        """Run one model call for all who wait for it."""
        try:
            async with aclosing(provider.stream(call)) as pieces:
                async for piece in pieces:
                    yield piece
        except ReplyCut:
            raise
        except ModelError as error:
            _LOGGER.warning("The model %s gave no answer: %s", provider.model, error)
            self._models.failed(error)
            raise
        except Exception as error:
            _LOGGER.exception("Asking the model %s failed", provider.model)
            raise ModelError("bad_reply", type(error).__name__) from error


def _quoted(task: Task) -> Answer:
    """Return the most relevant sentences of the evidence as the answer."""
    question = task.question
    quote = quoted(question, task.sections, _QUOTED[question.style], task.cap)
    if quote is None:
        return verdicts.miss(task)
    return verdicts.whole(
        Answer(
            AnswerStatus.SERVED,
            text=quote.text,
            sources=quote.sources,
            said_in=quote.language,
            events=(task.invoked(),),
        ),
        question.language,
    )
