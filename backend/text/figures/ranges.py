"""What figures tell each other: the ends of a range share their unit, days find their month."""

from __future__ import annotations

from itertools import pairwise
import re
from typing import Final

from backend.text.figures.figure import Figure, Kind, rounded
from backend.text.figures.grammar import Grammar, plain_word

_MONTH_BEFORE: Final = re.compile(r"([^\W\d_]{3,})\.? \Z")
_MONTH_AFTER: Final = re.compile(r"(?:\.| of| de)? ([^\W\d_]{3,})")
_YEARS_MONTH: Final = re.compile(r"([^\W\d_]{3,})\.?,? (?:(?:of|de|del) )?\Z")
_DAY_BEFORE: Final = re.compile(r"(?:st|nd|rd|th)?(?: ?,)? ")
_DAYS: Final = 31
_LAST_YEAR: Final = 2200
_THOUSAND: Final = 1000


def join(text: str, found: list[Figure], rules: Grammar) -> None:
    """Let the ends of a range share their unit, and days and months find each other."""
    for one, other in pairwise(found):
        if other.start - one.end > 8 or other.start < one.end:
            continue
        if not rules.range.match(text[one.end : other.start]):
            continue
        one.ranged = other.ranged = True
        if other.kind is Kind.TIME and one.kind is Kind.NUMBER and 0 < one.values[0] <= 12:
            hour = one.values[0] * 60
            one.kind, one.values, one.parts = (
                Kind.TIME,
                (hour % 720, hour % 720 + 720),
                (one.values[0], 0.0),
            )
        if one.kind is not Kind.NUMBER or other.kind is not Kind.NUMBER:
            continue
        if one.unit is None:
            one.unit = other.unit
        elif other.unit is None and not other.noun:
            other.unit = one.unit
        one.noun = one.noun or other.noun
        one.month = one.month or other.month
        if other.step >= _THOUSAND and one.step < _THOUSAND:
            one.values = (*one.values, rounded(one.values[0] * other.step))
        first, second = one.values[0], other.values[0]
        if 1000 <= first < 3000 and 0 <= second < 100:
            other.values = (*other.values, first // 100 * 100 + second)
    for place, figure in enumerate(found):
        if figure.kind is not Kind.NUMBER or figure.month or figure.unit:
            continue
        if _THOUSAND <= figure.values[0] < _LAST_YEAR and len(figure.text) == len("2009"):
            last = found[place - 1] if place else None
            if last and last.month and _DAY_BEFORE.fullmatch(text, last.end, figure.start):
                figure.month = last.month
            elif before := _YEARS_MONTH.search(text[max(0, figure.start - 20) : figure.start]):
                figure.month = rules.months.get(plain_word(before[1]), 0)
        if 1 <= figure.values[0] <= _DAYS:
            before = _MONTH_BEFORE.search(text[max(0, figure.start - 16) : figure.start])
            if before and plain_word(before[1]) in rules.months:
                figure.month = rules.months[plain_word(before[1])]
            else:
                after = _MONTH_AFTER.match(text, figure.end)
                if after and plain_word(after[1]) in rules.months:
                    figure.month = rules.months[plain_word(after[1])]
