"""The number gate: which figures of a sentence the material doesn't hold.

A claim is a value, a unit or kind, and the thing that it belongs to. It is held by the material if the same value stands
there, in whatever spelling, unless its unit or its thing says that it is another one's. What is no claim: marks
of lists, references to passages, the scale of a rating, counts of the words said, the current year, a number
that only names what was asked about. It errs on the side of the sentence where a conflict isn't plain. Reading
figures is left to `text/figures.py`; what follows from a miss, to `answer/gates.py`.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from functools import cached_property
import re
from typing import Final

from backend import languages
from backend.text.figures import Figure, Kind, figures, grammar, rounded
from backend.text.hours import Span, spans
from backend.text.language import detect
from backend.text.measures import convert
from backend.text.words import fold

_LIST_MARK: Final = re.compile(r"(?:^|[\n:;.!?])[ \t]*(?:[•*-]\s*)?\(?\Z")
_INLINE_MARK: Final = re.compile(r"\s\(?\Z")
_SMALL: Final = 10
"""Words for numbers up to this one are claims only beside a unit ("seven bar")."""
_SCALES: Final = (5, 10, 100)
_STEM: Final = 6
_TELLING: Final = 600
"""So many characters from the middle of the material tell its language: what it begins with is often names."""
_NEAR_BEFORE: Final = 50
_NEAR_AFTER: Final = 80
_HEDGE_CAP: Final = 0.05
_CENTURY: Final = 100
_YEARS: Final = (1000, 2200)
_BOUND: Final = 10
"""A year that is said to be before or after another is no further from it."""
_DAYS: Final = 31
_DENOMINATORS: Final = (2, 3, 4, 8, 16)
"""What stands over these is a fraction; over others it may be a score or two numbers ("24/7")."""
_ALL_OF: Final = {
    ("day", 7.0): "week",
    ("hour", 24.0): "day",
    ("month", 12.0): "year",
    ("week", 52.0): "year",
}
"""So many of one are the whole other: "open seven days a week" claims no number."""
_UNROUNDED: Final = 1e-6
"""What floating point may add to a value on its way to another unit and back."""
_NO_WHOLE: Final = 0.005
"""What a value that has no end in the other unit (100 min = 1.67 h) may differ by, as a part of it."""
_DEGREES: Final = frozenset(("degree", "celsius", "fahrenheit"))


def _stem(word: str) -> str:
    """Return what is left of a folded word without its ending: plurals and cases compare equal."""
    return re.sub(r"(?:ies|es|en|er|s|e|n|y)\Z", "", word)[:_STEM] if len(word) > 3 else word


class Material:
    """The figures of a material and of the question that it shall answer, read once, when first needed."""

    def __init__(
        self, text: str, language: str, question: str = "", now: datetime | None = None
    ) -> None:
        """Take the material, and the current moment, whose year may be said freely.

        `language` is that of the question and the answer; the material's own is told from its text where that is
        sure, since "1.500" isn't the same number in all languages.
        """
        self._text = text
        self._language = language
        self._question = question
        self._year = now.year if now else None

    @cached_property
    def _own(self) -> str:
        first = max(0, (len(self._text) - _TELLING) // 2)
        own = detect(self._text[first : first + _TELLING])
        return own if own in languages.SPOKEN else self._language

    @cached_property
    def _figures(self) -> list[Figure]:
        return figures(self._text, self._own)

    @cached_property
    def _values(self) -> dict[float, list[Figure]]:
        held: dict[float, list[Figure]] = defaultdict(list)
        for figure in self._figures:
            if figure.kind is Kind.TIME:
                held[figure.parts[0]].append(figure)
                continue
            for value in (*figure.values, *figure.parts):
                held[value].append(figure)
        return dict(held)

    @cached_property
    def _times(self) -> frozenset[float]:
        return frozenset(
            value for each in self._figures if each.kind is Kind.TIME for value in each.values
        )

    @cached_property
    def _names(self) -> frozenset[str]:
        """Codes and versions, also such as are written apart ("E 24")."""
        names = {each.name for each in self._figures if each.name}
        apart = re.findall(r"\b([A-Z]{1,3})[ -](\d+)\b", self._text)
        return frozenset(names | {(head + tail).lower() for head, tail in apart})

    @cached_property
    def _dates(self) -> dict[int, set[float]]:
        """Days by month."""
        dates: dict[int, set[float]] = defaultdict(set)
        for each in self._figures:
            if each.month:
                dates[each.month].update(
                    each.values[-1:] if each.kind is Kind.DATE else each.values
                )
        return dates

    @cached_property
    def _things(self) -> dict[str, set[float]]:
        """Values by the stem of the word, and by the unit, that they stand before."""
        things: dict[str, set[float]] = defaultdict(set)
        for each in self._figures:
            if each.kind is Kind.NUMBER:
                if each.noun:
                    things[_stem(each.noun)].update(each.values)
                if each.unit:
                    things[f"[{each.unit}]"].update(each.values)
        return things

    @cached_property
    def _pieces(self) -> frozenset[tuple[float, str]]:
        """What stands there as a part of a value only: 3 hours, and 15 minutes, of "3 h 15 min"."""
        return frozenset(piece for each in self._figures for piece in each.pieces)

    @cached_property
    def _asked(self) -> list[Figure]:
        return figures(self._question, self._language) if self._question else []

    def unsupported(self, sentence: str, language: str | None = None) -> list[str]:
        """Return the figures of `sentence` that the material doesn't hold, as they are written; [] = grounded.

        `language` is the sentence's, where it isn't the question's. Several sentences may be given at once.
        """
        language = language or self._language
        found = figures(sentence, language)
        right, wrong = self._told_hours(sentence, found, language)
        result = []
        for index, claim in enumerate(found):
            if id(claim) in wrong or (
                id(claim) not in right
                and self._is_claim(sentence, found, index, language)
                and not self._holds(sentence, claim)
            ):
                result.append(claim.text)
        return result

    @cached_property
    def _hours(self) -> list[Span]:
        return spans(self._text, self._figures, self._own)

    def _told_hours(
        self, sentence: str, found: list[Figure], language: str
    ) -> tuple[set[int], set[int]]:
        """Return the ids of the figures of spans of the day that the material has, and of those on no or another day."""
        told: tuple[set[int], set[int]] = (set(), set())
        said = spans(sentence, found, language)
        if said and self._hours:
            for span in said:
                told[not self._open(span)].update(map(id, span.figures))
        return told

    def _open(self, span: Span) -> bool:
        same = [each for each in self._hours if each.same(span)]
        return bool(same) and all(
            any(not each.days or day in each.days for each in same) for day in span.days
        )

    def _is_claim(self, text: str, found: list[Figure], index: int, language: str) -> bool:
        claim = found[index]
        rules = grammar(language)
        if claim.kind is Kind.LOOSE or (claim.kind is Kind.DATE and not claim.values):
            return False
        before = text[max(0, claim.start - 24) : claim.start]
        after = text[claim.end : claim.end + 24]
        if claim.kind is Kind.NUMBER:
            if claim.word and abs(claim.values[0]) <= _SMALL and not claim.unit:
                return False
            if (
                re.match(r"[.)]\)?(?:\s|\Z|\*)", after)
                and (_LIST_MARK.search(before) or (after[0] == ")" and _INLINE_MARK.search(before)))
                and len(claim.text) <= 2
                and (text[claim.end + 1 :].strip() or "\n" in before)
            ):
                return False
            if before.endswith("[") and after.startswith("]"):
                return False
            if claim.before in rules.references and not claim.noun and not claim.unit:
                return False
            if claim.noun in rules.counted or (
                abs(claim.values[0]) <= _SMALL and text.rstrip().endswith(":") and not claim.unit
            ):
                return False
            if index and self._is_scale(claim, found[index - 1], before, rules.out_of):
                return False
            whole = _ALL_OF.get((claim.unit or "", claim.values[0]))
            if whole and any(rules.units.get(word) == whole for word in fold(after).split()[:3]):
                return False
            if self._year and claim.values[0] == self._year and self._is_year(claim):
                return False
        return not self._names_topic(claim)

    @staticmethod
    def _is_scale(claim: Figure, rating: Figure, before: str, out_of: str) -> bool:
        """Return whether a figure is only the scale of the rating before it: "4 out of 5"."""
        return (
            claim.values[0] in _SCALES
            and claim.start - rating.end < 16
            and re.search(rf"\b{re.escape(out_of)}\s+\Z", before, re.IGNORECASE) is not None
        )

    @staticmethod
    def _is_year(claim: Figure) -> bool:
        """Return whether four digits stand for a year, and not for so many things."""
        return claim.text.isdigit() and claim.unit is None and not claim.noun

    def _names_topic(self, claim: Figure) -> bool:
        """Return whether a figure only repeats what was asked about: "2006 Chevy", "form 1040"."""
        if claim.kind is not Kind.NUMBER:
            return False
        for asked in self._asked:
            if asked.kind is not Kind.NUMBER or asked.values[0] != claim.values[0]:
                continue
            year = _YEARS[0] <= claim.values[0] < _YEARS[1]
            if not (asked.noun or asked.before or asked.unit) and claim.noun and year:
                return True  # "where does it go on 1040" and "the 1040 form"
            for one, other, telling in (
                # "Rinse it 37 times?" names no topic: a small number before a thing is how many there are.
                (asked.noun, claim.noun, claim.values[0] >= _YEARS[0]),
                (asked.before, claim.before, year),
            ):
                if telling and one and _stem(one) == _stem(other) and not claim.unit:
                    others = self._things.get(_stem(one), set())
                    return not others or claim.values[0] in others
        return False

    def _holds(self, text: str, claim: Figure) -> bool:
        match claim.kind:
            case Kind.CODE:
                return (
                    claim.name in self._names or self._holds_parts(claim) or self._holds_name(claim)
                )
            case Kind.VERSION:
                return any(
                    name == claim.name or name.startswith(claim.name + ".") for name in self._names
                )
            case Kind.TIME:
                return self._holds_time(claim)
            case Kind.DATE:
                year, day = claim.values
                return day in self._dates.get(claim.month, ()) and (year in self._values)
            case Kind.DECADE:
                return self._holds_decade(claim)
            case Kind.FRACTION:
                return (
                    claim.values[0] in self._values
                    or self._holds_converted(claim)
                    or (
                        bool(claim.parts)
                        and claim.parts[1] not in _DENOMINATORS
                        and all(part in self._values for part in claim.parts)
                    )
                )
            case _:
                return self._holds_number(text, claim)

    def _holds_parts(self, claim: Figure) -> bool:
        """Return whether "16GB" or "F-150" stands apart in the material."""
        return bool(claim.name) and claim.name in re.sub(r"[\W_]+", "", self._around(claim.name))

    def _holds_name(self, claim: Figure) -> bool:
        """Return whether a name that has a number ("COVID-19") stands in the material without it."""
        name, _, number = claim.text.partition("-")
        return (
            len(name) > 3
            and name.isalpha()
            and number.isdigit()
            and f" {fold(name)} " in self._folded
        )

    @cached_property
    def _folded(self) -> str:
        return f" {fold(self._text)} "

    def _around(self, name: str) -> str:
        digits = re.search(r"\d+", name)
        if not digits or not re.search(r"[a-z]{2}", name):
            return ""
        return " ".join(
            self._text[max(0, each.start - 12) : each.end + 12].casefold()
            for each in self._values.get(float(digits.group()), ())
        )

    def _holds_time(self, claim: Figure) -> bool:
        if any(value in self._times for value in claim.values):
            return True
        hour, minute = claim.parts
        if claim.unit == "hour" and any(
            each.unit and _equal(convert(each.values[0], each.unit, "minute"), hour * 60 + minute)
            for each in self._figures
            if each.kind is not Kind.TIME
        ):
            return True
        return not minute and any(
            each.kind is Kind.NUMBER and not each.unit and not each.noun and len(each.text) <= 2
            for each in self._values.get(hour, ())
        )

    def _holds_decade(self, claim: Figure) -> bool:
        first = claim.values[0]
        decades = (
            [first] if first >= _CENTURY else [century + first for century in (1800, 1900, 2000)]
        )
        # "The 1700s" are a century, and may be its first ten years.
        years = _CENTURY if first >= _YEARS[0] and first % _CENTURY == 0 else 10
        return first in self._values or any(
            decade <= value < decade + years for decade in decades for value in self._values
        )

    def _holds_number(self, text: str, claim: Figure) -> bool:
        value = claim.values[0]
        is_day = value <= _DAYS
        # "In May 2016" isn't held by "March 2016"; which year a day is of may be told elsewhere.
        dated = claim.month and (is_day or claim.before in grammar(self._language).months)
        held = [
            each
            for one in claim.values
            for each in self._values.get(one, ())
            if _may_hold(each, claim) and (not dated or each.month in (0, claim.month))
        ]
        days = self._dates.get(claim.month) if is_day and claim.month else None
        if days and value not in days:
            return False
        if (value, claim.unit) in self._pieces:
            # Half of a value isn't held by a bare number that happens to be the same.
            held = [each for each in held if each.unit == claim.unit]
        if held:
            return not self._conflicts(text, claim, held)
        if claim.pieces and self._holds_pieces(claim):
            return True
        if claim.before and (claim.before + claim.text).lower() in self._names:
            return True
        if any(name.startswith(claim.text + ".") for name in self._names):
            return True
        minutes = convert(value, claim.unit, "minute") if claim.unit else None
        if (
            minutes
            and claim.unit != "second"
            and any(_equal(minutes, each) for each in self._times)
        ):
            return True
        if claim.unit == "percent" and rounded(value / 100) in self._values:
            return any(
                each.kind in (Kind.FRACTION, Kind.LOOSE)
                for each in self._values[rounded(value / 100)]
            )
        if claim.unit == "century":
            return any(
                _YEARS[0] < each <= _YEARS[1] and (each - 1) // _CENTURY + 1 == value
                for each in self._values
            )
        if claim.unit == "cent" and rounded(value / 100) in self._values:
            return True
        return (
            self._holds_converted(claim)
            or (claim.hedged and self._holds_nearly(claim))
            or self._holds_bound(text, claim)
        )

    def _holds_bound(self, text: str, claim: Figure) -> bool:
        """Return whether a year only bounds one of the material: "before 2014" is true of 2013."""
        year = claim.values[0]
        if claim.unit or claim.noun or claim.month or not _YEARS[0] <= year < _YEARS[1]:
            return False
        rules = grammar(self._language)
        words = fold(text[max(0, claim.start - 16) : claim.start]).split()[-2:]
        first = year - _BOUND if rules.earlier.intersection(words) else year + 1
        last = year + _BOUND if rules.later.intersection(words) else year - 1
        return any(
            first <= value <= last and value != year
            for value, held in self._values.items()
            if any(each.kind is Kind.DATE or self._is_year(each) for each in held)
        )

    def _holds_converted(self, claim: Figure) -> bool:
        """Return whether the material says the same in another unit."""
        if not claim.unit:
            return False
        value = claim.values[0]
        for figure in self._figures:
            if not figure.unit or figure.unit == claim.unit or figure.kind is Kind.TIME:
                continue
            there = convert(figure.values[0], figure.unit, claim.unit)
            if there is None:
                continue
            reach = claim.step / 2
            if there[1] and not claim.hedged:
                reach = min(reach, abs(value) * _NO_WHOLE) if claim.step < 1 else 0
            elif there[1]:
                reach = _reach(claim)
            if abs(there[0] - value) <= reach + _UNROUNDED:
                return True
        return False

    def _holds_pieces(self, claim: Figure) -> bool:
        """Return whether the parts of a value stand side by side in the material, if not as one value."""
        wanted = claim.pieces
        return len(wanted) > 1 and any(
            tuple(
                (each.values[0], each.unit) for each in self._figures[first : first + len(wanted)]
            )
            == wanted
            for first in range(len(self._figures))
        )

    def _holds_nearly(self, claim: Figure) -> bool:
        """Return whether a hedged figure is a rounding of one in the material."""
        value, reach = claim.values[0], _reach(claim)
        return any(
            abs(each - value) <= reach + 1e-9
            and any(_agree(claim.unit, figure.unit) for figure in held)
            for each, held in self._values.items()
        )

    def _conflicts(self, text: str, claim: Figure, held: list[Figure]) -> bool:
        """Return whether the value is there, but plainly belongs to something else."""
        if claim.unit:
            if any(each.unit is None for each in held):
                stated = self._things.get(f"[{claim.unit}]")
                if not stated or any(not each.noun for each in held):
                    return False
                return not any(_agree(claim.unit, each.unit) and each.unit for each in held)
            return not any(_agree(claim.unit, each.unit) for each in held)
        if not claim.noun or claim.month or claim.ranged:
            return False
        stem = _stem(claim.noun)
        others = self._things.get(stem)
        if not others or any(value in others for value in claim.values):
            return False
        return not any(stem in self._near(each) for each in held)

    def _near(self, figure: Figure) -> str:
        """Return the folded words around a figure that belong to it and to no other one."""
        every = self._figures
        index = self._places[id(figure)]
        first = max(0, figure.start - _NEAR_BEFORE)
        if index:
            first = max(first, every[index - 1].end)
        last = figure.end + _NEAR_AFTER
        if index + 1 < len(every):
            last = min(last, every[index + 1].start)
        before = fold(self._text[first : figure.start])
        if index and first == every[index - 1].end and every[index - 1].noun:
            before = before.removeprefix(every[index - 1].noun)
        return f"{before} {fold(self._text[figure.end : last])}"

    @cached_property
    def _places(self) -> dict[int, int]:
        return {id(each): index for index, each in enumerate(self._figures)}


def _reach(claim: Figure) -> float:
    """Return how far a hedged figure may be from what it rounds."""
    value, step = claim.values[0], claim.step
    if value and value == int(value):
        while value % (step * 10) == 0:
            step *= 10
    return min(step / 2, abs(value) * _HEDGE_CAP) if step > claim.step else step / 2


def _equal(converted: tuple[float, bool] | None, value: float) -> bool:
    return converted is not None and abs(converted[0] - value) < _UNROUNDED


def _may_hold(held: Figure, claim: Figure) -> bool:
    """Return whether a figure of the material may stand behind a claim of the same value."""
    if held.kind is Kind.TIME:
        return claim.step == 1 and not claim.unit and not claim.noun
    if held.kind is Kind.LOOSE and held.values[0] >= 1:
        return not claim.unit and (not claim.noun or claim.text[-1].isalpha())
    return True


def _agree(one: str | None, other: str | None) -> bool:
    """Return whether two units may be the same; none agrees with all."""
    if one is None or other is None or one == other:
        return True
    return "degree" in (one, other) and one in _DEGREES and other in _DEGREES
