"""A text made fit to be said: what is for the screen goes, signs become words.

Decides in which order that is done, and what the whole must keep to. The words of a kind are `text/spoken/`'s, what
isn't said at all is `answer/screen.py`'s, which text is spoken is decided by those who call. Plain text comes back as
it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
import re
from typing import Final

from backend.answer.screen import strip, tidy
from backend.text.spoken.fractions import say_fractions
from backend.text.spoken.money import say_money
from backend.text.spoken.short_forms import leave_out_sources, say_counted, say_short_forms
from backend.text.spoken.signs import say_dates, say_ranges, say_signs
from backend.text.spoken.units import part_units, say_units
from backend.text.spoken.words import SpokenWords, spoken_words

_TIMES_LONGER: Final = 3
_ALWAYS_ROOM: Final = 48
"""Speech is at most three times as long as its text, or so many characters: "1 %" needs more."""
_PASSES: Final = 4
_DIGIT: Final = re.compile(r"\d")


def speech(text: str, language: str) -> str:
    """Return `text` as it is to be said in `language`; the same text where nothing needs to change.

    Never longer than three times the text but for a few characters of a very short one; doing it again changes nothing. It ends in a question mark only if
    the text does: at one, satellites listen for a reply.
    """
    words = spoken_words(language)
    ordinals = words.own and words.data["ordinals"]
    bare = _settle(text, lambda each: strip(each, ordinals=ordinals))
    spoken = _settle(bare, lambda each: strip(_said(each, words), ordinals=ordinals))
    if len(spoken) > max(_TIMES_LONGER * len(text), _ALWAYS_ROOM):
        spoken = bare
    if spoken.endswith("?") and not text.rstrip().endswith(("?", "？")):
        spoken = spoken.rstrip("? ") + "."
    return spoken


@lru_cache(maxsize=64)
def prepare(language: str) -> None:
    """Read what units, money and dates need, once in a process: it blocks for up to 0.2 s, so call it in a thread.

    The first text that needs these waits for them.
    """
    speech("1 °C, 2 ₩, ½ l, 5 Mio., 2000-01-01", language)


def _settle(text: str, change: Callable[[str], str]) -> str:
    for _ in range(_PASSES):
        changed = change(text)
        if changed == text:
            break
        text = changed
    return text


def _said(text: str, words: SpokenWords) -> str:
    """Put signs into words; only units where the language has no words of its own for others."""
    if not words.own:
        out = say_units(text, words)
        return text if out == text else tidy(out)
    out = leave_out_sources(text, words)
    numbers = _DIGIT.search(out) is not None
    if numbers:
        out = say_dates(say_counted(part_units(out, words), words), words)
    out = say_short_forms(out, words)
    if numbers:
        out = say_ranges(out, words)
    out = say_money(say_fractions(out, words), words)
    out = say_signs(say_units(out, words), words)
    return text if out == text else tidy(out)
