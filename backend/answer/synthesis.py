"""Whether an answer is composed, by what, and what of it may be said.

The order: skips that need no content, the answer cache, skips for content, the prompt, one model call, the gates,
the cache. Every way ends in an `Answer` with the event that explains it; nothing is raised but cancellation. The
text that was retrieved isn't touched here, and what is said where there is no answer is decided by the spine.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
import logging
import time
from typing import Final, Literal, Protocol

from backend.answer import gates
from backend.answer.extractive import best_sentences
from backend.answer.gates import Rejection
from backend.answer.prompt import PROMPT_VERSION, build, reply_tokens, schema, shown
from backend.answer.reply import Reader, Reply, Tags, ends_sentence, is_question
from backend.answer.speech import prepare, speech
from backend.evidence.signature import signature
from backend.flights import Flights
from backend.languages import spoken
from backend.llm.availability import Availability, Kind
from backend.llm.provider import Call, ModelError, Provider, ReplyCut
from backend.settings import Settings
from backend.text.numbers import Material
from backend.text.segmentation import IncrementalSegmenter, sentences
from backend.types import (
    Answer,
    AnswerStatus,
    Event,
    Evidence,
    Prompt,
    Question,
    Section,
    Sentence,
    Style,
)

_LOGGER = logging.getLogger(__name__)

RESERVE_SECONDS: Final = 0.3
"""What of a question's time is kept for all that follows the model."""
_SHORTEST_CALL: Final = 0.2
"""With less time than this in seconds, a model isn't asked at all."""
_QUOTED: Final = {Style.VOICE: 2, Style.BRIEF: 2, Style.DETAILED: 4}
"""How many sentences a quote has."""

Skip = Literal["disabled", "llm_unconfigured", "empty_result", "input_too_short", "changes_prose"]


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


def tagged(text: str, sources: Sequence[str]) -> str:
    """Return `text` with its tags, as it goes over the wire: "… on Tuesday. (web, news)"."""
    return f"{text} ({', '.join(sources)})" if sources else text


@dataclass(frozen=True, slots=True)
class _Task:
    """One question and all that composing its answer needs; `started` is a moment of the monotonic clock."""

    question: Question
    sections: tuple[Section, ...]
    fresh_until: datetime
    prompt: Prompt
    cap: int
    key: str
    private: bool
    model: str
    started: float

    def invoked(self) -> Event:
        return Event.now(
            "synthesis_invoked",
            elapsed_ms=round((time.monotonic() - self.started) * 1000),
            model=self.model,
            sections=len(self.sections),
            style=str(self.question.style),
        )


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
            yield _ended(question, sent, (), Rejection("empty", "internal"))

    async def _compose(
        self, question: Question, evidence: Evidence | None, *, stream: bool
    ) -> AsyncGenerator[Sentence | Answer]:
        started = time.monotonic()
        kind = self._models.kind
        if not self._settings.synthesis_enabled:
            yield _skipped("disabled")
            return
        if kind == "none":
            yield _skipped("llm_unconfigured")
            return
        if evidence is None or not evidence.sections:
            yield _skipped("empty_result")
            return

        await self._load(question.language)
        task = self._task(question, evidence, kind, started)
        answer = await self._kept(task)
        if answer is None and (reason := self._needless(evidence)) is not None:
            yield _skipped(reason)
            return
        if answer is None and kind == "extractive":
            answer = _quoted(task)
            await self._keep(task, answer)
        if answer is not None:
            if stream:
                for sentence in _again(answer, question.language):
                    yield sentence
            yield answer
            return

        composed = self._asked(task, stream=stream)
        async with aclosing(composed):
            async for item in composed:
                yield item

    async def _load(self, language: str) -> None:
        """Have the words of a language read by a thread, once, before they are needed here."""
        if language not in self._spoken:
            self._spoken.add(language)
            await asyncio.to_thread(prepare, language)

    def _task(self, question: Question, evidence: Evidence, kind: Kind, started: float) -> _Task:
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
            prompt_version=f"{PROMPT_VERSION}/{cap}",
            language=question.language,
            style=question.style,
        )
        return _Task(
            question=question,
            sections=sections,
            fresh_until=evidence.fresh_until,
            prompt=prompt,
            cap=cap,
            key=key,
            # States that came with a question are nobody's but the one's who sent them.
            private=bool(question.states) and "ha" in evidence.tags,
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

    async def _kept(self, task: _Task) -> Answer | None:
        if task.private:
            return None
        kept = await self._answers.get(task.key)
        if kept is None:
            return None
        event = Event.now("synthesis_cached", age_s=round(kept.age_s))
        return replace(_whole(kept.value, task.question.language), cached=True, events=(event,))

    async def _keep(self, task: _Task, answer: Answer) -> None:
        """Keep an answer that was served; a miss or a failure never."""
        if answer.status is AnswerStatus.SERVED and not task.private:
            await self._answers.put(task.key, answer, task.fresh_until)

    async def _asked(self, task: _Task, *, stream: bool) -> AsyncGenerator[Sentence | Answer]:
        """Ask the model, and yield what of its reply may be said."""
        question = task.question
        if (problem := self._models.problem) is not None:
            yield _rejected(Rejection("empty", problem))
            return
        timeout = self._settings.synthesis_timeout_seconds
        seconds = min(timeout, question.left - RESERVE_SECONDS)
        if seconds < _SHORTEST_CALL:
            yield _rejected(Rejection("empty", "timeout"))
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
        reading = _Streamed(task) if stream else _Plain(task)
        failure: ModelError | None = None
        pieces = self._flights.follow(
            (task.key, call.schema is None), lambda: self._run(provider, call)
        )
        async with aclosing(pieces):
            try:
                while not reading.over:
                    async with asyncio.timeout_at(limit):
                        piece = await anext(pieces, None)
                    if piece is None:
                        break
                    for sentence in reading.feed(piece):
                        yield sentence
            except TimeoutError:
                failure = ModelError("timeout")
                self._models.failed(failure)
            except ModelError as error:
                failure = error
        for sentence in reading.finish(failure):
            yield sentence
        answer = reading.answer()
        if stream and answer.status is AnswerStatus.NOT_IN_SOURCES:
            for sentence in _again(answer, question.language):
                yield sentence
        if reading.keepable:
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


class _Plain:
    """A reply judged as a whole, the gates one after the other."""

    over = False

    def __init__(self, task: _Task) -> None:
        self._task = task
        self._tags = Tags(task.sections)
        self._reader = Reader(self._tags)
        self._failure: ModelError | None = None
        self.cut = False

    def feed(self, piece: str) -> list[Sentence]:
        """Take the next piece of the reply."""
        self._reader.feed(piece)
        return []

    def finish(self, failure: ModelError | None) -> list[Sentence]:
        """Take the end of the reply."""
        self.cut = isinstance(failure, ReplyCut)
        self._failure = None if self.cut else failure
        return []

    @property
    def keepable(self) -> bool:
        """Whether the answer, if it was served, is as good as the model could give it."""
        return not self.cut

    def answer(self) -> Answer:
        """Return what the reply is worth."""
        if self._failure is not None:
            return _rejected(Rejection("empty", self._failure.kind))
        judged = self._judged(self._reader.finish())
        if isinstance(judged, Rejection):
            return _rejected(judged)
        return judged

    def _judged(self, reply: Reply) -> Answer | Rejection:
        task, language = self._task, self._task.question.language
        said = sentences(reply.text, language)
        if reply.form == "malformed":
            return Rejection("attribution", "malformed")
        if not said:
            return Rejection("empty", "no_text")
        rest = [each for each in said if not gates.says_miss(each, language)]
        if (
            gates.says_miss(said[0], language)
            or gates.says_miss(said[-1], language)
            or (len(rest) < len(said) and all(is_question(each) for each in rest))
        ):
            return _miss(task)
        sources = gates.attribution(reply.named, self._tags.offered)
        if isinstance(sources, Rejection):
            return sources
        said = rest
        body = " ".join(said)
        if refused := gates.echo(body, task.question.text, language):
            return refused
        for text in (body, *said):
            if refused := gates.wrong_language(text, language):
                return refused
        self.cut = self.cut or not reply.whole
        if self.cut and not ends_sentence(said[-1]):
            said.pop()
        material = _material(task)
        kept: list[str] = []
        over = False
        for sentence in said:
            if is_question(sentence) or not speech(sentence, language):
                continue
            if refused := gates.numbers(sentence, material, language):
                _warn(refused)
                return refused
            over = over or _length(kept) + len(sentence) > task.cap
            if not over:
                kept.append(sentence)
        if not kept:
            return _nothing_left(over=over or self.cut)
        return _served(task, _numbered(kept, language), sources, truncated=over or self.cut)


class _Streamed:
    """A reply judged sentence by sentence; what left is never taken back."""

    def __init__(self, task: _Task) -> None:
        self._task = task
        self._language = task.question.language
        self._tags = Tags(task.sections)
        self._reader = Reader(self._tags)
        self._segmenter = IncrementalSegmenter(self._language)
        self._read = 0
        self._material: Material | None = None
        self._sources: tuple[str, ...] = ()
        self._held: list[str] = []
        """Sentences that wait for the decision on the whole."""
        self._begun = False
        self._passed: list[str] = []
        self._sent: list[Sentence] = []
        self._rejection: Rejection | None = None
        self._miss = False
        self._truncated = False
        self.cut = False

    @property
    def over(self) -> bool:
        """Whether nothing more will be said."""
        return self._ended()

    def _ended(self) -> bool:
        return self._rejection is not None or self._miss or self._truncated

    def feed(self, piece: str) -> list[Sentence]:
        """Take the next piece of the reply; return what may leave."""
        self._reader.feed(piece)
        named = self._reader.named
        if named is None:
            return []
        text = self._reader.text
        new, self._read = text[self._read :], len(text)
        return self._take(self._segmenter.feed(new), named)

    def finish(self, failure: ModelError | None) -> list[Sentence]:
        """Take the end of the reply; return what may still leave."""
        if self.over:
            return []
        self.cut = isinstance(failure, ReplyCut)
        if failure is not None and not self.cut:
            self._rejection = Rejection("empty", failure.kind)
            return []
        reply = self._reader.finish()
        self.cut = self.cut or not reply.whole
        if reply.form == "malformed":
            self._rejection = Rejection("attribution", "malformed")
            return []
        if self._reader.named is None:
            rest = sentences(reply.text, self._language)
        else:
            rest = self._segmenter.finish()
        if self.cut and rest and not ends_sentence(rest[-1]):
            rest = rest[:-1]
        out = self._take(rest, reply.named)
        if self._held and not self._ended():
            # All of it may say the question again.
            out = self._begin(reply.named, all_of_it=True)
        if not self._sent and not self._ended():
            self._rejection = (
                _nothing_left(over=self.cut)
                if reply.text.strip()
                else Rejection("empty", "no_text")
            )
        self._truncated = self._truncated or self.cut
        return out

    @property
    def keepable(self) -> bool:
        """Whether the answer, if it was served, is as good as the model could give it."""
        return not self.cut and self._rejection is None

    def answer(self) -> Answer:
        """Return what the reply is worth."""
        if self._miss:
            return _miss(self._task)
        if self._rejection is not None:
            return _ended(self._task.question, self._sent, self._sources, self._rejection)
        return _served(self._task, self._sent, self._sources, truncated=self._truncated)

    def _take(self, arrived: Sequence[str], named: tuple[str, ...]) -> list[Sentence]:
        out: list[Sentence] = []
        for raw in arrived:
            if self.over:
                break
            sentence = self._tags.without(raw)[0]
            if not sentence:
                continue
            if gates.says_miss(sentence, self._language):
                self._miss = not self._begun and all(is_question(each) for each in self._held)
                continue
            if self._begun:
                out.extend(self._passing(sentence))
            else:
                self._held.append(sentence)
                out.extend(self._begin(named))
        return out

    def _begin(self, named: tuple[str, ...], *, all_of_it: bool = False) -> list[Sentence]:
        """Decide on attribution and echo before anything leaves; hold what may still be an echo."""
        if not all_of_it and all(is_question(each) for each in self._held):
            return []
        sources = gates.attribution(named, self._tags.offered)
        if isinstance(sources, Rejection):
            self._rejection = sources
            return []
        self._sources = sources
        refused = gates.echo(" ".join(self._held), self._task.question.text, self._language)
        if refused is not None:
            if all_of_it:
                self._rejection = refused
            return []
        self._begun = True
        held, self._held = self._held, []
        out: list[Sentence] = []
        for sentence in held:
            if not self.over:
                out.extend(self._passing(sentence))
        return out

    def _passing(self, sentence: str) -> list[Sentence]:
        """Return the sentence if it may leave."""
        language = self._language
        self._passed.append(sentence)
        for text in (sentence, " ".join(self._passed)):
            if refused := gates.wrong_language(text, language):
                self._rejection = refused
                return []
        said = speech(sentence, language)
        if is_question(sentence) or not said:
            return []
        if self._material is None:
            self._material = _material(self._task)
        if refused := gates.numbers(sentence, self._material, language):
            _warn(refused)
            self._rejection = refused
            return []
        if _length([each.text for each in self._sent]) + len(sentence) > self._task.cap:
            if self._sent:
                self._truncated = True
            else:
                self._rejection = _nothing_left(over=True)
            return []
        gap = " " if self._sent else ""
        left = Sentence(len(self._sent), f"{gap}{sentence}", f"{gap}{said}")
        self._sent.append(left)
        return [left]


def _length(kept: Sequence[str]) -> int:
    """Return the length of sentences that are joined, and of the space before the next."""
    return sum(len(each) + (not each.startswith(" ")) for each in kept)


def _material(task: _Task) -> Material:
    """Return the numbers of what the prompt showed."""
    passages = [passage for section in task.sections for passage in section.passages]
    language = next((p.language for p in passages if p.language), task.question.language)
    return Material(task.prompt.material, language, task.question.text, task.question.now)


def _warn(refused: Rejection) -> None:
    _LOGGER.warning("Not in the material: %s", refused.detail)


def _nothing_left(*, over: bool) -> Rejection:
    return Rejection("length", "no sentence fits") if over else Rejection("echo", "a question back")


def _numbered(kept: Sequence[str], language: str) -> list[Sentence]:
    """Return sentences as they leave, one after the other."""
    out: list[Sentence] = []
    for each in kept:
        gap = " " if out else ""
        out.append(Sentence(len(out), f"{gap}{each}", f"{gap}{speech(each, language)}"))
    return out


def _skipped(reason: Skip) -> Answer:
    return Answer(AnswerStatus.SKIPPED, events=(Event.now("synthesis_skipped", reason=reason),))


def _refusal(refused: Rejection, kept: int) -> Event:
    return Event.now(
        "synthesis_rejected", gate=refused.gate, detail=refused.detail, kept_sentences=kept
    )


def _rejected(refused: Rejection) -> Answer:
    return Answer(AnswerStatus.REJECTED, events=(_refusal(refused, 0),))


def _ended(
    question: Question, sent: Sequence[Sentence], sources: tuple[str, ...], refused: Rejection
) -> Answer:
    """Return the answer that a refusal ended: what was sent stands."""
    if not sent:
        return _rejected(refused)
    return Answer(
        AnswerStatus.SERVED,
        text="".join(each.text for each in sent),
        sources=sources,
        speech="".join(each.speech for each in sent),
        said_in=question.language,
        truncated=True,
        events=(_refusal(refused, len(sent)),),
    )


def _served(
    task: _Task, said: Sequence[Sentence], sources: tuple[str, ...], *, truncated: bool
) -> Answer:
    return Answer(
        AnswerStatus.SERVED,
        text="".join(each.text for each in said),
        sources=sources,
        speech="".join(each.speech for each in said),
        said_in=task.question.language,
        truncated=truncated,
        events=(task.invoked(),),
    )


def _miss(task: _Task) -> Answer:
    """Return the honest miss: a success, and never kept."""
    language = task.question.language
    text = spoken(language, "honest_miss")
    return Answer(
        AnswerStatus.NOT_IN_SOURCES,
        text=text,
        speech=speech(text, language),
        said_in=language,
        events=(task.invoked(),),
    )


def _quoted(task: _Task) -> Answer:
    """Return the most relevant sentences of the evidence as the answer."""
    question = task.question
    quote = best_sentences(question, task.sections, _QUOTED[question.style], task.cap)
    if quote is None:
        return _miss(task)
    return _whole(
        Answer(
            AnswerStatus.SERVED,
            text=quote.text,
            sources=quote.sources,
            said_in=quote.language,
            events=(task.invoked(),),
        ),
        question.language,
    )


def _whole(answer: Answer, language: str) -> Answer:
    """Return an answer that has all its text with the speech and the text of its sentences."""
    said = _again(answer, language)
    return replace(
        answer,
        text="".join(each.text for each in said),
        speech="".join(each.speech for each in said),
    )


def _again(answer: Answer, language: str) -> list[Sentence]:
    """Return the sentences of an answer that has all its text.

    A quote in another language than the asker's is announced.
    """
    said_in = answer.said_in or language
    if answer.text is None:
        return []
    if answer.status is AnswerStatus.NOT_IN_SOURCES:
        return [Sentence(0, answer.text, answer.speech or answer.text)]
    said = _numbered(sentences(answer.text, said_in), said_in)
    if said and said_in != language:
        notice = spoken(language, "quoted_from", language=said_in)
        said[0] = replace(said[0], speech=f"{notice} {said[0].speech}")
    return said
