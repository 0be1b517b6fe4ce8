"""Routing by rules: which source the words of an utterance name, and what is Home Assistant's to answer.

The rules are data, one file a language (`languages/<code>/rules.toml`), over folded speech: case, accents and
punctuation are not to be relied on. What a question names that isn't configured is `backend.planning.planner`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
import re
from typing import Final

from backend.languages import table
from backend.text.words import content_words, fold
from backend.types import Plan, Step, Turn

_FOLLOW_UP_WORDS: Final = 4
"""A question with more content words than this stands on its own, pronouns or not."""

DOCUMENTS: Final = ("house", "kiwix")
"""The sources that hold documents; all others tell of now."""


@dataclass(frozen=True, slots=True)
class _Rules:
    handback: re.Pattern[str]
    not_handback: re.Pattern[str]
    follow_up: re.Pattern[str]
    sources: Mapping[str, re.Pattern[str]]


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    """Return one pattern for all; without patterns, one that never matches."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns) or r"(?!)")


@lru_cache(maxsize=16)
def _rules(language: str) -> _Rules:
    data = table(language, "rules")
    return _Rules(
        _any_of(data.get("handback", ())),
        _any_of(data.get("not_handback", ())),
        _any_of(data.get("follow_up", ())),
        {tag: _any_of(patterns) for tag, patterns in data.get("source", {}).items()},
    )


@lru_cache(maxsize=256)
def plan_rules(utterance: str, language: str, history: tuple[Turn, ...] = ()) -> Plan:
    """Return the plan that the rules of `language` make; without a matching rule, the default: every document.

    The steps have no fallbacks yet.
    """
    rules = _rules(language)
    folded = fold(utterance)
    if rules.handback.search(folded) and not rules.not_handback.search(folded):
        return Plan((), "rule", handback=True)
    query = _standing_alone(utterance, folded, language, rules, history)
    asked = fold(query)
    for tag, pattern in rules.sources.items():
        if pattern.search(asked):
            return Plan((Step(tag, query),), "rule")
    return Plan((Step("house", query), Step("kiwix", query)), "default")


def _standing_alone(
    utterance: str, folded: str, language: str, rules: _Rules, history: Sequence[Turn]
) -> str:
    """Return the utterance, with what it was about before it if it can't stand alone."""
    earlier = next((turn.text for turn in reversed(history) if turn.role == "user"), None)
    if earlier is None or not rules.follow_up.search(folded):
        return utterance
    mine = content_words(utterance, language)
    if len(mine) > _FOLLOW_UP_WORDS:
        return utterance
    topic = [word for word in content_words(earlier, language) if word not in mine]
    return " ".join((*topic, utterance))
