"""From what the sources found to the sections that an answer may stand on, and to the text of `result`.

Which sources were asked is decided before; here it is decided who survives: sections of one source are one
section, a section that is mostly contained in a longer one goes, the rest is cut to size at sentence ends. Text is
rendered from the sections last, so that no text of a page can pass for a header.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
import re
from typing import Final

from backend.contract import LABELS, SECTION_HEADER, SECTION_SEPARATOR
from backend.sources.feeds import same_address
from backend.text.segmentation import sentences, spans
from backend.text.words import fold
from backend.types import Event, Evidence, Found, Passage, Section

_CONTAINED: Final = 0.6
"""A section of whose sentences this share stands in a longer section says nothing new."""

_LOOKS_LIKE_OURS: Final = re.compile(
    rf"\s*(?:{SECTION_HEADER.pattern}|{re.escape(SECTION_SEPARATOR)})\s*\Z"
)
"""A line of a document that could be taken for a header or a separator."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What fits into evidence.

    `sections` bounds how many may speak; `fused_chars` and `single_chars` are the cap of one with and without
    others; `fused_seconds` is how long several together stay fresh.
    """

    sections: int = 4
    fused_chars: int = 1500
    single_chars: int = 3000
    fused_seconds: float = 1800.0


def fuse(
    found: Sequence[tuple[str, Found]], language: str, now: datetime, limits: Limits
) -> tuple[Evidence, tuple[Event, ...]]:
    """Return the evidence of what `found` holds, by source tag in the order of the plan, and its event.

    Raises ValueError if `found` is empty.
    """
    merged: dict[str, list[Passage]] = {}
    items: dict[tuple[str, str], str] = {}
    for tag, outcome in found:
        known = merged.setdefault(tag, [])
        for passage in outcome.passages:
            # One page that two sources found is told once, by the first.
            first = items.setdefault(_item(passage), tag) if passage.url else tag
            if first == tag and passage not in known:
                known.append(passage)
    asked = tuple(merged)
    merged = {tag: passages for tag, passages in merged.items() if passages}
    survivors = _distinct(merged, language) if len(merged) > 1 else list(merged)
    kept = survivors[: limits.sections]
    cap = limits.fused_chars if len(kept) > 1 else limits.single_chars
    sections = tuple(
        Section(tag, LABELS.get(tag, tag.capitalize()), shorten(merged[tag], cap, language))
        for tag in kept
    )
    fresh_until = min(outcome.fresh_until for _, outcome in found)
    if len(asked) == 1:
        return Evidence(sections, fresh_until), ()
    evidence = Evidence(sections, min(fresh_until, now + timedelta(seconds=limits.fused_seconds)))
    dropped = [tag for tag in asked if tag not in kept]
    return evidence, (Event.now("fusion", kept=list(kept), dropped=dropped),)


def _item(passage: Passage) -> tuple[str, str]:
    """Return what two passages on one item have in common, however they were found: title and address."""
    return fold(passage.title), same_address(passage.url or "")


def render(evidence: Evidence) -> str:
    """Return the text of `result`: sections under headers if there are several, one without.

    Lines of a document that look like a header or a separator get a backslash before them.
    """
    if len(evidence.sections) == 1:
        return _body(evidence.sections[0])
    return f"\n\n{SECTION_SEPARATOR}\n\n".join(
        f"[{section.source.upper()} — {section.label}]\n{_body(section)}"
        for section in evidence.sections
    )


def _body(section: Section) -> str:
    return "\n\n".join(escaped(_block(passage), _LOOKS_LIKE_OURS) for passage in section.passages)


def _block(passage: Passage) -> str:
    head = heading(passage)
    return f"{head}\n{passage.text}" if head else passage.text


def escaped(text: str, looks_like_ours: re.Pattern[str]) -> str:
    """Return `text` with a backslash before each line of it that matches, whatever ends a line there."""
    return "".join(
        f"\\{line}" if looks_like_ours.match(line) else line
        for line in text.splitlines(keepends=True)
    )


def heading(passage: Passage) -> str:
    """Return the line under which a passage is shown; "" for one with neither title nor section.

    A text that is its own title, as a headline is, has no other one.
    """
    title = "" if passage.text.rstrip(".") == passage.title.rstrip(".") else passage.title
    return ": ".join(filter(None, (title, passage.section)))


def _distinct(merged: dict[str, list[Passage]], language: str) -> list[str]:
    """Return the tags whose sentences aren't mostly in a longer section, in the given order."""
    said = {
        tag: {fold(s) for p in passages for s in sentences(p.text, p.language or language)}
        for tag, passages in merged.items()
    }
    length = {tag: sum(len(p.text) for p in passages) for tag, passages in merged.items()}
    order = list(merged)
    by_length = sorted(order, key=lambda tag: (-length[tag], order.index(tag)))
    kept: list[str] = []
    for tag in by_length:
        mine = said[tag]
        if not any(len(mine & said[other]) >= _CONTAINED * len(mine) for other in kept):
            kept.append(tag)
    return [tag for tag in order if tag in kept]


def shorten(passages: Sequence[Passage], cap: int, language: str) -> tuple[Passage, ...]:
    """Return the best passages within `cap` characters, the last one cut at a sentence end.

    A first sentence that is longer than all there is room for is cut after a word.
    """
    kept: list[Passage] = []
    left = cap
    for passage in passages:
        if len(passage.text) <= left:
            kept.append(passage)
            left -= len(passage.text)
            continue
        ends = [end for _, end in spans(passage.text, passage.language or language) if end <= left]
        text = passage.text[: ends[-1] if ends else left]
        if not ends:
            text = "" if kept else text.rpartition(" ")[0] or text
        if text := text.rstrip():
            kept.append(replace(passage, text=text))
        break
    return tuple(kept)
