"""A request that holds only if something is so: "if any service is down, tell me the weather".

Decides what of an utterance is the condition, and what is asked if it holds. Whether it holds is decided on data by the
source that knows (`Found.verdict`). What is no more than supposed ("if the internet is down, how do I restart the
router") is a question like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from backend.planning.requests import Requests, requests
from backend.planning.rules import DOCUMENTS, plan_rules
from backend.text.aligned import Aligned
from backend.text.places import named_place
from backend.text.words import topic_words
from backend.types import HOME

_DECIDING: Final = (HOME, "uptime", "forecast")
"""Sources that can say whether something is so."""
_OWN_WORDS: Final = 3
"""A statement with fewer words has no thing that it is of: "is locked"."""


@dataclass(frozen=True, slots=True)
class Stated:
    """One thing that a condition states, without what negates it; `source` can say whether it is so, None: nobody knows."""

    text: str
    source: str | None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Conditional:
    """What is asked (`request`) if every one of `parts` is so, or any; `text` is the condition as it was said."""

    text: str
    parts: tuple[Stated, ...]
    every: bool
    request: str


def conditional(text: str, language: str) -> Conditional | None:
    """Return the condition of `text` and what depends on it; None where it has none.

    Where it may end in several places, it ends behind what can be decided: not between "the windows" and "are closed".
    """
    words = requests(language)
    aligned = Aligned(text)
    folded = aligned.folded
    for pattern, unless in ((words.unless, True), (words.if_, False)):
        for found in pattern.finditer(folded):
            first: Conditional | None = None
            for start, end, begin, until in _cuts(aligned, words, language, found.span()):
                condition, request = folded[start:end].strip(), folded[begin:until].strip()
                if not condition or not request:
                    continue
                parts, every, ends = _parts(aligned, (start, end), words, language)
                source = next((part.source for part in parts if part.source), None)
                if not _depends(request, source, language):
                    continue
                made = Conditional(
                    aligned.taken(start, end),
                    tuple(replace(part, negated=part.negated != unless) for part in parts),
                    # Not both of two is either not.
                    every != unless,
                    aligned.taken(begin, until),
                )
                if ends:
                    return made
                first = first or made
            if first is not None:
                return first
    return None


def _parts(
    aligned: Aligned, span: tuple[int, int], words: Requests, language: str
) -> tuple[tuple[Stated, ...], bool, bool]:
    """Return what a condition states, whether all of it has to be so, and whether it ends with what can be decided.

    "The nas is down and it rains" states two things, "the nas and the router are down" one. What mixes "and" with "or",
    or says a thing of something that only the piece before it names, nobody knows.
    """
    condition = aligned.folded[slice(*span)]
    joints = sorted(
        (found.start(), found.end(), every)
        for pattern, every in ((words.join, True), (words.or_, False))
        for found in pattern.finditer(condition)
        # "È" joins nothing.
        if len(found[0]) > 1
        or aligned.taken(span[0] + found.start(), span[0] + found.end()).casefold() == found[0]
    )
    pieces: list[str] = []
    ways: set[bool] = set()
    begin = at = 0
    for start, end, every in joints:
        until = min((joint[0] for joint in joints if joint[0] >= end), default=len(condition))
        before, after = condition[begin:start].strip(), condition[end:until].strip()
        if start >= at and before and after:
            at = end
            known = all(_stated(each, words, language).source for each in (before, after))
            # Where it was heard without its accent, there is no more than a thing before it.
            if known and not _short(before, words, language):
                pieces.append(before)
                ways.add(every)
                begin = end
    pieces.append(condition[begin:].strip())
    last = condition[max((end for _, end, _ in joints), default=0) :].strip()
    ends = _stated(last, words, language).source is not None
    if len(pieces) == 1:
        return (_stated(pieces[0], words, language),), True, ends
    pieces = _at_one_time(pieces, words, language)
    stated = tuple(_stated(piece, words, language) for piece in pieces)
    places = {named_place(each.text, language) for each in stated if each.source == "forecast"}
    if len(ways) > 1 or len(places) > 1 or any(_leans(each, words, language) for each in pieces):
        return (replace(_stated(condition, words, language), source=None),), True, ends
    return stated, ways.pop(), ends


def _stated(piece: str, words: Requests, language: str) -> Stated:
    plain, negated = _without_negation(piece, words)
    return Stated(plain, _decides(plain, words, language), negated)


def _at_one_time(pieces: list[str], words: Requests, language: str) -> list[str]:
    """Return pieces of which those on the weather that name no time are of the only one that is named: "it rains or snows tomorrow"."""
    times = {found[0] for piece in pieces for found in words.time.finditer(piece)}
    return [
        f"{piece} {next(iter(times))}"
        if len(times) == 1
        and not words.time.search(piece)
        and _stated(piece, words, language).source == "forecast"
        else piece
        for piece in pieces
    ]


def _leans(piece: str, words: Requests, language: str) -> bool:
    """Return whether a piece says of the home or its services what only another one names: "is locked", "it is down"."""
    return _short(piece, words, language) or (
        _stated(piece, words, language).source != "forecast"
        and words.leans.match(piece) is not None
    )


def _short(piece: str, words: Requests, language: str) -> bool:
    stated = _stated(piece, words, language)
    return stated.source != "forecast" and len(stated.text.split()) < _OWN_WORDS


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
