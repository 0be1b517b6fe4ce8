"""Which days: what the words of a question name of the days ahead, counted from today.

Decides how weekdays, weekends, weeks, dates and parts of a day are meant; where "today" is, is the caller's to say.
Words are data (`languages/<code>/days.toml`); weekdays and small numbers are those of `since.toml`, months those of
`number_words.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
import re
from typing import Final

from backend.languages import table
from backend.text.patterns import any_of, either
from backend.text.words import fold

PARTS: Final = ("morning", "afternoon", "evening", "night")
_WEEK: Final = 7
_SATURDAY: Final = 5
_FEW: Final = 3
"""So many days are "the next days", and the least that "this week" has."""
_ONE_DAY: Final = ("today", "tonight", "this_part", "tomorrow", "day_after", "yesterday")
_SEVERAL: Final = ("next_weekend", "weekend", "next_week", "this_week", "next_month", "few_days")
_COUNTED: Final = ("in_days", "in_weeks", "in_months", "next_days", "hours")
_FAR: Final = 30
_NEVER: Final = 400
"""Days to one that no calendar has: the 31st of February."""
_YEAR: Final = re.compile(r"\b(?:19[1-9]\d|20(?:0[1-9]|[1-9]\d))\b")


@dataclass(frozen=True, slots=True)
class When:
    """Days as their distance from today (-1 is yesterday), none where none is named; a part of each; `hours` from now."""

    days: tuple[int, ...] = ()
    part: str | None = None
    hours: int | None = None
    now: bool = False


@dataclass(frozen=True, slots=True)
class _Words:
    named: Mapping[str, re.Pattern[str]]
    past: re.Pattern[str]
    past_verbs: re.Pattern[str]
    counted: Mapping[str, re.Pattern[str]]
    weekdays: tuple[re.Pattern[str], ...]
    next: re.Pattern[str]
    dates: tuple[re.Pattern[str], ...]
    months: Mapping[str, int]
    numbers: Mapping[str, int]
    joined: re.Pattern[str]


@lru_cache(maxsize=16)
def _words(language: str) -> _Words:
    data, since = table(language, "days"), table(language, "since")
    numbers: dict[str, int] = since.get("words", {})
    names = table(language, "number_words").get("months", ())
    months = {fold(form): at + 1 for at, forms in enumerate(names) for form in forms.split()}
    fields = {
        "{n}": rf"(?P<n>\d{{1,3}}|{either(numbers)})",
        "{d}": r"(?P<d>\d{1,2})",
        "{m}": rf"(?P<m>{either(months)})",
    }
    days = since.get("weekdays", ())
    past = any_of(
        pattern.replace("{w}", "|".join(days))
        .replace("{n}", rf"(?:\d{{1,3}}|{either(numbers)})")
        .replace("{m}", either(months))
        for pattern in data.get("past", ())
    )

    def filled(pattern: str) -> str:
        for field, of in fields.items():
            pattern = pattern.replace(field, of)
        return pattern

    joined = data.get("joined", "").split()
    return _Words(
        {name: any_of(data.get(name, [])) for name in (*_ONE_DAY, *_SEVERAL, *PARTS, "now")},
        past,
        any_of(data.get("past_verbs", ())),
        {
            name: re.compile(rf"\b{filled(data[name])}\b" if name in data else r"(?!)")
            for name in _COUNTED
        },
        tuple(re.compile(rf"\b(?:{day})\b") for day in days),
        any_of([rf"(?:{next_}) (?:{'|'.join(days)})" for next_ in data.get("next", ())]),
        tuple(re.compile(rf"\b{filled(pattern)}\b") for pattern in data.get("dates", ())),
        months,
        numbers,
        re.compile(rf"\b({'|'.join(days) or '(?!)'})({either(joined)})\b"),
    )


def named_days(text: str, language: str, today: date) -> When:
    """Return what `text` names of the days ahead, seen from `today`."""
    words = _words(language)
    folded = words.joined.sub(_parted, fold(text))
    part = next((name for name in PARTS if words.named[name].search(folded)), None)
    if part is None and words.named["tonight"].search(folded):
        part = "night"
    if found := words.counted["hours"].search(folded):
        return When(hours=max(1, _number(found, words)))
    days = _one_by_one(folded, words, today) or _together(folded, words, today)
    now = words.named["now"].search(folded) is not None
    return When(tuple(sorted(days)), part, None, now)


def is_past(text: str, language: str, year: int) -> bool:
    """Return whether `text` asks of a time before today, in the year `year`: "last monday", "was it", "in 2003"."""
    words = _words(language)
    folded = fold(text)
    if words.past.search(folded) or words.named["yesterday"].search(folded):
        return True
    if any(int(found[0]) < year for found in _YEAR.finditer(folded)):
        return True
    ahead = any(words.named[name].search(folded) for name in ("tomorrow", "day_after"))
    return not ahead and words.past_verbs.search(folded) is not None


def spans(folded: str, language: str) -> list[tuple[int, int]]:
    """Return where words for a time stand in a folded text."""
    words = _words(language)
    patterns = (
        words.past,
        *words.counted.values(),
        *words.dates,
        words.next,
        *words.named.values(),
        words.joined,
        *words.weekdays,
    )
    return [found.span() for pattern in patterns for found in pattern.finditer(folded)]


def _parted(found: re.Match[str]) -> str:
    """Return "montag abend" for "montagabend"."""
    return f"{found[1]} {found[found.re.groups]}"


def _number(found: re.Match[str], words: _Words) -> int:
    said = found["n"]
    return words.numbers[said] if said in words.numbers else int(said)


def _one_by_one(folded: str, words: _Words, today: date) -> set[int]:
    """Return the days that are named each by itself."""
    days = set()
    for name, offset in (
        ("today", 0),
        ("tonight", 0),
        ("this_part", 0),
        ("tomorrow", 1),
        ("day_after", 2),
        ("yesterday", -1),
    ):
        if words.named[name].search(folded):
            days.add(offset)
    if found := words.counted["in_days"].search(folded):
        days.add(_number(found, words))
    if found := words.counted["in_weeks"].search(folded):
        days.add(_number(found, words) * _WEEK)
    if found := words.counted["in_months"].search(folded):
        days.add(_number(found, words) * _FAR)
    coming = words.next.search(folded) is not None
    for number, pattern in enumerate(words.weekdays):
        if pattern.search(folded):
            ahead = (number - today.weekday()) % _WEEK
            days.add(ahead or (_WEEK if coming else 0))
    for pattern in words.dates:
        if found := pattern.search(folded):
            far = _until(found, words, today)
            days.add(_NEVER if far is None else far)
    return days


def _until(found: re.Match[str], words: _Words, today: date) -> int | None:
    """Return how far off a day of a month is, the next time that it comes; None for a day that isn't."""
    for year in range(today.year, today.year + 5):
        try:
            day = date(year, words.months[found["m"]], int(found["d"]))
        except ValueError:  # The 29th of February comes every four years, the 31st of June never.
            continue
        if day >= today:
            return (day - today).days
    return None


def _together(folded: str, words: _Words, today: date) -> set[int]:
    """Return the days that are named as a whole."""
    if found := words.counted["next_days"].search(folded):
        return set(range(min(max(1, _number(found, words)), _FAR)))
    name = next((name for name in _SEVERAL if words.named[name].search(folded)), None)
    left = _WEEK - today.weekday()
    match name:
        case None:
            return set()
        case "weekend":
            first = max(0, _SATURDAY - today.weekday())
            return set(range(first, left))
        case "next_weekend":
            first = (_SATURDAY - today.weekday()) % _WEEK or _WEEK
            return {first, first + 1} if today.weekday() <= _SATURDAY else {_WEEK - 1, _WEEK}
        case "next_week":
            return set(range(left, left + _WEEK))
        case "next_month":
            return {((today.replace(day=1) + timedelta(days=32)).replace(day=1) - today).days}
        case "this_week":
            return set(range(max(left, _FEW)))
        case _:
            return set(range(_FEW))
