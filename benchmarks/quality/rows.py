"""The rows of a set: one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator
import json
from pathlib import Path
from typing import Any

type Row = dict[str, Any]


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a set, one after the other."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
