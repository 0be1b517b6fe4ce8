"""Pieces of regular expressions that are made of words."""

from __future__ import annotations

from collections.abc import Iterable
import re


def either(words: Iterable[str]) -> str:
    """Return a pattern for one of `words` as they are written, the longest first; one that never matches for none."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True))) or r"(?!)"
