"""Forms of words: which words of a text are a word that was asked for, as it is, inflected, or in a compound.

Decides by how words begin and end, with the endings and prefixes that a language lists; there is no stemmer, so any
language with letters works a little, and a wrong pair is rather missed than made. What a form counts is left to others.
"""

from __future__ import annotations

from collections.abc import Iterator, Set as AbstractSet
from functools import lru_cache
from typing import Final

from backend import languages

SHORTEST_STEM: Final = 4
_SHARE_OF_WORD: Final = 0.55
_SURELY: Final = 6
_VOWELS: Final = frozenset("aeiouyаеиоуыьэюя")
_SHORTEST_ROOT: Final = 3
"""What is left of a word without its prefix and endings; the roots of languages that have prefixes are three letters."""


class Vocabulary:
    """The words of some sentences, folded, to find the forms of a word among them."""

    def __init__(self, words: AbstractSet[str], language: str) -> None:
        """Take the words of sentences in the language of the code `language`."""
        self._words = words
        self._language = language
        self._heads: dict[str, list[str]] = {}
        long = [word for word in words if len(word) >= SHORTEST_STEM and word.isalpha()]
        for word in long:
            self._heads.setdefault(word[:SHORTEST_STEM], []).append(word)
        self._joined = f" {' '.join(long)} "
        self._roots: dict[str, list[str]] = {}
        if _prefixes(language):
            for word in words:
                if word.isalpha():
                    self._roots.setdefault(_root(word, language), []).append(word)

    def forms(self, word: str) -> set[str]:
        """Return the words that are `word`, or forms of it, or compounds with it or of which it is one."""
        found = {word} if word in self._words else set()
        if not word.isalpha():
            return found
        if self._roots:
            return found.union(self._roots.get(_root(word, self._language), ()))
        if len(word) < SHORTEST_STEM:
            # Too short to be told from others by how they begin: "top" isn't "topic", but "topping".
            longer = (
                word + twice + end for end in _endings(self._language) for twice in ("", word[-1])
            )
            return found.union(self._words & set(longer))
        found.update(
            other for other in self._heads.get(word[:SHORTEST_STEM], ()) if _inflected(word, other)
        )
        if len(word) > SHORTEST_STEM:
            found.update(self._compounds(word))
        return found

    def _compounds(self, word: str) -> Iterator[str]:
        """Yield the words that `word` is the end or the middle of, and those that it is made of."""
        at = self._joined.find(word)
        while at >= 0:
            begin, end = self._joined.rfind(" ", 0, at) + 1, self._joined.find(" ", at)
            if begin < at:
                yield self._joined[begin:end]
            at = self._joined.find(word, end)
        for begin in range(1, len(word) - SHORTEST_STEM):
            for end in range(begin + SHORTEST_STEM + 1, len(word) + 1):
                if word[begin:end] in self._words:
                    yield word[begin:end]


@lru_cache(maxsize=4096)
def _root(word: str, language: str) -> str:
    """Return `word` without what the language writes as one with it ("and", "the", "in") and without its endings."""
    for prefix in _prefixes(language):
        if word.startswith(prefix) and len(word) - len(prefix) >= _SHORTEST_ROOT:
            word = word[len(prefix) :]
            break
    while True:
        for ending in _endings(language):
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_ROOT:
                word = word[: -len(ending)]
                break
        else:
            return word


def _inflected(one: str, other: str) -> bool:
    """Return whether two words that begin alike are one: "smoke" is in "smoking", "clean" isn't "clear"."""
    shared = _shared(one, other)
    ends = one[shared : shared + 1], other[shared : shared + 1]
    alike = "" in ends or shared >= _SURELY or not _VOWELS.isdisjoint(ends)
    return alike and shared >= _SHARE_OF_WORD * max(len(one), len(other))


def _shared(one: str, other: str) -> int:
    """Return how many letters two words begin with alike."""
    for i, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return i
    return min(len(one), len(other))


@lru_cache(maxsize=32)
def _endings(language: str) -> tuple[str, ...]:
    return _longest_first(languages.load(language).table("answers").get("endings", ""))


@lru_cache(maxsize=32)
def _prefixes(language: str) -> tuple[str, ...]:
    return _longest_first(languages.load(language).table("answers").get("prefixes", ""))


def _longest_first(words: str) -> tuple[str, ...]:
    return tuple(sorted(words.split(), key=len, reverse=True))
