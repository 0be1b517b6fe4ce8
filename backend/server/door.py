"""From a request to a question: limits, types, defaults, and the one deadline.

What isn't right is refused with what would be (`errors.Refusal`); what comes through is a `Question` that no step
behind has to doubt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import datetime
import re
import time
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aiohttp import web
from pydantic import ValidationError

from backend.contract import AUTO, HANDBACK, SearchRequest
from backend.server.errors import (
    REQUEST_ID,
    BrokenBody,
    IncompleteBody,
    Invalid,
    UnsupportedMediaType,
    invalid,
)
from backend.settings import Settings
from backend.text.language import primary
from backend.types import FUSION, HomeState, Place, Question, Style, Turn

_zones: Final[dict[str, ZoneInfo]] = {}
"""The zones asked for so far; there are some hundreds."""
_JSON: Final = "application/json"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


async def read(request: web.Request, settings: Settings) -> tuple[Question, bool]:
    """Return the question of a `POST /search`, and whether it is to be explained. Raises Refusal."""
    received = time.monotonic()
    if request.headers.get("Content-Type", _JSON) != _JSON and not _is_json(request.content_type):
        raise UnsupportedMediaType(
            "The body has to be JSON.", field="Content-Type", allowed=("application/json",)
        )
    try:
        if request.content.is_eof():
            # All of it came with the head: nobody has to be waited for.
            body = await request.read()
        else:
            async with asyncio.timeout(settings.request_timeout_seconds):
                body = await request.read()
    except TimeoutError:
        raise IncompleteBody(
            f"The body didn't arrive within {settings.request_timeout_seconds:g} seconds."
        ) from None
    except web.RequestPayloadError:
        raise BrokenBody(
            "The body isn't encoded as Content-Encoding or Transfer-Encoding says; send it plain.",
            field="Content-Encoding" if "Content-Encoding" in request.headers else None,
        ) from None
    try:
        asked = SearchRequest.model_validate_json(body)
    except ValidationError as error:
        raise invalid(error, body) from None
    return await question(asked, settings, request[REQUEST_ID], received), asked.explain


async def question(
    asked: SearchRequest, settings: Settings, request_id: str, received: float | None = None
) -> Question:
    """Return the question of a request that came in at `received` (monotonic), or just now. Raises Refusal."""
    name = asked.time_zone or settings.local_timezone
    zone = _zones.get(name) or await _zone(name)
    return _question(asked, settings, zone, received or time.monotonic(), request_id)


def check_sources(question: Question, known: Collection[str]) -> None:
    """Raise Refusal for a source that isn't `known`."""
    choices = (AUTO, FUSION, *known)
    if question.source not in choices:
        raise Invalid(
            f"source: {question.source!r} is no source of this server.",
            field="source",
            allowed=choices,
        )
    for tag in question.fusion_sources:
        if tag not in known:
            raise Invalid(
                f"fusion_sources: {tag!r} is no source of this server.",
                field="fusion_sources",
                allowed=known,
            )


def _is_json(content_type: str) -> bool:
    return content_type == _JSON or content_type.endswith("+json")


async def _zone(name: str) -> ZoneInfo:
    """Return the time zone of that name, which is read from a file. Raises Refusal."""
    try:
        zone = await asyncio.to_thread(ZoneInfo, name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid(
            "time_zone: no such IANA time zone, say Europe/Berlin.", field="time_zone"
        ) from None
    _zones[zone.key] = zone
    return zone


def clean(text: str) -> str:
    """Return the text without control characters, which no one says."""
    return _CONTROL.sub(" ", text).strip()


def _question(
    asked: SearchRequest, settings: Settings, zone: ZoneInfo, received: float, request_id: str
) -> Question:
    text = clean(asked.query)
    if not text:
        raise Invalid("query: there is nothing in it that could be said.", field="query")
    seconds = (
        settings.voice_timeout_seconds
        if asked.answer_style is Style.VOICE
        else settings.request_timeout_seconds
    )
    place = asked.place
    return Question(
        text=text,
        language=primary(asked.language, primary(settings.language)),
        now=datetime.now(zone),
        received=received,
        deadline=received + seconds,
        request_id=request_id,
        source=asked.source,
        fusion_sources=tuple(asked.fusion_sources or ()),
        style=asked.answer_style,
        synthesize=asked.synthesize,
        place=Place(place.name, place.latitude, place.longitude) if place else None,
        units=asked.units or "metric",
        time_zone=zone.key,
        history=tuple(Turn(turn.role, clean(turn.text)) for turn in asked.history),
        conversation_id=asked.conversation_id,
        satellite=asked.satellite,
        area=asked.area,
        states=tuple(HomeState(**state.model_dump()) for state in asked.states),
        accepts_handback=HANDBACK in (asked.accepts or ()),
    )
