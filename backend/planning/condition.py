"""A request that holds only if something is so: "if any service is down, tell me the weather".

Decides what of an utterance is the condition, and what is asked if it holds. Whether it holds is decided on data by the
source that knows (`Found.verdict`). What is no more than supposed ("if the internet is down, how do I restart the
router") is a question like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from backend.planning.requests import Requests, requests
from backend.planning.rules import DOCUMENTS, plan_rules
from backend.text.aligned import Aligned
from backend.text.words import topic_words
from backend.types import HOME

_DECIDING: Final = (HOME, "uptime", "forecast")
"""Sources that can say whether something is so."""


@dataclass(frozen=True, slots=True)
class Conditional:
    """What is asked (`request`) if `source` says that `condition` holds, or doesn't where it is `negated`.

    `text` is the condition as it was said; `source` None: nobody knows.
    """

    text: str
    condition: str
    negated: bool
    request: str
    source: str | None


def conditional(text: str, language: str) -> Conditional | None:
    """Return the condition of `text` and what depends on it; None where it has none."""
    words = requests(language)
    aligned = Aligned(text)
    folded = aligned.folded
    for pattern, unless in ((words.unless, True), (words.if_, False)):
        for found in pattern.finditer(folded):
            for start, end, begin, until in _cuts(aligned, words, language, found.span()):
                condition, request = folded[start:end].strip(), folded[begin:until].strip()
                if not condition or not request:
                    continue
                plain, negated = _without_negation(condition, words)
                source = _decides(plain, words, language)
                if not _depends(request, source, language):
                    continue
                return Conditional(
                    aligned.taken(start, end),
                    plain,
                    negated != unless,
                    aligned.taken(begin, until),
                    source,
                )
    return None


def supposed(text: str, language: str) -> bool:
    """Return whether `text` asks what to do in a case that it supposes: a question to the documents, not of now."""
    words = requests(language)
    aligned = Aligned(text)
    found = words.if_.match(aligned.folded)
    return found is not None and any(
        plan_rules(aligned.folded[begin:until], language).named in (None, *DOCUMENTS)
        for _, _, begin, until in _cuts(aligned, words, language, found.span())
    )


def _cuts(
    aligned: Aligned, words: Requests, language: str, opening: tuple[int, int]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield where the condition and the request may stand, the likeliest first, as spans of the folded text."""
    folded = aligned.folded
    at, start = opening
    if at > 0 and folded[:at].strip():
        lead = folded[:at].strip()
        if not words.tell.fullmatch(lead):
            # "Tell me the weather if any service is down".
            yield start + 1, len(folded), 0, at - 1
            return
    for then in words.then.finditer(folded, start):
        yield start + 1, then.start() - 1, then.end() + 1, len(folded)
    for comma in aligned.commas():
        if comma > start:
            yield start + 1, comma - 1, comma, len(folded)
    spaces = [found for found in range(start + 1, len(folded)) if folded[found - 1] == " "]
    opened = [
        begin
        for pattern in (words.tell, words.ask)
        for begin in spaces
        if pattern.match(folded, begin)
    ]
    orders = (begin for begin in spaces if plan_rules(folded[begin:], language).handback)
    for begin in opened or orders:
        yield start + 1, begin - 1, begin, len(folded)


def _decides(condition: str, words: Requests, language: str) -> str | None:
    """Return the source that can say whether a condition holds."""
    if (named := plan_rules(condition, language).named) in _DECIDING:
        return named
    return next((tag for tag, known in words.decides.items() if known.search(condition)), None)


def _without_negation(condition: str, words: Requests) -> tuple[str, bool]:
    """Return the condition without what negates it, and whether something did."""
    for pattern, instead in words.negation:
        plain, count = pattern.subn(instead, condition)
        if count:
            return " ".join(plain.split()), count % 2 == 1
    return condition, False


def _depends(request: str, source: str | None, language: str) -> bool:
    """Return whether `request` is one that depends on a condition that `source` knows of."""
    plan = plan_rules(request, language)
    if plan.handback or plan.named not in (None, *DOCUMENTS):
        return True
    if source is None:
        return False
    told = requests(language).tell.match(request)
    return told is not None and bool(topic_words(request[told.end() :], language))
