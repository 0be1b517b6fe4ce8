"""Which days a question about what comes is for: today, tonight, on Friday, at the weekend, in three days.

Decides what a part of a day is, and that a weekday is the next one of its name. Words are data
(`languages/<code>/forecast.toml`); the clock is the caller's, in the zone of the place.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
import re
from typing import Final

from backend.languages import table
from backend.text.words import fold

PARTS: Final = {"morning": (6, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (20, 30)}
"""Hours of the clock, the end not in; from 24 on those of the next day."""
_SATURDAY: Final = 5
_WEEK: Final = 7


@dataclass(frozen=True, slots=True)
class Days:
    """Days from `first` to `last`, counted from today (0), and the part of the day that is meant.

    `named` tells that the question says when; `now` that it is about this moment.
    """

    first: int
    last: int
    part: str | None = None
    named: bool = True
    now: bool = False


@dataclass(frozen=True, slots=True)
class _Words:
    days: tuple[tuple[str, re.Pattern[str]], ...]
    parts: tuple[tuple[str, re.Pattern[str]], ...]
    weekdays: tuple[re.Pattern[str], ...]
    counted: re.Pattern[str]
    numbers: dict[str, int]
    next: re.Pattern[str]


def _word(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern or '(?!)'})\b")


@lru_cache(maxsize=16)
def _words(language: str) -> _Words:
    data = table(language, "forecast").get("days", {})
    numbers: dict[str, int] = table(language, "since").get("words", {})
    count = "|".join((r"\d{1,2}", *map(re.escape, numbers)))
    return _Words(
        tuple(
            (name, _word(data.get(name, "")))
            for name in ("after_tomorrow", "tomorrow", "weekend", "next_week", "week", "today")
        ),
        tuple(
            (name, _word(data.get(name, "")))
            for name in ("night", "evening", "afternoon", "morning")
        ),
        tuple(_word(day) for day in data.get("weekdays", ())),
        _word(data.get("counted", "").replace("{n}", f"(?P<n>{count})")),
        numbers,
        _word(data.get("next", "")),
    )


def asked_days(query: str, language: str, today: date) -> Days:
    """Return the days that `query` is for; the next three, not `named`, where it says nothing of them."""
    words = _words(language)
    folded = fold(query)
    now = _word(table(language, "forecast").get("days", {}).get("now", "")).search(folded)
    span = _span(folded, words, today)
    part = next((name for name, pattern in words.parts if pattern.search(folded)), None)
    if span is None:
        if part is not None:
            return Days(0, 0, part)
        return Days(0, 0, None, named=False, now=True) if now else Days(0, 2, None, named=False)
    return Days(span[0], span[1], part)


def _span(folded: str, words: _Words, today: date) -> tuple[int, int] | None:
    if (found := words.counted.search(folded)) is not None:
        said = found["n"]
        count = int(said) if said.isdecimal() else words.numbers[said]
        return count, count
    for name, pattern in words.days:
        if not pattern.search(folded):
            continue
        match name:
            case "after_tomorrow":
                return 2, 2
            case "tomorrow":
                return 1, 1
            case "today":
                return 0, 0
            case "week":
                return 0, _WEEK - 1
            case "next_week":
                monday = _WEEK - today.weekday()
                return monday, monday + _WEEK - 1
            case "weekend":
                first = max(0, _SATURDAY - today.weekday())
                return first, _WEEK - 1 - today.weekday()
    for number, pattern in enumerate(words.weekdays):
        if (found := pattern.search(folded)) is not None:
            ahead = (number - today.weekday()) % _WEEK
            if ahead == 0 and words.next.search(folded):
                ahead = _WEEK
            return ahead, ahead
    return None
