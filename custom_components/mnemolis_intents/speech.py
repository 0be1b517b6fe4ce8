"""What is said of a reply. The server decides that itself; only servers older than the contract leave it to us.

For those, what is written becomes fit to be said: markup, links, tags and emoji go, and of a page's text the
first two sentences stay.
"""

from __future__ import annotations

import re
from typing import Final

from .client import Reply

_MAX_CHARS: Final = 400
_SENTENCES: Final = 2

_REMOVED: Final = (
    # What a model thinks, also when it never stops.
    (re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL), " "),
    (re.compile(r"```.*?(?:```|\Z)", re.DOTALL), " "),
    (re.compile(r"<[^<>]{1,200}>"), " "),
    # The headers of sections, their separators, headings, list marks.
    (re.compile(r"^\s*\[[A-Z_]+ — [^\]\n]*\]\s*$", re.MULTILINE), " "),
    (re.compile(r"^\s*-{3,}\s*$", re.MULTILINE), " "),
    (re.compile(r"^\s*(?:#{1,6}\s+|[*•‣-]\s+|>\s?)", re.MULTILINE), ""),
    (re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)"), r"\1"),
    (re.compile(r"\[\d+(?:\s*[,-]\s*\d+)*\]"), ""),
    (re.compile(r"(?:https?://|www\.)\S+"), ""),
    (re.compile(r"\*{1,3}|`|~~|(?<!\w)_+|_+(?!\w)"), ""),
    (re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]"), ""),
)
_END: Final = re.compile(r"(?<=[.!?…。！？])\s+")
_SPACE_BEFORE: Final = re.compile(r"\s+([.,;:!?…])")


def fit(text: str) -> str:
    """Return `text` without what is only for the eye, on one line."""
    for pattern, instead in _REMOVED:
        text = pattern.sub(instead, text)
    return _SPACE_BEFORE.sub(r"\1", " ".join(text.split()))


def _beginning(text: str) -> str:
    """Return the first sentences of `text` that fit; what is left of a longer first one ends at a word."""
    sentences = _END.split(text)
    kept = ""
    for sentence in sentences[:_SENTENCES]:
        longer = f"{kept} {sentence}".strip()
        if len(longer) > _MAX_CHARS:
            break
        kept = longer
    return kept or f"{text[:_MAX_CHARS].rpartition(' ')[0] or text[:_MAX_CHARS]} …"


def _untagged(answer: str, sources: tuple[str, ...]) -> str:
    """Return the answer without the sources that it ends with in parentheses."""
    body, parenthesis, tags = answer.rstrip().rpartition("(")
    if not parenthesis or not tags.endswith(")"):
        return answer
    named = {tag.strip() for tag in tags[:-1].split(",")}
    return body if named <= set(sources) else answer


def of_reply(reply: Reply) -> str:
    """Return what to say; empty only where the server says and holds nothing."""
    if reply.speech:
        return reply.speech
    if reply.answer:
        sources = (*reply.answer_sources, reply.source_used)
        if said := fit(_untagged(reply.answer, sources)):
            return said
    said = fit(reply.result)
    return _beginning(said) if said else ""
