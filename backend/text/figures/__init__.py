"""The figures of a text: numbers, times, dates, versions, codes, with what stands around them.

Reads the spellings of a language ("1,500", "1.500", "fifteen hundred", "1.5 million") into values that can be
compared. Whether a figure may be said is decided in `text/numbers.py`.
"""

from __future__ import annotations

from backend.text.figures.digits import digits
from backend.text.figures.figure import Figure, Kind, rounded
from backend.text.figures.grammar import Grammar, grammar
from backend.text.figures.ranges import join
from backend.text.figures.whole import whole
from backend.text.figures.words import words

__all__ = ["Figure", "Grammar", "Kind", "figures", "grammar", "rounded"]


def figures(text: str, language: str) -> list[Figure]:
    """Return the figures of `text` in order."""
    rules = grammar(language)
    found: list[Figure] = []
    for figure in sorted((*digits(text, rules), *words(text, rules)), key=lambda each: each.start):
        if not found or figure.start >= found[-1].end:
            found.append(figure)
    found = whole(text, found, rules)
    join(text, found, rules)
    return found
