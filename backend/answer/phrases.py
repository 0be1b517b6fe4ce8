"""What models say around an answer or in place of one, told by the patterns of each language.

Tells only what a sentence is; that it is refused, or a miss, is decided by the gates and the judges. The patterns are
in `languages/<code>/replies.toml`; a language without them has none.
"""

from __future__ import annotations

from functools import lru_cache
import re
from typing import Final

from backend import languages
from backend.text.words import fold, tokens

_MISS_MARK: Final = re.compile(
    r"(?<![a-z])not\\?[\s_-]{0,2}in\\?[\s_-]{0,2}(?:the[\s_-])?sources?(?![a-z])", re.IGNORECASE
)
_LONGEST_MISS: Final = 6
"""Words; what begins like the mark and is longer says something."""
_PART: Final = re.compile(r"<(\w+)>")


def has_miss_mark(text: str) -> bool:
    """Return whether `text` has the agreed word for a miss anywhere, as it was agreed or in capitals."""
    return any(_as_agreed(mark[0]) for mark in _MISS_MARK.finditer(text))


def is_miss(sentence: str, language: str, *, quoted: bool = False) -> bool:
    """Return whether `sentence` says by the agreed word, or as we say it, that the material has no answer.

    With `quoted` the word stands in the material or the question: then a sentence may be about it.
    """
    folded = fold(sentence)
    if folded in (
        fold(languages.spoken(code, "honest_miss")) for code in (language, languages.DEFAULT)
    ):
        return True
    marks = list(_MISS_MARK.finditer(sentence))
    if not marks:
        return False
    words = fold(_MISS_MARK.sub(" ", sentence)).split()
    if any(_as_agreed(mark[0]) for mark in marks):
        return not (quoted and words)
    begins = not fold(sentence[: marks[0].start()])
    return begins and len(folded.split()) <= _LONGEST_MISS


def _as_agreed(mark: str) -> bool:
    return "_" in mark or mark.isupper()


@lru_cache(maxsize=32)
def _pattern(language: str, key: str) -> re.Pattern[str] | None:
    """Return one pattern for all that a language has under `key`, each from the beginning of a sentence."""
    table = languages.load(language).table("replies")
    if key not in table:
        return None
    parts: dict[str, str] = table["parts"]
    every = (_PART.sub(lambda part: parts[part[1]], each) for each in table[key])
    return re.compile("|".join(f"(?:{each})" for each in every))


def without_lead(text: str, language: str) -> str:
    """Return `text` without the words that say that something was asked: "You asked what …". Folded where it has them."""
    pattern = _pattern(language, "restates")
    folded = fold(text)
    lead = pattern.match(folded) if pattern is not None else None
    return folded[lead.end() :] if lead is not None else text


def denies(sentence: str, language: str) -> bool:
    """Return whether `sentence` says that the material has no answer, and nothing else."""
    pattern = _pattern(language, "denies")
    folded = fold(sentence)
    denial = pattern.match(folded) if pattern is not None else None
    if denial is None:
        return False
    unless = languages.load(language).table("replies")["unless"].split()
    return not set(tokens(folded[denial.end() :])).intersection(unless)
