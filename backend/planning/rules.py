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
from backend.text.words import fold
from backend.types import Plan, Step

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
    searching: tuple[re.Pattern[str], ...]
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
        tuple(re.compile(pattern) for pattern in table(language, "web").get("asking", ())),
        {tag: either(patterns) for tag, patterns in data.get("source", {}).items()},
    )


@lru_cache(maxsize=256)
def plan_rules(utterance: str, language: str) -> Plan:
    """Return the plan that the rules of `language` make; without a matching rule, the default: every document.

    The steps have no fallbacks yet. Who asks for a search of the web gets one, whatever it is for.
    """
    rules = _rules(language)
    folded = rules.plain(fold(utterance))
    if any(asking.fullmatch(folded) for asking in rules.searching):
        return Plan((Step("web", utterance),), "rule")
    if rules.handback(folded) and not rules.not_handback(folded):
        return Plan((), "rule", handback=True)
    for tag, named in rules.sources.items():
        if named(folded):
            return Plan((Step(tag, utterance),), "rule")
    return Plan((Step("house", utterance), Step("kiwix", utterance)), "default")
