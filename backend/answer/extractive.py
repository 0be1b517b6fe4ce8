"""The most relevant sentences of the evidence, quoted: what answers where no model composes.

A lexical score decides, by words that both the question and a sentence have, the rarer the heavier; the headings
above a sentence count as part of it, less. Where too little of the question is found, nothing is quoted. A quote is
the most relevant there is, never a check that it answers: questions on the topic that the text doesn't answer look
the same. Nothing here invents, so no gate follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
import math
import re
from typing import Final

from backend import languages
from backend.answer.reply import ends_sentence, is_question
from backend.text.language import detect
from backend.text.segmentation import sentences
from backend.text.words import content_words, fold, tokens
from backend.types import Passage, Question, Section

_FOUND: Final = 0.32
"""A quote holds at least this share of the question, each word counted by its rarity."""
_SECOND: Final = 0.45
"""A further sentence is at least this share as good as the best one."""
_HEADING: Final = 0.5
"""A word that stands only in a heading counts this much."""
_FORM: Final = 0.85
"""Another form of a word counts this much, as does a word in a compound."""
_CODE: Final = 3.0
"""A code such as E24 counts this many times."""
_NEXT: Final = 0.25
"""What a sentence gets of the score of the one before it: answers often follow what names the topic."""
_ALIKE: Final = 0.8
"""Sentences that share this much of their words say the same."""
_NO_FIGURE: Final = 0.8
"""Where a figure is asked for, a sentence without one counts this much."""
_SHORTEST_STEM: Final = 4
_SHARE_OF_WORD: Final = 0.6

_LIST_MARK: Final = re.compile(r"^\s*(?:[-*+•–]|\d{1,2}[.)])\s+")
_CELL: Final = re.compile(r"\s*\|\s*")
_RULE: Final = re.compile(r"^[\s|:=_*-]*$")
_MARKUP: Final = re.compile(r"[*_`#]+(?=\S)|(?<=\S)[*_`#]+|^#+\s*")
_HAS_DIGIT: Final = re.compile(r"\d")
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_SPLIT_CODE: Final = re.compile(r"\b([a-z]{1,2}) (?=\d{1,4}\b)")


@dataclass(frozen=True, slots=True)
class Quote:
    """Sentences as the documents have them; `score` is the share of the question they hold, 0 to 1.

    `sources` are the tags in the order of the sentences; `language` is the documents'.
    """

    text: str
    sources: tuple[str, ...]
    language: str
    score: float


@dataclass(frozen=True, slots=True)
class _Unit:
    """One sentence, table row or list item, where it stands, and the folded words of it and of its headings."""

    text: str
    source: str
    passage: Passage
    place: int
    words: frozenset[str]
    headings: frozenset[str]


def best_sentences(
    question: Question, sections: Sequence[Section], count: int = 2, cap: int = 400
) -> Quote | None:
    """Return the at most `count` most relevant sentences within `cap` characters; None if none is relevant.

    Sentences of one passage are in its order.
    """
    units = [
        unit
        for section in sections
        for passage in section.passages
        for unit in _units(passage, section.source, question.language)
    ]
    asked, figures = _asked(question)
    if not units or not asked:
        return None
    scores, touched = _scores(asked, units, figures=figures)
    if max(scores) < _FOUND:
        return None
    chosen = _chosen(
        units, [s if t else 0.0 for s, t in zip(scores, touched, strict=True)], count, cap
    )
    if not chosen:
        return None
    picked = [units[i] for i in chosen]
    language = picked[0].passage.language or detect(picked[0].text) or question.language
    return Quote(
        text=" ".join(unit.text for unit in picked),
        sources=tuple(dict.fromkeys(unit.source for unit in picked)),
        language=language,
        score=max(scores[i] for i in chosen),
    )


def _chosen(units: Sequence[_Unit], scores: Sequence[float], count: int, cap: int) -> list[int]:
    """Return which units to quote, in the order to quote them."""
    order = sorted(range(len(units)), key=lambda i: (-scores[i], i))
    chosen: list[int] = []
    room = cap
    for i in order:
        if len(chosen) == count or (chosen and scores[i] < _SECOND * scores[chosen[0]]):
            break
        unit = units[i]
        if scores[i] < _FOUND / 2 or len(unit.text) > room:
            continue
        if any(_alike(unit, units[other]) for other in chosen):
            continue
        if chosen and unit.passage.language != units[chosen[0]].passage.language:
            continue
        chosen.append(i)
        room -= len(unit.text) + 1
    first = {units[i].passage.text: order for order, i in reversed(list(enumerate(chosen)))}
    return sorted(chosen, key=lambda i: (first[units[i].passage.text], units[i].place))


def _alike(one: _Unit, other: _Unit) -> bool:
    together = one.words | other.words
    return bool(together) and len(one.words & other.words) >= _ALIKE * len(together)


def _asked(question: Question) -> tuple[dict[str, float], bool]:
    """Return the words that matter in a question, codes heavier, and whether it asks for a number or a date."""
    lexicon = languages.load(question.language)
    text = f" {fold(question.text)} "
    figures = False
    for phrase in lexicon.table("answers").get("figures", ()):
        if f" {phrase} " in text:
            # "How hot" and "how often" are seldom said again where it is told.
            text, figures = text.replace(f" {phrase} ", " "), True
    words = _words(
        [
            word
            for word in content_words(text, question.language)
            if word not in lexicon.words.function
        ]
    )
    return {word: _CODE if _is_code(word) else 1.0 for word in words}, figures


def _scores(
    asked: dict[str, float], units: Sequence[_Unit], *, figures: bool
) -> tuple[list[float], list[bool]]:
    """Return the share of the question that each unit holds, and whether it is more than its headings'.

    All hold nothing if a code of the question stands nowhere. `figures` prefers units with a number.
    """
    in_text: dict[str, list[int]] = {}
    in_heading: dict[str, list[int]] = {}
    for i, unit in enumerate(units):
        for word in unit.words:
            in_text.setdefault(word, []).append(i)
        for word in unit.headings:
            in_heading.setdefault(word, []).append(i)
    vocabulary = _Vocabulary(in_text.keys() | in_heading.keys())
    own = [0.0] * len(units)
    touched = [False] * len(units)
    total = 0.0
    for word, weight in asked.items():
        forms = vocabulary.forms(word)
        if not forms and _is_code(word):
            return [0.0] * len(units), [False] * len(units)
        hits: dict[int, float] = {}
        for form, match in forms.items():
            for i in in_text.get(form, ()):
                hits[i] = max(hits.get(i, 0.0), match)
                touched[i] = True
        rarity = weight * math.log(1 + (len(units) + 1) / (len(hits) + 0.5))
        total += rarity
        for form, match in forms.items():
            for i in in_heading.get(form, ()):
                hits[i] = max(hits.get(i, 0.0), match * _HEADING)
        for i, match in hits.items():
            own[i] += rarity * match
    own = [
        score / total * _fit(unit.text, figures=figures)
        for score, unit in zip(own, units, strict=True)
    ]
    scores = list(own)
    for i in range(1, len(units)):
        if units[i].passage is units[i - 1].passage and own[i] > 0:
            scores[i] = min(1.0, own[i] + _NEXT * max(0.0, own[i - 1] - own[i]))
    # What asks something names the topic for what follows, and is no answer.
    scores = [0.0 if is_question(u.text) else s for u, s in zip(units, scores, strict=True)]
    return scores, touched


class _Vocabulary:
    """The words of some sentences, to find the forms of a word among them."""

    def __init__(self, words: AbstractSet[str]) -> None:
        self._words = words
        self._long = [word for word in words if len(word) >= _SHORTEST_STEM and word.isalpha()]

    def forms(self, word: str) -> dict[str, float]:
        """Return the words that are `word`, and how much each of them counts."""
        found = {word: 1.0} if word in self._words else {}
        if not word.isalpha() or len(word) < _SHORTEST_STEM:
            return found
        head = word[:_SHORTEST_STEM]
        for other in self._long:
            if other.startswith(head):
                longer = max(len(word), len(other))
                if _shared(word, other) >= _SHARE_OF_WORD * longer:
                    found.setdefault(other, _FORM)
            elif (word in other or other in word) and min(len(word), len(other)) > _SHORTEST_STEM:
                found.setdefault(other, _FORM)
        return found


def _shared(one: str, other: str) -> int:
    """Return how many letters two words begin with alike."""
    for i, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return i
    return min(len(one), len(other))


def _fit(text: str, *, figures: bool) -> float:
    """Return less than 1 for what is too short or too long to be said alone, or lacks the figure asked for."""
    length = len(text)
    if figures and _HAS_DIGIT.search(text):
        return 1.0 if length <= 240 else max(0.6, 240 / length)
    fit = 0.7 if length < 20 else 1.0 if length <= 240 else max(0.6, 240 / length)
    return fit * _NO_FIGURE if figures else fit


def _is_code(word: str) -> bool:
    return bool(_HAS_DIGIT.search(word) and _HAS_LETTER.search(word)) and len(word) <= 12


def _words(folded: Sequence[str]) -> list[str]:
    """Return the words to compare.

    Codes are in one piece, as they are spoken in two ("e 24"); a script without spaces gives pairs of characters.
    """
    words: list[str] = []
    for word in _SPLIT_CODE.sub(r"\1", " ".join(folded)).split():
        if _UNSPACED.match(word):
            words.extend(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            words.append(word)
    return words


@lru_cache(maxsize=256)
def _units(passage: Passage, source: str, language: str) -> tuple[_Unit, ...]:
    language = passage.language or language
    above = frozenset(_words(tokens(f"{passage.title} {passage.section or ''}")))
    units: list[_Unit] = []
    intro: frozenset[str] = frozenset()
    for text in _texts(passage.text, language):
        words = frozenset(_words(tokens(text)))
        if text.endswith(":"):
            # It speaks of what follows, and says nothing by itself.
            intro = words
            continue
        if not ends_sentence(text):
            text += "."
        units.append(_Unit(text, source, passage, len(units), words, above | intro))
    return tuple(units)


def _texts(text: str, language: str) -> Iterator[str]:
    """Yield what can be said of a text, each as a sentence: sentences, and rows and items line by line."""
    for block in re.split(r"\n\s*\n", text):
        lines = block.splitlines()
        if len(lines) > 1 and all(_is_row(line) for line in lines[1:]):
            for line in lines:
                yield from _said(line, language)
        else:
            yield from _said(" ".join(lines), language)


def _is_row(line: str) -> bool:
    """Return whether a line stands for itself: a list item, a row, or what ends like a sentence."""
    return bool(
        _LIST_MARK.match(line) or "|" in line or line.rstrip().endswith((".", "!", "?", ":", ";"))
    )


def _said(line: str, language: str) -> Iterator[str]:
    if _RULE.match(line):
        return
    bare = _MARKUP.sub("", _LIST_MARK.sub("", line)).strip()
    if "|" in bare:
        cells = [cell for cell in _CELL.split(bare) if cell]
        if not cells:
            return
        bare = f"{cells[0]}: {'; '.join(cells[1:])}" if len(cells) > 1 else cells[0]
        yield bare
        return
    yield from sentences(bare, language)
