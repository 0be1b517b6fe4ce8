"""Fractions, put into words with the unit behind them: "½ tsp", "1 1/2 h", "22/7"; dates and scores are left alone."""

from __future__ import annotations

from functools import lru_cache
import re
from typing import Any, Final

from backend.text.spoken.units import STOP, unit_patterns
from backend.text.spoken.words import SPACE, SpokenWords, fold_vowel, form, replaced, spoken_words

_VULGAR: Final = {
    "½": (1, 2),
    "⅓": (1, 3),
    "⅔": (2, 3),
    "¼": (1, 4),
    "¾": (3, 4),
    "⅕": (1, 5),
    "⅖": (2, 5),
    "⅗": (3, 5),
    "⅘": (4, 5),
    "⅙": (1, 6),
    "⅚": (5, 6),
    "⅐": (1, 7),
    "⅑": (1, 9),
    "⅒": (1, 10),
    "⅛": (1, 8),
    "⅜": (3, 8),
    "⅝": (5, 8),
    "⅞": (7, 8),
}
_FRACTION: Final = (
    rf"(?:(?<![\w.,])(\d{{1,3}})[ \u00a0\u202f]?)?([{''.join(_VULGAR)}])|"
    r"(?<![\w/.,-])(?:(\d{1,3}) )?(\d{1,3})[/⁄](\d{1,3}(?:[.,]\d{3})+|\d{1,7})(?:th|rd|nd)?(?![\w/]|[.,]\d)"
)
_EVERYDAY: Final = frozenset((2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16))
"""Denominators that are said even where day and month could be meant."""
_DAYS: Final = 31
_MONTHS: Final = 12
_IMPROPER: Final = 10
"""Up to this denominator more than a whole is a fraction; "120/80" and "16/25" are something else."""
_WORD_BEFORE: Final = re.compile(r"([^\W\d_]+)[.,]? \Z")
_NAME_BEFORE: Final = re.compile(r"[\w,] ([^\W\d_]{2,}) \Z")
_WORD_AFTER: Final = re.compile(r"\s?([^\W\d_]+)")


class FractionWords:
    """How one language says parts of a whole."""

    def __init__(self, words: SpokenWords) -> None:
        """Read `fractions.toml` of the language of `words`."""
        self.words = words
        data = words.lexicon.table("fractions")
        self.data: dict[str, Any] = dict(data)
        self.names: list[str] = data["names"].split()
        self.month_first = data["dates"] == "month"
        self.dated = frozenset(data["dated"].split())
        self.parted = frozenset(data["parted"].split())
        self.feminine = tuple(data["feminine"].split())
        self.stems: list[str] = data["stems"].split()
        self.genders = {
            unit: gender for gender, units in data["genders"].items() for unit in units.split()
        }
        unit = unit_patterns(words.language).unit
        self.pattern = re.compile(
            rf"(?:{_FRACTION})(?:{SPACE}({unit}){STOP}|[ \u00a0]([^\W\d_]{{2,}})(?![\w/]))?"
        )

    def part(self, upper: int, lower: int) -> str | None:
        """Return a fraction in words, None where the denominator has no name."""
        forms = self.data["other"].get(str(lower))
        if not forms and lower - 2 < len(self.names):
            one = self.names[lower - 2]
            old, new = self.data["ending"]
            forms = f"{one}|{one.removesuffix(old)}{new}"
        if not forms:
            return None
        name = form(forms, self.words.plural(str(upper)))
        return f"{self.data['one']} {name}" if upper == 1 else f"{upper} {name}"

    def template(self, whole: str | None, gender: str | None, *, half: bool, rate: bool) -> str:
        """Return how whole, part and a unit of that gender stand together; None is no unit, or an unknown one."""
        kind = "half" if half else "part"
        if gender is None or not half:
            key = f"and_{kind}" if whole else kind
            chosen: str = self.data[key if gender is None else f"{key}_unit"]
            return chosen
        tables = [self.data["and_half_unit" if whole else "half_unit"]]
        if whole and rate:
            tables.insert(0, self.data["and_half_rate_unit"])
        if whole == "1":
            tables.insert(0, self.data["one_and_half_unit"])
        for table in tables:
            if fitting := table.get(gender, table.get("m")):
                return str(fitting)
        return str(self.data[f"and_{kind}" if whole else kind])

    def may_be_date(self, upper: int, lower: int) -> bool:
        """Return whether the two could be day and month, in the order of the language."""
        month, day = (upper, lower) if self.month_first else (lower, upper)
        return month <= _MONTHS and day <= _DAYS


@lru_cache(maxsize=16)
def _fractions(language: str) -> FractionWords:
    return FractionWords(spoken_words(language))


def say_fractions(text: str, words: SpokenWords) -> str:
    """Put fractions into words, and the units behind them in the form they ask for."""
    if "/" not in text and text.isascii():
        return text
    own = _fractions(words.language)
    return replaced(text, own.pattern, lambda match: _said(match, own), words.language)


def _said(match: re.Match[str], own: FractionWords) -> str:
    whole_sign, sign, whole, over, under, symbol, _, word = match.groups()
    if sign:
        upper, lower = _VULGAR[sign]
        whole = whole_sign
    else:
        upper, lower = int(over), int(re.sub(r"[.,]", "", under))
        if not _is_fraction(match, own, whole, upper, lower):
            return match.group()
    said = _with_unit(own, whole, (upper, lower), symbol, word)
    before = match.string[match.start() - 1 : match.start()]
    return f" {said}" if before.isalnum() else said


def _is_fraction(
    match: re.Match[str], own: FractionWords, whole: str | None, upper: int, lower: int
) -> bool:
    """Return whether two numbers with a stroke are a fraction, and no date, score or share of work."""
    if not lower or not upper or upper == lower or (upper, lower) == (24, 7):
        return False
    date = own.may_be_date(upper, lower)
    if whole is None:
        before = _WORD_BEFORE.search(match.string, 0, match.start())
        after = _WORD_AFTER.match(match.string, match.end(5))
        parted = after and after[1].lower() in own.parted
        if before and before[1].lower() in own.dated and not parted and upper <= _DAYS:
            return False
        # "ul. Długa 5/7" is an address; where nouns have capitals it can't be told.
        name = _NAME_BEFORE.search(match.string, 0, match.start())
        capitals = own.words.lexicon.segmentation.capitals
        if name and name[1][0].isupper() and not capitals:
            return False
        if upper > lower and (date or lower > _IMPROPER or upper % 10 == 0):
            return False
    return not date or lower in _EVERYDAY


def _with_unit(
    own: FractionWords,
    whole: str | None,
    parts: tuple[int, int],
    symbol: str | None,
    word: str | None,
) -> str:
    """Return whole, part and unit as they stand together: "2 and a half hours", "un quart de litre"."""
    words, data = own.words, own.data
    half = parts == (1, 2)
    part = own.part(*parts) or f"{parts[0]} {words.say('over')} {parts[1]}"
    unit = unit_patterns(words.language).names[symbol] if symbol else None
    if word:
        unit = words.grammar.units.get(word.lower())
    gender = own.genders.get(unit, "m") if unit else None
    if word and not unit and half and own.feminine and word.lower() not in words.grammar.function:
        gender = "f" if word.endswith(own.feminine) else "m"
    fields = {"whole": whole or "", "part": part}
    fields |= dict.fromkeys(("one", "many", "counted"), word or "")
    if symbol and unit:
        numbers = {"one": "1", "many": f"1{words.grammar.decimal}5", "counted": whole or "1"}
        for key, number in numbers.items():
            fields[key] = words.bare_unit(unit, words.plural(number))
    fields["of"] = data["of_vowel"] if fold_vowel(fields["one"]) else data["of"]
    template = own.template(whole, gender, half=half, rate=bool(unit and "-per-" in unit))
    if "{stem}" in template:
        count = int(whole or 0)
        if not 0 < count <= len(own.stems):
            return f"{data['and_half'].format(**fields)} {fields['many']}"
        fields["stem"] = own.stems[count - 1]
    said = template.format(**fields)
    return f"{said} {word}" if word and gender is None else said
