"""What an answer stands on, in one word: the key of the answer cache, and its invalidation.

Two questions have the same signature exactly when a model would be told the same: a change of the evidence that
isn't shown leaves it as it is, any shown change gives another one. What is shown is decided by the prompt.
"""

from __future__ import annotations

import hashlib
import json

from backend.text.words import fold


def signature(
    shown: str, *, question: str, model: str, prompt_version: str, language: str, style: str
) -> str:
    """Return the SHA-256 in hex over the evidence as it is `shown` and all else that shapes the answer."""
    parts = (shown, fold(question) or question, model, prompt_version, language, style)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
