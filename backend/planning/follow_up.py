"""What is short because of the turn before: "and tomorrow", "what about plex", "how tall is he".

Decides whether a question leans on the one before it, and what it means by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from backend.planning.requests import Requests, requests
from backend.planning.rules import DOCUMENTS, plan_rules
from backend.text.aligned import Aligned
from backend.text.words import content_words, fold, topic_words
from backend.types import Turn

_MOST_WORDS: Final = 4
"""A question with more content words stands on its own, pronouns or not."""


def alone(text: str, language: str, history: Sequence[Turn]) -> tuple[str, str | None]:
    """Return what `text` means by itself, and the source that the turn before was about if it is still meant."""
    earlier = next((turn.text for turn in reversed(history) if turn.role == "user"), None)
    folded = fold(text)
    if earlier is None or not folded:
        return text, None
    words = requests(language)
    if opening := words.more.match(folded):
        rest = folded[opening.end() :].strip()
        if plan_rules(rest, language).named is not None or not words.opens(rest):
            return _instead(text, folded, opening.end(), earlier, words, language)
    elif not words.leans.search(folded):
        return text, None
    mine = content_words(text, language)
    if len(mine) > _MOST_WORDS:
        return text, None
    topic = [word for word in content_words(earlier, language) if word not in mine]
    return " ".join((*topic, text)), None


def _instead(
    text: str, folded: str, begin: int, earlier: str, words: Requests, language: str
) -> tuple[str, str | None]:
    """Return the earlier question with what `text` names in the place of what it named."""
    rest = folded[begin:].strip()
    said = Aligned(text).taken(len(folded) - len(rest), len(folded)) if rest else ""
    own = plan_rules(rest, language)
    if not rest or own.named is not None or own.handback:
        return said or text, None
    before = fold(earlier)
    source = plan_rules(earlier, language).named
    if source in (None, *DOCUMENTS):
        mine = content_words(rest, language)
        topic = [word for word in content_words(earlier, language) if word not in mine]
        return " ".join((*topic, said)), source
    if words.time.search(rest):
        before = " ".join(words.time.sub(" ", before).split())
        if not topic_words(words.time.sub(" ", rest), language):
            # "And tomorrow": all but the time stays as it was.
            return f"{before} {said}", source
    place = None if source == "uptime" else _last_place(before, words)
    if place is not None:
        start, name, end = place
        put = said if words.at.match(rest) else f"{before[start:name]} {said}"
        return " ".join(f"{before[:start]} {put} {before[end:]}".split()), source
    if source == "forecast":
        put = said if words.at.match(rest) else f"{words.where} {said}"
        return f"{before} {put}", source
    return said, source


def _last_place(folded: str, words: Requests) -> tuple[int, int, int] | None:
    """Return where the last place or topic of a question stands: its preposition, its name, its end."""
    times = [found.start() for found in words.time.finditer(folded)]
    for found in reversed(list(words.at.finditer(folded))):
        if found.start() in times or found.end() >= len(folded):
            continue
        end = min((at for at in times if at > found.end()), default=len(folded))
        return found.start(), found.end(), end
    return None
