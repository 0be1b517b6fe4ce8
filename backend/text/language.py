"""Which language a text is in, as far as it can be told: by its script, then by its small words and letters.

Made for one or two sentences of the languages that we speak. It would rather not tell than tell wrongly: names,
numbers and short texts belong to every language.
"""

from __future__ import annotations

from functools import lru_cache
import re
from typing import Final

from backend import languages
from backend.text.words import tokens

_SCRIPTS: Final = (
    ("ja", re.compile(r"[\u3040-\u30ff\uff66-\uff9f]")),
    ("ko", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", re.compile(r"[\u3400-\u9fff]")),
    ("uk", re.compile(r"[іїєґІЇЄҐ]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("fa", re.compile(r"[پچژگ]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
)
"""Scripts by the language most written in it; a more telling one first."""
_LETTER: Final = re.compile(r"[^\W\d_]")
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f]")
_SHARE: Final = 0.5
"""A script decides from this share of all letters on."""
_SURE_WORDS: Final = 3
"""From this many small words on, of a language and of no better one, a Latin text is of that language."""
_SURE_LEAD: Final = 2.0
_CONTRADICTS_WORDS: Final = 4
_CONTRADICTS_LEAD: Final = 2.5
_MARK_WEIGHT: Final = 0.5


def primary(tag: str | None, default: str = languages.DEFAULT) -> str:
    """Return the primary subtag of a BCP 47 tag in lower case ("de-DE" -> "de"), `default` for none."""
    head = re.split(r"[-_]", tag.strip(), maxsplit=1)[0].lower() if tag else ""
    return head or default


@lru_cache(maxsize=1)
def _latin() -> tuple[tuple[str, frozenset[str], frozenset[str]], ...]:
    """Return code, function words, and telling letters of every language that we speak."""
    every = [(code, languages.load(code).words) for code in languages.SPOKEN]
    return tuple((code, words.function, frozenset(words.marks)) for code, words in every)


def _script(text: str) -> str | None:
    """Return the language by script, "" for Latin, None where no script has half of the letters."""
    letters = len(_LETTER.findall(text))
    if not letters:
        return None
    if len(_LATIN.findall(text)) >= _SHARE * letters:
        return ""
    for code, pattern in _SCRIPTS:
        found = pattern.findall(text)
        if not found:
            continue
        if code in ("ja", "uk", "fa") or len(found) >= _SHARE * letters:
            return code
    return None


def _scores(text: str) -> list[tuple[float, str]]:
    """Return (score, code) of the languages that we speak, best first.

    A small word counts by how few languages share it; a telling letter counts a little.
    """
    every = _latin()
    scores = dict.fromkeys((code for code, _, _ in every), 0.0)
    for token in tokens(text):
        holders = [code for code, function, _ in every if token in function]
        for code in holders:
            scores[code] += 1 / len(holders)
    lower = text.lower()
    for code, _, marks in every:
        scores[code] += _MARK_WEIGHT * min(4, sum(letter in marks for letter in lower))
    return sorted(((score, code) for code, score in scores.items()), reverse=True)


def detect(text: str) -> str | None:
    """Return the code of the language of `text`; None when it can't be told."""
    script = _script(text)
    if script != "":
        return script
    (best, code), (second, _) = _scores(text)[:2]
    sure = best >= _SURE_WORDS or (best >= 1.5 and second == 0)
    return code if sure and best >= _SURE_LEAD * second else None


def contradicts(text: str, language: str) -> bool:
    """Return whether `text` is surely in another language than `language`.

    Sure is a script that isn't the language's, or, among the languages that we speak, several small words of
    another one and hardly any of its own.
    """
    script = _script(text)
    if script is None:
        return False
    if script:
        return (
            language in languages.SPOKEN
            or language in _LATIN_ONLY
            or (script != language and not _related(script, language))
        )
    if language in dict(_SCRIPTS):
        return len(_LATIN.findall(text)) >= 20 and _scores(text)[0][0] >= _CONTRADICTS_WORDS
    if language not in languages.SPOKEN:
        return False
    scores = _scores(text)
    best, code = scores[0]
    own = next(score for score, each in scores if each == language)
    return code != language and best >= _CONTRADICTS_WORDS and best >= _CONTRADICTS_LEAD * own


_LATIN_ONLY: Final = frozenset(
    ("pt", "sv", "da", "no", "nb", "fi", "cs", "sk", "hu", "ro", "tr", "vi")
)
_FAMILIES: Final = (
    frozenset(("ru", "uk", "bg", "sr", "mk", "be", "kk")),
    frozenset(("ar", "fa", "ur")),
    frozenset(("hi", "mr", "ne")),
    frozenset(("zh", "ja", "yue")),
)


def _related(one: str, other: str) -> bool:
    return any(one in family and other in family for family in _FAMILIES)
