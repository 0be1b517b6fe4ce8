"""Abbreviations put into words: before figures ("No. 5"), behind numbers ("3,7 Mio."), anywhere else ("z. B.")."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
import re
from typing import Final

from backend.contract import LABELS
from backend.text.patterns import either
from backend.text.spoken.words import NUM, SPACE, SpokenWords, form, replaced, spoken_words

_BRACKETED: Final = re.compile(r"(\s*)\[([^\[\]\n]{1,40})\]")


class _Patterns:
    """Where short forms stand, in one language."""

    def __init__(self, words: SpokenWords) -> None:
        self.anywhere = _pattern(words.data["abbreviations"], r"(?<![\w./])", r"(?![^\W_])")
        self.numbered = _pattern(words.data["numbered"], r"(?<![\w.])", r"[ \u00a0]?(?=\d)")
        self.counted = _pattern(
            words.data["counted"], rf"(?<![\w.,])({NUM}){SPACE}", r"(?![^\W_]|['’-])"
        )


def _pattern(forms: Iterable[str], head: str, tail: str) -> re.Pattern[str]:
    return re.compile(rf"{head}({either(forms)}){tail}")


@lru_cache(maxsize=16)
def _patterns(language: str) -> _Patterns:
    return _Patterns(spoken_words(language))


def say_short_forms(text: str, words: SpokenWords) -> str:
    """Put abbreviations into words."""
    return _patterns(words.language).anywhere.sub(lambda each: _anywhere(each, words), text)


def say_counted(text: str, words: SpokenWords) -> str:
    """Put into words what stands before and behind numbers."""
    patterns = _patterns(words.language)
    out = patterns.numbered.sub(lambda each: _numbered(each, words), text)
    return replaced(out, patterns.counted, lambda each: _counted(each, words), words.language)


def leave_out_sources(text: str, words: SpokenWords) -> str:
    """Take out marks of sources, such as "[Source 2]" and "[web]"."""
    return _BRACKETED.sub(lambda each: _bracketed(each, words), text) if "[" in text else text


def _numbered(match: re.Match[str], words: SpokenWords) -> str:
    return match.group() if _is_unit(match, words) else f"{words.data['numbered'][match[1]]} "


def _is_unit(match: re.Match[str], words: SpokenWords) -> bool:
    """Return whether a short form stands behind a number, and is a unit there: "5 min." is no minimum."""
    before = match.string[: match.start()].rstrip(" \u00a0\u202f")
    return before[-1:].isnumeric() and match[1].rstrip(".").lower() in words.short


def _counted(match: re.Match[str], words: SpokenWords) -> str:
    name = form(
        words.data["counted"][match[2]], words.plural_in(match.string, match.start(), match[1])
    )
    return f"{words.digits(match[1])} {name}"


def _anywhere(match: re.Match[str], words: SpokenWords) -> str:
    short = match[1]
    spoken: str = words.data["abbreviations"][short]
    if _is_unit(match, words):
        return match.group()
    rest = match.string[match.end() :]
    if not short.endswith("."):
        return spoken
    inside = words.lexicon.segmentation
    # The full stop may end the sentence too.
    ends = not rest.strip() or (
        rest[0].isspace()
        and rest.lstrip()[0].isupper()
        and short[:-1].lower() not in inside.abbreviations | inside.titles
    )
    return f"{spoken}." if ends else spoken


def _bracketed(match: re.Match[str], words: SpokenWords) -> str:
    label = match[2].casefold().split()
    head = label[0].rstrip(".,:;0123456789") if label else ""
    if head not in words.grammar.references and head not in LABELS:
        return match.group()
    before = match.string[: match.start()].rstrip()
    after = match.string[match.end() : match.end() + 1]
    if match[1] and before[-1:].isalpha() and after in (",", " "):
        last = before.split()[-1].casefold()
        if last in words.grammar.function:
            return f" {words.say('the_source')}"
    return ""
