"""Opening hours: spans of the day, and the days of the week that each belongs to.

A span is a value whose thing is a day: "17:00 to 21:00" may stand in a material for Tuesday and be wrong for Monday.
What is made of a span that another day has is decided in `text/numbers.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
import re
from typing import Final

from backend import languages
from backend.text.figures import Figure, Kind
from backend.text.patterns import either

_ALL: Final = frozenset(range(7))
_WORKDAYS: Final = frozenset(range(5))
_APART: Final = 90
"""What belongs to each other is no further apart than this, in characters."""
_MARKS: Final = r"[\s\u00a0.,:;\"'’“”()\[\]{}&/|*•]"
_DASH: Final = r"-–—‐"
_NOON: Final = 720.0
_HALF_DAY: Final = 12
_HOURS: Final = 24
_SHORT: Final = 3
_BESIDE: Final = 12
"""A number that isn't plainly a time is one this near to a day, in characters."""
_AFTER_SHORT: Final = re.compile(rf"\.?:?\s?(?:[{_DASH}:&]|\d)")
_BEFORE_SHORT: Final = re.compile(rf"[{_DASH}&]\s?\Z")


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when, in minutes of the day (either half where none is named), and on which days; none: untold."""

    opens: frozenset[float]
    closes: frozenset[float]
    days: frozenset[int]
    figures: tuple[Figure, ...] = ()

    def same(self, other: Span) -> bool:
        """Return whether both may be from the same moment to the same moment."""
        return not self.opens.isdisjoint(other.opens) and not self.closes.isdisjoint(other.closes)


@dataclass(slots=True)
class _Piece:
    """Days, or a span that has yet to find its days, at text[start:end]."""

    start: int
    end: int
    days: frozenset[int] = frozenset()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class _Moment:
    """A time of the day at text[start:end]; `bare` is a number that may be one: "9-17"."""

    start: int
    end: int
    values: tuple[float, ...]
    figure: Figure | None = None
    bare: bool = False


class _Words:
    """How a language says days."""

    def __init__(self, language: str) -> None:
        table = languages.own_or_default(language, "hours")
        self.days: dict[str, frozenset[int]] = {}
        for day, names in enumerate(table["days"]):
            self.days.update(dict.fromkeys(names.split(), frozenset((day,))))
        for key, days in (
            ("every", _ALL),
            ("workdays", _WORKDAYS),
            ("weekend", _ALL - _WORKDAYS),
            ("other", frozenset()),
        ):
            self.days.update(dict.fromkeys((each.lower() for each in table[key]), days))
        self.moments = {
            **dict.fromkeys(table["midnight"].split(), 0.0),
            **dict.fromkeys(table["noon"].split(), _NOON),
        }
        to, also, between = (either(table[key].split()) for key in ("to", "also", "between"))
        self.between = re.compile(rf"\b(?:{between})\W*\Z", re.IGNORECASE)
        self.until = re.compile(rf"{_MARKS}*(?:[{_DASH}]|\b(?:{to})\b){_MARKS}*", re.IGNORECASE)
        self.beside = re.compile(
            rf"{_MARKS}*(?:\b(?:{also})\b{_MARKS}*|\+{_MARKS}*)*", re.IGNORECASE
        )
        self.word = re.compile(rf"(?<!\w)(?:{either(self.days)})(?!\w)", re.IGNORECASE)
        self.moment = re.compile(rf"(?<!\w)(?:{either(self.moments)})(?!\w)", re.IGNORECASE)


@lru_cache(maxsize=16)
def _words(language: str) -> _Words:
    return _Words(language)


def spans(text: str, figures: Sequence[Figure], language: str) -> list[Span]:
    """Return the spans of the day in `text`, whose figures are given, each with its days."""
    words = _words(language)
    found = _spans(text, _moments(text, figures, words), words)
    if not found:
        return []
    pieces = sorted((*found, *_days(text, words)), key=lambda each: each.start)
    result: list[Span] = []
    first = 0
    for place in range(1, len(pieces) + 1):
        if place == len(pieces) or pieces[place].start - pieces[place - 1].end > _APART:
            result += _paired(pieces[first:place])
            first = place
    return result


def _moments(text: str, figures: Sequence[Figure], words: _Words) -> list[_Moment]:
    """Return times and what may be some, in order."""
    found = [
        _Moment(each.start(), each.end(), (words.moments[each[0].lower()],))
        for each in words.moment.finditer(text)
    ]
    # Who writes one time as "17:00" writes all as of 24 hours.
    long = any(
        each.kind is Kind.TIME and each.parts[0] > _HALF_DAY and len(each.values) == 1
        for each in figures
    )
    for each in figures:
        value = each.values[0] if each.values else -1
        if each.kind is Kind.TIME:
            values = each.values[:1] if long else each.values
            found.append(_Moment(each.start, each.end, values, each))
        elif (
            each.kind is Kind.NUMBER
            and not (each.unit or each.noun or each.month or each.word)
            and 0 <= value <= _HOURS
            and each.text.isdigit()
        ):
            minutes = value * 60
            halves = (minutes, (minutes + 720) % 1440) if value <= _HALF_DAY else (minutes % 1440,)
            found.append(_Moment(each.start, each.end, halves, each, bare=True))
    return sorted(found, key=lambda each: each.start)


def _spans(text: str, moments: Sequence[_Moment], words: _Words) -> list[_Piece]:
    found: list[_Piece] = []
    place = 0
    while place + 1 < len(moments):
        one, other = moments[place : place + 2]
        gap = text[one.end : other.start]
        between = words.between.search(text[max(0, one.start - 12) : one.start])
        place += 1
        if len(gap) > _BESIDE or not (
            words.until.fullmatch(gap) or (between and words.beside.fullmatch(gap))
        ):
            continue
        if one.bare and other.bare and not _near_day(text, one.start, other.end, words):
            continue
        place += 1
        figures = tuple(each.figure for each in (one, other) if each.figure)
        span = Span(frozenset(one.values), frozenset(other.values), frozenset(), figures)
        found.append(_Piece(one.start, other.end, span=span))
    return found


def _near_day(text: str, start: int, end: int, words: _Words) -> bool:
    return any(
        words.word.search(part) is not None
        for part in (text[max(0, start - _BESIDE) : start], text[end : end + _BESIDE])
    )


def _days(text: str, words: _Words) -> list[_Piece]:
    """Return the days that are named, those that are named together as one."""
    found: list[_Piece] = []
    for match in words.word.finditer(text):
        if (len(match[0]) <= _SHORT and match[0][0].islower()) or (
            len(match[0]) <= _SHORT
            and not _AFTER_SHORT.match(text, match.end())
            and not _BEFORE_SHORT.search(text[max(0, match.start() - 2) : match.start()])
        ):
            continue  # "so", "do", "sat" are words too
        days = words.days[match[0].lower()]
        last = found[-1] if found else None
        gap = text[last.end : match.start()] if last else None
        if last is None or gap is None:
            found.append(_Piece(match.start(), match.end(), days))
            continue
        through = words.until.fullmatch(gap) or (
            words.beside.fullmatch(gap)
            and words.between.search(text[max(0, last.start - 12) : last.start])
        )
        if through and len(days) == 1:
            last.days |= _through(max(last.days, default=0), min(days))
            last.end = match.end()
        elif words.beside.fullmatch(gap):
            last.days |= days
            last.end = match.end()
        else:
            found.append(_Piece(match.start(), match.end(), days))
    return found


def _through(first: int, last: int) -> frozenset[int]:
    return frozenset((first + step) % 7 for step in range((last - first) % 7 + 1))


def _paired(pieces: Sequence[_Piece]) -> list[Span]:
    """Give each span its days: those before it where the days come first, else those after it."""
    result: list[Span] = []
    days_first = pieces[0].span is None
    for place, piece in enumerate(pieces):
        if piece.span is None:
            continue
        before = next((each for each in reversed(pieces[:place]) if each.span is None), None)
        following = pieces[place + 1 :]
        behind = next((each for each in following if each.span is None), None)
        chosen = before if days_first else behind or before
        days = chosen.days if chosen else frozenset()
        # Days that no span follows are left to other hours: "daily from 9 to 5, longer on weekends".
        if chosen and all(each.span is None for each in following):
            for each in following:
                if each is not chosen and each.days < days:
                    days -= each.days
        result.append(replace(piece.span, days=days))
    return result
