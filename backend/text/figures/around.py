"""What stands around a number and belongs to it: sign, currency, magnitude, unit, half of the day, the words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
import re
from typing import Final

from backend.text.figures.figure import Figure, Kind, rounded
from backend.text.figures.grammar import SPACE, Grammar, plain_word, symbols
from backend.text.words import fold

AFTER: Final = re.compile(rf"[\s{SPACE}]?-?([^\W\d_]+(?:['’][^\W\d_]+)?)")
NEXT_WORD: Final = re.compile(rf"[\s{SPACE}]+([^\W\d_]+(?:['’.][^\W\d_]+)*)")
_WORD_BEFORE: Final = re.compile(r"([^\W\d_]+)[\s\u00a0.:#'’-]{1,3}\Z")
_MERIDIEM: Final = re.compile(r"[\s\u00a0]?([ap])\.?[ \u00a0]?m\b\.?", re.IGNORECASE)
_LONG_MONEY: Final = ("US$", "CHF", "EUR", "USD", "GBP")
_MINUTES_A_DAY: Final = 24 * 60


@lru_cache(maxsize=16)
def half_days(rules: Grammar) -> Mapping[str, int]:
    """Return the words that tell the half of the day, written together, and its hours."""
    every = {each.replace(" ", ""): 0 for each in rules.morning}
    return every | {each.replace(" ", ""): 12 for each in rules.afternoon}


def half_day(text: str, end: int, rules: Grammar) -> tuple[int, int] | None:
    """Return (hours of the half of the day, end) where "am" or "pm" follows."""
    if rules.meridiem and (match := _MERIDIEM.match(text, end)):
        return (12 if match[1].lower() == "p" else 0), match.end()
    word = NEXT_WORD.match(text, end)
    hours = half_days(rules).get(fold(word[1])) if word else None
    return None if hours is None or not word else (hours, word.end())


def time_of_day(text: str, start: int, end: int, hour: int, minute: int, rules: Grammar) -> Figure:
    """Return the time at text[start:end], in the half of the day that follows if one does."""
    minutes = hour * 60 + minute
    word = NEXT_WORD.match(text, end)
    after = word.end() if word and word[1].lower() in rules.oclock else end
    if half := half_day(text, after, rules):
        values: tuple[float, ...] = (float(minutes % 720 + 60 * half[0]),)
        end = half[1]
    elif hour <= 12:
        values = (float(minutes % _MINUTES_A_DAY), float((minutes + 720) % _MINUTES_A_DAY))
    else:
        values = (float(minutes % _MINUTES_A_DAY),)
    return Figure(
        start,
        end,
        text[start:end].strip(" ."),
        Kind.TIME,
        values,
        parts=(float(hour), float(minute)),
    )


def surround(text: str, figure: Figure, rules: Grammar) -> None:
    """Take in the sign, the currency, the magnitude, the unit and the words around a number."""
    units, currencies, pattern = symbols()
    ahead = text[max(0, figure.start - 40) : figure.start]
    head = ahead.rstrip(f" {SPACE}")
    money = head[-3:] if head.endswith(_LONG_MONEY) else head[-1:]
    if money in currencies:
        figure.unit = currencies[money]
        figure.reach = figure.end
        head = head[: -len(money)].rstrip()
    if (
        head[-1:] in ("-", "−")
        and len(head) + (1 if money in currencies else 0) >= len(ahead.rstrip())
        and (not head[-2:-1] or head[-2] in " \t\n([:=~≈,;")
        and text[figure.start - 1] not in " \n"
    ):
        figure.values = tuple(-value for value in figure.values)
    before = _WORD_BEFORE.search(ahead, max(0, len(ahead) - 28))
    word = plain_word(before[1]) if before else ""
    if word in rules.minus:
        figure.values = tuple(-value for value in figure.values)
    figure.before = "" if word in rules.function else word
    figure.hedged = (
        "≈" in ahead[-3:]
        or "~" in ahead[-3:]
        or any(plain_word(each) in rules.hedges for each in ahead.split()[-3:])
    )
    _magnitude(text, figure, rules)
    end = figure.end
    if symbol := pattern.match(text, end):
        figure.unit = figure.unit or units.get(symbol[1]) or currencies[symbol[1]]
        end = figure.reach = symbol.end()
        if figure.unit == "degree" and (word_after := AFTER.match(text, end)):
            figure.unit = rules.units.get(word_after[1].lower(), "degree")
    after = AFTER.match(text, end)
    if not after:
        return
    following = after[1].lower()
    if figure.unit is None and (unit := rules.unit(after)):
        figure.unit = unit
        figure.reach = after.end()
        more = NEXT_WORD.match(text, after.end())
        if figure.unit == "degree" and more:
            figure.unit = rules.units.get(more[1].lower(), "degree")
        return
    value = figure.values[0]
    if figure.unit is None and value <= 24 and value == int(value) and figure.step == 1:
        half = half_day(text, figure.end, rules)
        if half or after[1].lower() in rules.oclock:
            timed = time_of_day(text, figure.start, figure.end, int(value), 0, rules)
            figure.kind, figure.values, figure.parts = Kind.TIME, timed.values, timed.parts
            figure.end, figure.text = timed.end, timed.text
            return
    folded = plain_word(following)
    if folded in rules.months:
        figure.month = rules.months[folded]
    figure.noun = "" if folded in rules.function else folded


def _magnitude(text: str, figure: Figure, rules: Grammar) -> None:
    """Multiply by the word after the digits: "1.5 million", "3 Mrd.", "$5m"."""
    after = AFTER.match(text, figure.end)
    if not after:
        return
    word = plain_word(after[1])
    factor = rules.words.get(word, 0)
    if factor < 100:
        factor = rules.magnitudes.get(word, 0)
        if (
            len(word) == 1
            and figure.unit is None
            and not (word == "k" and after.start(1) == figure.end)
        ):
            factor = 0
    if factor:
        figure.values = tuple(rounded(value * factor) for value in figure.values)
        figure.step *= factor
        figure.end = after.end()
        figure.text = text[figure.start : figure.end]
        if text.startswith(".", figure.end) and word in rules.magnitudes:
            figure.end += 1
