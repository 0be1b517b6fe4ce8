"""A text made fit to be said."""

from __future__ import annotations

import re


def speech(text: str, language: str) -> str:
    """Return `text` without what is for the screen only."""
    spoken = re.sub(r"<think>.*?(</think>|\Z)", "", text, flags=re.DOTALL)
    spoken = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", spoken)
    spoken = re.sub(r"https?://\S+|\[\d+\]|[*`#]+", "", spoken)
    return " ".join(spoken.split())
