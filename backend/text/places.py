"""The place that a question names: "will it rain in new york tomorrow" is about New York.

Speech has no capitals: what stands behind "in", "at" or "near" and says neither when nor where in the house is taken
for a name. Whether there is such a place is somebody else's to find out. Words are data
(`languages/<code>/forecast.toml`).
"""

from __future__ import annotations

from functools import lru_cache
import re
from typing import Final

from backend.languages import table
from backend.text.aligned import Aligned

_MOST_WORDS: Final = 4
"""In a name."""
_NEVER: Final = re.compile(r"(?!)")


@lru_cache(maxsize=16)
def _patterns(
    language: str,
) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], frozenset[str]]:
    """Return what stands before a name, what ends one, and what is none: words of weather, and others."""
    forecast = table(language, "forecast")
    data = forecast.get("place", {})
    if not data:
        return _NEVER, _NEVER, _NEVER, frozenset()
    other = re.compile(rf"(?:{'|'.join(forecast['ask'].values())})$")
    times = table(language, "requests").get("time", ())
    before = re.compile(rf"\b(?:{data['before']}) (?:(?:{data['article']}) )?(?=\w)")
    after = re.compile(rf"\b(?:{'|'.join((*times, data['after']))})\b")
    numbers = table(language, "since").get("words", {})
    return before, after, other, frozenset((*data["never"].split(), *numbers))


def named_place(query: str, language: str) -> str | None:
    """Return the name of the place that `query` is about, as it was written; None where it names none."""
    before, after, other, never = _patterns(language)
    aligned = Aligned(query)
    folded = aligned.folded
    for found in before.finditer(folded):
        start = found.end()
        stop = after.search(folded, start)
        end = stop.start() if stop else len(folded)
        words = folded[start:end].split()[:_MOST_WORDS]
        if not words or words[0] in never or any(word.isdecimal() for word in words):
            continue
        if other.match(words[0]):
            continue
        again = next((at for at, word in enumerate(words) if word in never), len(words))
        if again > 1 and before.match(f"{words[again - 1]} x"):
            # "In paris in celsius".
            again -= 1
        name = " ".join(words[:again])
        return aligned.taken(start, start + len(name))
    return None


def base_forms(name: str, language: str) -> tuple[str, ...]:
    """Return a name, then the forms that may be meant where a language declines names: "krakowie" is "kraków"."""
    endings = table(language, "forecast").get("place", {}).get("endings", ())
    forms = [name[: -len(ending)] + instead for ending, instead in endings if name.endswith(ending)]
    return tuple(dict.fromkeys((name, *forms)))
