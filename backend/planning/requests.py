"""The words that requests are put together with, of each language (`languages/<code>/requests.toml`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
import re

from backend.languages import table


@dataclass(frozen=True, slots=True)
class Requests:
    """Patterns over folded speech; the file of English says what each is for. Without words, none ever matches."""

    join: re.Pattern[str]
    tell: re.Pattern[str]
    ask: re.Pattern[str]
    carry: re.Pattern[str]
    if_: re.Pattern[str]
    unless: re.Pattern[str]
    then: re.Pattern[str]
    or_: re.Pattern[str]
    more: re.Pattern[str]
    leans: re.Pattern[str]
    at: re.Pattern[str]
    where: str
    time: re.Pattern[str]
    talk: tuple[re.Pattern[str], ...]
    negation: tuple[tuple[re.Pattern[str], str], ...]
    decides: Mapping[str, re.Pattern[str]]

    def opens(self, folded: str) -> bool:
        """Return whether a request or a question begins here."""
        return bool(self.tell.match(folded) or self.ask.match(folded))


def _one_of(patterns: Sequence[str]) -> str:
    return "|".join(patterns) or r"(?!)"


@lru_cache(maxsize=16)
def requests(language: str) -> Requests:
    """Return the patterns of `language`."""
    data = table(language, "requests")

    def words(name: str) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{_one_of(data.get(name, ()))})\b")

    def opening(name: str) -> re.Pattern[str]:
        return re.compile(_one_of(data.get(name, ())))

    return Requests(
        join=words("join"),
        tell=opening("tell"),
        ask=opening("ask"),
        carry=opening("carry"),
        if_=words("if"),
        unless=words("unless"),
        then=words("then"),
        or_=words("or"),
        more=words("more"),
        leans=opening("leans"),
        at=words("at"),
        where=data.get("where", ""),
        time=words("time"),
        talk=tuple(re.compile(pattern) for pattern in data.get("talk", ())),
        negation=tuple(
            (re.compile(pattern), instead) for pattern, instead in data.get("negation", {}).items()
        ),
        decides={tag: re.compile(pattern) for tag, pattern in data.get("decides", {}).items()},
    )
