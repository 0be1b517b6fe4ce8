"""The most relevant sentences of the evidence, quoted: what answers where no model composes.

Decides, by how much of the question each holds (`relevance`), which sentences, rows and steps (`units`) are quoted and
in which order. How something is done is told by the steps under a heading. A further sentence is quoted where it belongs
to the first, is as good, or holds what the first lacks of the question. Where too little of the question is found,
nothing is quoted. A quote is the most relevant there is, never a check that it answers: questions on the topic that the
text doesn't answer look the same. Nothing here invents, so no gate follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from backend.answer.relevance import INTRODUCES, Asked, Scores, asked_by, scores
from backend.answer.reply import is_question
from backend.answer.units import Unit, units
from backend.text.language import detect
from backend.types import Question, Section

_FOUND: Final = 0.32
"""A quote holds at least this share of the question, each word counted by its rarity."""
_ON_TOPIC: Final = 0.52
"""Or this much, with the share that its whole passage holds."""
_DONE: Final = 0.6
"""The same where it is asked how something is done: what is done with something else is no answer."""
_AS_GOOD: Final = 0.85
"""A further sentence is at least this share as good as the best one,"""
_BESIDE: Final = 0.5
"""or this, if it stands beside it,"""
_ENOUGH: Final = 0.75
"""or the best one holds less than this share of the question,"""
_LACKING: Final = 0.03
"""and the further one this much that the best one lacks, or else follows it."""
_FOLLOWS: Final = 0.1
_LEADS: Final = 0.05
"""What a further sentence gets for standing behind the best one, or before it."""
_UNDER: Final = 0.5
"""Steps are how something is done if the headings above them hold this share of the question,"""
_NAMED: Final = 0.75
"""and sentences are about what the headings above them name, if those hold this."""
_ALIKE: Final = 0.8
"""Sentences that share this much of their words say the same."""
_CLOSE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Quote:
    """Sentences as the documents have them; `score` is the share of the question they hold, 0 to 1.

    `sources` are the tags in the order of the sentences; `language` is the documents'.
    """

    text: str
    sources: tuple[str, ...]
    language: str
    score: float


def best_sentences(
    question: Question, sections: Sequence[Section], count: int = 2, cap: int = 400
) -> Quote | None:
    """Return the at most `count` most relevant sentences within `cap` characters; None if none is relevant.

    Sentences of one passage are in its order.
    """
    every = [
        unit
        for section in sections
        for passage in section.passages
        for unit in units(passage, section.source, question.language)
    ]
    asked = asked_by(question)
    if not every or not asked.words:
        return None
    rated = scores(asked, every, question.language)
    steps = _procedure(every, rated, count, cap) if "procedure" in asked.wants else []
    chosen = steps or _chosen(every, rated, asked, count, cap)
    if not chosen:
        return None
    picked = [every[i] for i in chosen]
    language = picked[0].passage.language or detect(picked[0].text) or question.language
    return Quote(
        text=" ".join(unit.text for unit in picked),
        sources=tuple(dict.fromkeys(unit.source for unit in picked)),
        language=language,
        score=min(1.0, max(max(rated.own[i], rated.named[i]) for i in chosen)),
    )


def _procedure(units: Sequence[Unit], rated: Scores, count: int, cap: int) -> list[int]:
    """Return the first steps under the headings that hold most of the question; [] if none hold enough."""
    steps = [
        i
        for i, unit in enumerate(units)
        if unit.kind == "step" and rated.named[i] >= _UNDER and not is_question(unit.text)
    ]
    if not steps:
        return []
    # Of headings as good, those whose steps hold more of the question.
    held: dict[int, float] = {}
    for i in steps:
        held[id(units[i].passage)] = held.get(id(units[i].passage), 0.0) + rated.own[i]
    best = max(steps, key=lambda i: (rated.named[i], held[id(units[i].passage)], -i))
    return _in_order(
        [i for i in steps if units[i].passage is units[best].passage], units, count, cap
    )


def _in_order(places: Iterable[int], units: Sequence[Unit], count: int, cap: int) -> list[int]:
    """Return the first `count` of `places` that fit, none after one that doesn't."""
    chosen: list[int] = []
    for i in places:
        cap -= len(units[i].text) + bool(chosen)
        if len(chosen) == count or cap < 0:
            break
        chosen.append(i)
    return chosen


def _chosen(units: Sequence[Unit], rated: Scores, asked: Asked, count: int, cap: int) -> list[int]:
    """Return which units to quote, in the order to quote them."""
    ranked = rated.ranked
    order = [i for i in sorted(range(len(units)), key=lambda i: (-ranked[i], i)) if ranked[i] > 0]
    first = next((i for i in order if len(units[i].text) <= cap), None)
    if first is None or not _found(rated, asked, order):
        return _named(units, rated, count, cap)
    chosen = [first]
    room = cap - len(units[first].text) - 1
    for i in (*sorted(order, key=lambda i: -_further(i, first, units, rated)), first + 1):
        if len(chosen) == count or i == len(units):
            break
        unit = units[i]
        if i in chosen or len(unit.text) > room or any(_alike(unit, units[j]) for j in chosen):
            continue
        if unit.passage.language != units[first].passage.language:
            continue
        if (unit.kind == "row") != (units[first].kind == "row"):
            continue
        if _adds(i, first, units, rated, asked):
            chosen.append(i)
            room -= len(unit.text) + 1
    at = {units[i].passage.text: order for order, i in reversed(list(enumerate(chosen)))}
    return sorted(chosen, key=lambda i: (at[units[i].passage.text], units[i].place))


def _found(rated: Scores, asked: Asked, order: Sequence[int]) -> bool:
    """Return whether enough of the question is found to quote anything."""
    own = max(rated.own[i] for i in order)
    if "procedure" in asked.wants:
        return own >= _DONE
    return own >= _FOUND or max(rated.own[i] + rated.topic[i] for i in order) >= _ON_TOPIC


def _further(i: int, first: int, units: Sequence[Unit], rated: Scores) -> float:
    """Return how good a unit is to be quoted beside the first one."""
    away = units[i].place - units[first].place if units[i].passage is units[first].passage else 0
    beside = _FOLLOWS if away == 1 else _LEADS if away == -1 else 0.0
    return rated.ranked[i] + rated.gain(i, first) + beside


def _adds(i: int, first: int, units: Sequence[Unit], rated: Scores, asked: Asked) -> bool:
    """Return whether a unit adds to the first one."""
    own, ranked = rated.own, rated.ranked
    as_good = ranked[i] >= _AS_GOOD * ranked[first] and (
        # Where it is said what a thing is, all else that names it is beside the point.
        ranked[first] - own[first] < INTRODUCES - _CLOSE
        or ranked[i] - own[i] >= INTRODUCES - _CLOSE
    )
    if as_good or (own[i] >= _BESIDE * own[first] and _continues(units[i], units[first], asked)):
        return True
    if own[first] >= _ENOUGH or not _same_prose(units[i], units[first]):
        return False
    return rated.gain(i, first) >= _LACKING or (
        i == first + 1 and asked.wants.isdisjoint(("procedure", "definition"))
    )


def _same_prose(unit: Unit, first: Unit) -> bool:
    """Return whether two units are sentences of one passage; rows stand for themselves."""
    return (
        unit.passage is first.passage
        and unit.kind == first.kind == "sentence"
        and not is_question(unit.text)
    )


def _named(units: Sequence[Unit], rated: Scores, count: int, cap: int) -> list[int]:
    """Return the first units under the headings that name what is asked; [] if none do."""
    best = max(range(len(units)), key=lambda i: (rated.named[i], -i))
    if rated.named[best] < _NAMED or is_question(units[best].text):
        return []
    under = (
        i
        for i in range(best, len(units))
        if units[i].passage is units[best].passage
        and units[i].headings == units[best].headings
        and not is_question(units[i].text)
    )
    return _in_order(under, units, count, cap)


def _continues(unit: Unit, first: Unit, asked: Asked) -> bool:
    """Return whether a unit that stands beside the first adds to it: not to a row, a figure or a moment."""
    return (
        unit.passage is first.passage
        and unit.kind != "row"
        and asked.wants.isdisjoint(("figure", "moment"))
        # Before it is said what a thing is, there is nothing to add.
        and unit.place - first.place in ((1,) if "definition" in asked.wants else (1, -1))
    )


def _alike(one: Unit, other: Unit) -> bool:
    together = one.words | other.words
    return bool(together) and len(one.words & other.words) >= _ALIKE * len(together)
