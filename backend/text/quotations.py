"""What of a text stands between quotation marks or in parentheses, as far as a full stop has to know.

Tells whether the place of a mark is inside a quotation that closes soon, and whether that is one of the sentence or
speech of sentences of its own. Where sentences end is decided by `segmentation`.
"""

from __future__ import annotations

import re
from typing import Final

_QUOTES: Final = re.compile(
    r",,|''|[\"“”„«»()\[\]「」『』《》（）]|(?<!\w)['‘‚](?=\w)|(?<=[^\s(])['’](?!\w)"
)
_BOTH_WAYS: Final = '"»“'
_PAIRS: Final = {
    '"': '"',
    ",,": "''“”",
    "“": "”",
    "„": "“”",
    "«": "»",
    "»": "«",
    "(": ")",
    "[": "]",
    "'": "'’",
    "‘": "’",
    "‚": "‘’",
    "「": "」",
    "『": "』",
    "《": "》",
    "（": "）",
}
_QUOTATION: Final = 300
"""A quotation or parenthesis longer than this (characters) isn't held together."""
_DEEPEST: Final = 8
_BRACKETS: Final = ")]）》"
_SPEECH: Final = 4
"""What begins a quotation and has so many words is a sentence by itself: "Well!" is none."""
_WORD: Final = re.compile(r"\w+")
_SPACE: Final = re.compile(r"\s*")


def held(text: str, start: int, stop: int, end: int, *, final: bool, whole: bool) -> bool | None:
    """Return whether the mark at `stop`, in the sentence from `start` on, ends none for the quotation it is in.

    None when that isn't known yet: the rest of the quotation is still to come. A parenthesis, a title, and words
    quoted within a sentence are of that sentence. A quotation that begins with a sentence may hold several, each of
    them one, unless `whole` asks for quotations in one piece.
    """
    opened: list[tuple[str, int]] = []
    for mark in _QUOTES.finditer(text, max(start, stop - _QUOTATION), end):
        _open_or_close(opened, mark, stop)
    if not opened:
        return False
    if not whole and len(opened) == 1 and opened[0][0] not in _BRACKETS:
        place = opened[0][1]
        if not _WORD.search(text, start, place) and _words(text, place, stop) >= _SPEECH:
            said_on = _said_on(text, end, final)
            if not said_on:
                return said_on
            # A dash: if what is said closes at all.
    limit = max(place for _, place in opened) + _QUOTATION
    paragraph = text.find("\n\n", end, limit)
    depth = len(opened)
    for mark in _QUOTES.finditer(text, end, paragraph if paragraph >= 0 else limit):
        if mark.end() >= len(text) and not final:
            return None
        _open_or_close(opened, mark, limit)
        if len(opened) < depth:
            return True
    return False if final or paragraph >= 0 or limit < len(text) else None


def _words(text: str, start: int, end: int) -> int:
    return sum(1 for _ in _WORD.finditer(text, start, end))


def _said_on(text: str, end: int, final: bool) -> bool | None:
    """Return whether a dash follows, which parts what is said from who says it: "– asked he. – Tomorrow"."""
    match = _SPACE.match(text, end)
    following = match.end() if match else end
    if following >= len(text):
        return False if final else None
    return text[following] in "-–—"


def _open_or_close(opened: list[tuple[str, int]], mark: re.Match[str], until: int) -> None:
    """Take a quotation mark or bracket into account; none opens from `until` on."""
    each = mark.group()
    for depth in range(len(opened) - 1, -1, -1):
        if each in opened[depth][0]:
            del opened[depth:]
            return
    if each in _PAIRS and mark.start() < until and len(opened) < _DEEPEST and _may_open(mark):
        opened.append((_PAIRS[each], mark.start()))


def _may_open(mark: re.Match[str]) -> bool:
    """Return whether a mark that opens in one language and closes in another stands where it opens."""
    if mark.group() not in _BOTH_WAYS:
        return True
    text, before, after = mark.string, mark.start() - 1, mark.end()
    if before >= 0 and (text[before].isalnum() or text[before] in ".!?,…"):
        return False
    return not text[after : after + 1].isspace() and text[after : after + 1] not in ".,;:!?)"
