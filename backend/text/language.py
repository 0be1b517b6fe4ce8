"""Which language a text is in, as far as it can be told: by its script, then by its small words and letters.

Made for one or two sentences of the languages that we speak. It would rather not tell than tell wrongly: names,
numbers and short texts belong to every language.
"""

from __future__ import annotations

from functools import lru_cache
import re
from typing import Final

from backend import languages
from backend.text.words import fold, tokens

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
_SURE_LETTERS: Final = 20
_FOREIGN: Final = 2
"""Different small words that a language doesn't have, or words with letters that it doesn't have: so many are no chance."""
_FOREIGN_TITLE: Final = 5
"""So many where all other words have capitals, and may be a name: "The Dark Side of the Moon"."""
_LEAD: Final = 2.5
"""Foreign words by one of the language's own: so many name another language, fewer quote it."""
_SENTENCE_OF_SIGNS: Final = 5
_SENTENCE_OF_WORDS: Final = 2
"""A name, or a word that was asked for, is shorter in signs or in words of another script."""
_SIGNS: Final = ("ja", "zh", "th")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_CAPITAL: Final = "[A-Z\u00c0-\u00d6\u00d8-\u00deĄĆĘŁŃŚŹŻŒ]"
_NAME: Final = re.compile(rf"\b{_CAPITAL}\w*(?:[ '’-](?:\w{{1,3}}[ '’]){{0,2}}{_CAPITAL}\w*)+")
"""Words with capitals in a row, and small ones between them."""
_QUOTED: Final = re.compile(r"[\"“”„«»‘][^\"“”„«»‘’\n]{1,80}[\"“”«»’]")
"""What may be in any language."""
_MARK_WEIGHT: Final = 0.5
_MARKS_AT_MOST: Final = 4


@lru_cache(maxsize=128)
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
    return code if sure and best >= _SURE_LEAD * second and not _foreign(text, code) else None


def contradicts(text: str, language: str) -> bool:
    """Return whether `text` is surely in another language than `language`.

    Sure is a sentence in a script that isn't the language's, or, for a language that we speak, several small words
    that it doesn't have and hardly any of its own. Names, words that are quoted, and codes tell nothing.
    """
    script = _script(text)
    if script is None:
        return False
    own_script = _family(language)
    if script:
        known = own_script is not None or language in languages.SPOKEN
        return known and own_script != _family(script) and _is_sentence(text, script)
    if own_script is not None:
        letters = len(_LATIN.findall(text))
        return letters >= _SURE_LETTERS and _scores(text)[0][0] >= _SURE_WORDS
    return language in languages.SPOKEN and _foreign(text, language)


def _is_sentence(text: str, script: str) -> bool:
    """Return whether a text in another script than Latin is more than a name or a word."""
    if script in _SIGNS:
        return len(_LETTER.findall(text)) >= _SENTENCE_OF_SIGNS
    return len(_WORD.findall(text)) >= _SENTENCE_OF_WORDS


def _first_word(name: re.Match[str]) -> str:
    """Return what isn't told to be of a name: the first word where a sentence begins with it."""
    start = name.string[: name.start()].rstrip()
    return f"{name[0].split()[0]} " if not start or start[-1] in ".!?:" else " "


def _foreign(text: str, language: str) -> bool:
    """Return whether the words of a Latin text are surely not those of `language`, one that we speak."""
    text = text.lower() if text.isupper() else text
    unquoted = _QUOTED.sub(" ", text)
    foreign, own = _told(unquoted, language)
    if own and len(foreign) >= _FOREIGN:
        # A text with words of its language may name a work or a place in another one.
        foreign, own = _told(_NAME.sub(_first_word, unquoted), language)
    named = not any(
        word.islower() and fold(word) not in _latin()[0] for word in _WORD.findall(text)
    )
    enough = _FOREIGN_TITLE if named else _FOREIGN
    return len(foreign) >= enough and len(foreign) >= _LEAD * own


def _told(text: str, language: str) -> tuple[set[str], float]:
    """Return the words that `language` doesn't have, and how much those tell that only it has, or few others.

    Codes tell nothing ("press ON"), single letters not of another language.
    """
    holders, _ = _latin()
    words = _WORD.findall(text)
    codes = {fold(word) for word in words if word.isupper()}
    small = {token: holders[token] for token in tokens(text) if token in holders}
    own = sum(1 / len(codes_of) for codes_of in small.values() if language in codes_of)
    foreign = {
        token
        for token, codes_of in small.items()
        if language not in codes_of and token not in codes and len(token) > 1
    }
    if not text.isascii():
        letters = languages.load(language).words.letters
        foreign.update(
            fold(word)
            for word in words
            if word.islower() and not all(each.isascii() or each in letters for each in word)
        )
    return foreign, own


def _family(language: str) -> str | None:
    """Return what stands for the script of a language, None for Latin and for unknown ones."""
    return _FAMILIES.get(language, language if language in dict(_SCRIPTS) else None)
