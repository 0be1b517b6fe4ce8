"""One line of the table of qualities."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Figure:
    """What was measured on one set: ours, and beside it a naive way and the best library where there is one."""

    set: str
    what: str
    rows: int
    ours: float
    target: str
    naive: float | None = None
    library: float | None = None
    note: str = ""
