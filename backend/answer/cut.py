"""A text cut at a sentence end, so that it fits.

Decides only where to cut: never inside a sentence, a decimal, an abbreviation or a short quotation, and never right
after a heading or the mark of a list, which announce what was cut off. How long a text may be is a setting.
"""

from __future__ import annotations

import re
from typing import Final

from backend.text.segmentation import spans

_MARK: Final = re.compile(
    r"(?:[•‣▪●◦*+–—-]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{2,4})[.)]+|#{1,6}(?:\s.*)?|\*\*[^*\n]+\*\*:?)\Z"
)
"""A list mark alone, a heading."""
_ITEM: Final = re.compile(r"[•‣▪●◦*+–—-]\s|\(?\d{1,3}[.)]\s")
_OPEN: Final = (":", ",", ";", "：")


def is_mark(sentence: str) -> bool:
    """Return whether `sentence` is a heading or the mark of a list, with which nothing ends."""
    return _MARK.match(sentence) is not None


def announces(sentence: str, *, alone: bool = True) -> bool:
    """Return whether a sentence that isn't the last announces what follows it.

    By what it is or ends in, and, if it stands `alone` on its line, by having no mark at its end.
    """
    if is_mark(sentence) or sentence.endswith(_OPEN):
        return True
    return alone and sentence[-1:].isalnum() and not _ITEM.match(sentence)


def cut(text: str, cap: int, language: str) -> str:
    """Return the longest prefix of whole sentences of at most `cap` characters; "" when none fits.

    A text that fits comes back whole, but for white space, headings and list marks at its end.
    """
    places = spans(text, language, whole_quotations=True)
    kept = [place for place in places if place[1] <= cap]
    while kept:
        start, end = kept[-1]
        sentence = text[start:end]
        whole = len(kept) == len(places)
        if not (is_mark(sentence) if whole else announces(sentence, alone=_line_ends(text, end))):
            return text[:end]
        kept.pop()
    return ""


def _line_ends(text: str, place: int) -> bool:
    """Return whether there is a line end in the white space at `place`."""
    rest = text[place:]
    return "\n" in rest[: len(rest) - len(rest.lstrip())]
