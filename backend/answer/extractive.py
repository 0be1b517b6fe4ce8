"""The most relevant sentences of the evidence, quoted: what answers where no model composes.

A lexical score decides, by words that both the question and a sentence have, the rarer the heavier; the headings
above a sentence count as part of it, less. What is asked for decides between sentences: a figure, a moment, what a
thing is, or how something is done, which the steps under a heading tell in their order. A further sentence is quoted
where it belongs to the first or is as good. Where too little of the question is found, nothing is quoted. A quote is
the most relevant there is, never a check that it answers: questions on the topic that the text doesn't answer look
the same. Nothing here invents, so no gate follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
import math
import re
from typing import Final, Literal

from backend import languages
from backend.answer.reply import ends_sentence, is_question
from backend.text.language import detect
from backend.text.parts import is_title
from backend.text.segmentation import sentences
from backend.text.words import fold, tokens, topic_words
from backend.types import Passage, Question, Section

_FOUND: Final = 0.32
"""A quote holds at least this share of the question, each word counted by its rarity."""
_DONE: Final = 0.6
"""The same where it is asked how something is done: what is done with something else is no answer."""
_AS_GOOD: Final = 0.85
"""A further sentence is at least this share as good as the best one,"""
_BESIDE: Final = 0.5
"""or this, if it stands beside it."""
_UNDER: Final = 0.5
"""Steps are how something is done if the headings above them hold this share of the question,"""
_NAMED: Final = 0.75
"""and sentences are about what the headings above them name, if those hold this."""
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
"""Where a figure or a moment is asked for, a sentence without one counts this much."""
_DEFINES: Final = 0.45
_INTRODUCES: Final = 0.3
"""Where it is asked what a thing is, what a sentence gets that says so, or begins the text on it."""
_ACTION: Final = 2.0
"""What is asked to be allowed counts this many times: where and when are said in other words."""
_BOUND: Final = 0.1
"""A word that adds nothing to the one beside it ("living" "room") counts this much."""
_TITLED: Final = 1.2
"""A word of a sentence that the heading of its part has too counts this much: it is what the part is about."""
_CLOSE: Final = 1e-9
_ALL: Final = 0.999
_LONGEST_NAME: Final = 4
_LONGEST_INSERTION: Final = 8
_SHORTEST_STEM: Final = 4
_SHARE_OF_WORD: Final = 0.55
_SURELY: Final = 6
_VOWELS: Final = frozenset("aeiouy")

_LIST_MARK: Final = re.compile(r"^\s*(?:[-*+•–]|\d{1,2}[.)])\s+")
_CELL: Final = re.compile(r"\s*\|\s*")
_ROW: Final = re.compile(r"[^:.;]{1,40}: [^;]+;|[^:.;]{1,40}: [^.;]{1,60}\.?\Z")
_RULE: Final = re.compile(r"^[\s|:=_*-]*$")
_MARKUP: Final = re.compile(r"[*_`#]+(?=\S)|(?<=\S)[*_`#]+|^#+\s*")
_HAS_DIGIT: Final = re.compile(r"\d")
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")
_ADDRESS: Final = re.compile(r"\b[a-z]+://\S+")
_MOMENT: Final = re.compile(r"\d[:.]\d\d(?!\d)|(?<!\d)[12]\d{3}(?!\d)")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_SPLIT_CODE: Final = re.compile(r"\b([a-z]{1,2}) (?=\d{1,4}\b)")


Kind = Literal["sentence", "row", "step", "title"]


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
    """One sentence, row or step, where it stands, and the folded words of it, of its headings, and of the lowest.

    `order` are its words as they follow each other, between spaces. `special` are those of the heading of its part
    that the title of the whole document hasn't.
    """

    text: str
    kind: Kind
    source: str
    passage: Passage
    place: int
    order: str
    words: frozenset[str]
    headings: frozenset[str]
    heading: frozenset[str]
    special: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question asks: its words by weight, in order, and for what kind of answer."""

    words: Mapping[str, float]
    wants: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Scores:
    """By unit: the share of the question that it holds, the same with what ranks it, and its headings' share.

    0 where it holds no more than its headings.
    """

    own: Sequence[float]
    ranked: Sequence[float]
    named: Sequence[float]


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
    asked = _asked(question)
    if not units or not asked.words:
        return None
    scores = _scores(asked, units, question.language)
    steps = _procedure(units, scores, count, cap) if "procedure" in asked.wants else []
    chosen = steps or _chosen(units, scores, asked, count, cap)
    if not chosen:
        return None
    picked = [units[i] for i in chosen]
    language = picked[0].passage.language or detect(picked[0].text) or question.language
    return Quote(
        text=" ".join(unit.text for unit in picked),
        sources=tuple(dict.fromkeys(unit.source for unit in picked)),
        language=language,
        score=min(1.0, max(max(scores.own[i], scores.named[i]) for i in chosen)),
    )


def _procedure(units: Sequence[_Unit], scores: _Scores, count: int, cap: int) -> list[int]:
    """Return the first steps under the headings that hold most of the question; [] if none hold enough."""
    steps = [
        i
        for i, unit in enumerate(units)
        if unit.kind == "step" and scores.named[i] >= _UNDER and not is_question(unit.text)
    ]
    if not steps:
        return []
    # Of headings as good, those whose steps hold more of the question.
    held: dict[int, float] = {}
    for i in steps:
        held[id(units[i].passage)] = held.get(id(units[i].passage), 0.0) + scores.own[i]
    best = max(steps, key=lambda i: (scores.named[i], held[id(units[i].passage)], -i))
    return _in_order(
        [i for i in steps if units[i].passage is units[best].passage], units, count, cap
    )


def _in_order(places: Iterable[int], units: Sequence[_Unit], count: int, cap: int) -> list[int]:
    """Return the first `count` of `places` that fit, none after one that doesn't."""
    chosen: list[int] = []
    for i in places:
        cap -= len(units[i].text) + bool(chosen)
        if len(chosen) == count or cap < 0:
            break
        chosen.append(i)
    return chosen


def _chosen(
    units: Sequence[_Unit], scores: _Scores, asked: _Asked, count: int, cap: int
) -> list[int]:
    """Return which units to quote, in the order to quote them."""
    least = _DONE if "procedure" in asked.wants else _FOUND
    ranked = scores.ranked
    order = [
        i
        for i in sorted(range(len(units)), key=lambda i: (-ranked[i], i))
        if ranked[i] >= _FOUND / 2
    ]
    first = next((i for i in order if len(units[i].text) <= cap), None)
    if first is None or max(scores.own[i] for i in order) < least:
        return _named(units, scores, count, cap)
    chosen = [first]
    room = cap - len(units[first].text) - 1
    for i in order:
        if len(chosen) == count:
            break
        unit = units[i]
        if len(unit.text) > room or any(_alike(unit, units[other]) for other in chosen):
            continue
        if unit.passage.language != units[first].passage.language:
            continue
        if (unit.kind == "row") != (units[first].kind == "row"):
            continue
        as_good = ranked[i] >= _AS_GOOD * ranked[first] and (
            # Where it is said what a thing is, all else that names it is beside the point.
            ranked[first] - scores.own[first] < _INTRODUCES - _CLOSE
            or ranked[i] - scores.own[i] >= _INTRODUCES - _CLOSE
        )
        if not as_good and not (
            scores.own[i] >= _BESIDE * scores.own[first] and _continues(unit, units[first], asked)
        ):
            continue
        chosen.append(i)
        room -= len(unit.text) + 1
    at = {units[i].passage.text: order for order, i in reversed(list(enumerate(chosen)))}
    return sorted(chosen, key=lambda i: (at[units[i].passage.text], units[i].place))


def _named(units: Sequence[_Unit], scores: _Scores, count: int, cap: int) -> list[int]:
    """Return the first units under the headings that name what is asked; [] if none do."""
    best = max(range(len(units)), key=lambda i: (scores.named[i], -i))
    if scores.named[best] < _NAMED or is_question(units[best].text):
        return []
    under = (
        i
        for i in range(best, len(units))
        if units[i].passage is units[best].passage
        and units[i].headings == units[best].headings
        and not is_question(units[i].text)
    )
    return _in_order(under, units, count, cap)


def _continues(unit: _Unit, first: _Unit, asked: _Asked) -> bool:
    """Return whether a unit that stands beside the first adds to it: not to a row, a figure or a moment."""
    return (
        unit.passage is first.passage
        and unit.kind != "row"
        and asked.wants.isdisjoint(("figure", "moment"))
        # Before it is said what a thing is, there is nothing to add.
        and unit.place - first.place in ((1,) if "definition" in asked.wants else (1, -1))
    )


def _alike(one: _Unit, other: _Unit) -> bool:
    together = one.words | other.words
    return bool(together) and len(one.words & other.words) >= _ALIKE * len(together)


@lru_cache(maxsize=16)
def _forms_of_questions(language: str) -> dict[str, re.Pattern[str]]:
    """Return what is asked for, by how it is asked."""
    asks = languages.load(language).table("answers").get("asks", {})
    return {want: re.compile("|".join(forms)) for want, forms in asks.items()}


def _asked(question: Question) -> _Asked:
    """Return what a question asks, its codes heavier than its words."""
    text = fold(question.text)
    words = _words(topic_words(text, question.language))
    answers = languages.load(question.language).table("answers")
    weights = {word: _CODE if _is_code(word) else 1.0 for word in words}
    wants = set()
    for want, form in _forms_of_questions(question.language).items():
        if (found := form.search(text)) is None:
            continue
        wants.add(want)
        for action in found.groupdict().values():
            if action in weights:
                weights[action] = _ACTION
    if any(f" {phrase} " in f" {text} " for phrase in answers.get("figures", ())):
        # "How hot" and "how often" are seldom said again where it is told.
        wants.add("figure")
    return _Asked(weights, frozenset(wants))


def _scores(asked: _Asked, units: Sequence[_Unit], language: str) -> _Scores:
    """Return how much of the question each unit holds. All hold nothing if a code of the question stands nowhere."""
    in_text: dict[str, list[int]] = {}
    in_heading: dict[str, list[int]] = {}
    for i, unit in enumerate(units):
        for word in unit.words:
            in_text.setdefault(word, []).append(i)
        for word in unit.headings:
            in_heading.setdefault(word, []).append(i)
    vocabulary = _Vocabulary(in_text.keys() | in_heading.keys())
    forms = {word: vocabulary.forms(word, language) for word in asked.words}
    own, named = [0.0] * len(units), [0.0] * len(units)
    if any(_is_code(word) and not some for word, some in forms.items()):
        return _Scores(own, own, named)
    hits: dict[str, dict[int, float]] = {}
    for word, some in forms.items():
        mine = hits[word] = {}
        for form, match in some.items():
            for i in in_text.get(form, ()):
                mine[i] = max(mine.get(i, 0.0), match)
    touched = {i for mine in hits.values() for i in mine}
    rarity = _rarity(asked, hits, units)
    total, weights = sum(rarity.values()), sum(asked.words.values())
    below: set[int] = set()
    for word, mine in hits.items():
        above: dict[int, float] = {}
        for form, match in forms[word].items():
            for i in in_heading.get(form, ()):
                above[i] = max(above.get(i, 0.0), match)
                if form in units[i].heading:
                    below.add(i)
                if i in mine and form in units[i].special:
                    mine[i] = min(_TITLED, mine[i] * _TITLED)
        for i, match in above.items():
            named[i] += match * asked.words[word] / weights
            mine.setdefault(i, match * _HEADING)
        for i, match in mine.items():
            own[i] += rarity[word] * match / total
    own = [
        score * _fit(unit, asked.wants, language) for score, unit in zip(own, units, strict=True)
    ]
    ranked = _ranked(asked, own, units, language)
    return _Scores(
        [score if i in touched else 0.0 for i, score in enumerate(own)],
        [score if i in touched else 0.0 for i, score in enumerate(ranked)],
        # The title of a whole document says too little of what a part of it is about, unless it says all.
        [share if i in below or share > _ALL else 0.0 for i, share in enumerate(named)],
    )


def _rarity(
    asked: _Asked, hits: Mapping[str, Mapping[int, float]], units: Sequence[_Unit]
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
    for word in _bound(asked, hits, units):
        rarity[word] *= _BOUND
    return rarity


def _ranked(
    asked: _Asked, own: Sequence[float], units: Sequence[_Unit], language: str
) -> list[float]:
    """Return the shares of the question with what speaks for a unit besides its words."""
    ranked = list(own)
    for i, (before, unit) in enumerate(pairwise(units), 1):
        if unit.passage is before.passage and own[i] > 0:
            ranked[i] += _NEXT * max(0.0, own[i - 1] - own[i])
    if "definition" in asked.wants and len(asked.words) <= _LONGEST_NAME:
        begun: set[str] = set()
        for i, unit in enumerate(units):
            if ranked[i] > 0:
                begins = unit.place == 0 and unit.passage.title not in begun
                ranked[i] += _tells_what(unit, asked.words, language, begins=begins)
            begun.add(unit.passage.title)
    return ranked


def _bound(
    asked: _Asked, hits: Mapping[str, Mapping[int, float]], units: Sequence[_Unit]
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


def _tells_what(unit: _Unit, name: Mapping[str, float], language: str, *, begins: bool) -> float:
    """Return what a unit gets for saying what the thing of this name is: "A MAC address (…) is".

    `begins` tells that nothing stands before it in its document.
    """
    lexicon = languages.load(language)
    order = unit.order.split()
    while order and order[0] in lexicon.words.function:
        del order[0]
    words = list(name)
    named = len(order) > len(words) and all(
        there.startswith(word[: max(_SHORTEST_STEM, len(word) - 2)])
        for word, there in zip(words, order, strict=False)
    )
    if named:
        is_, then = lexicon.table("answers").get("copula", ""), order[len(words) :]
        if not set(is_.split()).isdisjoint(then[:_LONGEST_INSERTION]):
            return _DEFINES
    if begins and not unit.passage.section and fold(unit.passage.title).split() == words:
        return _INTRODUCES
    return 0.0


class _Vocabulary:
    """The words of some sentences, to find the forms of a word among them."""

    def __init__(self, words: AbstractSet[str]) -> None:
        self._words = words
        self._long = [word for word in words if len(word) >= _SHORTEST_STEM and word.isalpha()]

    def forms(self, word: str, language: str) -> dict[str, float]:
        """Return the words that are `word`, and how much each of them counts."""
        found = {word: 1.0} if word in self._words else {}
        if not word.isalpha() or len(word) < _SHORTEST_STEM:
            # Too short to be told from others by how they begin: "top" isn't "topic", but "topping".
            endings = languages.load(language).table("answers").get("endings", "").split()
            longer = {word + twice + end for end in endings for twice in ("", word[-1])}
            return dict.fromkeys(self._words & longer, _FORM) | found
        head = word[:_SHORTEST_STEM]
        for other in self._long:
            if other.startswith(head):
                shared = _shared(word, other)
                ends = word[shared : shared + 1], other[shared : shared + 1]
                # "smoke" is in "smoking"; "clean" isn't "clear".
                inflected = "" in ends or shared >= _SURELY or not _VOWELS.isdisjoint(ends)
                if inflected and shared >= _SHARE_OF_WORD * max(len(word), len(other)):
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


def _fit(unit: _Unit, wants: AbstractSet[str], language: str) -> float:
    """Return less than 1 for what is too short or too long to be said alone, or lacks what is asked for."""
    if is_question(unit.text):
        # It names the topic for what follows, and is no answer.
        return 0.0
    length = len(unit.text)
    fit = 1.0 if length <= 240 else max(0.6, 240 / length)
    if "moment" in wants:
        moments = _moments(language)
        if not (_MOMENT.search(unit.text) or not moments.isdisjoint(unit.words)):
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
    words = languages.load(language).table("number_words").get("words", {})
    return frozenset(word for word, number in words.items() if number > 1)


@lru_cache(maxsize=16)
def _moments(language: str) -> frozenset[str]:
    """Return words that tell when: months, days, parts of the day."""
    return frozenset(languages.load(language).table("answers").get("moments", "").split())


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
    title, section = (
        frozenset(_words(tokens(text))) for text in (passage.title, passage.section or "")
    )
    lowest = frozenset(_words(tokens((passage.section or "").rpartition(" › ")[2])))
    known = {word[:_SHORTEST_STEM] for word in title}
    special = frozenset(word for word in lowest if word[:_SHORTEST_STEM] not in known)
    units: list[_Unit] = []
    intro: frozenset[str] = frozenset()
    for kind, text in _texts(passage.text, language):
        order = _words(tokens(text))
        words = frozenset(order)
        if kind == "title" or text.endswith(":"):
            # It speaks of what follows, and says nothing by itself.
            intro = words
            continue
        if not order:
            continue
        if not ends_sentence(text):
            text += "."
        units.append(
            _Unit(
                text,
                kind,
                source,
                passage,
                len(units),
                f" {' '.join(order)} ",
                words,
                title | section | intro,
                lowest | intro,
                special,
            )
        )
    return tuple(units)


def _texts(text: str, language: str) -> Iterator[tuple[Kind, str]]:
    """Yield what can be said of a text, each as a sentence: sentences, and rows and items line by line."""
    blocks = [block.splitlines() for block in re.split(r"\n\s*\n", text) if block.strip()]
    for at, lines in enumerate(blocks, 1):
        if at < len(blocks) and len(lines) == 1 and is_title(lines[0].strip()):
            yield "title", lines[0].strip()
        elif len(lines) > 1 and all(_is_row(line) for line in lines[1:]):
            for line in lines:
                yield from _said(line, language)
        else:
            yield from _said(" ".join(lines), language)


def _is_row(line: str) -> bool:
    """Return whether a line stands for itself: a list item, a row, or what ends like a sentence."""
    return bool(
        _LIST_MARK.match(line) or "|" in line or line.rstrip().endswith((".", "!", "?", ":", ";"))
    )


def _said(line: str, language: str) -> Iterator[tuple[Kind, str]]:
    if _RULE.match(line):
        return
    mark = _LIST_MARK.match(line)
    bare = _MARKUP.sub("", _LIST_MARK.sub("", line)).strip()
    if not _HAS_LETTER.search(_ADDRESS.sub("", bare)) and not _HAS_DIGIT.search(bare):
        return
    if "|" in bare:
        cells = [cell for cell in _CELL.split(bare) if cell]
        if not cells:
            return
        bare = f"{cells[0]}: {'; '.join(cells[1:])}" if len(cells) > 1 else cells[0]
        yield "row", bare
        return
    kind: Kind = "sentence"
    if mark is not None:
        kind = "step" if mark[0].lstrip()[0].isdigit() else "row"
    elif _ROW.match(bare):
        kind = "row"
    for sentence in sentences(bare, language):
        yield kind, sentence
