"""How the things of the house are: lights, locks, doors, people, and whatever measures something.

Decides where states come from: those that came with the question, which win and are never kept, else Home Assistant's
API with a token. What the states mean, what is asked of them and what is said is decided in `home_states`,
`home_question` and `home_answer`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
import json
import logging
import time
from typing import Any, Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import aiohttp

from backend.sources.base import SourceState, made_of
from backend.sources.home_answer import Answering
from backend.sources.home_choice import House
from backend.sources.home_states import (
    REMEMBERED,
    UNKNOWN,
    Reading,
    Registry,
    Thing,
    of_api,
    of_question,
)
from backend.sources.home_words import home_words
from backend.sources.http import UpstreamError, fetch, fetch_json
from backend.store.snapshots import Item
from backend.types import (
    HOME,
    Failed,
    Found,
    NotConfigured,
    Nothing,
    Outcome,
    Passage,
    Question,
    Step,
)

_LOGGER = logging.getLogger(__name__)

URL: Final = "HA_URL"
TOKEN: Final = "HA_TOKEN"
_REGISTRY_SECONDS: Final = 300.0
"""Areas and devices change when a person changes them."""
_REGISTRY_WAIT: Final = 3.0
"""Seconds that areas are waited for: states are worth telling without them."""
_REGISTRY_AGAIN: Final = 30.0
_REGISTRY: Final = """\
{% for area in areas() %}{{ [area_name(area), area_entities(area)] | to_json }}
{% endfor %}{% for state in states -%}
{{ [state.entity_id, device_id(state.entity_id), is_hidden_entity(state.entity_id)] | to_json }}
{% endfor %}"""
"""Home Assistant's template for what its states don't tell: a line for each area, and one for each entity."""


class HomeStates:
    """Asks the Home Assistant at `url`; an outcome may be kept for `ttl` seconds.

    Below `battery_low` percent a battery is low.
    """

    tag = HOME
    every = 300.0
    lasting = False
    """What isn't reported any more has not changed: a restart of Home Assistant is no news of the doors."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        url: str | None,
        *,
        token: str | None,
        battery_low: float,
        ttl: float,
    ) -> None:
        self._session = session
        self._url = url
        self._token = token
        self._battery_low = battery_low
        self._problem = ""
        self._registry = Registry()
        self._registry_until = 0.0
        self._last: dict[str, Item] = {}
        self.ttl = ttl
        self.version = made_of(url, token is not None, battery_low)

    async def start(self) -> None:
        """Begin nothing: it is asked when it is needed."""

    async def close(self) -> None:
        """End nothing."""

    def state(self) -> SourceState:
        """Return whether the API is set up, and what went wrong when it was last asked."""
        if (missing := self._missing()) is not None:
            return SourceState(False, missing)
        return SourceState(True, detail=self._problem)

    def _missing(self) -> str | None:
        if self._token is None:
            return TOKEN
        return URL if self._url is None else None

    async def ask(self, step: Step, question: Question) -> Outcome:
        """Tell of the things that the words name."""
        things: list[Thing]
        if question.states:
            things = await asyncio.to_thread(self._sent, question)
        elif (missing := self._missing()) is not None:
            return NotConfigured(missing)
        else:
            try:
                things = await self._things(question.deadline, question.time_zone)
            except UpstreamError as error:
                return error.failed
        said, verdict = await asyncio.to_thread(_said, things, step.query, question)
        if not said:
            return Nothing()
        passages = tuple(
            Passage(source=self.tag, title="", text=text, language=question.language, direct=True)
            for text in said
        )
        return Found(passages, datetime.now(UTC) + timedelta(seconds=self.ttl), verdict)

    async def look(self, until: float) -> tuple[Item, ...]:
        """Return every thing that opens, locks or is switched, and its state, by `until` (monotonic). Raises UpstreamError.

        One that isn't reported now is as it was last seen.
        """
        things = [thing for thing in await self._things(until) if thing.kind in REMEMBERED]
        for thing in things:
            if thing.state not in ("", UNKNOWN):
                self._last[thing.id] = Item(thing.id, thing.name, thing.state)
        there = {thing.id for thing in things}
        self._last = {known_as: item for known_as, item in self._last.items() if known_as in there}
        return tuple(self._last.values())

    async def areas(self, until: float) -> set[str]:
        """Return the names of the areas by `until` (monotonic), none where they can't be had."""
        if self._missing() is not None:
            return set()
        with suppress(UpstreamError):
            return set((await self._known(until)).areas.values())
        return set()

    def said(self, state: str, language: str) -> str:
        """Return the word for a state."""
        return home_words(language).told("away" if state == "elsewhere" else state) or state

    def _sent(self, question: Question) -> list[Thing]:
        """Return the things that came with a question; blocks while words are read."""
        said = home_words(question.language).states()
        return of_question(
            question.states, Reading(self._battery_low, ZoneInfo(question.time_zone), said)
        )

    async def _things(self, until: float, zone: str = "UTC") -> list[Thing]:
        known = asyncio.create_task(self._known(until))
        try:
            rows = await self._get("/api/states", until)
            registry = await known
        except UpstreamError as error:
            self._problem = str(error)
            raise
        finally:
            known.cancel()
        if not isinstance(rows, list):
            host = urlsplit(self._url or "").hostname
            failed = Failed("bad_reply", f"{host} sends no states")
            self._problem = f"{failed.kind}: {failed.detail}"
            raise UpstreamError(failed)
        self._problem = ""
        reading = Reading(self._battery_low, ZoneInfo(zone))
        return await asyncio.to_thread(of_api, rows, registry, reading)

    async def _known(self, until: float) -> Registry:
        """Return areas and devices, as they were read some minutes ago at most; none where the token may not read them."""
        if time.monotonic() < self._registry_until:
            return self._registry
        until = min(until, time.monotonic() + _REGISTRY_WAIT)
        config, lines = await asyncio.gather(
            self._tried(self._get("/api/config", until)), self._tried(self._rendered(until))
        )
        if lines is not None:
            self._registry = await asyncio.to_thread(_registry, lines, config)
        # Last: until then, whoever else asks would take an empty one for what is known.
        seconds = _REGISTRY_AGAIN if lines is None else _REGISTRY_SECONDS
        self._registry_until = time.monotonic() + seconds
        return self._registry

    async def _tried(self, call: Awaitable[Any]) -> Any:
        """Return what a call gives, None where it fails: a token may be one that may not ask for this."""
        try:
            return await call
        except UpstreamError as error:
            _LOGGER.info("Areas of the home can't be read: %s", error)
            return None

    async def _get(self, path: str, until: float) -> Any:
        return await fetch_json(
            self._session, f"{self._url}{path}", until=until, headers=self._headers
        )

    async def _rendered(self, until: float) -> list[str]:
        body = await fetch(
            self._session,
            f"{self._url}/api/template",
            until=until,
            method="POST",
            data=json.dumps({"template": _REGISTRY}).encode(),
            headers={**self._headers, "Content-Type": "application/json"},
        )
        return body.decode("utf-8", "replace").splitlines()

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"}


def _registry(lines: Sequence[str], config: Any) -> Registry:
    """Return what the lines of the template tell; a line that tells nothing is left out."""
    areas: dict[str, str] = {}
    devices: dict[str, str] = {}
    hidden: set[str] = set()
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        match row:
            case [str(name), list(entities)]:
                areas |= dict.fromkeys(filter(_is_text, entities), name)
            case [str(entity), device, is_hidden]:
                if isinstance(device, str):
                    devices[entity] = device
                if is_hidden is True:
                    hidden.add(entity)
    units = config.get("unit_system") if isinstance(config, dict) else None
    unit = units.get("temperature") if isinstance(units, dict) else None
    return Registry(areas, devices, frozenset(hidden), unit if isinstance(unit, str) else "°")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _said(things: Sequence[Thing], query: str, question: Question) -> tuple[list[str], bool | None]:
    """Return the sentences that answer, and whether what is stated is so.

    None where the question isn't about things of a house; blocks.
    """
    words = home_words(question.language)
    house = House(things, words, question.area or "")
    said: list[str] = []
    verdicts: set[bool | None] = set()
    for asked in house.apart(query):
        chosen = house.choose(asked)
        if chosen is None:
            return [], None
        answering = Answering(asked, chosen, words)
        said += answering.sentences()
        verdicts.add(answering.verdict())
    # Whether "and" or "or" was said, it is so where each is, and isn't where none is.
    return said, verdicts.pop() if len(verdicts) == 1 else None
