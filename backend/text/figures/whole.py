"""What is one value though it is written as two: "3 Std. 15 Min.", "5 ft 3", "three and a half hours"."""

from __future__ import annotations

from collections.abc import Sequence
import re
from typing import Final

from backend.text.figures.around import surround
from backend.text.figures.figure import Figure, Kind, rounded
from backend.text.figures.grammar import SPACE, Grammar
from backend.text.measures import NEXT, share

_SHORT: Final = re.compile(rf"[ {SPACE}]|\. (?=\d{{1,2}}\s*(?:[^\w\s]|\Z))")
_APART: Final = 32
"""The parts of one value are no further apart than this, in characters."""


def whole(text: str, found: Sequence[Figure], rules: Grammar) -> list[Figure]:
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
            surround(text, figure, rules)
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
    set_pieces(figure, (*pieces, (other.values[0], smaller)), other.step)
    return figure


def set_pieces(figure: Figure, pieces: tuple[tuple[float, str], ...], step: float = 1.0) -> None:
    """Give a figure its value in the first of its units."""
    unit = pieces[0][1]
    worths = [1.0, *(share(unit, smaller) or 0.0 for _, smaller in pieces[1:])]
    total = sum(value * worth for (value, _), worth in zip(pieces, worths, strict=True))
    figure.values, figure.step = (rounded(total),), step * worths[-1]
    figure.unit, figure.pieces = unit, pieces
