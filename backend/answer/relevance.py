"""How relevant what can be quoted is: the share of the question that each sentence, row or step holds.

Decides what a question asks, and what each of its words weighs: more if fewer sentences have it. Headings above a
sentence count as part of it, less; what else its passage says ranks it. What is asked for decides between sentences:
a figure, a moment, what a thing is. Which of them are quoted, and whether any is, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
import math
import re
from typing import Final

from backend import languages
from backend.answer.reply import is_question
from backend.answer.units import Unit, words_of
from backend.text.forms import SHORTEST_STEM, Vocabulary
from backend.text.words import fold, other_words, spaceless, topic_words
from backend.types import Question

DEFINES: Final = 0.45
INTRODUCES: Final = 0.3
"""Where it is asked what a thing is, what a sentence gets that says so, or begins the text on it."""
_HEADING: Final = 0.5
"""A word that stands only in a heading counts this much."""
_FORM: Final = 0.85
"""Another form of a word counts this much, as does a word in a compound."""
_SAME: Final = 0.8
"""Another word for the same counts this much."""
_CODE: Final = 3.0
"""A code such as E24 counts this many times."""
_NAME: Final = 1.5
"""A name counts this many times."""
_NEXT: Final = 0.25
"""What a sentence gets of the score of the one before it: answers often follow what names the topic."""
_NO_FIGURE: Final = 0.8
"""Where a figure or a moment is asked for, a sentence without one counts this much."""
_LONG: Final = 0.8
"""What is too long to be listened to counts at least this much."""
_ACTION: Final = 2.0
"""What is asked to be allowed counts this many times: where and when are said in other words."""
_BOUND: Final = 0.1
"""A word that adds nothing to the one beside it ("living" "room") counts this much."""
_ACROSS: Final = 0.5
"""Two characters that stand nowhere count this much: they may be the end of a word and the beginning of another."""
_TITLED: Final = 1.2
"""A word of a sentence that the heading of its part has too counts this much: it is what the part is about."""
_ALL: Final = 0.999
_LONGEST_NAME: Final = 4
_LONGEST_INSERTION: Final = 8

_WORD: Final = re.compile(r"[^\W\d_]\w*")
_HAS_DIGIT: Final = re.compile(r"\d")
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")
_MOMENT: Final = re.compile(r"\d[:.]\d\d(?!\d)|(?<!\d)[12]\d{3}(?!\d)")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks: its words by weight, in order, and for what kind of answer.

    `same` are other ways to say some of its words, each by its words.
    """

    words: Mapping[str, float]
    wants: frozenset[str]
    same: Mapping[str, Sequence[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Scores:
    """By unit: the share of the question that it holds, the same with what ranks it, and its headings' share.

    Both are 0 where it holds no more than its headings. `topic` is the share of the whole passage, each word counted
    alike. `held` are the words in it, by what each is of the question.
    """

    own: Sequence[float]
    ranked: Sequence[float]
    named: Sequence[float]
    topic: Sequence[float]
    held: Sequence[Mapping[str, float]]

    def gain(self, one: int, other: int) -> float:
        """Return what share of the question `one` holds that `other` doesn't."""
        there = self.held[other]
        return sum(max(0.0, share - there.get(word, 0.0)) for word, share in self.held[one].items())


def asked_by(question: Question) -> Asked:
    """Return what a question asks, its codes heavier than its words."""
    text = fold(question.text)
    words = words_of(topic_words(text, question.language))
    answers = languages.load(question.language).table("answers")
    names = _names(question.text)
    weights = {word: _CODE if _is_code(word) else _NAME if word in names else 1.0 for word in words}
    wants = set()
    for want, form in _forms_of_questions(question.language).items():
        if (found := form.search(text)) is None:
            continue
        wants.add(want)
        for action in found.groupdict().values():
            if action in weights:
                weights[action] = _ACTION
    if any(_says(phrase, text) for phrase in answers.get("figures", ())):
        # "How hot" and "how often" are seldom said again where it is told.
        wants.add("figure")
    if len(words) > _LONGEST_NAME:
        # "What is the largest party of the north-west of Victoria" asks for no definition.
        wants.discard("definition")
    return Asked(weights, frozenset(wants), other_words(text, weights, question.language))


def _names(text: str) -> frozenset[str]:
    """Return the folded words that are written with a capital though they don't begin the text.

    They name what is asked about: names, in German all nouns. Speech has no capitals, and "WHAT IS IT" says nothing.
    """
    if not any(map(str.islower, text)):
        return frozenset()
    later = _WORD.findall(text)[1:]
    return frozenset(fold(word) for word in later if word[0].isupper())


def _says(phrase: str, text: str) -> bool:
    """Return whether a phrase stands in a text: as whole words, in a script that has spaces between them."""
    if spaceless(phrase):
        return phrase in text
    return f" {phrase} " in f" {text} "


@lru_cache(maxsize=16)
def _forms_of_questions(language: str) -> dict[str, re.Pattern[str]]:
    """Return what is asked for, by how it is asked."""
    asks = languages.load(language).table("answers").get("asks", {})
    return {want: re.compile("|".join(forms)) for want, forms in asks.items()}


def scores(asked: Asked, units: Sequence[Unit], language: str) -> Scores:
    """Return how much of the question each unit holds. All hold nothing if a code of the question stands nowhere."""
    vocabulary = Vocabulary(
        frozenset().union(*(unit.words for unit in units), *(unit.headings for unit in units)),
        language,
    )
    forms = {
        word: {form: 1.0 if form == word else _FORM for form in vocabulary.forms(word)}
        for word in asked.words
    }
    nothing = [0.0] * len(units)
    if any(_is_code(word) and not some for word, some in forms.items()):
        return Scores(nothing, nothing, nothing, nothing, [{} for _ in units])
    hits: dict[str, dict[int, float]] = {}
    for word, some in forms.items():
        mine = hits[word] = {}
        for form, match in some.items():
            for i in _holders(form, units):
                mine[i] = max(mine.get(i, 0.0), match)
    for word, ways in asked.same.items():
        for way in ways:
            for i in _holding(way, vocabulary, units):
                hits[word].setdefault(i, _SAME)
    touched = {i for mine in hits.values() for i in mine}
    rarity = _rarity(asked, hits, units)
    total, weights = sum(rarity.values()), sum(asked.words.values())
    named = list(nothing)
    held: list[dict[str, float]] = [{} for _ in units]
    below: set[int] = set()
    for word, mine in hits.items():
        above: dict[int, float] = {}
        for form, match in forms[word].items():
            for i, unit in enumerate(units):
                if form not in unit.headings:
                    continue
                above[i] = max(above.get(i, 0.0), match)
                if form in unit.heading:
                    below.add(i)
                if i in mine and form in unit.special:
                    mine[i] = min(_TITLED, mine[i] * _TITLED)
        for i, match in above.items():
            named[i] += match * asked.words[word] / weights
            mine.setdefault(i, match * _HEADING)
        for i, match in mine.items():
            held[i][word] = rarity[word] * match / total
    own = [
        sum(mine.values()) * _fit(unit, asked.wants, language)
        for mine, unit in zip(held, units, strict=True)
    ]
    ranked = _ranked(asked, own, units, language)
    return Scores(
        [score if i in touched else 0.0 for i, score in enumerate(own)],
        [score if i in touched else 0.0 for i, score in enumerate(ranked)],
        # The title of a whole document says too little of what a part of it is about, unless it says all.
        [share if i in below or share > _ALL else 0.0 for i, share in enumerate(named)],
        _topics(asked, hits, units),
        held,
    )


def _holders(word: str, units: Sequence[Unit]) -> list[int]:
    return [i for i, unit in enumerate(units) if word in unit.words]


def _holding(way: Sequence[str], vocabulary: Vocabulary, units: Sequence[Unit]) -> set[int]:
    """Return the units that hold all words of a way to say something, in whatever form."""
    return set.intersection(
        *({i for form in vocabulary.forms(word) for i in _holders(form, units)} for word in way)
    )


def _rarity(
    asked: Asked, hits: Mapping[str, Mapping[int, float]], units: Sequence[Unit]
) -> dict[str, float]:
    """Return what each word of the question weighs: more if fewer units have it."""
    rarity = {
        word: weight * math.log(1 + (len(units) + 1) / (len(hits[word]) + 0.5))
        for word, weight in asked.words.items()
    }
    known = [rarity[word] for word, mine in hits.items() if mine]
    for word, mine in hits.items():
        if known and not mine:
            # It may be said in another word here: it counts no more than what isn't.
            rarity[word] = min(rarity[word], asked.words[word] * sum(known) / len(known))
            if spaceless(word):
                rarity[word] *= _ACROSS
    for word in _bound(asked, hits, units):
        rarity[word] *= _BOUND
    return rarity


def _topics(
    asked: Asked, hits: Mapping[str, Mapping[int, float]], units: Sequence[Unit]
) -> list[float]:
    """Return, by unit, the share of the question that its whole passage holds, headings and all."""
    weights = sum(asked.words.values())
    shares: dict[int, float] = {}
    for word, mine in hits.items():
        best: dict[int, float] = {}
        for i, match in mine.items():
            passage = id(units[i].passage)
            best[passage] = max(best.get(passage, 0.0), min(1.0, match))
        for passage, match in best.items():
            shares[passage] = shares.get(passage, 0.0) + match * asked.words[word] / weights
    return [shares.get(id(unit.passage), 0.0) for unit in units]


def _ranked(
    asked: Asked, own: Sequence[float], units: Sequence[Unit], language: str
) -> list[float]:
    """Return the shares of the question with what speaks for a unit besides its words."""
    ranked = list(own)
    for i, (before, unit) in enumerate(pairwise(units), 1):
        if unit.passage is before.passage and own[i] > 0:
            ranked[i] += _NEXT * max(0.0, own[i - 1] - own[i])
    if "definition" in asked.wants:
        begun: set[str] = set()
        for i, unit in enumerate(units):
            if ranked[i] > 0:
                begins = unit.place == 0 and unit.passage.title not in begun
                ranked[i] += _tells_what(unit, asked.words, language, begins=begins)
            begun.add(unit.passage.title)
    return ranked


def _bound(
    asked: Asked, hits: Mapping[str, Mapping[int, float]], units: Sequence[Unit]
) -> Iterator[str]:
    """Yield the words that only ever stand beside the word they stand beside in the question.

    The two are one name, and count as one word: else "the living room" outweighs what is asked about it.
    """
    words = list(asked.words)
    for one, other in pairwise(words):
        rarer, commoner = sorted((one, other), key=lambda word: len(hits[word]))
        if hits[rarer] and all(
            i in hits[commoner] and f" {one} {other} " in units[i].order for i in hits[rarer]
        ):
            yield commoner


def _tells_what(unit: Unit, name: Mapping[str, float], language: str, *, begins: bool) -> float:
    """Return what a unit gets for saying what the thing of this name is: "A MAC address (…) is".

    `begins` tells that nothing stands before it in its document.
    """
    lexicon = languages.load(language)
    order = unit.order.split()
    while order and order[0] in lexicon.words.function:
        del order[0]
    words = list(name)
    named = len(order) > len(words) and all(
        there.startswith(word[: max(SHORTEST_STEM, len(word) - 2)])
        for word, there in zip(words, order, strict=False)
    )
    if named:
        is_, then = lexicon.table("answers").get("copula", ""), order[len(words) :]
        if not set(is_.split()).isdisjoint(then[:_LONGEST_INSERTION]):
            return DEFINES
    if begins and not unit.passage.section and fold(unit.passage.title).split() == words:
        return INTRODUCES
    return 0.0


def _fit(unit: Unit, wants: AbstractSet[str], language: str) -> float:
    """Return less than 1 for what is too short or too long to be said alone, or lacks what is asked for."""
    if is_question(unit.text):
        # It names the topic for what follows, and is no answer.
        return 0.0
    length = len(unit.text)
    fit = min(1.0, max(_LONG, 400 / length))
    if "moment" in wants:
        if not (_MOMENT.search(unit.text) or not _moments(language).isdisjoint(unit.words)):
            fit *= _NO_FIGURE
    elif "figure" in wants:
        if _HAS_DIGIT.search(unit.text):
            return fit
        if _numbers(language).isdisjoint(unit.words):
            fit *= _NO_FIGURE
    return fit * 0.7 if length < 20 else fit


@lru_cache(maxsize=16)
def _numbers(language: str) -> frozenset[str]:
    """Return the words for numbers above one, which is an article in many languages."""
    lexicon = languages.load(language)
    words = lexicon.table("number_words").get("words", {})
    return frozenset(word for word, number in words.items() if number > 1).union(
        lexicon.table("answers").get("numbers", "").split()
    )


@lru_cache(maxsize=16)
def _moments(language: str) -> frozenset[str]:
    """Return words that tell when: months, days, parts of the day."""
    return frozenset(languages.load(language).table("answers").get("moments", "").split())


def _is_code(word: str) -> bool:
    return bool(_HAS_DIGIT.search(word) and _HAS_LETTER.search(word)) and len(word) <= 12
