"""Routing by rules: which source the words of an utterance name, and what is Home Assistant's to answer.

The rules are data, one file a language (`languages/<code>/rules.toml`), over folded speech: case, accents and
punctuation are not to be relied on. What a question names that isn't configured is `backend.planning.planner`'s.

A pattern may name a list of words: `{device}` is any one of `device` under `[words]`, as whole words. A list is one
string, its entries apart by spaces, an underscore for a space within one; an entry is a pattern itself (`lamps?`) and
may name lists, too. What `courtesy` opens or closes an utterance with is taken off before any pattern sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
import re
from typing import Final

from backend.languages import table
from backend.text.words import content_words, fold
from backend.types import Plan, Step, Turn

_FOLLOW_UP_WORDS: Final = 4
"""A question with more content words than this stands on its own, pronouns or not."""

_LIST: Final = re.compile(r"\{(?P<name>[a-z_]+)\}")
"""A list of words that a pattern names."""

_LOOKED_AT: Final = 400
"""Characters of an utterance that rules look at. Speech asks within fewer; the time that patterns take grows with the
square of them."""

DOCUMENTS: Final = ("house", "kiwix")
"""The sources that hold documents; all others tell of now."""


@dataclass(frozen=True, slots=True)
class _Rules:
    courtesy: re.Pattern[str]
    handback: Callable[[str], bool]
    not_handback: Callable[[str], bool]
    follow_up: Callable[[str], bool]
    sources: Mapping[str, Callable[[str], bool]]

    def plain(self, folded: str) -> str:
        """Return what the patterns are tried on: the beginning of `folded`, without words of courtesy."""
        if len(folded) > _LOOKED_AT:
            folded = folded[:_LOOKED_AT].rpartition(" ")[0]
        return self.courtesy.sub("", folded)


class _Either:
    """Any of several patterns: those that begin with ^ are tried at the beginning alone, all at once."""

    __slots__ = ("_anywhere", "_opening")

    def __init__(self, patterns: Sequence[str]) -> None:
        self._opening = _any_of([pattern for pattern in patterns if pattern.startswith("^")])
        self._anywhere = _any_of([pattern for pattern in patterns if not pattern.startswith("^")])

    def __call__(self, folded: str) -> bool:
        """Return whether one of them is in `folded`."""
        return bool(self._opening.match(folded) or self._anywhere.search(folded))


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    """Return one pattern for all; without patterns, one that never matches."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns) or r"(?!)")


class Words:
    """The lists of words that the patterns of a language name."""

    def __init__(self, lists: Mapping[str, str]) -> None:
        self._lists = lists

    def either(self, name: str) -> str:
        """Return the pattern of one word of the list `name`. Raises ValueError where there is none."""
        if name not in self._lists:
            raise ValueError(f"no list {name!r} under [words]; there are: {', '.join(self._lists)}")
        entries = (entry.replace("_", " ") for entry in self._lists[name].split())
        return rf"(?:\b(?:{'|'.join(map(self.spelt_out, entries))})\b)"

    def spelt_out(self, pattern: str) -> str:
        """Return `pattern` with the words of the lists that it names. Raises ValueError for one that isn't there."""
        return _LIST.sub(lambda found: self.either(found["name"]), pattern)

    def courtesy(self) -> re.Pattern[str]:
        """Return what matches the words of courtesy that open an utterance, and those that close it."""
        if "courtesy" not in self._lists:
            return re.compile(r"(?!)")
        said = self.either("courtesy")
        return re.compile(f"^(?:{said} )+|(?: {said})+$")


@lru_cache(maxsize=16)
def _rules(language: str) -> _Rules:
    data = table(language, "rules")
    words = Words(data.get("words", {}))

    def either(patterns: Sequence[str]) -> _Either:
        return _Either([words.spelt_out(pattern) for pattern in patterns])

    return _Rules(
        words.courtesy(),
        either(data.get("handback", ())),
        either(data.get("not_handback", ())),
        either(data.get("follow_up", ())),
        {tag: either(patterns) for tag, patterns in data.get("source", {}).items()},
    )


@lru_cache(maxsize=256)
def plan_rules(utterance: str, language: str, history: tuple[Turn, ...] = ()) -> Plan:
    """Return the plan that the rules of `language` make; without a matching rule, the default: every document.

    The steps have no fallbacks yet.
    """
    rules = _rules(language)
    folded = fold(utterance)
    ordered = rules.plain(folded)
    if rules.handback(ordered) and not rules.not_handback(ordered):
        return Plan((), "rule", handback=True)
    query = _standing_alone(utterance, folded, language, rules, history)
    asked = rules.plain(fold(query))
    for tag, named in rules.sources.items():
        if named(asked):
            return Plan((Step(tag, query),), "rule")
    return Plan((Step("house", query), Step("kiwix", query)), "default")


def _standing_alone(
    utterance: str, folded: str, language: str, rules: _Rules, history: Sequence[Turn]
) -> str:
    """Return the utterance, with what it was about before it if it can't stand alone."""
    earlier = next((turn.text for turn in reversed(history) if turn.role == "user"), None)
    if earlier is None or not rules.follow_up(folded):
        return utterance
    mine = content_words(utterance, language)
    if len(mine) > _FOLLOW_UP_WORDS:
        return utterance
    topic = [word for word in content_words(earlier, language) if word not in mine]
    return " ".join((*topic, utterance))
