"""The values that travel along the spine, from a question to an answer.

Every step of `backend.ask` takes some of these and returns the next; none of them does I/O. What crosses the
wire is decided in `backend.contract`, not here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
import time
from typing import Any, Final, Literal

FUSION: Final = "fusion"
"""The tag of a reply in which more than one source speaks."""

HOME: Final = "ha"
"""The tag of the source that reads the states which came with a question: they are nobody's but the one's who asks."""


class Style(StrEnum):
    """How long an answer may be; the caps are settings."""

    VOICE = "voice"
    BRIEF = "brief"
    DETAILED = "detailed"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the explanation: what a step decided, and when.

    `at` is a moment of the monotonic clock in seconds; the spine turns it into milliseconds since the question
    came in. `fields` are the event's own keys as the contract lists them.
    """

    event: str
    fields: Mapping[str, Any]
    at: float

    @classmethod
    def now(cls, event: str, **fields: Any) -> Event:
        """Return an event of this moment."""
        return cls(event, fields, time.monotonic())


@dataclass(frozen=True, slots=True)
class Place:
    """A point on the map, in degrees, under the name it is spoken by."""

    name: str
    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier turn of the conversation."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class HomeState:
    """The state of one exposed entity, sent along with a question; never stored."""

    entity_id: str
    name: str
    state: str
    area: str | None = None
    domain: str | None = None
    device_class: str | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, by whom, and until when an answer is of use.

    `language` is a folded primary BCP 47 subtag ("de"); `now` is aware. `received` and `deadline` are moments of
    the monotonic clock in seconds (`time.monotonic()`, which is also the event loop's clock): the deadline is made
    once, at the door, and handed down.
    """

    text: str
    language: str
    now: datetime
    received: float
    deadline: float
    request_id: str = ""
    source: str = "auto"
    fusion_sources: tuple[str, ...] = ()
    style: Style = Style.BRIEF
    synthesize: bool = False
    place: Place | None = None
    units: Literal["metric", "us"] = "metric"
    time_zone: str = "UTC"
    history: tuple[Turn, ...] = ()
    conversation_id: str | None = None
    satellite: str | None = None
    area: str | None = None
    states: tuple[HomeState, ...] = ()
    accepts_handback: bool = False

    @property
    def left(self) -> float:
        """Seconds until the deadline; negative once it is over."""
        return self.deadline - time.monotonic()


@dataclass(frozen=True, slots=True)
class Step:
    """One source of a plan and the words it gets.

    `fallbacks` are asked in turn, only while nothing was found.
    """

    source: str
    query: str
    place: Place | None = None
    fallbacks: tuple[str, ...] = ()


By = Literal["rule", "cache", "model", "default"]
"""Who decided whom to ask."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Whom to ask by a model's choice, and other words for the search ("" for none)."""

    sources: tuple[str, ...]
    query: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a condition states: `step` asks, its source gives a verdict; where it is `negated`, the opposite counts.

    `step` None: nobody knows.
    """

    step: Step | None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """What has to be so before the rest of a plan is done, as it was said: every one of `checks`, or any of them."""

    text: str
    checks: tuple[Check, ...]
    every: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """Which sources get which words; `handback` means that the question is Home Assistant's.

    `notes` are keys of what has to be said beside the answer (`languages.spoken`).
    """

    steps: tuple[Step, ...]
    by: By
    handback: bool = False
    condition: Condition | None = None
    notes: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()

    @property
    def named(self) -> str | None:
        """The first source, if a rule names it."""
        return self.steps[0].source if self.by == "rule" and self.steps else None


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of one document, as the source holds it: plain text, paragraphs parted by blank lines.

    `score` orders the passages of one source (higher is better) and means nothing across sources. `language` is
    the document's, when known. `direct` tells that the text answers the question by itself, as a state or a forecast
    does: it is said as it is, announced if it is in another language than the question.
    """

    source: str
    title: str
    text: str
    url: str | None = None
    published: datetime | None = None
    section: str | None = None
    language: str | None = None
    score: float = 0.0
    direct: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Passages, best first; they may be kept until `fresh_until` (aware, UTC).

    `verdict` tells whether what the words of the step state is so ("any service is down"); None: it can't be told.
    """

    passages: tuple[Passage, ...]
    fresh_until: datetime
    verdict: bool | None = None


@dataclass(frozen=True, slots=True)
class Nothing:
    """The source was asked and holds nothing on this."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The source couldn't be asked. `kind` is one word of the contract, `detail` is for the owner."""

    kind: Literal["timeout", "unreachable", "bad_reply", "unreadable", "busy"]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class NotConfigured:
    """The source needs `setting` before it can be asked."""

    setting: str


Outcome = Found | Nothing | Failed | NotConfigured


@dataclass(frozen=True, slots=True)
class Section:
    """All passages of one source that go into an answer, best first."""

    source: str
    label: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an answer may stand on; it is valid until `fresh_until` (aware, UTC)."""

    sections: tuple[Section, ...]
    fresh_until: datetime

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags of the sources that speak, in order."""
        return tuple(section.source for section in self.sections)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence on its way out. From index 1 on `text` and `speech` begin with a space."""

    index: int
    text: str
    speech: str


class AnswerStatus(StrEnum):
    """How composing an answer ended."""

    SERVED = "served"
    NOT_IN_SOURCES = "not_in_sources"
    SKIPPED = "skipped"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the sources say, composed and checked; `text` is without tags, null unless served or an honest miss.

    `said_in` is the language of `text`: quoted documents may speak another language than the one who asks.
    `truncated` tells that there was more, over the cap or after what a gate refused.
    """

    status: AnswerStatus
    text: str | None = None
    sources: tuple[str, ...] = ()
    speech: str | None = None
    said_in: str | None = None
    truncated: bool = False
    cached: bool = False
    events: tuple[Event, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told: a stable `system` part, then what changes with each question."""

    system: str
    user: str
    tags: tuple[str, ...]
    material: str
    """Exactly the evidence that `user` shows, for the number gate."""
