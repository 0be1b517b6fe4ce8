"""Documents as headed parts of plain text, and how parts become passages.

Decides where a text may be cut so that a passage can be read and quoted by itself: at the end of a paragraph, else
of a line, else of a sentence. Which formats there are, and how they become parts, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
import re
from typing import Final

MOST: Final = 1200
"""A passage is at most this long, in characters; a rest of up to `_REST` is not left alone."""
_REST: Final = 200
_LEAD: Final = 200
"""A paragraph of up to this length that ends in a colon, or is a title, stays with what it announces."""
_TITLE: Final = 80
_ITEM: Final = re.compile(r"(?:[-*+•–]|\d{1,9}[.)])\s")
_SENTENCE_END: Final = re.compile(
    # Not before a figure: "3 Std. 15 Min." is one value.
    r"(?<=[.!?…。！？])[\"'”’»)\]]*(?:\s+(?![\s\d])|(?<=[。！？]))"
)
_PATH: Final = " › "
_SAYS_LITTLE: Final = 3
_FIGURE: Final = 5
"""A cell of so few words, or of so few with a digit, needs the head of its column to be understood."""
_ENDED: Final = (".", "!", "?", ":", ";", "…", "。")


@dataclass(frozen=True, slots=True)
class Part:
    """What stands under one heading: the path of headings to it, and its paragraphs, parted by blank lines.

    Lines of a list or a table follow each other without a blank line between them.
    """

    headings: tuple[str, ...]
    text: str

    @property
    def section(self) -> str:
        """The headings as one line, "" above the first heading."""
        return _PATH.join(self.headings)


def row_lines(header: Sequence[str] | None, rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the rows of a table as lines that can be read aloud: the first cell, then the others."""
    lines = []
    for row in rows:
        first, *others = [" ".join(cell.split()) for cell in row] or [""]
        heads = [*(header or ())[1:], *("" for _ in others)]
        said = [
            f"{head}: {cell}" if head and len(others) > 1 and _needs_head(cell) else cell
            for head, cell in zip(heads, others, strict=False)
            if cell
        ]
        # A cell's full stop would end the row's sentence early.
        said[:-1] = [cell.rstrip(".") for cell in said[:-1]]
        line = ": ".join(filter(None, (first, "; ".join(said))))
        if line:
            lines.append(line if line.endswith(_ENDED) else f"{line}.")
    return lines


def _needs_head(cell: str) -> bool:
    words = len(cell.split())
    return words <= _SAYS_LITTLE or (words <= _FIGURE and any(map(str.isdecimal, cell)))


def passages(parts: Iterable[Part]) -> Iterator[tuple[str, str]]:
    """Yield (section, text) of each passage, in order. No character but white space is lost or added."""
    for part in parts:
        for text in _packed(part.text):
            yield part.section, text


def _packed(text: str) -> Iterator[str]:
    """Yield paragraphs of `text` together as long as they fit."""
    packed: list[str] = []
    done: list[str] = []
    for paragraph in _paragraphs(text):
        if packed and _length(packed) + 2 + len(paragraph) > MOST:
            lead = packed.pop() if len(packed) > 1 and _announces(packed[-1]) else None
            done.append("\n\n".join(packed))
            packed = [lead] if lead is not None and len(lead) + 2 + len(paragraph) <= MOST else []
            if lead is not None and not packed:
                done[-1] += f"\n\n{lead}"
        packed.append(paragraph)
    if packed:
        rest = "\n\n".join(packed)
        if done and len(rest) <= _REST:
            done[-1] += f"\n\n{rest}"
        else:
            done.append(rest)
    yield from done


def _announces(paragraph: str) -> bool:
    if is_title(paragraph):
        return True
    return len(paragraph) <= _LEAD and paragraph.endswith((":", "："))


def is_title(paragraph: str) -> bool:
    """Return whether a paragraph is a title, such as that of a box: one short line that is neither sentence nor item."""
    return (
        len(paragraph) <= _TITLE
        and "\n" not in paragraph
        and "|" not in paragraph
        and not _ITEM.match(paragraph)
        and not paragraph.rstrip("\"'”’»)]").endswith((*_ENDED, ",", "！", "？", "؟", "।", "："))
    )


def _length(paragraphs: Sequence[str]) -> int:
    return sum(map(len, paragraphs)) + 2 * (len(paragraphs) - 1)


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        stripped = paragraph.strip()
        if len(stripped) <= MOST:
            if stripped:
                yield stripped
        else:
            yield from _fitted(stripped.split("\n"), "\n")


def _fitted(pieces: Iterable[str], glue: str) -> Iterator[str]:
    """Yield `pieces` together as long as they fit; one that is too long is taken apart further."""
    packed = ""
    for piece in pieces:
        stripped = piece.strip()
        if not stripped:
            continue
        if packed and len(packed) + len(glue) + len(stripped) > MOST:
            yield packed
            packed = ""
        if len(stripped) <= MOST:
            packed = f"{packed}{glue}{stripped}" if packed else stripped
        elif glue == "\n":
            yield from _fitted(_SENTENCE_END.split(stripped), " ")
        else:
            yield from _hard(stripped)
    if packed:
        yield packed


def _hard(text: str) -> Iterator[str]:
    """Yield a text without sentence ends in pieces, cut between words where it has any."""
    while len(text) > MOST:
        at = text.rfind(" ", MOST // 2, MOST)
        at = MOST if at < 0 else at
        yield text[:at].rstrip()
        text = text[at:].lstrip()
    if text:
        yield text
