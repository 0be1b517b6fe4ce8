"""The language of an answer: is one in the request's language ever refused, and one in another ever let through.

An answer is refused where it is surely in another language, so that names and loan words pass; what is too short to
be sure about passes, too. The texts are the sentences of set 1 and of the paragraphs of set 3, each taken alone and
with the one after it, as an answer of two sentences is; a request is in each of the languages that we speak. Beside
ours stand the language with the most small words of all, and `langdetect` where it is installed.

    python -m benchmarks.quality.language DATA [--failing]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
import importlib
import importlib.util
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
import zlib

from backend import languages
from backend.text.language import contradicts
from backend.text.segmentation import sentences
from backend.text.words import tokens
from benchmarks.quality.figure import Figure
from benchmarks.quality.rows import read_rows

SENTENCES: Final = "1_sentence_segmentation.jsonl"
PARAGRAPHS: Final = "3_answerability.jsonl"
LONG: Final = 9
"""A sentence of so many words can be told; an answer of two has as many."""
REFUSED: Final = "<= 0.2 %"
CAUGHT: Final = ">= 85 %"
CAUGHT_IN_TWO: Final = ">= 95 %"
OTHER_SCRIPT: Final = ">= 99 %"
_OTHER_SCRIPTS: Final = ("zh", "ja", "ru", "ar")
_LIBRARY_ROWS: Final = 200
"""The library takes milliseconds a text."""

type Refuses = Callable[[str, str], bool]


def measure(data: Path) -> list[Figure]:
    """Return the figures of sets 1 and 3 under `data`."""
    alone, two = _texts(data)
    library = _library()
    figures = []
    for code in languages.SPOKEN:
        texts = alone[code] + two[code]
        what = f"right language refused, {code}"
        figures.append(_figure(what, [(text, code) for text in texts], REFUSED, library))
    for code in languages.SPOKEN:
        others = [other for other in languages.SPOKEN if other != code]
        long = [text for text in alone[code] if len(text.split()) >= LONG]
        cases = [(text, other) for text in long for other in others]
        what = f"{code} refused elsewhere, a sentence of {LONG} words or more"
        figures.append(_figure(what, cases, CAUGHT, library))
        cases = [(text, other) for text in two[code] for other in others]
        what = f"{code} refused elsewhere, two sentences"
        figures.append(_figure(what, cases, CAUGHT_IN_TWO, library))
    cases = [
        (text, code)
        for other in _OTHER_SCRIPTS
        for text in alone[other]
        for code in languages.SPOKEN
    ]
    figures.append(_figure("another script refused", cases, OTHER_SCRIPT, library))
    return figures


def naive(text: str, language: str) -> bool:
    """Return whether the most small words of `text` are another language's."""
    counts = {
        code: sum(token in languages.load(code).words.function for token in tokens(text))
        for code in languages.SPOKEN
    }
    return max(counts, key=counts.__getitem__) != language


def _library() -> Refuses | None:
    """Return what langdetect would refuse, if it is installed."""
    if not importlib.util.find_spec("langdetect"):
        return None
    langdetect: Any = importlib.import_module("langdetect")
    langdetect.DetectorFactory.seed = 0

    def refuses(text: str, language: str) -> bool:
        try:
            return bool(langdetect.detect(text) != language)
        except langdetect.LangDetectException:
            return False

    return refuses


def _texts(data: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return sentences by language, alone and by twos."""
    alone: dict[str, list[str]] = defaultdict(list)
    two: dict[str, list[str]] = defaultdict(list)
    for language, group in _groups(data):
        alone[language] += group
        two[language] += [" ".join(pair) for pair in pairwise(group)]
    return _once(alone), _once(two)


def _groups(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (language, sentences that stand one after another)."""
    for row in read_rows(data / SENTENCES):
        yield row["lang"], row["sentences"]
    for row in read_rows(data / PARAGRAPHS):
        for paragraph in row["paragraphs"]:
            yield row["lang"], sentences(paragraph["text"], row["lang"])


def _once(texts: dict[str, list[str]]) -> dict[str, list[str]]:
    found = {code: list(dict.fromkeys(some)) for code, some in texts.items()}
    return defaultdict(list, found)


def _figure(
    what: str, cases: list[tuple[str, str]], target: str, library: Refuses | None
) -> Figure:
    """Return the share of (text, language of the request) that are refused, in percent."""
    halves = [[case for case in cases if _half(case[0]) == number] for number in (0, 1)]
    shares = [_share(contradicts, some) for some in halves]
    step = max(1, len(cases) // _LIBRARY_ROWS)
    return Figure(
        "1, 3",
        what,
        len(cases),
        _share(contradicts, cases),
        target,
        _share(naive, cases[::step]),
        _share(library, cases[::step]) if library else None,
        f"by halves {shares[0]:.2f} and {shares[1]:.2f}",
    )


def _share(refuses: Refuses, cases: Iterable[tuple[str, str]]) -> float:
    found = [refuses(text, language) for text, language in cases]
    return 100 * sum(found) / len(found) if found else 0.0


def _half(text: str) -> int:
    return zlib.crc32(text.encode()) & 1


def main() -> None:
    """Print the figures, and the texts that are refused in their own language if asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of the sets")
    parser.add_argument("--failing", action="store_true", help="print what is wrongly refused, too")
    arguments = parser.parse_args()
    for figure in measure(arguments.data):
        others = f"{figure.naive or 0:6.2f} {figure.library or 0:6.2f}"
        print(f"{figure.what:52} {figure.rows:6} {others} {figure.ours:6.2f} {figure.target}")
    if arguments.failing:
        alone, two = _texts(arguments.data)
        for code in languages.SPOKEN:
            for text in alone[code] + two[code]:
                if contradicts(text, code):
                    print(code, text, sep="\t")


if __name__ == "__main__":
    main()
