"""How a language writes numbers: its tables, and the reading of digits with marks between them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
import re
from typing import Any, Final

from backend import languages
from backend.text.patterns import either
from backend.text.words import fold

SPACE: Final = "\u00a0\u202f\u2009"
_SPACED: Final = re.compile(rf"\d{{1,3}}(?:[ {SPACE}]\d{{3}})+(?!\d)(?:[.,]\d+)?")
PLAIN: Final = re.compile(r"\d+(?:[.,'’]\d+){0,8}")
_DASH: Final = r"\s?(?:[-–—‐]|\.\.\.?)\s?"
_NEVER: Final = 1_000_000
_MANY: Final = 50_000
"""No more words are remembered."""


@lru_cache(maxsize=8192)
def plain_word(word: str) -> str:
    """Return a word folded; most of a text's words are met again and again."""
    return fold(word)


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
        self._no_numbers: set[str] = set()
        self.earlier, self.later = (
            frozenset(fold(data[key]).split()) for key in ("earlier", "later")
        )
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
        space = rf"[ {SPACE}]?"
        self.between = re.compile(rf"\.?,?[ {SPACE}\n]?(?:(?:{joiners}|&|\+) )?|-")
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
        return re.compile(either((*self.words, *self.joiners)))

    def beginnings(self, words: set[str]) -> list[str]:
        """Return those of `words`, which are in lower case, that a number in words may begin with.

        Those that don't are remembered: a text has hundreds of them, and the next text has the same.
        """
        found: list[str] = []
        if len(self._no_numbers) > _MANY:
            self._no_numbers.clear()
        for word in words - self._no_numbers:
            (found.append if self._begins(plain_word(word)) else self._no_numbers.add)(word)
        return found

    def _begins(self, word: str) -> bool:
        if word in self.known or self.atoms(word):
            return True
        return any(
            word.endswith(end) and word.removesuffix(end) in self.words for end in self.fractions
        )

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
            raw = re.sub(rf"[ {SPACE}]", "", spaced.group()).replace(",", ".")
            return spaced.end(), float(raw), _step(raw)
        plain = PLAIN.match(text, start)
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
def symbols() -> tuple[Mapping[str, str], Mapping[str, str], re.Pattern[str]]:
    """Return units by symbol, currencies by symbol, and the pattern of the symbols after a number."""
    data = languages.symbols()
    units = {**data["units"], **{symbol: symbol for symbol in data["per"]}}
    currencies = data["currencies"]
    pattern = re.compile(rf"[\s{SPACE}]?({either((*units, *currencies))})(?![^\W_]|[°²³])")
    return units, currencies, pattern
