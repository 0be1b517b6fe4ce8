"""What the answers are worth, in one table: the sets of public data on which each part of an answer is measured.

The data is never part of the product: it is read from the folder given. `docs/quality.md` says which sets these are,
where they come from, and what the figures mean.

    python -m benchmarks.quality --data FOLDER [--json] [NAME...]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
import importlib
import json
from pathlib import Path
import re
import sys
import time
from typing import Any, Final

from benchmarks.quality.figure import Figure

NAMES: Final = (
    "numbers",
    "sentences",
    "language",
    "speech",
    "answerability",
    "retrieval",
    "routing",
)
COLUMNS: Final = ("set", "what", "rows", "naive", "library", "ours", "target", "reached")
_NUMBERS: Final = frozenset(("rows", "naive", "library", "ours"))
_TARGET: Final = re.compile(r"(?P<sign><=|>=|<|>|≤|≥)?\s*(?P<value>\d*\.?\d+)")


def reached(figure: Figure) -> bool | None:
    """Return whether a figure is where it has to be; None where nothing is asked of it.

    A target is a bound with its unit, as in ">= 98 %" or "<= 2 ms"; one without a sign is the least.
    """
    found = _TARGET.search(figure.target)
    if found is None:
        return None
    bound = float(found["value"])
    if found["sign"] in ("<=", "≤"):
        return figure.ours <= bound
    if found["sign"] == "<":
        return figure.ours < bound
    return figure.ours > bound if found["sign"] == ">" else figure.ours >= bound


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as a table, in Markdown, with the notes below."""
    rows = [COLUMNS, *map(_row, figures)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(COLUMNS))]
    lines = [_line(row, widths) for row in rows]
    rules = [
        "-" * (width + 1) + (":" if name in _NUMBERS else "-")
        for name, width in zip(COLUMNS, widths, strict=True)
    ]
    lines.insert(1, f"|{'|'.join(rules)}|")
    notes = [f"- {each.set}, {each.what}: {each.note}" for each in figures if each.note]
    return "\n".join(lines + (["", *notes] if notes else []))


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [
        cell.rjust(width) if name in _NUMBERS else cell.ljust(width)
        for name, cell, width in zip(COLUMNS, row, widths, strict=True)
    ]
    return f"| {' | '.join(cells)} |"


def _row(figure: Figure) -> tuple[str, ...]:
    said = {True: "yes", False: "no", None: ""}[reached(figure)]
    numbers = map(_number, (figure.naive, figure.library, figure.ours))
    return (figure.set, figure.what, f"{figure.rows:,}", *numbers, figure.target, said)


def _number(value: float | None) -> str:
    """Return three digits that count, or all before the point."""
    if value is None:
        return ""
    size = abs(value)
    return (
        f"{value:,.0f}" if size >= 1000 else f"{value:.{3 if size < 1 else 2 if size < 10 else 1}f}"
    )


def _measured(name: str, data: Path) -> list[Figure]:
    began = time.perf_counter()
    print(f"{name} …", end=" ", file=sys.stderr, flush=True)
    figures: list[Figure] = importlib.import_module(f"benchmarks.quality.{name}").measure(data)
    print(f"{time.perf_counter() - began:.1f} s", file=sys.stderr)
    return figures


def _as_dict(figure: Figure) -> dict[str, Any]:
    return asdict(figure) | {"reached": reached(figure)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is named, all without a name; print the figures."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench quality", description="Measure the answers on public data."
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(NAMES)}")
    given = parser.parse_args(arguments)
    if wrong := set(given.names).difference(NAMES):
        parser.error(f"no {', '.join(sorted(wrong))}; there are: {', '.join(NAMES)}")
    if not given.data.is_dir():
        parser.error(f"no folder {given.data}")
    figures = [each for name in given.names or NAMES for each in _measured(name, given.data)]
    if given.json:
        print(json.dumps([_as_dict(each) for each in figures], ensure_ascii=False, indent=1))
    else:
        print(table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
