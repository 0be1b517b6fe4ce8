"""Sentences that are known to be wrong in one figure: a supported sentence, one figure altered.

Nobody's judgement is in them, unlike in labelled sets. The figure becomes one that is nowhere in the material or the
question, the next whole number, or another figure of the same kind from the material. What stands in a material is
read here without the product's own reading of numbers, so that it can't excuse itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import random
import re
from typing import Final

ENUMERATOR: Final = re.compile(r"(?:^|(?<=[\n:;.!?)]))[ \t]*(?:[•*-]\s*)?\(?\d{1,2}[.)](?=\s|$)")
REFERENCE: Final = re.compile(
    r"\bpassages?\s+\d+(?:\s*(?:,|&|\band\b|\bor\b)\s*(?:passages?\s+)?\d+)*", re.IGNORECASE
)
WORD_COUNT: Final = re.compile(r"\b\d+(?:-\d+)?[- ]?words?\b", re.IGNORECASE)
_TOKEN: Final = re.compile(
    r"(?<![\w.,:/'’-])\d{1,2}:\d{2}(?![\d:])|(?<![\w.,:/'’-])\d+(?:[.,]\d+)*"
)
_ANY: Final = re.compile(r"\d+(?:[.,]\d+)*")
_TRIES: Final = 200
_SMALL: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_TENS: Final = "thirty forty fifty sixty seventy eighty ninety"
_ORDINALS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
)
_WORDS: Final[dict[str, float]] = {
    **{word: value for value, word in enumerate(_SMALL.split())},
    **{word: value * 10 for value, word in enumerate(_TENS.split(), 3)},
    **{word: value for value, word in enumerate(_ORDINALS.split(), 1)},
    "half": 2,
    "quarter": 4,
    "dozen": 12,
    "twice": 2,
    "double": 2,
    "once": 1,
    "noon": 12,
    "midnight": 12,
}


@dataclass(frozen=True)
class Altered:
    """A sentence whose figure `old` became `new`; `how` is "absent", "next" or "swapped"."""

    how: str
    text: str
    old: str
    new: str


def claims_figure(text: str) -> bool:
    """Return whether a text has a figure that is no list mark, no reference to a passage, no count of words."""
    return any(character.isdigit() for character in _without_marks(text))


def _without_marks(text: str) -> str:
    """Return `text` with what claims nothing blanked out, so that places stay the same."""
    for pattern in (REFERENCE, ENUMERATOR, WORD_COUNT):
        text = pattern.sub(lambda found: re.sub(r"\d", "x", found.group()), text)
    return text


def values(text: str) -> frozenset[float]:
    """Return all that a figure or a number word of `text` may be worth, rather too much than too little."""
    found: set[float] = set()
    for match in _ANY.finditer(text):
        token = match.group()
        found.update(float(part) for part in re.split(r"[.,]", token) if part)
        for written in (token.replace(",", ""), token.replace(".", "").replace(",", ".")):
            if written.count(".") <= 1:
                found.add(float(written))
    words = set(re.findall(r"[a-z]+", text.lower()))
    found.update(value for word, value in _WORDS.items() if word in words)
    for value in list(found):
        if value <= 24:  # either half of the day
            found.update((value + 12, value % 12, 12.0 if value % 12 == 0 else value))
        if 1000 <= value < 2200:  # "the 1990s", "in '94", "the 20th century"
            found.update((value // 10 * 10, value % 100, value // 100 * 100, value // 100 + 1))
    return frozenset(found)


def altered(sentence: str, material: str, question: str, seed: str) -> Iterator[Altered]:
    """Yield the sentence with one of its figures altered in up to three ways; the same for the same `seed`."""
    chance = random.Random(seed)
    tokens = list(_TOKEN.finditer(_without_marks(sentence)))
    if not tokens:
        return
    token = chance.choice(tokens)
    old = token.group()
    known = values(material) | values(question) | values(sentence)
    if new := _absent(old, known, chance):
        yield _with(sentence, token, "absent", new)
    if old.isdigit() and not old.startswith("0") and int(old) + 1 not in known:
        yield _with(sentence, token, "next", str(int(old) + 1))
    kind = _kind(sentence, token)
    others = sorted(
        {
            other.group()
            for other in _TOKEN.finditer(material)
            if _kind(material, other) == kind and not values(other.group()) & values(old)
        }
    )
    if others:
        yield _with(sentence, token, "swapped", chance.choice(others))


def _with(sentence: str, token: re.Match[str], how: str, new: str) -> Altered:
    text = f"{sentence[: token.start()]}{new}{sentence[token.end() :]}"
    return Altered(how, text, token.group(), new)


def _absent(old: str, known: frozenset[float], chance: random.Random) -> str | None:
    """Return a figure of the same shape that is nowhere; None where there is hardly any."""
    for _ in range(_TRIES):
        if ":" in old:
            hour, minute = chance.randint(1, 12), chance.choice(range(0, 60, 5))
            if hour not in known or (minute and minute not in known):
                return f"{hour}:{minute:02d}"
            continue
        new = "".join(chance.choice("0123456789") if each.isdigit() else each for each in old)
        if (new[0] != "0" or old[0] == "0") and not _worth(new) & known:
            return new
    return None


def _worth(token: str) -> frozenset[float]:
    whole = float(token.replace(",", "")) if token.count(".") <= 1 else None
    return frozenset(() if whole is None else (whole, float(int(whole))))


def _kind(text: str, token: re.Match[str]) -> Sequence[str | bool]:
    """Return what a figure is alike to: how it is written, and what stands right beside it."""
    written = token.group()
    after = re.match(
        r"\s?([%°]|[ap]\.?m\b|st\b|nd\b|rd\b|th\b)?", text[token.end() :], re.IGNORECASE
    )
    beside = ((after and after[1]) or "").lower().replace(".", "")
    money = text[: token.start()].rstrip().endswith(("$", "€", "£"))
    if ":" in written:
        return ("clock",)
    if len(written) == 4 and written.isdigit() and 1000 <= int(written) < 2200 and not money:
        return ("year",)
    shape = "decimal" if "." in written else "large" if len(written) > 3 else "whole"
    return (shape, "ordinal" if beside in ("st", "nd", "rd", "th") else beside, money)
