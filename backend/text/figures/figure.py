"""A figure of a text: what it may be worth, and what stands around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """What a figure is."""

    NUMBER = "number"
    TIME = "time"
    DATE = "date"
    FRACTION = "fraction"
    DECADE = "decade"
    VERSION = "version"
    CODE = "code"
    LOOSE = "loose"
    """A word that holds a value and claims none: "first", "half", "thousands"."""


@dataclass(slots=True)
class Figure:
    """One figure at text[start:end].

    `values` are all it may stand for (minutes of the day for a time, the first year of a decade); `step` is the
    worth of its last digit. `unit` is CLDR's name of the unit, an ISO 4217 code, or None; `noun` and `before` are
    the folded words after and before it, "" for function words and for none. `month` is 1 to 12 where it is a day, or a year, of that
    month.
    `name` is what is compared of a code or version. `reach` is where its unit ends. `pieces` are (value, unit) of a
    value that is written in several units, or with a fraction in words: "3 h 15 min" is one figure, of 3.25 hours.
    """

    start: int
    end: int
    text: str
    kind: Kind = Kind.NUMBER
    values: tuple[float, ...] = ()
    step: float = 1.0
    unit: str | None = None
    noun: str = ""
    before: str = ""
    month: int = 0
    hedged: bool = False
    word: bool = False
    ranged: bool = False
    name: str = ""
    parts: tuple[float, ...] = field(default=())
    reach: int = 0
    pieces: tuple[tuple[float, str], ...] = ()


def rounded(value: float) -> float:
    """Return `value` without what floating point adds to it."""
    return float(f"{value:.12g}")
