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
_FAMILIES: Final = {
    **dict.fromkeys(("uk", "bg", "sr", "mk", "be", "kk"), "ru"),
    **dict.fromkeys(("fa", "ur"), "ar"),
    **dict.fromkeys(("mr", "ne"), "hi"),
    **dict.fromkeys(("ja", "yue"), "zh"),
}
"""Languages that share a script, or most of it."""
_LETTER: Final = re.compile(r"[^\W\d_]")
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f]")
_SHARE: Final = 0.5
"""A script decides from this share of all letters on."""
_SURE_WORDS: Final = 3
"""From this many small words on, of a language and of no better one, a Latin text is of that language."""
_SURE_LEAD: Final = 2.0
_CONTRADICTS_WORDS: Final = 3
_CONTRADICTS_LEAD: Final = 2.5
_SURE_LETTERS: Final = 20
_MARK_WEIGHT: Final = 0.5
_MARKS_AT_MOST: Final = 4


def primary(tag: str | None, default: str = languages.DEFAULT) -> str:
    """Return the primary subtag of a BCP 47 tag in lower case ("de-DE" -> "de"), `default` for none."""
    head = re.split(r"[-_]", tag.strip(), maxsplit=1)[0].lower() if tag else ""
    return head or default


@lru_cache(maxsize=1)
def _latin() -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the languages that we speak by their small words, and their telling letters."""
    every = {code: languages.load(code).words for code in languages.SPOKEN}
    holders: dict[str, tuple[str, ...]] = {}
    for code, words in every.items():
        for word in words.function:
            holders[word] = (*holders.get(word, ()), code)
    return holders, {code: words.marks for code, words in every.items()}


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
    holders, marks = _latin()
    scores = dict.fromkeys(languages.SPOKEN, 0.0)
    for token in tokens(text):
        for code in (codes := holders.get(token, ())):
            scores[code] += 1 / len(codes)
    if not text.isascii():
        lower = text.lower()
        for code, letters in marks.items():
            scores[code] += _MARK_WEIGHT * min(_MARKS_AT_MOST, sum(map(lower.count, letters)))
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
    own_script = _family(language)
    if script:
        known = own_script is not None or language in languages.SPOKEN
        return known and own_script != _family(script)
    if own_script is not None:
        letters = len(_LATIN.findall(text))
        return letters >= _SURE_LETTERS and _scores(text)[0][0] >= _CONTRADICTS_WORDS
    if language not in languages.SPOKEN:
        return False
    scores = _scores(text)
    best, code = scores[0]
    own = next(score for score, each in scores if each == language)
    return code != language and best >= _CONTRADICTS_WORDS and best >= _CONTRADICTS_LEAD * own


def _family(language: str) -> str | None:
    """Return what stands for the script of a language, None for Latin and for unknown ones."""
    return _FAMILIES.get(language, language if language in dict(_SCRIPTS) else None)
