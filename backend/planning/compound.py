"""Several requests in one breath: "the weather and are my services up".

Decides where one ends and the next begins. Names, pairs and lists stay whole ("salt and pepper", "the kitchen and the
hall"): only where another request opens, or where both sides name a source of their own, is something else asked.
Nothing is dropped but the words that join.
"""

from __future__ import annotations

from typing import Final

from backend.planning.requests import requests
from backend.planning.rules import DOCUMENTS, plan_rules
from backend.text.aligned import Aligned
from backend.text.words import topic_words
from backend.types import HOME

_OWN_WORDS: Final = 2
"""A question to the documents with fewer topic words leans on the one to the documents before it."""


_MOST_PARTS: Final = 4
"""What is asked beyond stays with the last."""


def split(text: str, language: str) -> tuple[str, ...]:
    """Return the requests in `text`, in order; `text` as it is where there is one."""
    words = requests(language)
    aligned = Aligned(text)
    folded = aligned.folded
    if not words.join.search(folded) or words.carry.match(folded):
        return (text,)
    parts: list[tuple[int, int]] = []
    begin = 0
    for join in (*words.join.finditer(folded), None):
        end = join.start() if join else len(folded)
        left, right = folded[slice(*parts[-1])] if parts else "", folded[begin:end]
        if not parts or (
            len(parts) < _MOST_PARTS and _another(left.strip(), right.strip(), language)
        ):
            parts.append((begin, end))
        else:
            parts[-1] = (parts[-1][0], end)
        begin = join.end() if join else end
    if len(parts) == 1:
        return (text,)
    return tuple(aligned.taken(*_trimmed(folded, *part)) for part in parts)


def _another(left: str, right: str, language: str) -> bool:
    """Return whether something else is asked behind `left`; both folded."""
    if not left or not right:
        return False
    first, second = plan_rules(left, language), plan_rules(right, language)
    before, after = first.named, second.named
    words = requests(language)
    opens = words.opens(right)
    if second.handback:
        # "Is the kitchen light and the hall light on": the end alone would be an order.
        return before not in (None, HOME)
    if before is None and not first.handback and not topic_words(left, language):
        return False
    if after is not None and after not in DOCUMENTS:
        return opens or before is not None
    if not opens or words.leans.search(right):
        return False
    needed = 1 if before not in (None, *DOCUMENTS) or first.handback else _OWN_WORDS
    return len(topic_words(right, language)) >= needed


def _trimmed(folded: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without spaces at its ends."""
    while start < end and folded[start] == " ":
        start += 1
    while start < end and folded[end - 1] == " ":
        end -= 1
    return start, end
