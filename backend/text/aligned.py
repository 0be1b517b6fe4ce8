"""A text beside its folded form: what is found in the one can be taken out of the other.

Speech is compared folded (`text.words.fold`); what is handed on keeps the words as they came, since names and codes
need their letters.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
import re
from typing import Final
import unicodedata

from backend.text.words import fold

_WORD: Final = re.compile(r"[^\W_]+")
_SIGN: Final = re.compile(r"[^\w\x00-\x7f]")


@lru_cache(maxsize=4096)
def _joins(sign: str) -> bool:
    """Whether folding makes letters of a sign ("™"), or nothing (an accent by itself): it parts no words then."""
    return bool(fold(sign)) or " " not in fold(f"a{sign}b")


def _plain(text: str) -> str:
    """Return `text`, letter by letter, with a letter for each sign that parts no words."""
    if text.isascii():
        return text
    return _SIGN.sub(lambda found: "x" if _joins(found[0]) else found[0], text)


class Aligned:
    """A text (`original`, in composed letters) and its words, `folded`, with one space between two."""

    def __init__(self, text: str) -> None:
        self.original = unicodedata.normalize("NFC", text)
        self._starts: list[int] = []
        self._spans: list[tuple[int, int]] = []
        words: list[str] = []
        at = 0
        for found in _WORD.finditer(_plain(self.original)):
            word = fold(self.original[found.start() : found.end()])
            if not word:
                continue
            words.append(word)
            self._starts.append(at)
            self._spans.append(found.span())
            at += len(word) + 1
        self.folded = " ".join(words)

    def taken(self, start: int, end: int) -> str:
        """Return the original of `folded[start:end]`, in whole words, without what parts it from its neighbours."""
        if start >= end or not self._spans:
            return ""
        first = max(0, bisect_right(self._starts, start) - 1)
        last = max(first, bisect_right(self._starts, end - 1) - 1)
        left, right = self._spans[first][0], self._spans[last][1]
        # "C++" and "50 %" keep what stands at their end, up to the space.
        while right < len(self.original) and self.original[right] in "+#%°":
            right += 1
        return self.original[left:right]

    def commas(self) -> list[int]:
        """Return where in `folded` a word begins that stands behind a comma or a colon."""
        return [
            self._starts[at]
            for at in range(1, len(self._spans))
            if any(
                sign in ",;:" for sign in self.original[self._spans[at - 1][1] : self._spans[at][0]]
            )
        ]
