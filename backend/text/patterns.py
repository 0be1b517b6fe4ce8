"""Pieces of regular expressions that are made of words."""

from __future__ import annotations

from collections.abc import Iterable
import re


def either(words: Iterable[str]) -> str:
    """Return a pattern for one of `words` as they are written, the longest first; one that never matches for none."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True))) or r"(?!)"


def any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return one pattern for whole words that match any of `patterns`; one that never matches for none."""
    joined = "|".join(f"(?:{pattern})" for pattern in patterns)
    return re.compile(rf"\b(?:{joined})\b" if joined else r"(?!)")
