"""The house's own documents as a source: full text over the library.

Decides which passages are good enough for a question, and how much around them belongs to an answer. Which documents
there are is the library's business (`house_wiki.watch`), how words find passages the store's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote

from backend.sources.base import SourceState
from backend.store import StoreError
from backend.store.passages import Hit, Matches, Passages
from backend.text.pieces import PART_OF_WORD, closeness, coverage, edged, is_code
from backend.text.words import compared, other_words, topic_words
from backend.types import Failed, Found, NotConfigured, Nothing, Outcome, Passage, Question, Step

_MOST_PASSAGES: Final = 6
_MOST_CHARACTERS: Final = 2_400
"""Passages of one section that stand side by side become one of at most this length."""
_COVERED: Final = 0.52
"""So much of what the words weigh a passage must hold to be on the question's topic."""
_NAMED: Final = 0.5
"""Or so many of the words its headings: "how do I turn off the alarm" is for the document on the alarm."""
_NAMED_UNKNOWN: Final = 0.6
_KNOWN: Final = 0.42
"""The same where the library holds all of the words."""
_APART: Final = 0.4
"""What a passage keeps of its score whose words all stand far from each other."""
_NEAR_BEST: Final = 0.5
"""Passages with less than this of the best one's score are not worth the room they take."""
_CODE_WEIGHT: Final = 3.0
"""Codes ("e24", "wpa3") are what is asked for; the words around them stand in other words elsewhere."""
_FOREIGN: Final = 0.6
"""A passage in another language than the question's counts so much of one in the same."""
_BOUND: Final = 0.1
"""A word that adds nothing to the one beside it ("living" "room") counts this much."""
_FOREIGN_WORD: Final = 0.5
"""So much weighs a word that is nowhere, beside a code, where a passage speaks another language."""


class Watched(Protocol):
    """The library, as a source needs it."""

    @property
    def folder(self) -> Path:
        """Where the documents are."""

    @property
    def there(self) -> bool:
        """Whether the folder was there at the last look."""

    @property
    def version(self) -> str:
        """A word that changes whenever a document does."""

    @property
    def problem(self) -> str:
        """Why the last look came to no end, so that documents may be missing; "" if it did."""

    async def start(self) -> None:
        """Begin to look; returns at once."""

    async def ready(self) -> None:
        """Wait until the library has been looked through once."""

    async def close(self) -> None:
        """Stop looking."""

    def state(self) -> SourceState:
        """Return how many documents there are, and which couldn't be read, and why."""


class House:
    """Answers from the library; an outcome may be kept for `ttl` seconds, or until a document changes."""

    tag = "house"

    def __init__(self, library: Watched, passages: Passages, *, ttl: float) -> None:
        self._library = library
        self._passages = passages
        self.ttl = ttl

    @property
    def version(self) -> str:
        """The library's version."""
        return self._library.version

    async def start(self) -> None:
        """Begin to look through the library; returns at once."""
        await self._library.start()

    async def close(self) -> None:
        """Stop looking."""
        await self._library.close()

    def state(self) -> SourceState:
        """Return the library's state."""
        return self._library.state()

    async def ask(self, step: Step, question: Question) -> Outcome:
        """Look the words up; the first question waits until the library has been read."""
        try:
            async with asyncio.timeout(max(0.0, question.left)):
                await self._library.ready()
        except TimeoutError:
            return Failed("timeout", "the library is still being read")
        if not self._library.there:
            return NotConfigured("LIBRARY_DIR")
        words = topic_words(step.query, question.language)
        if not words:
            return Nothing()
        try:
            others = other_words(step.query, words, question.language)
            more = [word for ways in others.values() for way in ways for word in way]
            matches = await self._passages.search([*words, *more], question.language)
            chosen = _chosen(_in_words_asked(matches, words, others), question.language)
            if not chosen and self._library.problem:
                return Failed("unreadable", self._library.problem)
            if not chosen:
                return Nothing()
            merged = await self._merged(chosen)
        except StoreError as error:
            return Failed("unreadable", str(error))
        fresh_until = datetime.now(UTC) + timedelta(seconds=self.ttl)
        return Found(tuple(_passage(hit) for hit in merged), fresh_until)

    async def _merged(self, hits: Sequence[Hit]) -> list[Hit]:
        """Return `hits` with those of one section that stand side by side as one.

        The best one is given what stands around it in its section, so that an answer has its context.
        """
        sections: dict[tuple[str, str], list[Hit]] = {}
        for hit in hits:
            sections.setdefault((hit.path, hit.section), []).append(hit)
        best = hits[0]
        around = {
            near.position: near
            for near in await self._passages.section(best.path, best.section)
            if abs(near.position - best.position) == 1
        }
        group = sections[best.path, best.section]
        group += [
            replace(near, score=0.0)
            for position, near in around.items()
            if all(hit.position != position for hit in group)
        ]
        merged = [one for group in sections.values() for one in _side_by_side(group)]
        return sorted((hit for hit in merged if hit.score > 0), key=lambda hit: -hit.score)


def _side_by_side(hits: Iterable[Hit]) -> list[Hit]:
    merged: list[Hit] = []
    last = -2
    for hit in sorted(hits, key=lambda hit: hit.position):
        before = merged[-1] if merged else None
        if (
            before is not None
            and hit.position == last + 1
            and len(before.text) + len(hit.text) <= _MOST_CHARACTERS
        ):
            merged[-1] = replace(
                before, text=f"{before.text}\n\n{hit.text}", score=max(before.score, hit.score)
            )
        else:
            merged.append(hit)
        last = hit.position
    return merged


def _in_words_asked(
    matches: Matches, words: Sequence[str], others: Mapping[str, Sequence[Sequence[str]]]
) -> Matches:
    """Return `matches` as if each passage had the words of the question where it says them in another way."""
    if not others:
        return matches
    rarity = {word: matches.rarity[word] for word in compared(words) if word in matches.rarity}
    unknown = matches.unknown & rarity.keys()
    for word in unknown & others.keys():
        said = [part for way in others[word] for part in way if part not in matches.unknown]
        if said:
            rarity[word] = min(matches.rarity.get(part, rarity[word]) for part in said)
            unknown -= {word}
    return Matches(
        tuple(
            replace(hit, edged=hit.edged + "".join(_said_otherwise(hit.edged, others)))
            for hit in matches.hits
        ),
        rarity,
        frozenset(unknown),
    )


def _said_otherwise(there: str, others: Mapping[str, Sequence[Sequence[str]]]) -> Iterator[str]:
    for word, ways in others.items():
        if any(all(f"_{part}" in there for part in way) for way in ways):
            yield f"{word}_"


def ranked(matches: Matches, language: str) -> list[Hit]:
    """Return the hits, best first: those that hold more of the words, and hold them closer together."""
    return [each.hit for each in _rated(matches, language)]


def _chosen(matches: Matches, language: str) -> list[Hit]:
    """Return the hits that are on the topic of the words, best first."""
    codes = any(map(is_code, matches.rarity))
    unknown = any(not is_code(word) for word in matches.unknown)
    least_covered, least_named = (_COVERED, _NAMED_UNKNOWN) if unknown else (_KNOWN, _NAMED)
    on_topic = [
        each.hit
        for each in _rated(matches, language)
        if each.covered >= least_covered or (each.named >= least_named and not codes)
    ]
    return [hit for hit in on_topic[:_MOST_PASSAGES] if hit.score >= _NEAR_BEST * on_topic[0].score]


@dataclass(frozen=True, slots=True)
class _Rated:
    """A hit with the score that ranks it, and the shares of the words that it and its headings hold."""

    hit: Hit
    covered: float
    named: float


def _rated(matches: Matches, language: str) -> list[_Rated]:
    """Return the hits with what speaks for them, best first; none if nothing is known of the words."""
    known = [rare for word, rare in matches.rarity.items() if word not in matches.unknown]
    if not known:
        return []
    # What is nowhere may be said in another word; alone with one that is, it is what is asked.
    average = sum(known) / len(known)
    codes = {word for word in matches.rarity if is_code(word)}
    unknown = matches.unknown.difference(codes)
    rarity = {
        word: min(rare, average) if word in unknown else rare
        for word, rare in matches.rarity.items()
    }
    for word in _bound(matches):
        rarity[word] *= _BOUND
    rated: list[_Rated] = []
    for hit in matches.hits:
        foreign = hit.language not in (None, language)
        weights = {
            word: rare
            * (_CODE_WEIGHT if word in codes else 1.0)
            * (_FOREIGN_WORD if foreign and codes and word in matches.unknown else 1.0)
            for word, rare in rarity.items()
        }
        # A part of a word means nothing in another language.
        least = 1.0 if foreign else PART_OF_WORD
        covered, close = closeness(hit.edged, weights, least)
        score = hit.score * (_APART + close)
        rated.append(
            _Rated(
                replace(hit, score=score * (_FOREIGN if foreign else 1.0)),
                covered,
                coverage(edged(f"{hit.title}\n{hit.section}"), dict.fromkeys(weights, 1.0), least),
            )
        )
    rated.sort(key=lambda each: -each.hit.score)
    return rated


def _bound(matches: Matches) -> set[str]:
    """Return the words that only ever follow, or are followed by, a rarer one that they stand beside in the question.

    The two are one name, and count as one word: "may I smoke in the living room" is for what says "smoke".
    """
    words = list(matches.rarity)
    bound = set()
    for one, other in pairwise(words):
        rarer, commoner = sorted((one, other), key=lambda word: -matches.rarity[word])
        holders = [hit for hit in matches.hits if f"_{rarer}_" in hit.edged]
        if holders and all(f"_{one}_{other}_" in hit.edged for hit in holders):
            bound.add(commoner)
    return bound


def _passage(hit: Hit) -> Passage:
    return Passage(
        source=House.tag,
        title=hit.title,
        text=hit.text,
        url=f"house://{quote(hit.path)}",
        published=hit.published,
        section=hit.section or None,
        language=hit.language,
        score=hit.score,
    )
