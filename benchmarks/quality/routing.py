"""Where the rules send what people say, by language: to Home Assistant, to a source, or to the documents.

Rules alone, no model. Bounds stand where a wrong way costs an answer; of the kinds that are partly ours and partly
Home Assistant's only the share is told. The halves are those of the rows' groups: the first was looked at while the
rules were written, the second only counted.

    python -m benchmarks.quality.routing FOLDER [--failing] [--half 0|1] [--language CODE]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
import re
import time
import tomllib
from typing import Final
import zlib

from backend import languages
from backend.planning import plan_rules
from backend.text.words import fold
from benchmarks.quality.figure import Figure
from benchmarks.quality.rows import Row, read_rows

UTTERANCES: Final = "5_utterances.jsonl"
_HANDBACK: Final = "handback"
_KNOWLEDGE: Final = ("knowledge_question", "recipe", "maths", "live_data")
_OF_NOW: Final = ("ha", "forecast", "news", "uptime")
_ORDERS: Final = ("device_command", "timer_alarm", "list", "broadcast")
_OWN: Final = "ha_intents_tests"
_HERE: Final = ("HassGetCurrentTime", "HassGetCurrentDate")


@dataclass(frozen=True)
class Measure:
    """What is asked of the rows that are `of` it: that `right` says yes to where they go."""

    what: str
    of: Callable[[Row], bool]
    right: Callable[[str], bool]
    target: str = ""


def _goes(*ways: str) -> Callable[[str], bool]:
    return lambda way: way in ways


def _not(*ways: str) -> Callable[[str], bool]:
    return lambda way: way not in ways


def _kinds(*kinds: str) -> Callable[[Row], bool]:
    return lambda row: row["kind"] in kinds


MEASURES: Final = (
    Measure("weather to forecast", _kinds("weather"), _goes("forecast"), ">= 97 %"),
    Measure(
        "news that is named to news",
        lambda row: row["kind"] == "news" and names_news(row["utterance"], row["lang"]),
        _goes("news"),
        ">= 95 %",
    ),
    Measure("all news to news", _kinds("news"), _goes("news")),
    Measure("knowledge not taken for now", _kinds(*_KNOWLEDGE), _not(*_OF_NOW), ">= 97 %"),
    Measure("knowledge not handed back", _kinds(*_KNOWLEDGE), _not(_HANDBACK), ">= 97 %"),
    Measure(
        "Home Assistant's orders handed back",
        lambda row: row["kind"] in _ORDERS and row["source"] == _OWN,
        _goes(_HANDBACK),
        ">= 99 %",
    ),
    Measure(
        "others' orders handed back",
        lambda row: row["kind"] in _ORDERS and row["source"] != _OWN,
        _goes(_HANDBACK),
        ">= 95 %",
    ),
    Measure("states to ha or handed back", _kinds("device_query"), _goes("ha", _HANDBACK)),
    Measure("time here handed back", lambda row: row["intent"] in _HERE, _goes(_HANDBACK)),
    Measure("media handed back", _kinds("media_command"), _goes(_HANDBACK)),
    Measure("calendar handed back", _kinds("calendar"), _goes(_HANDBACK)),
    Measure("messaging handed back", _kinds("messaging"), _goes(_HANDBACK)),
)


@cache
def _naming(language: str) -> re.Pattern[str]:
    with Path(__file__).with_suffix(".toml").open("rb") as file:
        words = tomllib.load(file)[language].replace("_", " ").split()
    return re.compile(rf"\b(?:{'|'.join(words)})\b")


def names_news(utterance: str, language: str) -> bool:
    """Return whether an utterance names news, headlines or a medium."""
    return bool(_naming(language).search(fold(utterance)))


def way(utterance: str, language: str) -> str:
    """Return where the rules send an utterance: a source's tag, "documents" without a rule, or "handback"."""
    plan = plan_rules(utterance, language)
    if plan.handback:
        return _HANDBACK
    return plan.steps[0].source if plan.by == "rule" else "documents"


def half(row: Row) -> int:
    """Return the half of the set that a row is in, that of its group."""
    return zlib.crc32(row["group"].encode()) & 1


def measure(data: Path) -> list[Figure]:
    """Return the figures of set 5 under `data`, of each language one after another."""
    rows = list(read_rows(data / UTTERANCES))
    by_language = {code: [row for row in rows if row["lang"] == code] for code in languages.SPOKEN}
    figures = [
        _figure(each, code, some)
        for code, own in by_language.items()
        for each in MEASURES
        if (some := [row for row in own if each.of(row)])
    ]
    return [*figures, _quickness(rows)]


def _figure(each: Measure, language: str, rows: Sequence[Row]) -> Figure:
    right = [each.right(way(row["utterance"], language)) for row in rows]
    halves = [
        [fine for fine, row in zip(right, rows, strict=True) if half(row) == number]
        for number in (0, 1)
    ]
    note = "by halves " + " and ".join(f"{_share(some):.1f}" for some in halves)
    return Figure("5", f"{language}: {each.what}", len(rows), _share(right), each.target, note=note)


def _share(right: Sequence[bool]) -> float:
    return 100 * sum(right) / len(right) if right else 100.0


def _quickness(rows: Sequence[Row]) -> Figure:
    """Return how long the rules take for an utterance that is new to them, in microseconds."""
    for code in languages.SPOKEN:
        plan_rules("", code)
    plan_rules.cache_clear()
    began = time.perf_counter()
    for row in rows:
        plan_rules(row["utterance"], row["lang"])
    taken = 1e6 * (time.perf_counter() - began) / len(rows)
    return Figure("5", "µs an utterance", len(rows), taken, "")


def main() -> None:
    """Print the figures, and the rows that go wrong if asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of the sets")
    parser.add_argument("--failing", action="store_true", help="print what goes wrong, too")
    parser.add_argument("--half", type=int, choices=(0, 1), help="only what fails in this half")
    parser.add_argument("--language", choices=languages.SPOKEN, help="only this language")
    given = parser.parse_args()
    for figure in measure(given.data):
        if given.language in (None, figure.what[:2]):
            print(
                f"{figure.what:48} {figure.rows:5} {figure.ours:6.2f} {figure.target}  {figure.note}"
            )
    if given.failing:
        for row in read_rows(given.data / UTTERANCES):
            if given.half in (None, half(row)) and given.language in (None, row["lang"]):
                _print_wrong(row)


def _print_wrong(row: Row) -> None:
    went = way(row["utterance"], row["lang"])
    for each in MEASURES:
        if each.of(row) and not each.right(went):
            print(row["lang"], each.what, went, row["intent"], row["utterance"], sep="\t")


if __name__ == "__main__":
    main()
