"""The weather of the days ahead, from Open-Meteo: at the place that is asked for, else at home.

Decides which place a question is about, and that nothing is sent anywhere before the owner or the request has named a
place. A place that is named and unknown is said to be unknown: home's weather isn't another place's. What the reply
means is `openmeteo`'s, what is said of it `outlook`'s.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
import time
from typing import Final

import aiohttp

from backend.flights import Flights
from backend.languages import own_or_default
from backend.settings import Settings
from backend.sources import openmeteo, outlook
from backend.sources.base import SourceState, made_of
from backend.sources.http import UpstreamError
from backend.sources.openmeteo import FORECAST, GEOCODING, Weather
from backend.sources.outlook import Asking, Limits
from backend.text.days import is_past
from backend.text.places import named_place, region, spellings
from backend.text.since import Hours
from backend.text.words import fold
from backend.types import Failed, Found, NotConfigured, Outcome, Passage, Place, Question, Step

SETTING: Final = "FORECAST_LATITUDE"
OTHER_SETTING: Final = "FORECAST_LONGITUDE"
_SECONDS: Final = 6.0
"""So long Open-Meteo is waited for, the search for a place and the forecast together."""
_RESERVE: Final = 0.5
_FRESH_SECONDS: Final = 600.0
"""A forecast is fetched again after this; "and tomorrow?" is answered from the same one."""
_SOON_SECONDS: Final = 900.0
"""What is said of now holds so long."""
_MOST_KEPT: Final = 64
_RIVAL: Final = 0.2
"""A place of the same name with this part of the other's people has to be told from it."""


@dataclass(frozen=True, slots=True)
class _Where:
    """The place of a question, as it is named in the answer ("" at home), and in which zone its days are; None: its own."""

    place: Place
    name: str = ""
    settled: bool = True
    zone: str | None = None


class Forecast:
    """Asks Open-Meteo; `home` is the house's place, an outcome may be kept for `ttl` seconds."""

    tag = "forecast"

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        home: Place | None,
        missing: str = SETTING,
        zone: str | None,
        url: str | None,
        geocoding: str | None,
        limits: Limits,
        hours: Hours,
        ttl: float,
    ) -> None:
        self._session = session
        self._home = home
        self._missing = missing
        self._zone = zone
        self._url = url
        self._geocoding = geocoding
        self._limits = limits
        self._hours = hours
        self._weather: Flights[Weather] = Flights()
        self._names: Flights[_Where | str] = Flights()
        self._kept: OrderedDict[tuple[float, float, str | None], tuple[float, Weather]] = (
            OrderedDict()
        )
        self._known: OrderedDict[tuple[str, str], _Where] = OrderedDict()
        self._problem = ""
        self.ttl = ttl
        # What was kept of another home, or another server, is stale.
        self.version = made_of(home, zone, url, geocoding, limits, hours)

    @classmethod
    def from_settings(cls, settings: Settings, session: aiohttp.ClientSession) -> Forecast:
        """Return the source for the house's place, if it is set."""
        home, missing = None, SETTING
        latitude, longitude = settings.forecast_latitude, settings.forecast_longitude
        if latitude is not None and longitude is None:
            missing = OTHER_SETTING
        elif latitude is not None and longitude is not None:
            home = Place(settings.forecast_location_name or "", latitude, longitude)
        return cls(
            session,
            home=home,
            missing=missing,
            zone=settings.forecast_timezone,
            url=settings.forecast_url,
            geocoding=settings.geocoding_url,
            limits=Limits(
                settings.forecast_precip_threshold_pct, settings.forecast_wind_threshold_mph
            ),
            hours=settings.hours,
            ttl=settings.cache_ttl_forecast_seconds,
        )

    async def start(self) -> None:
        """Begin nothing: it is asked when it is needed."""

    async def close(self) -> None:
        """Forget what was fetched."""
        self._kept.clear()
        self._known.clear()

    def state(self) -> SourceState:
        """Return whether it is set up, and what went wrong when it was last asked."""
        if self._home is None and self._url is None:
            return SourceState(False, self._missing)
        return SourceState(True, detail=self._problem)

    async def ask(self, step: Step, question: Question) -> Outcome:
        """Tell the weather of the place and the days that the words name."""
        brought = step.place or question.place
        if self._home is None and self._url is None and brought is None:
            return NotConfigured(self._missing)
        words = own_or_default(question.language, "forecast")
        if await asyncio.to_thread(is_past, step.query, question.language, question.now.year):
            return _found([words["past"]], question, datetime.now(UTC))
        until = time.monotonic() + min(_SECONDS, question.left - _RESERVE)
        try:
            where = await self._where(step, question, until)
            if where is None:
                return NotConfigured(self._missing)
            if isinstance(where, str):
                # Nobody keeps that a place isn't known.
                return _found(
                    [words["unknown_place"].format(name=where)], question, datetime.now(UTC)
                )
            weather = await self._of(where, until)
        except UpstreamError as error:
            self._problem = str(error)
            return error.failed
        self._problem = ""
        asking = Asking(
            step.query, question.language, question.now, question.units, where.name, where.settled
        )
        said = await asyncio.to_thread(outlook.said, weather, asking, self._limits, self._hours)
        if not said.sentences:
            return Failed("bad_reply", "no weather is told")
        seconds = min(self.ttl, _SOON_SECONDS) if said.soon else self.ttl
        fresh = datetime.now(UTC) + min(
            timedelta(seconds=seconds), _to_midnight(question.now.astimezone(weather.zone))
        )
        return _found(said.sentences, question, fresh, said.verdict)

    async def _where(self, step: Step, question: Question, until: float) -> _Where | str | None:
        """Return the place that is meant, its name where nobody knows it, None where none is. Raises UpstreamError."""
        name = await asyncio.to_thread(named_place, step.query, question.language)
        home = self._home
        if step.place is not None:
            return _Where(step.place, step.place.name)
        if name is not None:
            for near in (question.place, home):
                if near is not None and near.name and fold(near.name) == fold(name):
                    return self._at(near, near.name)
            return await self._named(name, question.language, until)
        if question.place is not None:
            return self._at(question.place, "")
        return None if home is None else self._at(home, "")

    def _at(self, place: Place, name: str) -> _Where:
        """Return where `place` is; the days of home are those of its zone."""
        return _Where(place, name, zone=self._zone if place is self._home else None)

    async def _named(self, name: str, language: str, until: float) -> _Where | str:
        """Return the place called `name`, or the name where there is none. Raises UpstreamError."""
        key = fold(name), language
        if (known := self._known.get(key)) is not None:
            self._known.move_to_end(key)
            return known

        async def fly() -> AsyncGenerator[_Where | str]:
            where = await self._looked_up(name, language, time.monotonic() + _SECONDS)
            if isinstance(where, _Where):
                _keep(self._known, key, where)
            yield where

        return await _by(until, self._names, key, fly)

    async def _looked_up(self, name: str, language: str, until: float) -> _Where | str:
        """Ask for all spellings of a name at once, and for its beginning where its end may be a region's."""
        url = self._geocoding or GEOCODING
        ways = [(way, "") for way in await asyncio.to_thread(spellings, name, language)]
        words = name.replace(",", " ").split()
        ways += [
            (" ".join(words[:at]), await asyncio.to_thread(region, " ".join(words[at:]), language))
            for at in range(len(words) - 1, max(0, len(words) - 3), -1)
        ]
        answers = await asyncio.gather(
            *(openmeteo.places(self._session, url, way, language, until=until) for way, _ in ways)
        )
        for (_, within), found in zip(ways, answers, strict=True):
            inside = [one for one in found if not within or within in _regions(one)]
            if inside:
                return _chosen(inside, told=bool(within))
        return name

    async def _of(self, where: _Where, until: float) -> Weather:
        """Return the weather of a place, from a moment ago if it was asked for. Raises UpstreamError."""
        place = where.place
        key = round(place.latitude, 2), round(place.longitude, 2), where.zone
        kept = self._kept.get(key)
        if kept is not None and time.monotonic() - kept[0] < _FRESH_SECONDS:
            self._kept.move_to_end(key)
            return kept[1]

        async def fly() -> AsyncGenerator[Weather]:
            # As long as the first who asks has: who joins later has no less time to wait.
            weather = await openmeteo.weather(
                self._session,
                self._url or FORECAST,
                place,
                where.zone,
                until=time.monotonic() + _SECONDS,
            )
            _keep(self._kept, key, (time.monotonic(), weather))
            yield weather

        return await _by(until, self._weather, key, fly)


async def _by[T](
    until: float, flights: Flights[T], key: Hashable, fly: Callable[[], AsyncGenerator[T]]
) -> T:
    """Return what a flight brings by `until` (monotonic). Raises UpstreamError."""
    try:
        async with asyncio.timeout(max(0.0, until - time.monotonic())):
            return await flights.last(key, fly)
    except TimeoutError:
        raise UpstreamError(Failed("timeout", "no answer from Open-Meteo")) from None


def _keep[K, V](kept: OrderedDict[K, V], key: K, value: V) -> None:
    kept[key] = value
    while len(kept) > _MOST_KEPT:
        kept.popitem(last=False)


def _regions(found: openmeteo.Found) -> set[str]:
    return {fold(found.region), fold(found.country), fold(found.code)}


def _chosen(found: Sequence[openmeteo.Found], *, told: bool) -> _Where:
    """Return the first place, which is the likeliest; with its region or country where another is as likely."""
    best = found[0]
    name = best.place.name
    rivals = [
        other
        for other in found[1:]
        if fold(other.place.name) == fold(name)
        and other.population > _RIVAL * best.population
        and (other.region, other.country) != (best.region, best.country)
    ]
    if told or rivals:
        abroad = any(other.country != best.country for other in rivals)
        beside = best.country if abroad or not best.region else best.region
        name = f"{name}, {beside}" if beside and fold(beside) != fold(name) else name
    settled = best.kind.startswith("PPL")
    return _Where(best.place, name, settled or not best.kind)


def _to_midnight(now: datetime) -> timedelta:
    """Return how long it is "today"; tomorrow's forecast is another day's then."""
    tomorrow = now.date() + timedelta(days=1)
    midnight = datetime(tomorrow.year, tomorrow.month, tomorrow.day, tzinfo=now.tzinfo)
    return timedelta(seconds=midnight.timestamp() - now.timestamp())


def _found(
    sentences: Sequence[str], question: Question, fresh: datetime, verdict: bool | None = None
) -> Found:
    passages = tuple(
        Passage(Forecast.tag, "", sentence, language=question.language, direct=True)
        for sentence in sentences
    )
    return Found(passages, fresh, verdict)
