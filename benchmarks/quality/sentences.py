"""Where sentences end: exactly the sentences of each row, and no cut inside one.

A row counts as exact where all its sentences are those that people marked. Rows in which one of them starts with a
lower-case letter are left out there: texts set one after another by a machine, in which no rule of writing tells the
end. Beside ours stand a cut after each mark, and the better of the libraries that are there: `sentencex`, and `pysbd`
where it is installed.

    python -m benchmarks.quality.sentences DATA [--failing LANGUAGE]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
import importlib
import importlib.util
from pathlib import Path
import re
import time
from typing import Any, Final
import zlib

from backend import languages
from backend.text.segmentation import sentences
from benchmarks.quality.figure import Figure
from benchmarks.quality.rows import Row, read_rows

SET: Final = "1_sentence_segmentation.jsonl"
EXACT: Final = {
    "en": 97,
    "de": 96,
    "fr": 97,
    "nl": 98,
    "es": 97,
    "it": 94,
    "pl": 95,
    "zh": 99,
    "ja": 98,
}
"""The least share of exact rows, by language, in percent."""
INSIDE: Final = 1.5
INSIDE_ONE: Final = 3.0
"""The most rows with a cut inside a sentence, of all and of one language, in percent."""
_AFTER_MARK: Final = re.compile(r"(?<=[.!?])\s+")
_ROUNDS: Final = 3

type Splitter = Callable[[str, str], Iterable[str]]


def measure(data: Path) -> list[Figure]:
    """Return the figures of set 1 under `data`."""
    rows = list(read_rows(data / SET))
    libraries = _libraries()
    cut = {
        name: [_tidy(split(row["text"], row["lang"])) for row in rows]
        for name, split in {"ours": sentences, "naive": naive, **libraries}.items()
    }
    numbered = list(enumerate(rows))
    figures = []
    for language, least in EXACT.items():
        some = [at for at, row in numbered if row["lang"] == language and not _lower(row)]
        figures.append(_figure(f"exact, {language}", rows, some, cut, f">= {least} %", _exact))
    for language in EXACT:
        some = [at for at, row in numbered if row["lang"] == language]
        what = f"cut inside a sentence, {language}"
        figures.append(_figure(what, rows, some, cut, f"<= {INSIDE_ONE:g} %", _inside))
    every = list(range(len(rows)))
    what = "cut inside a sentence, all languages"
    figures.append(_figure(what, rows, every, cut, f"<= {INSIDE:g} %", _inside))
    golden = [
        at
        for at, row in numbered
        if row["set"] == "golden_rules" and row["lang"] in (*languages.SPOKEN, "zh", "ja")
    ]
    all_but_one = 100 * (len(golden) - 1) / len(golden) if golden else 0.0
    figures.append(_figure("golden rules", rows, golden, cut, f">= {all_but_one:.1f} %", _exact))
    return [*figures, _speed(rows, libraries)]


def naive(text: str, language: str) -> list[str]:
    """Return `text` cut at the white space after each mark, in whatever language."""
    del language
    return _AFTER_MARK.split(text)


def half(row: Row) -> int:
    """Return which half of its set a row is in, the same on every machine."""
    return zlib.crc32(row["id"].encode()) & 1


def _libraries() -> dict[str, Splitter]:
    """Return the libraries that are installed, by name."""
    found: dict[str, Splitter] = {}
    if importlib.util.find_spec("sentencex"):
        sentencex = importlib.import_module("sentencex")
        found["sentencex"] = lambda text, language: sentencex.segment(language, text)
    if importlib.util.find_spec("pysbd"):
        pysbd = importlib.import_module("pysbd")
        made: dict[str, Any] = {}

        def split(text: str, language: str) -> Iterable[str]:
            if language not in made:
                made[language] = pysbd.Segmenter(language=language, clean=False)
            parts: list[str] = made[language].segment(text)
            return parts

        found["pysbd"] = split
    return found


def _figure(
    what: str,
    rows: list[Row],
    some: list[int],
    cut: dict[str, list[list[str]]],
    target: str,
    counts: Callable[[list[str], list[str]], bool],
) -> Figure:
    """Return the share of the rows `some` that count, in percent, by everyone who cut them."""

    def share(name: str, chosen: list[int]) -> float:
        hits = sum(counts(cut[name][at], _tidy(rows[at]["sentences"])) for at in chosen)
        return 100 * hits / len(chosen) if chosen else 100.0

    others = {name: share(name, some) for name in cut if name not in ("ours", "naive")}
    best = (min if target.startswith("<") else max)(others, key=others.__getitem__, default="")
    halves = [share("ours", [at for at in some if half(rows[at]) == number]) for number in (0, 1)]
    note = f"by halves {halves[0]:.1f} and {halves[1]:.1f}"
    if others:
        note += "; " + ", ".join(f"{name} {value:.1f}" for name, value in others.items())
    return Figure(
        "1",
        what,
        len(some),
        share("ours", some),
        target,
        share("naive", some),
        others.get(best),
        note,
    )


def _speed(rows: list[Row], libraries: dict[str, Splitter]) -> Figure:
    """Return how many million characters are cut in a second, the best of some rounds."""
    speeds = {
        name: max(_round(rows, split) for _ in range(_ROUNDS if name != "pysbd" else 1))
        for name, split in {"ours": sentences, "naive": naive, **libraries}.items()
    }
    others = {name: value for name, value in speeds.items() if name in libraries}
    return Figure(
        "1",
        "million characters a second",
        len(rows),
        speeds["ours"],
        ">= 0.3",
        speeds["naive"],
        max(others.values(), default=None),
        ", ".join(f"{name} {value:.2f}" for name, value in others.items()),
    )


def _round(rows: list[Row], split: Splitter) -> float:
    began = time.perf_counter()
    for row in rows:
        list(split(row["text"], row["lang"]))
    return sum(len(row["text"]) for row in rows) / (time.perf_counter() - began) / 1e6


def _tidy(parts: Iterable[str]) -> list[str]:
    return [" ".join(part.split()) for part in parts if part.strip()]


def _lower(row: Row) -> bool:
    return any(part[:1].islower() for part in _tidy(row["sentences"]))


def _exact(found: list[str], gold: list[str]) -> bool:
    return found == gold


def _inside(found: list[str], gold: list[str]) -> bool:
    """Return whether a cut was made inside a sentence of `gold`."""
    return bool(_ends(found) - _ends(gold))


def _ends(parts: list[str]) -> set[int]:
    """Return how many characters other than white space stand before each end."""
    count, ends = 0, set()
    for part in parts:
        count += len("".join(part.split()))
        ends.add(count)
    return ends


def main() -> None:
    """Print the figures, and the rows of a language that fail if asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of the sets")
    parser.add_argument("--failing", metavar="LANGUAGE", help="print the rows that fail, too")
    arguments = parser.parse_args()
    for figure in measure(arguments.data):
        print(
            f"{figure.what:40} {figure.rows:5} {figure.ours:6.2f} {figure.target:8} {figure.note}"
        )
    if not arguments.failing:
        return
    for row in read_rows(arguments.data / SET):
        gold, found = _tidy(row["sentences"]), sentences(row["text"], row["lang"])
        if row["lang"] == arguments.failing and found != gold:
            print(f"\n{row['set']} half {half(row)}")
            for sign, ones, others in (("-", gold, found), ("+", found, gold)):
                print(*(f"{sign} {each}" for each in ones if each not in others), sep="\n")


if __name__ == "__main__":
    main()
