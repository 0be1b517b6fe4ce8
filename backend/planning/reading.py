"""How an utterance is read: what is asked of whom, in how many parts, and on what condition.

All of it by rules, and pure: which sources there are is the planner's, who also asks a model where no rule speaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from backend.planning.compound import split
from backend.planning.condition import Conditional, conditional, supposed
from backend.planning.follow_up import alone
from backend.planning.requests import requests
from backend.planning.rules import DOCUMENTS, plan_rules
from backend.text.aligned import Aligned
from backend.types import Turn


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that is asked; `sources` are those that its words name, none where no rule speaks.

    `also` says the same in other words, for a search beside it; "" for none.
    """

    query: str
    sources: tuple[str, ...] = ()
    also: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an utterance asks. `handback`: it is Home Assistant's alone; `orders`: a part of it is."""

    parts: tuple[Part, ...]
    condition: Conditional | None = None
    handback: bool = False
    orders: bool = False


@lru_cache(maxsize=256)
def read(utterance: str, language: str, history: tuple[Turn, ...] = ()) -> Reading:
    """Return what is asked by `utterance` after the turns of `history`."""
    condition = conditional(utterance, language)
    asked = condition.request if condition else utterance
    pieces = split(asked, language)
    if len(pieces) == 1 and condition is None:
        if plan_rules(utterance, language).handback:
            return Reading((Part(utterance),), handback=True)
        query, source = alone(utterance, language, history)
        return Reading((_part(query, language, source),))
    ours = [piece for piece in pieces if not plan_rules(piece, language).handback]
    if not ours:
        return Reading((Part(utterance),), handback=True)
    parts = tuple(dict.fromkeys(_part(piece, language) for piece in ours))
    return Reading(parts, condition, orders=len(ours) < len(pieces))


def _part(query: str, language: str, source: str | None = None) -> Part:
    """Return whom a request is for, `source` if no rule says it."""
    aligned = Aligned(query)
    for pattern in requests(language).talk:
        if found := pattern.match(aligned.folded):
            return Part(aligned.taken(*found.span("topic")), ("kiwix", "news"))
    named = plan_rules(query, language).named or source
    if named not in (None, *DOCUMENTS) and supposed(query, language):
        return Part(query)
    return Part(query, (named,) if named else ())
