"""A text cut at a sentence end, so that it fits."""

from __future__ import annotations

from backend.text.segmentation import spans


def cut(text: str, cap: int, language: str) -> str:
    """Return the longest prefix of whole sentences of at most `cap` characters; "" when none fits."""
    ends = [end for _, end in spans(text, language) if end <= cap]
    return text[: ends[-1]] if ends else ""
