"""Every way in which composing can end, as the `Answer` and the event that explain it.

Decides nothing: that a reply is refused, missed or served is the judges', that none is asked for is `synthesis`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
import time
from typing import Literal

from backend.answer.gates import Rejection
from backend.answer.speech import speech
from backend.languages import spoken
from backend.text.segmentation import sentences
from backend.types import Answer, AnswerStatus, Event, Prompt, Question, Section, Sentence

Skip = Literal["disabled", "llm_unconfigured", "empty_result", "input_too_short", "changes_prose"]


@dataclass(frozen=True, slots=True)
class Task:
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
        """Return the event of a call whose answer stands."""
        return Event.now(
            "synthesis_invoked",
            elapsed_ms=round((time.monotonic() - self.started) * 1000),
            model=self.model,
            sections=len(self.sections),
            style=str(self.question.style),
        )


def following(said: Sequence[Sentence], text: str, aloud: str) -> Sentence:
    """Return the sentence that leaves after those already `said`."""
    gap = " " if said else ""
    return Sentence(len(said), f"{gap}{text}", f"{gap}{aloud}")


def skipped(reason: Skip) -> Answer:
    """Return that nothing was composed, and why."""
    return Answer(AnswerStatus.SKIPPED, events=(Event.now("synthesis_skipped", reason=reason),))


def _refusal(refused: Rejection, kept: int) -> Event:
    return Event.now(
        "synthesis_rejected", gate=refused.gate, detail=refused.detail, kept_sentences=kept
    )


def rejected(refused: Rejection) -> Answer:
    """Return that nothing of a reply may be said, and why."""
    return Answer(AnswerStatus.REJECTED, events=(_refusal(refused, 0),))


def ended(
    question: Question, sent: Sequence[Sentence], sources: tuple[str, ...], refused: Rejection
) -> Answer:
    """Return the answer that a refusal ended: what was `sent` stands; without any it is rejected."""
    if not sent:
        return rejected(refused)
    return _said(question, sent, sources, _refusal(refused, len(sent)), truncated=True)


def served(
    task: Task, said: Sequence[Sentence], sources: tuple[str, ...], *, truncated: bool
) -> Answer:
    """Return the sentences that may be said as the answer."""
    return _said(task.question, said, sources, task.invoked(), truncated=truncated)


def _said(
    question: Question,
    said: Sequence[Sentence],
    sources: tuple[str, ...],
    why: Event,
    *,
    truncated: bool,
) -> Answer:
    return Answer(
        AnswerStatus.SERVED,
        text="".join(each.text for each in said),
        sources=sources,
        speech="".join(each.speech for each in said),
        said_in=question.language,
        truncated=truncated,
        events=(why,),
    )


def miss(task: Task) -> Answer:
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


def whole(answer: Answer, language: str) -> Answer:
    """Return an answer that has all its text with the speech and the text of its sentences."""
    said = again(answer, language)
    return replace(
        answer,
        text="".join(each.text for each in said),
        speech="".join(each.speech for each in said),
    )


def again(answer: Answer, language: str) -> list[Sentence]:
    """Return the sentences of an answer that has all its text.

    A quote in another language than the asker's is announced.
    """
    said_in = answer.said_in or language
    if answer.text is None:
        return []
    if answer.status is AnswerStatus.NOT_IN_SOURCES:
        return [Sentence(0, answer.text, answer.speech or answer.text)]
    said: list[Sentence] = []
    for each in sentences(answer.text, said_in, whole_quotations=True):
        said.append(following(said, each, speech(each, said_in)))
    if said and said_in != language:
        notice = spoken(language, "quoted_from", language=said_in)
        said[0] = replace(said[0], speech=f"{notice} {said[0].speech}")
    return said
