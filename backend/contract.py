"""What crosses the wire between the backend and every client, in types.

The OpenAPI document is made from these models, and the examples under `tests/contract` are read by the tests of
both halves. Nothing here knows how an answer comes about. Fields are only ever added within one `CONTRACT`
number; a client takes an absent number as 0, the older brokers that answer `{result, source_used}` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
import re
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from backend.types import Style

CONTRACT: Final = 1

QUERY_MAX_CHARS: Final = 2_000
HISTORY_MAX_TURNS: Final = 10
STATES_MAX_ROWS: Final = 20
BODY_MAX_BYTES: Final = 64 * 1024
COMMENT_EVERY_SECONDS: Final = 5.0
"""A stream that has nothing to say sends a comment this often, so that nobody takes it for dead."""

AUTO: Final = "auto"
LABELS: Final = {
    "kiwix": "Encyclopedia",
    "forecast": "Weather forecast",
    "news": "News",
    "web": "Web search",
    "uptime": "Service status",
    "ha": "Home",
    "changes": "Recent changes",
    "house": "House documents",
}
"""Every source tag there is, and the label that people see."""

SECTION_SEPARATOR: Final = "---"
SECTION_HEADER: Final = re.compile(r"\[[^\]\n]* — [^\]\n]*\]")
"""The line over a section where several speak: `[TAG — Label]`. A whole line that matches is ours: pages' own are escaped."""

RESULT_NOTHING: Final = "No results were found for this question."
RESULT_FAILED: Final = "The source could not be asked right now."
RESULT_NOT_CONFIGURED: Final = "This source is not configured."
"""`result` where there is none: fixed, in English, since clients that know only `result` speak it."""

HANDBACK: Final = "handback"

Tag = Annotated[str, StringConstraints(min_length=1, max_length=40)]
Short = Annotated[str, StringConstraints(max_length=255)]


class _Request(BaseModel):
    """Fields that aren't known are ignored: clients may be newer or older than this server."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class PlaceIn(_Request):
    """A place in degrees; 0 is a value."""

    name: Short
    latitude: Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)]
    longitude: Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)]


class TurnIn(_Request):
    """An earlier turn of the conversation."""

    role: Literal["user", "assistant"]
    text: Annotated[str, StringConstraints(max_length=4_000)]


class StateIn(_Request):
    """The state of one exposed entity."""

    entity_id: Short
    name: Short
    state: Short
    area: Short | None = None
    domain: Short | None = None
    device_class: Short | None = None
    unit: Short | None = None


class SearchRequest(_Request):
    """Body of `POST /search`."""

    query: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=QUERY_MAX_CHARS)
    ]
    source: Tag = AUTO
    fusion_sources: list[Tag] | None = None
    explain: bool = False
    synthesize: bool = False
    answer_style: Style = Style.BRIEF
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$")] | None = None
    units: Literal["metric", "us"] | None = None
    time_zone: Short | None = None
    place: PlaceIn | None = None
    history: Annotated[list[TurnIn], Field(max_length=HISTORY_MAX_TURNS)] = []
    conversation_id: Short | None = None
    satellite: Short | None = None
    area: Short | None = None
    states: Annotated[list[StateIn], Field(max_length=STATES_MAX_ROWS)] = []
    accepts: list[Short] | None = None


class Citation(BaseModel):
    """A document that the evidence quotes."""

    source: str
    title: str
    url: str | None
    published: datetime | None
    section: str | None


class Reply(BaseModel):
    """Reply of `POST /search`: always all keys."""

    contract: int = CONTRACT
    request_id: str
    query: str
    source_used: str
    """The tag that answered; `fusion` if two or more survive; "" on hand-back."""
    result: str
    """The retrieved text, byte for byte the same whether or not an answer was composed."""
    success: bool
    cached: bool = False
    error: str | None = None
    explanation: list[dict[str, Any]] | None = None
    answer: str | None = None
    """Grounded sentences and their tags in parentheses; null where none could be given."""
    answer_sources: list[str] = []
    synthesized: bool = False
    speech: str
    """What to say aloud, in `language`, without tags, links or markup; empty on hand-back alone."""
    citations: list[Citation] = []
    language: str
    truncated: bool = False
    handback: bool = False


class SentenceEvent(BaseModel):
    """`sentence` of a stream. From index 1 on both texts begin with a space: plain joining gives the whole."""

    index: int
    text: str
    speech: str


class ErrorEvent(BaseModel):
    """`error` of a stream: a failure after the first byte."""

    error: str
    speech: str


class ErrorBody(BaseModel):
    """Body of every 4xx."""

    error: str
    message: str
    field: str | None = None
    allowed: list[str] | None = None


class Health(BaseModel):
    """`GET /health`; the last three only for callers that may see them."""

    status: Literal["ok", "degraded"]
    id: str
    name: str
    version: str
    contract: int = CONTRACT
    sources: dict[str, dict[str, Any]] | None = None
    model: dict[str, Any] | None = None
    cache: dict[str, Any] | None = None
    jobs: dict[str, Any] | None = None


def tagged(text: str, sources: Sequence[str]) -> str:
    """Return `text` with its tags, as it goes over the wire: "… on Tuesday. (web, news)"."""
    return f"{text} ({', '.join(sources)})" if sources else text
