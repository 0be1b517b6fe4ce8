"""A model chooses the source where no rule names one, and says the question in other words for the search.

Decides when a choice is worth the wait, and what of a reply is taken: only tags that were offered, and words that are
searched beside the question's own, never in their place. A decision is kept; a failure isn't, and costs no more than a
moment: then the documents are asked as without a model.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
import json
import logging
import time
from typing import Any, Final

from backend.answer.prompt import PROMPT_VERSION, choice, choice_schema
from backend.flights import Flights
from backend.llm.availability import Availability
from backend.llm.provider import Call, ModelError
from backend.store.cache import Cache
from backend.text.words import fold
from backend.types import Choice, Question

_LOGGER = logging.getLogger(__name__)

OPEN: Final = ("web", "news")
"""Sources that may know of anything: without one of them there is nothing to choose."""
_MOST_SOURCES: Final = 2
_MOST_CHARS: Final = 200
"""Longest other wording of a question, in characters."""
_TOKENS: Final = 160
_SHARE: Final = 0.25
"""This share at most of the time that is left goes into choosing."""


class Chooser:
    """Asks the model of a server; a choice is kept for `ttl` seconds, and takes `seconds` at most."""

    def __init__(
        self, models: Availability, kept: Cache[Choice], *, seconds: float, ttl: float
    ) -> None:
        self._models = models
        self._kept = kept
        self._seconds = seconds
        self._ttl = ttl
        self._flights: Flights[Choice] = Flights()

    async def choose(
        self, query: str, question: Question, tags: Sequence[str]
    ) -> tuple[Choice, bool] | None:
        """Return whom of `tags` to ask for `query`, and whether that had been kept; None: nobody says."""
        if not any(tag in OPEN for tag in tags) or self._models.kind != "model":
            return None
        if self._models.problem is not None:
            return None
        model = self._models.provider.model
        key = repr((fold(query), question.language, tuple(tags), model, PROMPT_VERSION))
        if (kept := self._kept.peek(key) or await self._kept.get(key)) is not None:
            return kept.value, True
        seconds = min(self._seconds, question.left * _SHARE)
        try:
            async with asyncio.timeout(seconds):
                made = await self._flights.last(
                    key, lambda: self._ask(key, query, question.language, tags)
                )
        except (TimeoutError, ModelError) as error:
            _LOGGER.info("The model chose no source: %s", error or "no reply in time")
            return None
        return (made, False) if made.sources else None

    async def _ask(
        self, key: str, query: str, language: str, tags: Sequence[str]
    ) -> AsyncGenerator[Choice]:
        """Yield the choice of the model, none where its reply is of no use."""
        started = time.monotonic()
        provider = self._models.provider
        system, user = choice(query, language, tags)
        call = Call(
            system=system,
            user=user,
            timeout=self._seconds,
            schema=choice_schema(tags) if provider.constrained else None,
            max_tokens=_TOKENS,
            temperature=0.0,
        )
        text = ""
        async with aclosing(provider.stream(call)) as pieces:
            async for piece in pieces:
                text += piece
        made = read(text, tags)
        _LOGGER.debug("Choosing took %.2f s", time.monotonic() - started)
        if made.sources:
            await self._kept.put(key, made, datetime.now(UTC) + timedelta(seconds=self._ttl))
        yield made


def read(text: str, tags: Sequence[str]) -> Choice:
    """Return the choice that a reply makes; one without sources where it makes none."""
    start, end = text.find("{"), text.rfind("}")
    try:
        said: Any = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        return Choice(())
    named = said.get("sources")
    named = [tag for tag in named if isinstance(tag, str)] if isinstance(named, list) else []
    sources = [tag for tag in dict.fromkeys(named) if tag in tags]
    query = said.get("query")
    query = " ".join(query.split()) if isinstance(query, str) else ""
    return Choice(tuple(sources[:_MOST_SOURCES]), query if len(query) <= _MOST_CHARS else "")
