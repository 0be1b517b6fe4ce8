"""Figures that are written with digits: numbers, dates, times, fractions, versions, codes."""

from __future__ import annotations

from collections.abc import Iterator
import re
from typing import Final

from backend.text.figures.around import AFTER, NEXT_WORD, half_day, half_days, surround, time_of_day
from backend.text.figures.figure import Figure, Kind, rounded
from backend.text.figures.grammar import PLAIN, Grammar, symbols
from backend.text.figures.whole import set_pieces
from backend.text.words import fold

_DIGIT: Final = re.compile(r"\d")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_MORE: Final = re.compile(r"\d+(?:[-./:]|[\s\u00a0\u202f]?[hHm'’′/⁄]| \d)")
"""What more than a plain number may begin with: most figures are plain ones."""
_ISO: Final = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::\d{2})?Z?)?(?![\d-])"
)
_DATE: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\d./-]*\d)")
_CLOCK: Final = re.compile(
    r"(\d{1,2})(?::(\d{1,2})(?::\d{2})?|[ \u00a0\u202f]?[hH][ \u00a0\u202f]?(\d{2}))(?![\d:])"
)
_FEET: Final = re.compile(
    r"(\d{1,2})(?:['’′](\d{1,2})(?![^\W_])|\s?['’′]\s?(\d{1,2})\s?(?=[\"”″]|''|’’))(?:\s?(?:[\"”″]|''|’’))?"
)
_TIGHT: Final = re.compile(
    # "3h15min", "3 h 15 min", "2m30s".
    r"(?:(\d{1,3}) ?[hH] ?)?(\d{1,2})(?: ?(?:min|mn)|m)(?: ?(\d{1,2}) ?s(?:ec)?)?(?![^\W_])"
)
_DOT_CLOCK: Final = re.compile(r"(\d{1,2})\.(\d{2})(?!\d)")
_CHAIN: Final = re.compile(r"\d+(?:-\d+){2,}")
_FRACTION: Final = re.compile(r"(\d{1,3})\s?[/⁄]\s?(\d{1,3})(?![\d/])")
_MIXED: Final = re.compile(r"(\d{1,3}) (\d{1,2})[/⁄](\d{1,2})(?![\d/])")
_CODE: Final = re.compile(r"[^\W_]+(?:[-./][^\W_]*\d[^\W_]*)*")
_VULGAR: Final = {
    "½": 1 / 2,
    "⅓": 1 / 3,
    "⅔": 2 / 3,
    "¼": 1 / 4,
    "¾": 3 / 4,
    "⅕": 1 / 5,
    "⅖": 2 / 5,
    "⅗": 3 / 5,
    "⅘": 4 / 5,
    "⅙": 1 / 6,
    "⅚": 5 / 6,
    "⅛": 1 / 8,
    "⅜": 3 / 8,
    "⅝": 5 / 8,
    "⅞": 7 / 8,
}
_VULGARS: Final = re.compile("[" + "".join(_VULGAR) + "]")
_BEFORE_VULGAR: Final = re.compile(r"(?<![\d.,])(\d{1,3}) ?\Z")
_MONTHS: Final = 12
_DAYS: Final = 31
_HALVES: Final = ("am", "pm")
_THOUSAND: Final = 1000


def digits(text: str, rules: Grammar) -> Iterator[Figure]:
    """Yield the figures that are written with digits."""
    for vulgar in _VULGARS.finditer(text):
        first = max(0, vulgar.start() - 5)
        whole = _BEFORE_VULGAR.search(text[first : vulgar.start()])
        value = _VULGAR[vulgar.group()] + (float(whole.group(1)) if whole else 0)
        start = first + whole.start() if whole else vulgar.start()
        figure = Figure(
            start, vulgar.end(), text[start : vulgar.end()], Kind.FRACTION, (rounded(value),)
        )
        surround(text, figure, rules)
        yield figure
    place = 0
    while found := _DIGIT.search(text, place):
        figure = _figure(text, found.start(), rules)
        place = max(figure.end, found.end())
        if (
            figure.kind is not Kind.CODE
            and text[figure.end : figure.end + 2].lstrip()[:1] in _VULGAR
        ):
            continue  # "2 ½" is one figure, found above
        yield figure


def _figure(text: str, start: int, rules: Grammar) -> Figure:
    """Read the figure whose first digit stands at `start`."""
    word = start
    while word > 0 and (text[word - 1].isalpha() or text[word - 1] == "_"):
        word -= 1
    if word == start and start > 1 and text[start - 1] == "-" and text[start - 2].isalpha():
        word = start - 1
        while word > 0 and text[word - 1].isalpha():
            word -= 1
    prefix = text[word:start]
    if prefix.endswith("-") and (text[word - 1 : word].isdigit() or prefix[:-1].lower() in _HALVES):
        prefix = ""  # the second end of a range: "5kg-10kg", "8 AM-6 PM"
    _, currencies, _ = symbols()
    if (
        prefix
        and prefix not in currencies
        and not (
            prefix in ("v", "V", "x")
            or (prefix.endswith("-") and len(prefix) > 3 and prefix.islower())
        )
    ):
        return _code(text, word)
    return _special(text, start, rules) or _plain(text, start, rules)


def _code(text: str, start: int) -> Figure:
    match = _CODE.match(text, start)
    end = match.end() if match else start + 1
    while text[end - 1] in "-./":
        end -= 1
    return Figure(
        start, end, text[start:end], Kind.CODE, name=fold(text[start:end]).replace(" ", "")
    )


def _special(text: str, start: int, rules: Grammar) -> Figure | None:
    """Read dates, times, chains, fractions."""
    if not _MORE.match(text, start):
        return None
    if match := _ISO.match(text, start):
        year, month, day = (int(each) for each in match.group(1, 2, 3))
        if _is_date(month, day):
            return Figure(
                start, match.end(), match.group(), Kind.DATE, (float(year), float(day)), month=month
            )
    if match := _DATE.match(text, start):
        one, other, year = int(match[1]), int(match[3]), int(match[4])
        full = len(match[4]) == 4 or match[2] == "/"
        if full and (_is_date(other, one) or _is_date(one, other)):
            day, month = (one, other) if other <= _MONTHS else (other, one)
            year += 0 if year > 99 else 2000 if year < 70 else 1900
            parts = (float(one), float(other))
            return Figure(
                start,
                match.end(),
                match.group(),
                Kind.DATE,
                (float(year), float(day)),
                month=month,
                parts=parts,
            )
    if figure := _in_pieces(text, start):
        return figure
    if match := _CLOCK.match(text, start):
        hour, minute = int(match[1]), int(match[2] or match[3])
        if hour <= 24 and minute < 60:
            figure = time_of_day(text, start, match.end(), hour, minute, rules)
            word = AFTER.match(text, match.end())
            if match[3] or (word and rules.unit(word) == "hour"):
                figure.unit = "hour"  # a duration perhaps
            return figure
    if match := _CHAIN.match(text, start):
        return Figure(
            start, match.end(), match.group(), Kind.CODE, name=match.group().replace("-", "")
        )
    match = _DOT_CLOCK.match(text, start)
    if match and int(match[1]) <= 24 and int(match[2]) < 60:
        after = NEXT_WORD.match(text, match.end())
        if after and (
            after[1].lower() in rules.oclock or fold(after[1]).replace(" ", "") in half_days(rules)
        ):
            return time_of_day(text, start, match.end(), int(match[1]), int(match[2]), rules)
    match = _MIXED.match(text, start)
    if match and 0 < int(match[2]) < int(match[3]):
        mixed = int(match[1]) + int(match[2]) / int(match[3])
        figure = Figure(start, match.end(), match.group(), Kind.FRACTION, (rounded(mixed),))
        surround(text, figure, rules)
        return figure
    match = _FRACTION.match(text, start)
    if match and int(match[2]):
        parts = (float(match[1]), float(match[2]))
        figure = Figure(
            start,
            match.end(),
            match.group(),
            Kind.FRACTION,
            (rounded(parts[0] / parts[1]),),
            parts=parts,
        )
        surround(text, figure, rules)
        return figure
    return None


def _is_date(month: int, day: int) -> bool:
    return 1 <= month <= _MONTHS and 1 <= day <= _DAYS


def _in_pieces(text: str, start: int) -> Figure | None:
    """Read what is one value by its signs alone: 5'3", "3h15min"."""
    pieces: tuple[tuple[float, str], ...] = ()
    match = _TIGHT.match(text, start)
    if match and (match[1] or match[3]) and int(match[2]) < 60:
        units = zip(match.groups(), ("hour", "minute", "second"), strict=True)
        pieces = tuple((float(number), unit) for number, unit in units if number)
    elif match := _FEET.match(text, start):
        inches = int(match[2] or match[3])
        if inches < 12:
            pieces = ((float(match[1]), "foot"), (float(inches), "inch"))
    if not pieces or not match:
        return None
    figure = Figure(start, match.end(), match.group(), reach=match.end())
    set_pieces(figure, pieces)
    return figure


def _plain(text: str, start: int, rules: Grammar) -> Figure:
    """Read a number with its sign, magnitude, unit, and the words around it."""
    read = rules.number(text, start)
    if read is None:
        match = PLAIN.match(text, start)
        end = match.end() if match else start + 1
        return Figure(start, end, text[start:end], Kind.VERSION, name=text[start:end])
    end, value, step = read
    figure = Figure(start, end, text[start:end], values=(rounded(value),), step=step)
    attached = _LETTERS.match(text, end)
    if not attached and value >= _THOUSAND and text[end : end + 1] in ("'", "’"):
        # "the 1970's" is how many write "the 1970s".
        ending = _LETTERS.match(text, end + 1)
        if ending and ending.group().lower() in rules.decade:
            attached = ending
    if attached and not _attached(text, figure, attached, rules):
        return _code(text, start)
    if figure.kind is Kind.NUMBER:
        surround(text, figure, rules)
    return figure


def _attached(text: str, figure: Figure, letters: re.Match[str], rules: Grammar) -> bool:
    """Take letters right after the digits: "20th", "1990s", "5pm", "3k"; return whether they belong to a number."""
    word = letters.group()
    lower = word.lower()
    value = figure.values[0]
    if lower in rules.decade and value % 10 == 0 and (value >= _THOUSAND or value < 100):
        figure.kind, figure.end = Kind.DECADE, letters.end()
        figure.text = text[figure.start : figure.end]
        return True
    if half := half_day(text, figure.end, rules):
        if value <= 12:
            figure.kind, figure.end = Kind.TIME, half[1]
            figure.values = (float(value % 12 * 60 + 60 * half[0]),)
            figure.parts = (value, 0.0)
            figure.text = text[figure.start : figure.end].strip(" .")
        return True
    if word in rules.suffixes:
        figure.end = letters.end()
        figure.text = text[figure.start : figure.end]
        return True
    dotted = lower in rules.dotted and text.startswith(".", letters.end())
    if lower in rules.magnitudes or lower in rules.units or dotted:
        return True
    return bool(symbols()[2].match(text, figure.end))
