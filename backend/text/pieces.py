"""Pieces of words: how words are found in texts of any language, in other forms and inside compounds.

A piece is four letters of a word with its edges, or two characters of a script that has no spaces. What is done with
what was found is left to others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
import re
from typing import Final

from backend.text.words import fold

_PIECE: Final = 4
_SHORT: Final = 3
"""Words of so many pieces are short: up to four letters."""
_RUNS: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
_NO_SPACES: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_HYPHENATED: Final = re.compile(r"\b\w+(?:-\w+)+\b")
_SPELT_CODE: Final = re.compile(r"\b[A-Z] \d{1,4}\b")
_CODE: Final = re.compile(r"(?=\D*\d)(?=.*[^\W\d])\w+")

PART_OF_WORD: Final = 0.5
"""A word of which a text holds at least this share of pieces is in it, to that share."""
_LONG: Final = 7
_PART_OF_LONG_WORD: Final = 0.35
"""The same for words of at least `_LONG` pieces, which change at both ends: "gereinigt" is "reinigen"."""
_STRIDE: Final = 80
"""Half of a stretch in which words stand close together, in characters."""


def spelled(text: str) -> str:
    """Return `text` folded, and what may also be written as one word so too.

    Speech says "wifi" where a manual has "Wi-Fi", and "e24" where it has "E 24".
    """
    joined = [word.replace("-", "") for word in _HYPHENATED.findall(text)] if "-" in text else []
    joined += [code.replace(" ", "") for code in _SPELT_CODE.findall(text)]
    return fold(" ".join((text, *joined)) if joined else text)


def pieces(text: str) -> list[str]:
    """Return the pieces of the words of `text`, in order.

    "Ofen 3" gives _ofe ofen fen_ _3_; characters of Chinese and Japanese go in pairs.
    """
    found: list[str] = []
    for run in _RUNS.findall(spelled(text)):
        if _NO_SPACES.match(run):
            found += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
        else:
            word = f"_{run}_"
            found += [word[at : at + _PIECE] for at in range(max(1, len(word) - _PIECE + 1))]
    return found


@lru_cache(maxsize=1024)
def _pieces_of(word: str) -> tuple[str, ...]:
    """Return the pieces of a word of a question, which many texts are asked for."""
    return tuple(pieces(word))


def edged(text: str) -> str:
    """Return `text` in the form that its pieces are substrings of."""
    return f"_{spelled(text).replace(' ', '_')}_"


def coverage(there: str, weights: Mapping[str, float], least: float = PART_OF_WORD) -> float:
    """Return how much of the words, by their weights, a text holds: 0 to 1. `there` is the text, `edged`.

    A word counts as far as its pieces are there, from the share `least` on: so inflected forms and compounds
    count, in any language.
    """
    total = held = 0.0
    for word, weight in weights.items():
        parts = _pieces_of(word)
        if not parts:
            continue
        total += weight
        held += weight * _counted(parts, [part in there for part in parts], least)
    return held / total if total else 0.0


def closeness(
    there: str, weights: Mapping[str, float], least: float = PART_OF_WORD
) -> tuple[float, float]:
    """Return the coverage of a text, and that of the stretch of a sentence or two that holds most of the words."""
    stretches = max(1, -(-len(there) // _STRIDE) - 1)
    held = [0.0] * stretches
    total = covered = 0.0
    for word, weight in weights.items():
        parts = _pieces_of(word)
        if not parts:
            continue
        total += weight
        where = [_stretches(there, part) for part in parts]
        anywhere = 0
        for each in where:
            anywhere |= each
        if not (counted := _counted(parts, list(map(bool, where)), least)):
            continue
        covered += weight * counted
        for at in range(stretches):
            if anywhere >> at & 1:
                held[at] += weight * _counted(parts, [each >> at & 1 for each in where], least)
    return (covered / total, max(held) / total) if total else (0.0, 0.0)


def _stretches(there: str, part: str) -> int:
    """Return the stretches that hold a piece, as bits: each begins in the middle of the one before it."""
    bits, at = 0, there.find(part)
    while at >= 0:
        half = at // _STRIDE
        bits |= 1 << half | (1 << half >> 1)
        at = there.find(part, (half + 1) * _STRIDE)
    return bits


def _counted(parts: Sequence[str], there: Sequence[int], least: float) -> float:
    """Return how much a word counts of whose pieces these are there."""
    share = sum(there) / len(parts)
    loose = least <= PART_OF_WORD and len(parts) >= _LONG
    # The end of a longer word is no form of a short one: "hole" isn't in "whole".
    begins = len(parts) > _SHORT or there[0] or not parts[0].startswith("_")
    return share if share >= (_PART_OF_LONG_WORD if loose else least) and begins else 0.0


def is_code(word: str) -> bool:
    """Return whether a word is of letters and digits: "e24", "wpa3"."""
    return _CODE.fullmatch(word) is not None
