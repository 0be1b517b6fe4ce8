"""What a composed answer must not be. Pure functions: each looks at one thing and says what is wrong, or nothing.

The order in which they are asked, and what follows from a refusal, is decided by `synthesis`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from backend import languages
from backend.answer.phrases import without_lead
from backend.answer.reply import is_question
from backend.text.language import contradicts, detect
from backend.text.numbers import Material
from backend.text.words import content_words, fold, tokens

Gate = Literal["empty", "attribution", "echo", "language", "numbers", "length"]

_SHARED: Final = 4
"""Words that begin with this many letters alike, and with most of the longer one, are forms of one word."""
_MOST: Final = 0.6
_FEW: Final = 2
"""A question with this many new words at most is the same question still."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A gate that stays shut, and why."""

    gate: Gate
    detail: str = ""


def attribution(named: Sequence[str], offered: Sequence[str]) -> Rejection | tuple[str, ...]:
    """Return the sources of an answer that names `named`; a lone source is it whatever is named."""
    if len(offered) == 1:
        return tuple(offered)
    wrong = [name for name in named if name not in offered]
    if wrong:
        return Rejection("attribution", f"not offered: {', '.join(wrong)}"[:200])
    if not named:
        return Rejection("attribution", "no source named")
    return tuple(dict.fromkeys(named))


def echo(body: str, question: str, language: str) -> Rejection | None:
    """Refuse a body that only says the question again."""
    if fold(body) == fold(question):
        return Rejection("echo", "the question itself")
    left = without_lead(body, language)
    polar = frozenset(languages.load(language).table("answers").get("polar", "").split())
    asked = tokens(question)
    if any(word in polar and word not in asked for word in tokens(left)):
        return None
    new = [
        word
        for word in content_words(left, language)
        if not any(_related(word, other) for other in asked)
    ]
    if not new or (is_question(body) and len(new) <= _FEW):
        return Rejection("echo", "the question restated")
    return None


def wrong_language(text: str, language: str) -> Rejection | None:
    """Refuse a text that is surely in another language."""
    if contradicts(text, language):
        return Rejection("language", detect(text) or "another")
    return None


def numbers(sentence: str, material: Material, language: str) -> Rejection | None:
    """Refuse a sentence with a number that the material doesn't hold."""
    missing = material.unsupported(sentence, language)
    return Rejection("numbers", ", ".join(missing)) if missing else None


def _related(one: str, other: str) -> bool:
    """Return whether two folded words are forms of one."""
    if one == other:
        return True
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    # A figure is another figure, whatever it begins with.
    return shared >= _SHARED and shared >= _MOST * max(len(one), len(other)) and one.isalpha()
