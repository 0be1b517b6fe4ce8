"""Whether the services of the house are up, from Uptime Kuma.

Decides which of its two doors is asked, the status page or the metrics, what a state is, and which services a question
is about. "No data" is not "up": what isn't known is said.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
import re
from typing import Any, Final
from urllib.parse import quote, urlsplit

import aiohttp

from backend.languages import own_or_default
from backend.sources.base import SourceState
from backend.sources.http import UpstreamError, fetch, fetch_json
from backend.store.snapshots import Item
from backend.text.words import tokens
from backend.types import Failed, Found, NotConfigured, Nothing, Outcome, Passage, Question, Step

SETTING: Final = "UPTIME_KUMA_URL"
PAGE: Final = "UPTIME_KUMA_STATUS_PAGE"
_STATES: Final = ("down", "up", "pending", "maintenance")
"""By Uptime Kuma's own numbers."""
UNKNOWN: Final = "unknown"
_METRIC: Final = re.compile(
    r"^monitor_status\{(?P<labels>(?:[^\"\n}]|\"(?:[^\"\\\n]|\\.)*\")*)\}\s+(?P<value>\S+)",
    re.MULTILINE,
)
_LABEL: Final = re.compile(r"(\w+)=\"((?:[^\"\\\n]|\\.)*)\"")
_MOST_NAMED: Final = 6


@dataclass(frozen=True, slots=True)
class _Service:
    """A monitor, and its state as one of our words."""

    id: str
    name: str
    state: str


class Uptime:
    """Asks the Uptime Kuma at `url`; an outcome may be kept for `ttl` seconds."""

    tag = "uptime"
    every = 120.0
    lasting = True
    version = "1"

    def __init__(
        self,
        session: aiohttp.ClientSession,
        url: str | None,
        *,
        page: str | None,
        key: str | None,
        ttl: float,
    ) -> None:
        self._session = session
        self._url = url
        self._page = page
        self._key = key
        self._problem = ""
        self.ttl = ttl

    async def start(self) -> None:
        """Begin nothing: it is asked when it is needed."""

    async def close(self) -> None:
        """End nothing."""

    def state(self) -> SourceState:
        """Return whether it is set up, and what went wrong when it was last asked."""
        if (missing := self._missing()) is not None:
            return SourceState(False, missing)
        return SourceState(True, detail=self._problem)

    def _missing(self) -> str | None:
        if self._url is None:
            return SETTING
        return PAGE if self._page is None and self._key is None else None

    async def ask(self, step: Step, question: Question) -> Outcome:
        """Tell of the services that the words name, or of all."""
        if (missing := self._missing()) is not None:
            return NotConfigured(missing)
        try:
            services = await self._services(question.deadline)
        except UpstreamError as error:
            return error.failed
        if not services:
            return Nothing()
        said = await asyncio.to_thread(_said, services, step.query, question.language)
        passages = tuple(
            Passage(source=self.tag, title="", text=text, language=question.language, direct=True)
            for text in said
        )
        return Found(passages, datetime.now(UTC) + timedelta(seconds=self.ttl))

    async def look(self, until: float) -> tuple[Item, ...]:
        """Return every service and its state, by `until` (monotonic). Raises UpstreamError."""
        services = await self._services(until)
        return tuple(Item(service.id, service.name, service.state) for service in services)

    def said(self, state: str, language: str) -> str:
        """Return the word for a state."""
        words = own_or_default(language, "uptime")
        return str(words["states"].get(state, state))

    async def _services(self, until: float) -> list[_Service]:
        try:
            found = await (self._of_page(until) if self._page else self._of_metrics(until))
        except UpstreamError as error:
            self._problem = str(error)
            raise
        self._problem = ""
        return found

    async def _of_page(self, until: float) -> list[_Service]:
        assert self._page is not None
        slug = quote(self._page, safe="")
        page, beats = await asyncio.gather(
            fetch_json(self._session, f"{self._url}/api/status-page/{slug}", until=until),
            fetch_json(self._session, f"{self._url}/api/status-page/heartbeat/{slug}", until=until),
        )
        if not isinstance(page, dict) or not isinstance(page.get("publicGroupList"), list):
            host = urlsplit(self._url or "").hostname
            raise UpstreamError(Failed("bad_reply", f"{host} has no status page {self._page}"))
        lists = beats.get("heartbeatList") if isinstance(beats, dict) else None
        return list(_monitors(page["publicGroupList"], lists if isinstance(lists, dict) else {}))

    async def _of_metrics(self, until: float) -> list[_Service]:
        # The key is the password of a user without a name.
        login = base64.b64encode(f":{self._key}".encode()).decode()
        body = await fetch(
            self._session,
            f"{self._url}/metrics",
            until=until,
            headers={"Authorization": f"Basic {login}"},
        )
        services = []
        for found in _METRIC.finditer(body.decode("utf-8", "replace")):
            labels = {name: _unescaped(value) for name, value in _LABEL.findall(found["labels"])}
            name = labels.get("monitor_name", "").strip()
            if name:
                services.append(
                    _Service(labels.get("monitor_id", name), name, _state(found["value"]))
                )
        return services


def _monitors(groups: Sequence[Any], beats: Mapping[str, Any]) -> Iterator[_Service]:
    """Yield the monitors of a status page, each once; one without a heartbeat is unknown."""
    seen = set()
    for group in groups:
        for monitor in (group.get("monitorList") or ()) if isinstance(group, dict) else ():
            if not isinstance(monitor, dict) or not str(monitor.get("name") or "").strip():
                continue
            known_as = str(monitor.get("id", monitor["name"]))
            if known_as in seen:
                continue
            seen.add(known_as)
            last = beats.get(known_as)
            beat = last[-1] if isinstance(last, list) and last else None
            status = beat.get("status") if isinstance(beat, dict) else None
            yield _Service(known_as, str(monitor["name"]).strip(), _state(status))


def _state(value: object) -> str:
    """Return our word for Uptime Kuma's number."""
    try:
        number = float(str(value))
    except ValueError:
        return UNKNOWN
    return _STATES[int(number)] if number in range(len(_STATES)) else UNKNOWN


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], value)


def _said(services: Sequence[_Service], query: str, language: str) -> list[str]:
    """Return the sentences that answer: of the services that are named, else of those that aren't up; blocks."""
    words = own_or_default(language, "uptime")
    asked = tokens(query)
    names = [(service, tokens(service.name)) for service in services]
    told = [(service, name) for service, name in names if _names(name, asked)]
    # "Home Assistant" isn't "Home".
    named = [
        service
        for service, name in told
        if not any(len(other) > len(name) and _names(name, other) for _, other in told)
    ]
    if named:
        return [_of(service, words) for service in named[:_MOST_NAMED]]
    others = [service for service in services if service.state != "up"]
    if not others:
        return [words["all_up"].format(count=len(services))]
    up = len(services) - len(others)
    # What is down is told first, what isn't known last.
    others.sort(
        key=lambda service: ("down", "pending", "maintenance", UNKNOWN).index(service.state)
    )
    return [
        *(_of(service, words) for service in others[:_MOST_NAMED]),
        words["some_up"].format(count=up, total=len(services)),
    ]


def _of(service: _Service, words: Mapping[str, Any]) -> str:
    return str(words[service.state]).format(name=service.name)


def _names(name: Sequence[str], asked: Sequence[str]) -> bool:
    """Return whether the words of a name stand in a question, one after the other."""
    size = len(name)
    return size > 0 and any(
        list(asked[at : at + size]) == list(name) for at in range(len(asked) - size + 1)
    )
