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

    model_config = ConfigDict(
        extra="ignore", strict=True, frozen=True, use_attribute_docstrings=True
    )


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
    """The question, in any words."""
    source: Tag = AUTO
    """`auto`, the tag of a source, or `fusion`."""
    fusion_sources: list[Tag] | None = None
    """With `fusion`: the tags of the sources to ask; null for those that are set up. FUSION_MAX_SOURCES of them are asked."""
    explain: bool = False
    """Whether `explanation` lists what each step did, and when."""
    synthesize: bool = False
    """Whether to compose an answer."""
    answer_style: Style = Style.BRIEF
    """How long the answer may be; `voice` also has the shorter deadline."""
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$")] | None = None
    """BCP 47 tag of the question; the server's own where it is null."""
    units: Literal["metric", "us"] | None = None
    """The units to say numbers in."""
    time_zone: Short | None = None
    """IANA zone of who asks; the server's own where it is null."""
    place: PlaceIn | None = None
    """Where who asks is."""
    history: Annotated[tuple[TurnIn, ...], Field(max_length=HISTORY_MAX_TURNS)] = ()
    """The turns before, the oldest first."""
    conversation_id: Short | None = None
    """What the client calls this conversation."""
    satellite: Short | None = None
    """The device that was spoken to."""
    area: Short | None = None
    """The area that it stands in, for "in here"."""
    states: Annotated[tuple[StateIn, ...], Field(max_length=STATES_MAX_ROWS)] = ()
    """States of the house that the question may be about; never kept."""
    accepts: list[Short] | None = None
    """`handback`: orders, timers and the like come back to the client instead of an answer."""


class Citation(BaseModel):
    """A document that the evidence quotes."""

    source: str
    title: str
    url: str | None
    published: datetime | None
    section: str | None


class Reply(BaseModel):
    """Reply of `POST /search`: always all keys."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    contract: int = CONTRACT
    """The number of this contract."""
    request_id: str
    """What this question is called in the logs."""
    query: str
    """The question as it was taken."""
    source_used: str
    """The tag that answered, or that `error` is about; `fusion` if two or more survive; "" on hand-back."""
    result: str
    """The retrieved text, byte for byte the same whether or not an answer was composed."""
    success: bool
    """Whether something was found."""
    cached: bool = False
    """Whether all that was found had been kept from earlier."""
    error: str | None = None
    """What went wrong, in a word: see docs/http.md."""
    explanation: list[dict[str, Any]] | None = None
    """Events, where `explain` asked for them."""
    answer: str | None = None
    """Grounded sentences and their tags in parentheses; null where none could be given."""
    answer_sources: list[str] = []
    """Tags of the sources that the answer stands on, in the order of their mention."""
    synthesized: bool = False
    """Whether `answer` was composed, also where it says that the sources don't hold it."""
    speech: str
    """What to say aloud, in `language`, without tags, links or markup; empty on hand-back alone."""
    citations: list[Citation] = []
    """The documents that the evidence quotes; where a source speaks itself, `title` is empty."""
    language: str
    """BCP 47 tag of `answer` and `speech`."""
    truncated: bool = False
    """Whether the answer was cut: at its cap, or where a check stopped it."""
    handback: bool = False
    """Whether the client is to do it itself; all texts are empty then."""


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
