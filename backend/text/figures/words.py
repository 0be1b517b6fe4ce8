"""Figures that are written in words: "fifteen hundred", "ventuno", "dreieinhalb"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import re
from typing import Final

from backend.text.figures.around import surround
from backend.text.figures.figure import Figure, Kind, rounded
from backend.text.figures.grammar import Grammar, plain_word

_LETTERS: Final = re.compile(r"[^\W\d_]+")
_WORD: Final = re.compile(r"\w+")
_NO_LETTERS: Final = {code: " " for code in range(128) if not chr(code).isalpha()}
_THOUSAND: Final = 1000
_SCALES: Final = frozenset((100.0, 1e3, 1e6, 1e9, 1e12))


def words(text: str, rules: Grammar) -> Iterator[Figure]:
    """Yield the figures that are written in words."""
    done = 0
    for start in _places(text, rules):
        if start < done:
            continue
        for end, figure in _from(text, start, rules):
            done = end
            yield figure


def _places(text: str, rules: Grammar) -> list[int]:
    """Return where a word stands that begins a number, or is one.

    Few words are, and most of a text's come again and again: looking at each word once is what makes this fast.
    """
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(each.lower() if len(each.lower()) == 1 else each for each in text)
    if lowered.isascii():
        every = set(lowered.translate(_NO_LETTERS).split())
    else:
        every = set(_WORD.findall(lowered))
        mixed = {each for each in every if not each.isalpha()}
        every = every.difference(mixed).union(*map(_LETTERS.findall, mixed))
    places = []
    for word in rules.beginnings(every):
        start = lowered.find(word)
        while start >= 0:
            end = start + len(word)
            if not (lowered[end : end + 1].isalpha() or lowered[start - 1 : start].isalpha()):
                places.append(start)
            start = lowered.find(word, end)
    places.sort()
    return places


def _from(text: str, start: int, rules: Grammar) -> Iterator[tuple[int, Figure]]:
    """Yield the figures of the number words that stand together from `start` on, and where to go on after them."""
    run: list[tuple[re.Match[str], tuple[float | None, ...]]] = []
    for match in _LETTERS.finditer(text, start):
        word = plain_word(match[0])
        if run and not _near(text, run[-1][0], match):
            break
        if made := rules.atoms(word):
            run.append((match, made))
        elif run and (word in rules.joiners or word in rules.points):
            run.append((match, (None,) if word in rules.joiners else ()))
        elif run:
            break
        elif figure := _with_fraction(text, match, word, rules):
            yield match.end(), figure
            return
        else:
            value = (rules.loose[word],)
            yield (
                match.end(),
                Figure(match.start(), match.end(), match[0], Kind.LOOSE, value, word=True),
            )
            return
    while run and run[-1][1] in ((None,), ()):
        run.pop()
    for figure in _read(text, run, rules):
        yield run[-1][0].end(), figure


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
