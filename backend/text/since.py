"""Since when: the span of time that the words of a question name, in the house's own zone.

Decides where days, nights and mornings begin. Words are data (`languages/<code>/since.toml`); a week back is the most
that there is to tell of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
import re
from typing import Final

from backend.languages import table
from backend.text.patterns import either
from backend.text.words import fold

DEFAULT: Final = timedelta(hours=24)
MOST: Final = timedelta(days=7)
_NAMED: Final = (
    "one_hour",
    "last_night",
    "this_morning",
    "this_evening",
    "work",
    "week",
    "yesterday",
    "today",
)


@dataclass(frozen=True, slots=True)
class Hours:
    """When the parts of a day begin, as hours of the clock."""

    morning: int = 6
    work: int = 9
    evening: int = 18


@dataclass(frozen=True, slots=True)
class _Words:
    counted: tuple[tuple[timedelta, re.Pattern[str]], ...]
    numbers: Mapping[str, int]
    named: tuple[tuple[str, re.Pattern[str]], ...]
    weekdays: tuple[re.Pattern[str], ...]
    open: re.Pattern[str]


@lru_cache(maxsize=16)
def _words(language: str) -> _Words:
    data = table(language, "since")
    numbers: dict[str, int] = data.get("words", {})
    number = rf"(?P<n>\d{{1,3}}|{either(numbers)})"

    def any_of(name: str) -> re.Pattern[str]:
        patterns = [pattern.replace("{n}", r"\d+") for pattern in data.get(name, ())]
        return re.compile(rf"\b(?:{'|'.join(patterns)})\b" if patterns else r"(?!)")

    units = {
        "minutes": timedelta(minutes=1),
        "hours": timedelta(hours=1),
        "days": timedelta(days=1),
    }
    return _Words(
        tuple(
            (unit, re.compile(rf"\b{pattern.replace('{n}', number)}\b"))
            for name, unit in units.items()
            for pattern in data.get(name, ())
        ),
        numbers,
        tuple((name, any_of(name)) for name in _NAMED),
        tuple(re.compile(rf"\b(?:{day})\b") for day in data.get("weekdays", ())),
        any_of("open"),
    )


def window(
    text: str, language: str, now: datetime, hours: Hours = Hours()
) -> tuple[datetime, datetime]:
    """Return the span that `text` asks for, up to `now` (aware) at most; without words for it, the last day."""
    return named(text, language, now, hours) or (now - DEFAULT, now)


def named(
    text: str, language: str, now: datetime, hours: Hours = Hours()
) -> tuple[datetime, datetime] | None:
    """Return the span that `text` names, up to `now` (aware) at most; None where it names none."""
    found = _window(fold(text), _words(language), now, hours)
    return None if found is None else (max(found[0], now - MOST), min(found[1], now))


def without(text: str, language: str) -> str:
    """Return `text`, folded, without the words that name a span of time."""
    words = _words(language)
    patterns = (*(each for _, each in words.counted), *(each for _, each in words.named))
    folded = fold(text)
    for pattern in (*patterns, *words.weekdays):
        folded = pattern.sub(" ", folded)
    return " ".join(folded.split())


def _window(
    folded: str, words: _Words, now: datetime, hours: Hours
) -> tuple[datetime, datetime] | None:
    for unit, pattern in words.counted:
        if found := pattern.search(folded):
            count = int(words.numbers.get(found["n"], 0) or found["n"])
            return _ago(now, count * unit), now
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    goes_on = words.open.search(folded) is not None
    for name, pattern in words.named:
        if pattern.search(folded):
            return _named(name, now, today, hours, goes_on=goes_on)
    for number, pattern in enumerate(words.weekdays):
        if pattern.search(folded):
            day = today - timedelta(days=(now.weekday() - number) % 7 or 7)
            return day, now if goes_on else day + timedelta(days=1)
    return None


def _ago(now: datetime, span: timedelta) -> datetime:
    """Return the moment `span` before `now`; whole days are days of the calendar, whatever the clocks did."""
    if span % timedelta(days=1):
        return (now.astimezone(UTC) - span).astimezone(now.tzinfo)
    return now - span


def _named(
    name: str, now: datetime, today: datetime, hours: Hours, *, goes_on: bool
) -> tuple[datetime, datetime]:
    yesterday = today - timedelta(days=1)

    def at(hour: int) -> datetime:
        """Return the last time that the clock showed `hour`."""
        moment = today.replace(hour=hour)
        return moment if moment <= now else yesterday.replace(hour=hour)

    match name:
        case "one_hour":
            return _ago(now, timedelta(hours=1)), now
        case "last_night":
            begun = yesterday.replace(hour=hours.evening)
            return begun, now if goes_on else today.replace(hour=hours.morning)
        case "this_morning":
            return at(hours.morning), now
        case "this_evening":
            return at(hours.evening), now
        case "work":
            return at(hours.work), now
        case "week":
            return now - MOST, now
        case "yesterday":
            return yesterday, now if goes_on else today
        case _:
            return today, now
