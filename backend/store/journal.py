"""What has happened but isn't in the database yet, in a file: it outlives the process, killed or not.

A transaction for each question would cost more than all the rest of a kept answer, and a row that only waits in memory
is gone with the process. So a row is a line in a file first, one call to the system, and many rows are one transaction
later. Two files take turns: the one is written while the rows of the other are brought into the database.
"""

from __future__ import annotations

from contextlib import suppress
import json
import os
from pathlib import Path
from typing import Any

from pydantic_core import PydanticSerializationError, to_json


class Journal:
    """The two files beside `path`. `open` before, `close` after; what can't be written is passed over."""

    def __init__(self, path: Path) -> None:
        self._paths = tuple(path.with_name(f"{path.name}-journal{number}") for number in (1, 2))
        self._files: list[int] = []

    def open(self) -> list[list[Any]]:
        """Return the rows that an earlier process left behind, in order; blocks, raises OSError."""
        rows: list[list[Any]] = []
        for path in sorted(self._paths, key=_changed):
            with suppress(FileNotFoundError):
                for line in path.read_bytes().splitlines():
                    # The last one may have been cut off.
                    with suppress(ValueError):
                        rows.append(json.loads(line))
        for path in self._paths:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._files.append(os.open(path, flags, 0o600))
        return rows

    def add(self, row: tuple[Any, ...]) -> None:
        """Append a row; it is there from now on, whatever becomes of the process.

        On the loop: the system takes it into its memory and writes it later, which takes some microseconds.
        """
        if self._files:
            with suppress(OSError, PydanticSerializationError):
                os.write(self._files[0], to_json(row) + b"\n")

    def turn(self) -> None:
        """Have rows from now on go to the other file."""
        self._files.reverse()

    def forget(self) -> None:
        """Empty the file that is not in use: its rows are in the database."""
        if self._files:
            with suppress(OSError):
                os.ftruncate(self._files[1], 0)

    def close(self) -> None:
        """Close the files."""
        while self._files:
            os.close(self._files.pop())


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
