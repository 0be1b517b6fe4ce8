"""A text cut at a sentence end, so that it fits.

Decides only where to cut: never inside a sentence, a decimal, an abbreviation or a short quotation, and never right
after a heading or the mark of a list, which announce what was cut off. How long a text may be is a setting.
"""

from __future__ import annotations

import re
from typing import Final

from backend.text.segmentation import spans

_ANNOUNCES: Final = re.compile(
    r"(?:[•‣▪●◦*+–—-]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{2,4})[.)]+|#{1,6}(?:\s.*)?|\*\*[^*\n]+\*\*)\Z"
)
"""A list mark alone, a heading."""
_OPEN: Final = (":", ",", ";", "：")


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
        if not _ANNOUNCES.match(sentence) and (whole or not _announces(text, sentence, end)):
            return text[:end]
        kept.pop()
    return ""


def _announces(text: str, sentence: str, end: int) -> bool:
    """Return whether what follows is announced: by a colon, or by a line that ends without a mark."""
    if sentence.endswith(_OPEN):
        return True
    line_ends = "\n" in text[end : end + len(text[end:]) - len(text[end:].lstrip())]
    return line_ends and sentence[-1].isalnum() and not re.match(r"[•*+-]|\(?\d{1,3}[.)]", sentence)
