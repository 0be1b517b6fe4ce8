"""Which place a question about the weather names: "in Lyon", "à la Rochelle", "paris weather"; never where there is no name.

Decides by words alone, as speech has no capitals: a name stands behind a word like "in" or beside the weather, and ends
where words begin that are in no name. Words are data (`languages/<code>/places.toml`); whether there is such a place is
for a gazetteer to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
import re
from typing import Final

from backend import languages
from backend.languages import table
from backend.text.days import spans
from backend.text.words import fold

_WORD: Final = re.compile(r"[^\W_]+")
_END: Final = re.compile(r"[?!;:]")
_MOST_WORDS: Final = 4
_SHORTEST: Final = 2


@dataclass(frozen=True, slots=True)
class _Words:
    before: frozenset[str]
    pairs: frozenset[tuple[str, ...]]
    weather: frozenset[str]
    articles: frozenset[str]
    inner: frozenset[str]
    kept: frozenset[str]
    no_place: frozenset[str]
    function: frozenset[str]
    endings: Mapping[str, str]
    regions: Mapping[str, str]


@dataclass(slots=True)
class _Token:
    """A word of a question, folded, where it stands, and whether it names a time."""

    word: str
    start: int
    end: int
    of_time: bool = False


@lru_cache(maxsize=16)
def _words(language: str) -> _Words:
    data, own = table(language, "places"), languages.load(language).words

    def of(name: str) -> frozenset[str]:
        return frozenset(data.get(name, "").split())

    asked = frozenset(word for filler in own.fillers for word in filler.split())
    return _Words(
        of("before"),
        frozenset(tuple(pair.split()) for pair in data.get("pairs", ())),
        of("weather"),
        of("articles"),
        of("inner"),
        frozenset(data.get("kept", ())),
        of("no_place")
        | own.question
        | own.light
        | table(language, "since").get("words", {}).keys(),
        own.function | asked,
        data.get("endings", {}),
        data.get("regions", {}),
    )


def named_place(query: str, language: str) -> str | None:
    """Return the name of the place that `query` names, as it is written there; None where it names none."""
    words = _words(language)
    tokens = _tokens(query, language)
    for at, token in enumerate(tokens):
        pair = tuple(each.word for each in tokens[max(0, at - 1) : at + 1])
        before = token.word in words.before or pair in words.pairs
        if before and not token.of_time and (name := _name(query, tokens, at + 1, words)):
            return name
    return _beside(query, tokens, words)


def spellings(name: str, language: str) -> tuple[str, ...]:
    """Return the ways in which a gazetteer may know a name, the likeliest first: "w Krakowie" is in Kraków."""
    words = _words(language)
    ways = [name]
    parts = name.split()
    if len(parts) > 1 and fold(parts[0]) in words.inner | words.articles:
        ways.append(" ".join(parts[1:]))
    for ending in sorted(words.endings, key=len, reverse=True):
        last = parts[-1] if parts else ""
        if len(last) > len(ending) and fold(last).endswith(fold(ending)):
            # As many letters as the folded ending has: folding leaves the letters of these endings one for one.
            own = words.endings[ending]
            stem = last[: len(last) - len(ending)]
            ways.append(" ".join([*parts[:-1], stem + own]))
            break
    return tuple(dict.fromkeys(ways))


def region(words: str, language: str) -> str:
    """Return a region or country by its full name, folded ("tx" is "texas")."""
    folded = fold(words)
    return _words(language).regions.get(folded, folded)


def _tokens(query: str, language: str) -> list[_Token]:
    tokens = [
        _Token(word, found.start(), found.end())
        for found in _WORD.finditer(query)
        if (word := fold(found[0]))
    ]
    folded = " ".join(token.word for token in tokens)
    ends, at = [], 0
    for token in tokens:
        ends.append((at, at + len(token.word)))
        at += len(token.word) + 1
    for first, last in spans(folded, language):
        for token, (begin, end) in zip(tokens, ends, strict=True):
            token.of_time |= begin < last and end > first
    return tokens


def _name(query: str, tokens: Sequence[_Token], at: int, words: _Words) -> str | None:
    """Return the name that begins with the word number `at`, or behind its article."""
    first = at
    kept = " ".join(token.word for token in tokens[at : at + 2]) in words.kept
    if at < len(tokens) and tokens[at].word in words.articles and not kept:
        first += 1
    end = first
    while end < len(tokens) and end - first < _MOST_WORDS:
        token = tokens[end]
        if end > at and _END.search(query[tokens[end - 1].end : token.start]):
            break
        inner = token.word in words.inner and _goes_on(tokens, end + 1, words)
        if not inner and not (kept and end == first) and not _may_be_named(token, words):
            break
        end += 1
    name = tokens[first:end]
    if not name or (name[-1].word in words.inner and not kept):
        return None
    text = query[name[0].start : name[-1].end]
    return text if len(fold(text)) >= _SHORTEST and not text.isdecimal() else None


def _goes_on(tokens: Sequence[_Token], at: int, words: _Words) -> bool:
    return at < len(tokens) and _may_be_named(tokens[at], words)


def _may_be_named(token: _Token, words: _Words) -> bool:
    return not (
        token.of_time
        or token.word in words.no_place
        or token.word in words.function
        or token.word in words.before
        or token.word.isdecimal()
    )


def _beside(query: str, tokens: Sequence[_Token], words: _Words) -> str | None:
    """Return the name right behind or before "weather", where nothing else stands there."""
    for at, token in enumerate(tokens):
        if token.word not in words.weather:
            continue
        behind = at + 1
        while behind < len(tokens) and tokens[behind].of_time:
            behind += 1
        if name := _name(query, tokens, behind, words):
            return name
        begin = at
        while (
            begin > 0
            and at - begin < _MOST_WORDS
            and (
                _may_be_named(tokens[begin - 1], words)
                or (
                    begin < at
                    and tokens[begin - 1].word in words.inner
                    and tokens[begin - 1].word not in words.articles
                )
            )
        ):
            begin -= 1
        if begin < at:
            return query[tokens[begin].start : tokens[at - 1].end]
    return None
