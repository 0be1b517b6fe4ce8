"""The spoken form: is a sign left, is the unit's word the one that people say, does plain text stay as it is.

Digits are the engine's, so numbers are taken out of both sides before words are compared: what remains has to be the
same, in the same order, whether written in one word or in two ("Kubikmeter", "kubik meter").

    python -m benchmarks.quality.speech DATA [--failing]
"""

from __future__ import annotations

import argparse
from functools import lru_cache
from pathlib import Path
import re
import time
from typing import Any, Final
import unicodedata
import zlib

from backend import languages
from backend.answer.speech import prepare, speech
from backend.text.figures import grammar
from backend.text.words import fold
from benchmarks.quality.figure import Figure
from benchmarks.quality.rows import read_rows

LANGUAGES: Final = ("en", "de", "fr", "es", "it")
CLASSES: Final = ("measure", "money", "range", "fraction", "whitelist")
TARGET: Final = 95.0
_SIGNS: Final = frozenset("%‰&#@/\\*_^~|<>[]{}º°")
_DASH_AT_DIGIT: Final = re.compile(r"(?<![^\W\d])[-–—−]\s?\d|\d\s?[–—−]\s?\d|\d\s-\s\d")
_DECADE: Final = re.compile(r"\b\d+s\b")
_WORD: Final = re.compile(r"[^\W\d_]+")
_SENTENCES: Final = (
    ("en", "Error E24 means that the drain is blocked, see page 12."),
    ("en", "Set it to 180 °C (356 °F), it takes 3–5 min at 1.5 bar."),
    ("de", "Das kostet 1.299,99 €, d. h. ca. 3,7 Mio. Euro bei 130 km/h."),
    ("pl", "Jest 21 °C, tj. ok. 70 °F, a waży 2 kg."),
)


def measure(data: Path) -> list[Figure]:
    """Return the figures of sets 7a and 7b under `data`, one a language and one a class of a language."""
    speed = _speed()  # before anything is loaded
    rows = list(read_rows(data / "7a_written_spoken.jsonl"))
    figures = []
    for language in LANGUAGES:
        own = [row for row in rows if row["lang"] == language and row["class"] in CLASSES]
        own = [row for row in own if not row["unchanged"]]
        figures += [
            _figure(f"spoken form, {language} {name}", some, "")
            for name in CLASSES
            if (some := [row for row in own if row["class"] == name])
        ]
        figures.append(_figure(f"spoken form, {language}", own, f">= {TARGET:g} %"))
    plain = [row for row in rows if row["unchanged"] and row["lang"] in languages.SPOKEN]
    kept = [row for row in plain if speech(row["written"], row["lang"]) == row["written"]]
    figures.append(
        Figure("7a", "unchanged rows as they are", len(plain), _share(kept, plain), "100 %")
    )
    barred = list(read_rows(data / "7b_not_to_be_spoken.jsonl"))
    clean = [row for row in barred if unspoken(row)]
    figures.append(
        Figure(
            "7b", "not to be spoken, kept what matters", len(barred), _share(clean, barred), "100 %"
        )
    )
    return figures + speed


def right(row: dict[str, Any], said: str) -> bool:
    """Return whether no sign is left in `said`, and its words without numbers are those of the row."""
    language = row["lang"]
    if _signs(said):
        return False
    golds = (row["spoken"], *row["alternatives"])
    return any(
        joined(gold) == joined(said) or worded(gold, language) == worded(said, language)
        for gold in golds
    )


def unspoken(row: dict[str, Any]) -> bool:
    """Return whether what is barred was left out, and what has to stay is there."""
    said = speech(row["text"], row["lang"])
    return not any(bar in said for bar in row["must_not_be_spoken"]) and all(
        part in said for part in row["should_keep"]
    )


def joined(text: str) -> str:
    """Return the letters and digits of `text`, folded."""
    return "".join(each for each in fold(text) if each.isalnum())


def worded(text: str, language: str) -> str:
    """Return the words of `text` that are no numbers, folded and joined."""
    bare = _DECADE.sub(" ", fold(text))
    return "".join(each for each in _WORD.findall(bare) if not _numeral(each, language))


@lru_cache(maxsize=4096)
def _numeral(word: str, language: str) -> bool:
    rules = grammar(language)
    if word.endswith("ies"):  # "the eighties" are "80s"
        word = f"{word[:-3]}y"
    return bool(rules.atoms(word)) or word in rules.joiners or word in rules.points


def _signs(text: str) -> bool:
    return bool(_DASH_AT_DIGIT.search(text)) or any(
        each in _SIGNS or unicodedata.category(each) in ("Sc", "Sm", "Sk", "So", "No", "Lm")
        for each in text
    )


def _figure(what: str, rows: list[dict[str, Any]], target: str) -> Figure:
    ours = [row for row in rows if right(row, speech(row["written"], row["lang"]))]
    halves = [[row for row in rows if half(row) == number] for number in (0, 1)]
    note = ""
    if target:
        shares = [_share([row for row in one if row in ours], one) for one in halves]
        note = f"by halves {shares[0]:.1f} and {shares[1]:.1f}"
    naive = [row for row in rows if right(row, row["written"])]
    return Figure("7a", what, len(rows), _share(ours, rows), target, _share(naive, rows), note=note)


def half(row: dict[str, Any]) -> int:
    """Return which half of its set a row is in, the same on every machine."""
    return zlib.crc32(row["id"].encode()) & 1


def _share(some: list[Any], every: list[Any]) -> float:
    return 100 * len(some) / len(every) if every else 100.0


def _speed() -> list[Figure]:
    """Return what a sentence takes, and what the first with units takes, in microseconds."""
    figures = []
    for language, text in _SENTENCES:
        began = time.perf_counter()
        prepare(language)
        first = time.perf_counter() - began
        speech(text, language)
        times = []
        for _ in range(200):
            began = time.perf_counter()
            speech(text, language)
            times.append(time.perf_counter() - began)
        figures.append(
            Figure(
                "speech",
                f"microseconds, {language}: {text[:24]}…",
                len(times),
                1e6 * sorted(times)[len(times) // 2],
                "< 500",
                note=f"prepare {1e3 * first:.0f} ms" if first > 1e-4 else "",
            )
        )
    return figures


def main() -> None:
    """Print the figures, and the rows that fail if asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of the sets")
    parser.add_argument("--failing", action="store_true", help="print the rows that fail, too")
    arguments = parser.parse_args()
    for figure in measure(arguments.data):
        naive = "" if figure.naive is None else f"{figure.naive:6.1f}"
        print(
            f"{figure.set:8} {figure.what:50} {figure.rows:5} {naive:7} {figure.ours:8.1f} {figure.target:8} {figure.note}"
        )
    if not arguments.failing:
        return
    for row in read_rows(arguments.data / "7a_written_spoken.jsonl"):
        if row["lang"] in LANGUAGES and row["class"] in CLASSES and not row["unchanged"]:
            said = speech(row["written"], row["lang"])
            if not right(row, said):
                print(
                    row["lang"],
                    row["class"],
                    half(row),
                    "|",
                    row["written"],
                    "|",
                    row["spoken"],
                    "|",
                    said,
                )


if __name__ == "__main__":
    main()
