"""Words of a text as they are compared: without case, accents and punctuation.

Speech has none of these to rely on, so whatever compares words compares these. Which words carry a meaning is
decided by the lists of each language; what is done with them is left to others.
"""

from __future__ import annotations

from functools import lru_cache
import re
from typing import Final
import unicodedata

from backend import languages

_PLAIN: Final = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ŧ": "t"}
)
"""Letters that Unicode doesn't take apart into a letter and an accent."""
_NOT_WORD: Final = re.compile(r"[\W_]+")
_SPELT_CODE: Final = re.compile(r"\b([a-z]) (\d{1,4})\b")
_MARKS: Final = re.compile(r"[\u0300-\u036f]+")
"""Accents of the Latin, Greek and Cyrillic scripts; marks of others (Arabic, Hindi, Thai) are letters."""


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


def content_words(text: str, language: str) -> list[str]:
    """Return the folded words of `text` that carry its meaning, in order, each as often as it stands there.

    A code that was heard in two parts is one word: "error e 24" is about "e24", in a language that has no word "e".
    Never empty where `text` has words: if all are function words and fillers ("who is it"), all are returned.
    """
    folded = fold(text)
    fillers = _fillers(language)
    left = fillers.sub(" ", folded) if fillers else folded
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
