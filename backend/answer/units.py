"""What can be quoted of a passage: its sentences, rows and steps, each with the headings that it stands under.

Decides where one ends, and what is no sentence: titles, rules, addresses. Which are relevant is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
import re
from typing import Final, Literal

from backend.answer.reply import ends_sentence
from backend.text.forms import SHORTEST_STEM
from backend.text.parts import is_title
from backend.text.segmentation import sentences
from backend.text.words import apart, compared, tokens
from backend.types import Passage

_LIST_MARK: Final = re.compile(r"^\s*(?:[-*+•–]|\d{1,2}[.)])\s+")
_CELL: Final = re.compile(r"\s*\|\s*")
_ROW: Final = re.compile(r"[^:.;]{1,40}: [^;]+;|[^:.;]{1,40}: [^.;]{1,60}\.?\Z")
_RULE: Final = re.compile(r"^[\s|:=_*-]*$")
_MARKUP: Final = re.compile(r"[*_`#]+(?=\S)|(?<=\S)[*_`#]+|^#+\s*")
_HAS_DIGIT: Final = re.compile(r"\d")
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")
_ADDRESS: Final = re.compile(r"\b[a-z]+://\S+")
_SPLIT_CODE: Final = re.compile(r"\b([a-z]{1,2}) (?=\d{1,4}\b)")

Kind = Literal["sentence", "row", "step", "title"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence, row or step, where it stands, and the folded words of it, of its headings, and of the lowest.

    `order` are its words as they follow each other, between spaces. `special` are those of the heading of its part
    that the title of the whole document hasn't.
    """

    text: str
    kind: Kind
    source: str
    passage: Passage
    place: int
    order: str
    words: frozenset[str]
    headings: frozenset[str]
    heading: frozenset[str]
    special: frozenset[str]


def words_of(folded: Sequence[str]) -> list[str]:
    """Return the words to compare.

    Codes are in one piece, as they are spoken in two ("e 24"); a script without spaces gives pairs of characters.
    """
    return compared(_SPLIT_CODE.sub(r"\1", " ".join(apart(folded))).split())


@lru_cache(maxsize=256)
def units(passage: Passage, source: str, language: str) -> tuple[Unit, ...]:
    """Return what can be quoted of a passage, in order; `language` is that of a passage that doesn't tell its own."""
    language = passage.language or language
    title, section = (
        frozenset(words_of(tokens(text))) for text in (passage.title, passage.section or "")
    )
    lowest = frozenset(words_of(tokens((passage.section or "").rpartition(" › ")[2])))
    known = {word[:SHORTEST_STEM] for word in title}
    special = frozenset(word for word in lowest if word[:SHORTEST_STEM] not in known)
    found: list[Unit] = []
    intro: frozenset[str] = frozenset()
    for kind, text in _texts(passage.text, language):
        order = words_of(tokens(text))
        words = frozenset(order)
        if kind == "title" or text.endswith(":"):
            # It speaks of what follows, and says nothing by itself.
            intro = words
            continue
        if not order:
            continue
        if not ends_sentence(text):
            text += "."
        found.append(
            Unit(
                text,
                kind,
                source,
                passage,
                len(found),
                f" {' '.join(order)} ",
                words,
                title | section | intro,
                lowest | intro,
                special,
            )
        )
    return tuple(found)


def _texts(text: str, language: str) -> Iterator[tuple[Kind, str]]:
    """Yield what can be said of a text, each as a sentence: sentences, and rows and items line by line."""
    blocks = [block.splitlines() for block in re.split(r"\n\s*\n", text) if block.strip()]
    for at, lines in enumerate(blocks, 1):
        if at < len(blocks) and len(lines) == 1 and is_title(lines[0].strip()):
            yield "title", lines[0].strip()
        elif len(lines) > 1 and all(_is_row(line) for line in lines[1:]):
            for line in lines:
                yield from _said(line, language)
        else:
            yield from _said(" ".join(lines), language)


def _is_row(line: str) -> bool:
    """Return whether a line stands for itself: a list item, a row, or what ends like a sentence."""
    return bool(
        _LIST_MARK.match(line) or "|" in line or line.rstrip().endswith((".", "!", "?", ":", ";"))
    )


def _said(line: str, language: str) -> Iterator[tuple[Kind, str]]:
    if _RULE.match(line):
        return
    mark = _LIST_MARK.match(line)
    bare = _MARKUP.sub("", _LIST_MARK.sub("", line)).strip()
    if not _HAS_LETTER.search(_ADDRESS.sub("", bare)) and not _HAS_DIGIT.search(bare):
        return
    if "|" in bare:
        cells = [cell for cell in _CELL.split(bare) if cell]
        if not cells:
            return
        bare = f"{cells[0]}: {'; '.join(cells[1:])}" if len(cells) > 1 else cells[0]
        yield "row", bare
        return
    kind: Kind = "sentence"
    if mark is not None:
        kind = "step" if mark[0].lstrip()[0].isdigit() else "row"
    elif _ROW.match(bare):
        kind = "row"
    for sentence in sentences(bare, language, whole_quotations=True):
        yield kind, sentence
