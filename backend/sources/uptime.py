"""Whether the services of the house are up, from Uptime Kuma.

Decides which of its two doors is asked, the status page or the metrics, and what a state is. "No data" is not "up": what
isn't known is said, and a reply that can't be read in full is none. Which services a question is about, and how they
are told of, is `backend.sources.uptime_words`'.
"""

from __future__ import annotations

import asyncio
import base64
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
import re
from typing import Any, Final
from urllib.parse import quote, urlsplit

import aiohttp

from backend.languages import own_or_default
from backend.sources.base import SourceState, made_of
from backend.sources.http import UpstreamError, fetch, fetch_json
from backend.sources.uptime_words import STATES, UNKNOWN, Service, holds, told
from backend.store.snapshots import Item
from backend.types import (
    FUSION,
    Failed,
    Found,
    NotConfigured,
    Nothing,
    Outcome,
    Passage,
    Question,
    Step,
)

SETTING: Final = "UPTIME_KUMA_URL"
PAGE: Final = "UPTIME_KUMA_STATUS_PAGE"
_SAMPLE: Final = re.compile(r"^monitor_status\b.*", re.MULTILINE)
_HEAD: Final = re.compile(r"^(?:# (?:HELP|TYPE) )?monitor_status\b", re.MULTILINE)
_METRIC: Final = re.compile(
    r"monitor_status\{(?P<labels>(?:[^\"\n}]|\"(?:[^\"\\\n]|\\.)*\")*)\}[ \t]+(?P<value>\S+).*"
)
_LABEL: Final = re.compile(r"(\w+)=\"((?:[^\"\\\n]|\\.)*)\"")
_LONGEST_NAME: Final = 150


class Uptime:
    """Asks the Uptime Kuma at `url`; an outcome may be kept for `ttl` seconds."""

    tag = "uptime"
    every = 120.0
    lasting = True

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
        self.version = made_of(url, page, key is not None)

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
        said = await asyncio.to_thread(
            told, services, step.query, question.language, shared=question.source == FUSION
        )
        passages = tuple(
            Passage(source=self.tag, title="", text=text, language=question.language, direct=True)
            for text in said
        )
        if not passages:
            return Nothing()
        verdict = await asyncio.to_thread(
            holds, services, step.query, question.language, question.now.year
        )
        return Found(passages, datetime.now(UTC) + timedelta(seconds=self.ttl), verdict)

    async def look(self, until: float) -> tuple[Item, ...]:
        """Return every service and its state, by `until` (monotonic). Raises UpstreamError."""
        services = await self._services(until)
        return tuple(Item(service.id, service.name, service.state) for service in services)

    def said(self, state: str, language: str) -> str:
        """Return the word for a state."""
        words = own_or_default(language, "uptime")
        return str(words["states"].get(state, state))

    async def _services(self, until: float) -> list[Service]:
        try:
            found = await (self._of_page(until) if self._page else self._of_metrics(until))
        except UpstreamError as error:
            self._problem = str(error)
            raise
        self._problem = ""
        return found

    async def _of_page(self, until: float) -> list[Service]:
        assert self._page is not None
        page = f"{self._url}/api/status-page"
        slug = quote(self._page, safe="")
        try:
            async with asyncio.TaskGroup() as group:
                monitors = group.create_task(
                    fetch_json(self._session, f"{page}/{slug}", until=until)
                )
                beats = group.create_task(
                    fetch_json(self._session, f"{page}/heartbeat/{slug}", until=until)
                )
        except ExceptionGroup as failed:
            # The first one ended the other.
            raise failed.exceptions[0] from None
        return services_of_page(monitors.result(), beats.result(), self._host)

    async def _of_metrics(self, until: float) -> list[Service]:
        # The key is the password of a user without a name.
        login = base64.b64encode(f":{self._key}".encode()).decode()
        body = await fetch(
            self._session,
            f"{self._url}/metrics",
            until=until,
            headers={"Authorization": f"Basic {login}"},
        )
        return services_of_metrics(body, self._host)

    @property
    def _host(self) -> str:
        return urlsplit(self._url or "").hostname or "the server"


def services_of_page(page: Any, beats: Any, host: str) -> list[Service]:
    """Return the monitors of a status page, each once, from its two replies; one without a heartbeat is unknown.

    Raises UpstreamError where a monitor can't be made out: what is left out might be what is down.
    """
    lists = beats.get("heartbeatList") if isinstance(beats, dict) else None
    services: dict[str, Service] = {}
    for group in _listed(page, "publicGroupList", host):
        for monitor in _listed(group, "monitorList", host):
            known_as = monitor.get("id") if isinstance(monitor, dict) else None
            if not isinstance(known_as, int | str) or not _clean(str(known_as)):
                raise _no_page(host)
            known_as = str(known_as)
            last = lists.get(known_as) if isinstance(lists, dict) else None
            beat = last[-1] if isinstance(last, list) and last else None
            state = _state(beat.get("status") if isinstance(beat, dict) else None)
            services.setdefault(known_as, Service(known_as, _name(monitor, known_as), state))
    return list(services.values())


def services_of_metrics(body: bytes, host: str) -> list[Service]:
    """Return the monitors among metrics in Prometheus' text format.

    Raises UpstreamError for what are no metrics of Uptime Kuma, a page that asks to log in for one, and where a monitor
    can't be made out.
    """
    # The heads are there without any monitor.
    text = body.decode("utf-8", "replace")
    if not _HEAD.search(text):
        raise UpstreamError(Failed("bad_reply", f"{host} sends no metrics of Uptime Kuma"))
    services: dict[str, Service] = {}
    seen: defaultdict[str, int] = defaultdict(lambda: 1)
    for line in _SAMPLE.findall(text):
        found = _METRIC.fullmatch(line)
        labels = dict(_LABEL.findall(found["labels"])) if found else {}
        name = _unescaped(labels.get("monitor_name", ""))
        if found is None or not name.strip():
            raise UpstreamError(Failed("bad_reply", f"{host} sends metrics that can't be read"))
        # Uptime Kuma 1 tells no numbers, and two monitors may have one name: each is one.
        known = _unescaped(labels.get("monitor_id", "")) or name
        known_as = known
        while known_as in services:
            seen[known] += 1
            known_as = f"{known} {seen[known]}"
        services[known_as] = Service(known_as, _clean(name), _state(found["value"]))
    return list(services.values())


def _listed(value: Any, key: str, host: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    if not isinstance(found, list):
        raise _no_page(host)
    return found


def _no_page(host: str) -> UpstreamError:
    return UpstreamError(Failed("bad_reply", f"{host} sends no status page"))


def _name(monitor: Mapping[str, Any], known_as: str) -> str:
    name = monitor.get("name")
    return (_clean(name) if isinstance(name, str) else "") or _clean(known_as)


def _clean(name: str) -> str:
    """Return a name on one line, no longer than Uptime Kuma keeps them; JSON may hold halves of characters."""
    return " ".join(name.encode("utf-8", "replace").decode().split())[:_LONGEST_NAME]


def _state(value: object) -> str:
    """Return our word for Uptime Kuma's number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return UNKNOWN
    try:
        number = float(str(value))
    except ValueError:
        return UNKNOWN
    return STATES[int(number)] if number in range(len(STATES)) else UNKNOWN


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], value)
