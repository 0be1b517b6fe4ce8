"""Questions as the spine hands them to a source."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
import time

import pytest

from backend.types import Question, Step

Asking = Callable[..., tuple[Step, Question]]


@pytest.fixture
def asking() -> Asking:
    """Make the arguments of `Source.ask` from a text."""

    def make(text: str, language: str = "en", seconds: float = 20.0) -> tuple[Step, Question]:
        now = time.monotonic()
        return Step("any", text), Question(text, language, datetime.now(UTC), now, now + seconds)

    return make
