"""The text of a feed, and no more of it than is read in a moment.

Decides what is left out of one that is endless, before a parser sees it: the parser takes seconds for what a hostile or
broken server can send in one, the square of its attributes among it. What the text means is `feeds`'.
"""

from __future__ import annotations

import re
from typing import Final

from backend.text import decoding

MOST_ITEMS: Final = 200
_LAST_ITEMS: Final = 100
"""Some feeds have their newest items last."""
_MOST_MARKS: Final = 40_000
"""Tags, comments and attributes: 200 items of 200 each are still read whole."""
_MOST_ENTITIES: Final = 150_000
_MOST_TAG: Final = 4_000
_MOST_ATTRIBUTES: Final = 60
_LONG: Final = re.compile(r"<([\w.:-]{1,80})\s[^<>]{600,}>")
_DECLARED: Final = re.compile(
    r"\s*<\?xml[^>]{0,300}?encoding\s*=\s*[\"']([\w.:-]{1,40})[^>]{0,200}>"
)
_DECLARATION: Final = re.compile(r"\s*<\?xml\b[^>]{0,500}>")
_ITEM: Final = re.compile(r"<(?:[\w.-]{1,40}:)?(?:item|entry)[\s>]")
_ITEM_ENDS: Final = re.compile(r"</(?:[\w.-]{1,40}:)?(?:item|entry)\s{0,9}>")


class NoFeed(Exception):
    """What was read is no feed."""


def decoded(body: bytes) -> str:
    """Return the text of a feed without its XML declaration."""
    declared = _DECLARED.match(body[:600].removeprefix(b"\xef\xbb\xbf").decode("ascii", "replace"))
    text = decoding.decoded(body, declared[1] if declared else "")
    return _DECLARATION.sub("", text, count=1)


def bounded(text: str) -> str:
    """Return a feed with its first and its last items, which are all of them unless they are many. Raises NoFeed."""
    text = _LONG.sub(_bare, text)
    end, more = _first_items(text)
    read = text[:end] + (text[_last_items(text, end) :] if more else "")
    if read.count("&") > _MOST_ENTITIES:
        raise NoFeed
    return read


def _bare(tag: re.Match[str]) -> str:
    """Return a long tag, without its attributes if they are too many or too long."""
    if len(tag[0]) <= _MOST_TAG and tag[0].count("=") <= _MOST_ATTRIBUTES:
        return tag[0]
    return f"<{tag[1]}{'/' if tag[0].endswith('/>') else ''}>"


def _first_items(text: str) -> tuple[int, bool]:
    """Return up to where a text is read, and whether there is more of it. Raises NoFeed."""
    at = end = marks = items = 0
    while (start := text.find("<", at)) >= 0:
        closing = ">"
        if text.startswith("<!--", start):
            closing = "-->"
        elif text.startswith("<![CDATA[", start):
            closing = "]]>"
        at = text.find(closing, start) + len(closing)
        if at < len(closing):
            # Half a tag, from where it was cut off.
            return start, False
        marks += sum(text.count(mark, start, at) for mark in "<=") if closing == ">" else 1
        if marks > _MOST_MARKS or (items == MOST_ITEMS and _ITEM.match(text, start)):
            if not end:
                raise NoFeed
            return end, True
        if _ITEM_ENDS.match(text, start):
            items, end = items + 1, at
    return len(text), False


def _last_items(text: str, since: int) -> int:
    """Return where the last items begin, none before `since`; where the last one ends if they can't be read."""
    starts = [found.start() for found in _ITEM.finditer(text, since)][-_LAST_ITEMS:]
    if starts and text.count("<", starts[0]) <= _MOST_MARKS:
        return starts[0]
    return max((found.end() for found in _ITEM_ENDS.finditer(text, since)), default=since)
