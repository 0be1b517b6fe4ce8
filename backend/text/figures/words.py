"""Figures that are written in words: "fifteen hundred", "ventuno", "dreieinhalb"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import re
from typing import Final

from backend.text.figures.around import surround
from backend.text.figures.figure import Figure, Kind, rounded
from backend.text.figures.grammar import Grammar
from backend.text.words import fold

_LETTERS: Final = re.compile(r"[^\W\d_]+")
_THOUSAND: Final = 1000
_SCALES: Final = frozenset((100.0, 1e3, 1e6, 1e9, 1e12))


def words(text: str, rules: Grammar) -> Iterator[Figure]:
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
            surround(text, figure, rules)
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
            surround(text, figure, rules)
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
