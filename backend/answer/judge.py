"""What of a model's reply may be said: the gates, asked in their order, while a reply comes in or at its end.

A judge takes the pieces of one reply and gives back the sentences that may leave, and at the end the answer. There
are two, for whoever waits for the whole and for whoever hears it sentence by sentence; what each gate looks at is
the gates', what is asked of which model `synthesis`'s.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
import logging
from typing import Final

from backend.answer import gates, verdicts
from backend.answer.cut import announces, is_mark
from backend.answer.gates import Rejection
from backend.answer.phrases import denies, has_miss_mark, is_miss
from backend.answer.reply import Reader, Reply, Tags, ends_sentence, is_question
from backend.answer.speech import speech
from backend.answer.verdicts import Task
from backend.llm.provider import ModelError, ReplyCut
from backend.text.numbers import Material
from backend.text.segmentation import IncrementalSegmenter, sentences
from backend.types import Answer, Sentence

_LOGGER = logging.getLogger(__name__)

_BABBLE: Final = 8
"""A reply that is so many times longer than its answer may be is read no further: not every model stops when told."""
_BABBLE_CHARS: Final = 4_000
"""So much of a reply, in characters, is no babble yet however short its answer has to be."""


class Judge(ABC):
    """Judges one reply."""

    def __init__(self, task: Task) -> None:
        """Take what the reply is for."""
        self._task = task
        self._language = task.question.language
        self._tags = Tags(task.sections)
        self._reader = Reader(self._tags)
        self._length = 0
        self._material: Material | None = None
        self._sources: tuple[str, ...] = ()
        self._said: list[Sentence] = []
        self._announced: list[Sentence] = []
        """What announces the sentence after it, and leaves with it: headings, "There are two ways:"."""
        self._rejection: Rejection | None = None
        self._miss = False
        self._quoted = has_miss_mark(task.prompt.material) or has_miss_mark(task.question.text)
        """Whether what is found or asked has the word for a miss in it."""
        self._full = False
        """Whether a sentence didn't fit under the cap any more."""
        self._cut = False
        """Whether the reply ended before its end."""

    @property
    def over(self) -> bool:
        """Whether the rest of the reply need not be waited for."""
        return self._decided or self._cut

    @property
    def keepable(self) -> bool:
        """Whether the answer, if it was served, is as good as the model could give it."""
        return self._rejection is None and not self._cut

    def feed(self, piece: str) -> list[Sentence]:
        """Take the next piece of the reply; return what may leave."""
        self._length += len(piece)
        self._cut = self._length > _BABBLE * self._task.cap + _BABBLE_CHARS
        self._reader.feed(piece)
        return []

    def finish(self, failure: ModelError | None) -> list[Sentence]:
        """Take the end of the reply, or what came in its place; return what may still leave."""
        if self._decided:
            return []
        if isinstance(failure, ReplyCut):
            self._cut = True
        elif failure is not None:
            self._rejection = Rejection("empty", failure.kind)
            return []
        reply = self._reader.finish()
        self._cut = self._cut or not reply.whole
        if reply.form == "malformed":
            self._rejection = Rejection("attribution", "malformed")
            return []
        return self._end(reply)

    def answer(self) -> Answer:
        """Return what the reply is worth."""
        if self._miss:
            return verdicts.miss(self._task)
        if self._rejection is not None:
            return verdicts.ended(self._task.question, self._said, self._sources, self._rejection)
        truncated = self._full or self._cut
        return verdicts.served(self._task, self._said, self._sources, truncated=truncated)

    @abstractmethod
    def _end(self, reply: Reply) -> list[Sentence]:
        """Judge what of the whole reply isn't judged yet; return what may still leave."""

    @property
    def _decided(self) -> bool:
        return self._rejection is not None or self._miss or self._full

    def _checked(self, sentence: str) -> list[Sentence]:
        """Return what leaves by a sentence: it as it may be said, and what announced it.

        Nothing by one that asks back, has nothing to say aloud, announces another or doesn't fit any more, and by
        one with a number that the material doesn't hold, which is refused.
        """
        aloud = speech(sentence, self._language)
        if is_question(sentence) or not aloud:
            return []
        if self._material is None:
            self._material = _material(self._task)
        if refused := gates.numbers(sentence, self._material, self._language):
            _LOGGER.warning("Not in the material: %s", refused.detail)
            self._rejection = refused
            return []
        before = (*self._said, *self._announced)
        checked = verdicts.following(before, sentence, aloud)
        if self._full or sum(len(s.text) for s in (*before, checked)) > self._task.cap:
            self._full = True
            return []
        self._announced.append(checked)
        return [] if announces(sentence) else self._leave()

    def _leave(self) -> list[Sentence]:
        leaving, self._announced = self._announced, []
        self._said += leaving
        return leaving

    def _leave_at_end(self) -> list[Sentence]:
        """Return what still leaves at the end of a reply that was said to its end: no heading, no list mark."""
        if self._decided or self._cut:
            return []
        while self._announced and is_mark(self._announced[-1].text.strip()):
            self._announced.pop()
        return self._leave()

    def _misses(self, sentence: str) -> bool:
        return is_miss(sentence, self._language, quoted=self._quoted)

    def _denies(self, sentence: str) -> bool:
        return denies(sentence, self._language)

    def _tells_nothing(self, sentence: str) -> bool:
        """Return whether `sentence` only asks back, or only says that there is no answer."""
        return is_question(sentence) or self._denies(sentence)

    def _nothing_said(self) -> None:
        """Refuse a reply of which no sentence may be said."""
        self._rejection = (
            Rejection("length", "no sentence fits")
            if self._full or self._cut
            else Rejection("echo", "a question back")
        )


class Whole(Judge):
    """Judges a reply at its end, one gate after the other: a refusal leaves nothing of it."""

    def _end(self, reply: Reply) -> list[Sentence]:
        written = sentences(reply.written, self._language, whole_quotations=True)
        said = [bare for each in written if (bare := self._tags.without(each)[0])]
        if any(map(has_miss_mark, reply.named)):
            self._miss = True
            return []
        if not said:
            self._rejection = Rejection("empty", "no_text")
            return []
        if self._cut and not ends_sentence(said[-1]):
            said.pop()
        if not said:
            self._nothing_said()
            return []
        missed = [self._misses(each) for each in said]
        rest = [each for each, miss in zip(said, missed, strict=True) if not miss]
        before = said[: missed.index(True)] if any(missed) else rest
        begins = all(map(self._tells_nothing, before))
        if missed[-1] or (begins and (any(missed) or any(map(self._denies, rest)))):
            self._miss = True
            return []
        sources = gates.attribution(reply.named, self._tags.offered)
        if isinstance(sources, Rejection):
            self._rejection = sources
            return []
        self._sources = sources
        body = " ".join(rest)
        self._rejection = gates.echo(body, self._task.question.text, self._language)
        for text in (body, *rest):
            self._rejection = self._rejection or gates.wrong_language(text, self._language)
        for sentence in rest:
            if self._rejection is None:
                self._checked(sentence)
        self._leave_at_end()
        if self._rejection is not None:
            self._said.clear()
        elif not self._said:
            self._nothing_said()
        return []


class BySentence(Judge):
    """Judges a reply as it comes in; what left is never taken back, and a refusal ends it there."""

    def __init__(self, task: Task) -> None:
        """Take what the reply is for."""
        super().__init__(task)
        self._forget()

    def _forget(self) -> None:
        self._segmenter = IncrementalSegmenter(self._language, whole_quotations=True)
        self._read = ""
        self._held: list[str] = []
        """Sentences that wait for the decision on the whole."""
        self._begun = False
        self._heard: list[str] = []

    def feed(self, piece: str) -> list[Sentence]:
        """Take the next piece of the reply; return what may leave."""
        super().feed(piece)
        named = self._reader.named
        if named is None:
            return []
        text = self._reader.text
        if not text.startswith(self._read) and not self._anew():
            return []
        new, self._read = text[len(self._read) :], text
        return self._take(self._segmenter.feed(new), named)

    def _anew(self) -> bool:
        """Begin anew, since a mark told that all that had come was a thought; return whether that can still be."""
        if self._said:
            self._rejection = Rejection("attribution", "malformed")
            return False
        self._forget()
        return True

    def _end(self, reply: Reply) -> list[Sentence]:
        if self._reader.named is not None:
            rest = self._segmenter.finish()
        elif not self._read or self._anew():
            rest = sentences(reply.written, self._language, whole_quotations=True)
        else:
            return []
        if self._cut and rest and not ends_sentence(rest[-1]):
            rest = rest[:-1]
        if any(map(has_miss_mark, reply.named)) and not self._begun:
            self._miss = True
            return []
        out = self._take(rest, reply.named)
        if self._held and not self._decided:
            # All of it may say the question again.
            out = self._begin(reply.named, all_of_it=True)
        out += self._leave_at_end()
        if not self._said and not self._decided:
            if reply.text.strip():
                self._nothing_said()
            else:
                self._rejection = Rejection("empty", "no_text")
        return out

    def _take(self, arrived: Sequence[str], named: tuple[str, ...]) -> list[Sentence]:
        out: list[Sentence] = []
        for raw in arrived:
            if self._decided:
                break
            sentence = self._tags.without(raw)[0]
            if not sentence:
                continue
            if self._misses(sentence):
                self._miss = not self._begun and all(map(self._tells_nothing, self._held))
                continue
            if self._begun:
                out += self._passing(sentence)
            else:
                self._held.append(sentence)
                out += self._begin(named)
        return out

    def _begin(self, named: tuple[str, ...], *, all_of_it: bool = False) -> list[Sentence]:
        """Decide on attribution and echo before anything leaves; hold what may still be an echo."""
        if all(map(self._tells_nothing, self._held)):
            if not all_of_it:
                return []
            if any(map(self._denies, self._held)):
                self._miss = True
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
            if not self._decided:
                out += self._passing(sentence)
        return out

    def _passing(self, sentence: str) -> list[Sentence]:
        """Return the sentence if it may leave."""
        self._heard.append(sentence)
        for text in (sentence, " ".join(self._heard)):
            if refused := gates.wrong_language(text, self._language):
                self._rejection = refused
                return []
        out = self._checked(sentence)
        if self._full and not self._said:
            self._nothing_said()
        return out


def _material(task: Task) -> Material:
    """Return the numbers of what the prompt showed."""
    passages = [passage for section in task.sections for passage in section.passages]
    language = next((p.language for p in passages if p.language), task.question.language)
    return Material(task.prompt.material, language, task.question.text, task.question.now)
