"""Words of a text as they are compared: without case, accents and punctuation.

Speech has none of these to rely on, so whatever compares words compares these. Which words carry a meaning is
decided by the lists of each language; what is done with them is left to others.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import lru_cache
import re
from typing import Final
import unicodedata

from backend import languages

_PLAIN: Final = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ŧ": "t"}
    | {"ة": "ه", "ى": "ي", "ی": "ي", "ک": "ك"}
)
"""Letters that Unicode doesn't take apart into a letter and an accent, and Arabic ones that are written either way."""
_NOT_WORD: Final = re.compile(r"[\W_]+")
_UNSPACED: Final = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
_HAS_UNSPACED: Final = re.compile(f"[{_UNSPACED}]")
_RUNS: Final = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_SPELT_CODE: Final = re.compile(r"\b([a-z]) (\d{1,4})\b")
_MARKS: Final = re.compile(r"[\u0300-\u036f\u0640\u064b-\u065f\u0670]+")
"""Accents of the Latin, Greek and Cyrillic scripts, and what Arabic is seldom written with: vowel signs, hamza above a
letter, the stroke that lengthens a word. Marks of others (Hindi, Thai) are letters."""


def fold(text: str) -> str:
    """Return `text` in folded case, without accents, each run of other characters one space."""
    plain = text.casefold()
    if not plain.isascii():
        decomposed = _MARKS.sub("", unicodedata.normalize("NFKD", plain))
        # Translating costs more than all the rest, and few texts have these letters.
        if not _PLAIN.keys().isdisjoint(map(ord, set(decomposed))):
            decomposed = decomposed.translate(_PLAIN)
        plain = unicodedata.normalize("NFC", decomposed).casefold()
    return _NOT_WORD.sub(" ", plain).strip()


def tokens(text: str) -> list[str]:
    """Return the folded words of `text` in order."""
    return fold(text).split()


@lru_cache(maxsize=64)
def _fillers(language: str) -> re.Pattern[str] | None:
    fillers = languages.load(language).words.fillers
    if not fillers:
        return None
    return re.compile(r"\b(?:" + "|".join(map(re.escape, fillers)) + r")\b")


def spaceless(word: str) -> bool:
    """Return whether a word begins in a script that has no spaces between its words."""
    return _HAS_UNSPACED.match(word) is not None


def apart(words: Iterable[str]) -> list[str]:
    """Return words with what has no spaces between its words apart from letters and figures beside it."""
    found: list[str] = []
    for word in words:
        if word.isascii() or not _HAS_UNSPACED.search(word):
            found.append(word)
        else:
            found += _RUNS.findall(word)
    return found


def compared(words: Iterable[str]) -> list[str]:
    """Return folded words as they can be found in a text: what has no spaces between its words in pairs of characters.

    One character alone is what is left between function words, and is in half of all texts.
    """
    found: list[str] = []
    alone: list[str] = []
    for word in apart(words):
        if not spaceless(word):
            found.append(word)
        elif len(word) == 1:
            alone.append(word)
        else:
            found += [word[at : at + 2] for at in range(len(word) - 1)]
    return found or alone


@lru_cache(maxsize=64)
def _inside(language: str) -> re.Pattern[str] | None:
    """Return what finds function words of a script without spaces, which stand inside what looks like one word."""
    own = languages.load(language).words
    inside = [word for word in own.function | own.question if spaceless(word)]
    if not inside:
        return None
    return re.compile("|".join(sorted(inside, key=len, reverse=True)))


def content_words(text: str, language: str) -> list[str]:
    """Return the folded words of `text` that carry its meaning, in order, each as often as it stands there.

    A code that was heard in two parts is one word: "error e 24" is about "e24", in a language that has no word "e".
    Never empty where `text` has words: if all are function words and fillers ("who is it"), all are returned.
    """
    folded = fold(text)
    fillers = _fillers(language)
    left = fillers.sub(" ", folded) if fillers else folded
    if (inside := _inside(language)) is not None:
        left = inside.sub(" ", left)
    own = languages.load(language).words
    left = _SPELT_CODE.sub(
        lambda found: found[0] if found[1] in own.function else found[1] + found[2], left
    )
    words = [word for word in left.split() if word not in own.function and word not in own.question]
    return words or folded.split()


def topic_words(text: str, language: str) -> list[str]:
    """Return the words of `text` that name what could be looked up, in order; none where it names nothing.

    "What do I do when it smells of gas" is about smelling and gas, "how big is the cistern" about the cistern. "Help",
    "how are you" and "twelve times thirteen" are about nothing.
    """
    lexicon = languages.load(language)
    own = lexicon.words
    folded = f" {fold(text)} "
    for phrase in lexicon.table("answers").get("figures", ()):
        folded = folded.replace(f" {phrase} ", " ")
    words = [
        word
        for word in content_words(folded, language)
        if word not in own.function and word not in own.question and word not in own.light
    ]
    if own.alone.issuperset(words) or (len(words) > 1 and all(map(str.isdecimal, words))):
        return []
    return words


def other_words(
    text: str, words: Container[str], language: str
) -> dict[str, list[tuple[str, ...]]]:
    """Return, for those of `words` that a text says in one of several ways, the other ways, each by its words.

    "How do I turn off the alarm" gives ("disarm",), ("switch", "off") and others for "turn".
    """
    folded = f" {fold(text)} "
    others: dict[str, list[tuple[str, ...]]] = {}
    for ways in _ways(language):
        for way in ways:
            carrier = next((word for word in way if word in words), None)
            if carrier is not None and f" {' '.join(way)} " in folded:
                others[carrier] = [other for other in ways if other != way]
    return others


@lru_cache(maxsize=16)
def _ways(language: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return what is said in several ways: for each such thing its ways, each by its words."""
    groups = languages.load(language).table("answers").get("same", ())
    return tuple(tuple(tuple(way.split()) for way in group.split("/")) for group in groups)
