"""The figures of a text: numbers, times, dates, versions, codes, with what stands around them.

Reads the spellings of a language ("1,500", "1.500", "fifteen hundred", "1.5 million") into values that can be
compared. Whether a figure may be said is decided in `text/numbers.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import pairwise
import re
from typing import Any, Final

from backend import languages
from backend.text.measures import NEXT, share
from backend.text.words import fold


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
    the folded words after and before it, "" for function words and for none. `month` is 1 to 12 where it is a day.
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


_DIGIT: Final = re.compile(r"\d")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_SPACE: Final = "\u00a0\u202f\u2009"
_SPACED: Final = re.compile(rf"\d{{1,3}}(?:[ {_SPACE}]\d{{3}})+(?!\d)(?:[.,]\d+)?")
_PLAIN: Final = re.compile(r"\d+(?:[.,'’]\d+){0,8}")
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
_SHORT: Final = re.compile(rf"[ {_SPACE}]|\. (?=\d{{1,2}}\s*(?:[^\w\s]|\Z))")
_DOT_CLOCK: Final = re.compile(r"(\d{1,2})\.(\d{2})(?!\d)")
_CHAIN: Final = re.compile(r"\d+(?:-\d+){2,}")
_FRACTION: Final = re.compile(r"(\d{1,3})\s?[/⁄]\s?(\d{1,3})(?![\d/])")
_MIXED: Final = re.compile(r"(\d{1,3}) (\d{1,2})[/⁄](\d{1,2})(?![\d/])")
_CODE: Final = re.compile(r"[^\W_]+(?:[-./][^\W_]*\d[^\W_]*)*")
_AFTER: Final = re.compile(rf"[\s{_SPACE}]?-?([^\W\d_]+(?:['’][^\W\d_]+)?)")
_NEXT_WORD: Final = re.compile(rf"[\s{_SPACE}]+([^\W\d_]+(?:['’.][^\W\d_]+)*)")
_WORD_BEFORE: Final = re.compile(r"([^\W\d_]+)[\s\u00a0.:#'’-]{1,3}\Z")
_DASH: Final = r"\s?(?:[-–—‐]|\.\.\.?)\s?"
_MERIDIEM: Final = re.compile(r"[\s\u00a0]?([ap])\.?[ \u00a0]?m\b\.?", re.IGNORECASE)
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
_MINUTES_A_DAY: Final = 24 * 60
_MONTHS: Final = 12
_DAYS: Final = 31
_HALVES: Final = ("am", "pm")
_NEVER: Final = 1_000_000
_APART: Final = 32
"""The parts of one value are no further apart than this, in characters."""
_THOUSAND: Final = 1000
_SCALES: Final = frozenset((100.0, 1e3, 1e6, 1e9, 1e12))


def rounded(value: float) -> float:
    """Return `value` without what floating point adds to it."""
    return float(f"{value:.12g}")


class Grammar:
    """How a language writes numbers."""

    def __init__(self, language: str) -> None:
        """Read the tables of `language`; the default language's where there are none."""
        lexicon = languages.load(language)
        data: Mapping[str, Any] = lexicon.table("number_words")
        if not data:
            lexicon = languages.load(languages.DEFAULT)
            data = lexicon.table("number_words")
        self.function = lexicon.words.function
        self.decimal: str = data["decimal"]
        self.spaced: bool = data["spaced"]
        self.words: Mapping[str, float] = data["words"]
        self.loose: Mapping[str, float] = data["loose"]
        self.magnitudes: Mapping[str, float] = data["magnitudes"]
        self.joiners, self.points, self.hedges, self.minus, self.references, self.counted = (
            frozenset(fold(data[key]).split())
            for key in ("joiners", "point", "hedges", "minus", "references", "counted")
        )
        self.known = frozenset((*self.words, *self.loose))
        self.shortest_compound = 6 if data["compound"] else _NEVER
        """Words of so many letters may be several number words in one: "ventun"."""
        self.suffixes = frozenset(data["suffixes"].split())
        self.year_before = frozenset(fold(data["year_before"]).split())
        self.morning, self.afternoon = (
            tuple(fold(each) for each in data[key].split()) for key in ("morning", "afternoon")
        )
        self.oclock = frozenset(data["oclock"].split())
        self.meridiem: bool = data["meridiem"]
        self.decade = frozenset(data["decade"].split())
        self.range = re.compile(rf"{_DASH}\Z|\s(?:{'|'.join(data['range'].split())})\s\Z")
        self.out_of: str = data["out_of"]
        self.months = {
            fold(name): number
            for number, names in enumerate(data["months"], 1)
            for name in names.split()
        }
        self.units = {
            word: unit
            for unit, names in lexicon.table("units").items()
            if isinstance(names, str)
            for word in names.split()
        }
        self.dotted: dict[str, str] = {}
        """Units by short forms that count with their full stop alone."""
        for form, unit in lexicon.short_units.items():
            (self.dotted if form.endswith(".") else self.units)[form.rstrip(".")] = unit
        joiners = "|".join(map(re.escape, data["joiners"].split()))
        space = rf"[ {_SPACE}]?"
        self.between = re.compile(rf"\.?,?[ {_SPACE}\n]?(?:(?:{joiners}|&|\+) )?|-")
        self.and_part = re.compile(rf"{space}(?:{joiners}) (?:[^\W\d_]{{1,3}} )?")
        self.fractions: Mapping[str, float] = data.get("fractions", {})
        """Ends of words and what they add to the number before: "dreieinhalb"."""

    def unit(self, word: re.Match[str]) -> str | None:
        """Return the unit that the word of a match (its first group) means behind a figure."""
        name = word[1].lower()
        found = self.units.get(name)
        if found is None and word.string.startswith(".", word.end()):
            found = self.dotted.get(name)
        return found

    @cached_property
    def _stems(self) -> re.Pattern[str]:
        stems = sorted((*self.words, *self.joiners), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, stems)))

    @lru_cache(maxsize=8192)
    def atoms(self, word: str) -> tuple[float | None, ...]:
        """Return the values that a folded word is made of, None for "and"; empty for a word that is no number."""
        if (value := self.words.get(word)) is not None:
            return (value,)
        if len(word) < self.shortest_compound:
            return ()
        result: list[float | None] = []
        place = 0
        while place < len(word):
            stem = self._stems.match(word, place)
            if not stem:
                return ()
            result.append(self.words.get(stem.group()))
            place = stem.end()
        return tuple(result) if any(each is not None for each in result) else ()

    def number(self, text: str, start: int) -> tuple[int, float, float] | None:
        """Read digits at `start`: (end, value, worth of the last digit), None for a version ("3.14.2")."""
        spaced = _SPACED.match(text, start)
        if spaced and (self.spaced or " " not in spaced.group()):
            raw = re.sub(rf"[ {_SPACE}]", "", spaced.group()).replace(",", ".")
            return spaced.end(), float(raw), _step(raw)
        plain = _PLAIN.match(text, start)
        if not plain:
            return None
        raw = plain.group()
        separators = re.findall(r"[.,'’]", raw)
        if not separators:
            return plain.end(), float(raw), 1.0
        head, *rest = re.split(r"[.,'’]", raw)
        grouped = all(len(each) == 3 for each in rest) and len(head) <= 3 and head != "0"
        if len(separators) == 1:
            if grouped and separators[0] != self.decimal:
                return plain.end(), float(head + rest[0]), 1.0
            decimal = f"{head}.{rest[0]}"
            return plain.end(), float(decimal), _step(decimal)
        if len(set(separators)) == 1:
            if grouped:
                return plain.end(), float(head + "".join(rest)), 1.0
            if separators[0] == ".":
                return None
            return start + len(head), float(head), 1.0
        if len(set(separators[:-1])) == 1 and all(len(each) == 3 for each in rest[:-1]):
            decimal = f"{head}{''.join(rest[:-1])}.{rest[-1]}"
            return plain.end(), float(decimal), _step(decimal)
        return start + len(head), float(head), 1.0


def _step(raw: str) -> float:
    _, point, decimals = raw.partition(".")
    return 10.0 ** -len(decimals) if point else 1.0


@lru_cache(maxsize=16)
def grammar(language: str) -> Grammar:
    """Return how `language` writes numbers."""
    return Grammar(language)


@lru_cache(maxsize=1)
def _symbols() -> tuple[Mapping[str, str], Mapping[str, str], re.Pattern[str]]:
    """Return units by symbol, currencies by symbol, and the pattern of the symbols after a number."""
    data = languages.symbols()
    units = {**data["units"], **{symbol: symbol for symbol in data["per"]}}
    currencies = data["currencies"]
    every = sorted((*units, *currencies), key=len, reverse=True)
    pattern = re.compile(
        rf"[\s{_SPACE}]?(" + "|".join(map(re.escape, every)) + r")(?![^\W_]|[°²³])"
    )
    return units, currencies, pattern


def figures(text: str, language: str) -> list[Figure]:
    """Return the figures of `text` in order."""
    rules = grammar(language)
    found: list[Figure] = []
    for figure in sorted(
        (*_digits(text, rules), *_words(text, rules)), key=lambda each: each.start
    ):
        if not found or figure.start >= found[-1].end:
            found.append(figure)
    found = _whole(text, found, rules)
    _join(text, found, rules)
    return found


def _digits(text: str, rules: Grammar) -> Iterator[Figure]:
    """Yield the figures that are written with digits."""
    for vulgar in _VULGARS.finditer(text):
        whole = re.search(r"(?<![\d.,])(\d{1,3}) ?\Z", text[: vulgar.start()])
        value = _VULGAR[vulgar.group()] + (float(whole.group(1)) if whole else 0)
        start = whole.start() if whole else vulgar.start()
        figure = Figure(
            start, vulgar.end(), text[start : vulgar.end()], Kind.FRACTION, (rounded(value),)
        )
        _surround(text, figure, rules)
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
    _, currencies, _ = _symbols()
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
            figure = _time(text, start, match.end(), hour, minute, rules)
            word = _AFTER.match(text, match.end())
            if match[3] or (word and rules.unit(word) == "hour"):
                figure.unit = "hour"  # a duration perhaps
            return figure
    if match := _CHAIN.match(text, start):
        return Figure(
            start, match.end(), match.group(), Kind.CODE, name=match.group().replace("-", "")
        )
    match = _DOT_CLOCK.match(text, start)
    if match and int(match[1]) <= 24 and int(match[2]) < 60:
        after = _NEXT_WORD.match(text, match.end())
        if after and (
            after[1].lower() in rules.oclock or fold(after[1]).replace(" ", "") in _half_days(rules)
        ):
            return _time(text, start, match.end(), int(match[1]), int(match[2]), rules)
    match = _MIXED.match(text, start)
    if match and 0 < int(match[2]) < int(match[3]):
        mixed = int(match[1]) + int(match[2]) / int(match[3])
        figure = Figure(start, match.end(), match.group(), Kind.FRACTION, (rounded(mixed),))
        _surround(text, figure, rules)
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
        _surround(text, figure, rules)
        return figure
    return None


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
    _set_pieces(figure, pieces)
    return figure


def _set_pieces(figure: Figure, pieces: tuple[tuple[float, str], ...], step: float = 1.0) -> None:
    """Give a figure its value in the first of its units."""
    unit = pieces[0][1]
    worths = [1.0, *(share(unit, smaller) or 0.0 for _, smaller in pieces[1:])]
    total = sum(value * worth for (value, _), worth in zip(pieces, worths, strict=True))
    figure.values, figure.step = (rounded(total),), step * worths[-1]
    figure.unit, figure.pieces = unit, pieces


def _whole(text: str, found: Sequence[Figure], rules: Grammar) -> list[Figure]:
    """Return the figures, one for what is one value: "3 Std. 15 Min.", "5 ft 3", "three and a half hours"."""
    result: list[Figure] = []
    for figure in found:
        one = _together(text, result[-1], figure, rules) if result else None
        if one:
            result[-1] = one
        else:
            result.append(figure)
    return result


def _together(text: str, one: Figure, other: Figure, rules: Grammar) -> Figure | None:
    """Return one figure for two that are one value."""
    if (
        one.kind is not Kind.NUMBER
        or other.start - one.end > _APART
        or (value := one.pieces[-1][0] if one.pieces else one.values[0]) < 0
        or value != int(value)
    ):
        return None
    figure = Figure(
        one.start,
        other.end,
        text[one.start : other.end],
        before=one.before,
        hedged=one.hedged,
        word=one.word and other.word,
        reach=other.reach or other.end,
    )
    if other.kind is Kind.LOOSE and 0 < other.values[0] < 1 and not one.pieces:
        if not rules.and_part.fullmatch(text, one.reach or one.end, other.start):
            return None
        figure.values, figure.step = (rounded(value + other.values[0]),), one.step / 4
        figure.unit, figure.noun, figure.word = one.unit, one.noun, one.word
        if figure.unit is None:
            _surround(text, figure, rules)
        if figure.unit:
            figure.pieces = ((value, figure.unit),)
        return figure
    if one.unit is None or other.kind is not Kind.NUMBER or other.pieces:
        return None
    last = one.pieces[-1][1] if one.pieces else one.unit
    if other.unit is None:
        gap = _SHORT.match(text, one.reach)
        short = gap is not None and gap.end() == other.start
        smaller = NEXT.get(last) if short and not (other.noun or other.word) else None
        if text[other.end : other.end + 1] in ("-", "–", "/", ":") or other.step != 1:
            return None
    else:
        smaller = other.unit
        if not rules.between.fullmatch(text, one.reach or one.end, other.start):
            return None
    worth = share(last, smaller) if smaller else None
    if not smaller or not worth or not 0 <= other.values[0] * worth < 1:
        return None
    pieces = one.pieces or ((value, one.unit),)
    _set_pieces(figure, (*pieces, (other.values[0], smaller)), other.step)
    return figure


def _is_date(month: int, day: int) -> bool:
    return 1 <= month <= _MONTHS and 1 <= day <= _DAYS


@lru_cache(maxsize=16)
def _half_days(rules: Grammar) -> Mapping[str, int]:
    """Return the words that tell the half of the day, written together, and its hours."""
    every = {each.replace(" ", ""): 0 for each in rules.morning}
    return every | {each.replace(" ", ""): 12 for each in rules.afternoon}


def _half_day(text: str, end: int, rules: Grammar) -> tuple[int, int] | None:
    """Return (hours of the half of the day, end) where "am" or "pm" follows."""
    if rules.meridiem and (match := _MERIDIEM.match(text, end)):
        return (12 if match[1].lower() == "p" else 0), match.end()
    word = _NEXT_WORD.match(text, end)
    hours = _half_days(rules).get(fold(word[1])) if word else None
    return None if hours is None or not word else (hours, word.end())


def _time(text: str, start: int, end: int, hour: int, minute: int, rules: Grammar) -> Figure:
    minutes = hour * 60 + minute
    word = _NEXT_WORD.match(text, end)
    after = word.end() if word and word[1].lower() in rules.oclock else end
    if half := _half_day(text, after, rules):
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


def _plain(text: str, start: int, rules: Grammar) -> Figure:
    """Read a number with its sign, magnitude, unit, and the words around it."""
    read = rules.number(text, start)
    if read is None:
        match = _PLAIN.match(text, start)
        end = match.end() if match else start + 1
        return Figure(start, end, text[start:end], Kind.VERSION, name=text[start:end])
    end, value, step = read
    figure = Figure(start, end, text[start:end], values=(rounded(value),), step=step)
    attached = _LETTERS.match(text, end)
    if attached and not _attached(text, figure, attached, rules):
        return _code(text, start)
    if figure.kind is Kind.NUMBER:
        _surround(text, figure, rules)
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
    if half := _half_day(text, figure.end, rules):
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
    return bool(_symbols()[2].match(text, figure.end))


def _surround(text: str, figure: Figure, rules: Grammar) -> None:
    """Take in the sign, the currency, the magnitude, the unit and the words around a number."""
    units, currencies, pattern = _symbols()
    ahead = text[max(0, figure.start - 40) : figure.start]
    head = ahead.rstrip(f" {_SPACE}")
    money = next(
        (symbol for symbol in ("US$", "CHF", "EUR", "USD", "GBP") if head.endswith(symbol)),
        head[-1:],
    )
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
    before = _WORD_BEFORE.search(ahead)
    word = fold(before[1]) if before else ""
    if word in rules.minus:
        figure.values = tuple(-value for value in figure.values)
    figure.before = "" if word in rules.function else word
    figure.hedged = (
        "≈" in ahead[-3:]
        or "~" in ahead[-3:]
        or any(each in rules.hedges for each in fold(ahead).split()[-3:])
    )
    _magnitude(text, figure, rules)
    end = figure.end
    if symbol := pattern.match(text, end):
        figure.unit = figure.unit or units.get(symbol[1]) or currencies[symbol[1]]
        end = figure.reach = symbol.end()
        if figure.unit == "degree" and (word_after := _AFTER.match(text, end)):
            figure.unit = rules.units.get(word_after[1].lower(), "degree")
    after = _AFTER.match(text, end)
    if not after:
        return
    following = after[1].lower()
    if figure.unit is None and (unit := rules.unit(after)):
        figure.unit = unit
        figure.reach = after.end()
        more = _NEXT_WORD.match(text, after.end())
        if figure.unit == "degree" and more:
            figure.unit = rules.units.get(more[1].lower(), "degree")
        return
    value = figure.values[0]
    if figure.unit is None and value <= 24 and value == int(value) and figure.step == 1:
        half = _half_day(text, figure.end, rules)
        if half or after[1].lower() in rules.oclock:
            timed = _time(text, figure.start, figure.end, int(value), 0, rules)
            figure.kind, figure.values, figure.parts = Kind.TIME, timed.values, timed.parts
            figure.end, figure.text = timed.end, timed.text
            return
    folded = fold(following)
    if folded in rules.months:
        figure.month = rules.months[folded]
    figure.noun = "" if folded in rules.function else folded


def _magnitude(text: str, figure: Figure, rules: Grammar) -> None:
    """Multiply by the word after the digits: "1.5 million", "3 Mrd.", "$5m"."""
    after = _AFTER.match(text, figure.end)
    if not after:
        return
    word = fold(after[1])
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


def _words(text: str, rules: Grammar) -> Iterator[Figure]:
    """Yield the figures that are written in words."""
    run: list[tuple[re.Match[str], tuple[float | None, ...]]] = []
    known, loose, joiners, points = rules.known, rules.loose, rules.joiners, rules.points
    shortest = rules.shortest_compound
    for match in _LETTERS.finditer(text):
        word = match[0].lower()
        if not word.isascii():
            word = fold(word)
        if word not in known and len(word) < shortest and not run:
            continue
        made = rules.atoms(word)
        if not made and (figure := _with_fraction(text, match, word, rules)):
            yield from _read(text, run, rules)
            run = []
            yield figure
            continue
        if not made:
            if run and (word in joiners or word in points) and _near(text, run[-1][0], match):
                run.append((match, (None,) if word in joiners else ()))
                continue
            if run:
                yield from _read(text, run, rules)
                run = []
            if word in loose:
                yield Figure(
                    match.start(), match.end(), match.group(), Kind.LOOSE, (loose[word],), word=True
                )
            continue
        if run and not _near(text, run[-1][0], match):
            yield from _read(text, run, rules)
            run = []
        run.append((match, made))
    if run:
        yield from _read(text, run, rules)


def _with_fraction(text: str, match: re.Match[str], word: str, rules: Grammar) -> Figure | None:
    """Read "dreieinhalb" as one number."""
    for end, part in rules.fractions.items():
        head = rules.words.get(word.removesuffix(end)) if word.endswith(end) else None
        if head is not None:
            figure = Figure(match.start(), match.end(), match.group(), word=True, step=0.25)
            figure.values = (rounded(head + part),)
            _surround(text, figure, rules)
            return figure
    return None


def _near(text: str, one: re.Match[str], other: re.Match[str]) -> bool:
    gap = text[one.end() : other.start()]
    return gap in (" ", "-", "\u00a0", "  ", "\n")


def _read(
    text: str, run: Sequence[tuple[re.Match[str], tuple[float | None, ...]]], rules: Grammar
) -> Iterator[Figure]:
    """Read a run of number words: as few numbers as they can be."""
    index = 0
    while index < len(run):
        if run[index][1] in ((None,), ()):
            index += 1
            continue
        total, current, last, used = 0.0, 0.0, index, 0
        scales_only = True
        joined = False
        step = index
        while step < len(run):
            made = run[step][1]
            if made == ():
                break
            sums = (total, current)
            for atom in made:
                if atom is None:
                    joined = True
                    continue
                new = _add(*sums, atom, joined, first=used == 0)
                if new is None:
                    break
                sums = new
                used += 1
                scales_only &= atom in _SCALES
                joined = False
            else:
                total, current = sums
                if made != (None,):
                    last = step
                step += 1
                continue
            break
        value = total + current
        end = run[last][0].end()
        following = last + 1
        if following + 1 < len(run) and run[following][1] == ():
            decimals = ""
            after = following + 1
            while after < len(run) and len(run[after][1]) == 1 and (run[after][1][0] or 0) < 10:
                decimals += str(int(run[after][1][0] or 0))
                after += 1
            if decimals:
                value = float(f"{int(value)}.{decimals}")
                last, end = after - 1, run[after - 1][0].end()
                scales_only = False
        start = run[index][0].start()
        figure = Figure(start, end, text[start:end], values=(rounded(value),), word=True)
        if scales_only:
            figure.kind = Kind.LOOSE
        else:
            _surround(text, figure, rules)
        yield figure
        index = last + 1


def _add(
    total: float, current: float, atom: float, joined: bool, *, first: bool
) -> tuple[float, float] | None:
    """Add the next part of a number in words; None where it begins another number."""
    if first:
        return (0.0, atom) if atom < _THOUSAND else (atom, 0.0)
    if atom >= _THOUSAND:
        if current:
            return (total + current * atom, 0.0)
        return (total * atom, 0.0) if total and total < atom else None
    if atom == 100:
        return (
            (total, current * 100)
            if 0 < current < 100
            else (total, 100.0)
            if total and not current
            else None
        )
    if current == 4 and atom == 20:
        return (total, 80.0)
    tens = current % 100
    if atom < 20 and tens in (60, 80) and atom >= 10:
        return (total, current + atom)
    if current % 100 == 4 and current > 100 and atom == 20:
        return (total, current + 76)
    if current and current % 100 == 0 and atom < 100:
        return (total, current + atom)
    if current and current % 1000 == 0:
        return (total, current + atom)
    if tens >= 20 and tens % 10 == 0 and 0 < atom < 10:
        return (total, current + atom)
    if joined and 0 < tens < 10 and atom >= 20 and atom % 10 == 0 and atom < 100:
        return (total, current + atom)
    if total and not current:
        return (total, atom)
    if not total and 10 < current < 100 and 10 <= atom < 100 and not joined:
        return (0.0, current * 100 + atom)
    return None


def _join(text: str, found: list[Figure], rules: Grammar) -> None:
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
    for figure in found:
        if figure.kind is Kind.NUMBER and not figure.month and 1 <= figure.values[0] <= _DAYS:
            before = re.search(
                r"([^\W\d_]{3,})\.? \Z", text[max(0, figure.start - 16) : figure.start]
            )
            if before and fold(before[1]) in rules.months:
                figure.month = rules.months[fold(before[1])]
            elif figure.unit is None:
                after = re.match(
                    r"(?:\.| of| de)? ([^\W\d_]{3,})", text[figure.end : figure.end + 20]
                )
                if after and fold(after[1]) in rules.months:
                    figure.month = rules.months[fold(after[1])]
