"""The weather, from Open-Meteo: where, when, and what was asked about it.

Decides whose weather is told (the place that the question names, else the one that came with it, else the house's;
never another in its stead), for which days, and what is worth saying. Words are data (`languages/<code>/forecast.toml`).
Nothing is sent anywhere until there is a place.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
import re
from typing import Any, Final, Self

import aiohttp

from backend.languages import own_or_default
from backend.settings import Settings
from backend.sources.base import SourceState
from backend.sources.http import UpstreamError
from backend.sources.open_meteo import DAYS, FORECAST, GEOCODING, Outlook, Weather, locate, outlook
from backend.text.days import PARTS, Days, asked_days
from backend.text.places import base_forms, named_place
from backend.text.words import fold
from backend.types import Found, NotConfigured, Outcome, Passage, Place, Question, Step

SETTING: Final = "FORECAST_LATITUDE"
_AUTO: Final = "auto"
_KM_A_MILE: Final = 1.609344
_MOST_TOLD: Final = 7
_MOST_PLACES: Final = 256
_MOST_FORMS: Final = 5
"""Of a name that are asked for."""
_CODES: Final[Mapping[int, str]] = {
    0: "clear",
    1: "mostly_clear",
    2: "partly_cloudy",
    3: "overcast",
    **dict.fromkeys((45, 48), "fog"),
    **dict.fromkeys((51, 53, 55), "drizzle"),
    **dict.fromkeys((56, 57), "freezing_drizzle"),
    61: "light_rain",
    63: "rain",
    65: "heavy_rain",
    **dict.fromkeys((66, 67), "freezing_rain"),
    71: "light_snow",
    **dict.fromkeys((73, 77), "snow"),
    75: "heavy_snow",
    **dict.fromkeys((80, 81), "showers"),
    82: "heavy_showers",
    **dict.fromkeys((85, 86), "snow_showers"),
    95: "thunderstorm",
    **dict.fromkeys((96, 99), "hail"),
}
"""WMO codes as Open-Meteo uses them."""
_SNOW: Final = frozenset((71, 73, 75, 77, 85, 86))
_STORM: Final = frozenset((95, 96, 99))
_RAIN: Final = frozenset((*range(51, 68), 80, 81, 82)) | _STORM
_SUN: Final = frozenset((0, 1))
_JUDGED: Final = ("dry", "rain", "snow", "storm", "wind", "sun")
"""What a question may be about that is so or isn't, the rarer words first."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From when on rain (percent) and wind (miles an hour) are worth saying."""

    chance: float
    wind_mph: float


class Forecast:
    """Asks Open-Meteo at `url` for weather and at `geocoding` for places; `home` is the house's place, if it is known."""

    tag = "forecast"
    version = "1"

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        home: Place | None,
        zone: str | None,
        url: str | None,
        geocoding: str | None,
        thresholds: Thresholds,
        ttl: float,
    ) -> None:
        self._session = session
        self._home = home
        self._zone = zone
        self._own_server = url is not None
        self._url = _endpoint(url, "/v1/forecast") or FORECAST
        self._geocoding = _endpoint(geocoding, "/v1/search") or GEOCODING
        self._thresholds = thresholds
        self._places: OrderedDict[tuple[str, str], Place | None] = OrderedDict()
        self._problem = ""
        self.ttl = ttl

    @classmethod
    def from_settings(cls, settings: Settings, session: aiohttp.ClientSession) -> Self:
        """Return the source as the settings describe it."""
        latitude, longitude = settings.forecast_latitude, settings.forecast_longitude
        home = None
        if latitude is not None and longitude is not None:
            home = Place(settings.forecast_location_name or "", latitude, longitude)
        return cls(
            session,
            home=home,
            zone=settings.forecast_timezone,
            url=settings.forecast_url,
            geocoding=settings.geocoding_url,
            thresholds=Thresholds(
                settings.forecast_precip_threshold_pct, settings.forecast_wind_threshold_mph
            ),
            ttl=settings.cache_ttl_forecast_seconds,
        )

    async def start(self) -> None:
        """Begin nothing: it is asked when it is needed."""

    async def close(self) -> None:
        """End nothing."""

    def state(self) -> SourceState:
        """Return whether it may be asked at all, and what went wrong when it last was."""
        if self._home is None and not self._own_server:
            return SourceState(False, SETTING)
        return SourceState(True, detail=self._problem)

    async def ask(self, step: Step, question: Question) -> Outcome:
        """Tell the weather that the words ask for."""
        sent = step.place or question.place
        if self._home is None and not self._own_server and sent is None:
            return NotConfigured(SETTING)
        language = question.language
        words = await asyncio.to_thread(own_or_default, language, "forecast")
        name = named_place(step.query, language)
        until = question.deadline
        try:
            place = sent or self._home
            if name is not None and not (place and fold(place.name) == fold(name)):
                place = await self._located(name, language, until)
                if place is None:
                    return self._found(
                        [_capital(words["said"]["unknown"].format(place=name))], language
                    )
            if place is None:
                return NotConfigured(SETTING)
            own_zone = (self._zone or question.time_zone) if place in (sent, self._home) else _AUTO
            known = await outlook(self._session, self._url, place, own_zone, question.units, until)
        except UpstreamError as error:
            self._problem = str(error)
            return error.failed
        self._problem = ""
        teller = _Teller(words, question.units, self._thresholds, place.name if name else "")
        days = asked_days(step.query, language, known.today)
        said, verdict = teller.told(known, days, _about(step.query, language))
        return self._found(said, language, verdict)

    async def _located(self, name: str, language: str, until: float) -> Place | None:
        """Return where a place is: by its name as it was said, in another form, or without its last word."""
        key = (fold(name), language)
        if key not in self._places:
            tried = [*base_forms(name, language)[: _MOST_FORMS - 1], name.rpartition(" ")[0]]
            found = None
            for form in filter(None, tried):
                found = await locate(self._session, self._geocoding, form, language, until)
                if found is not None:
                    break
            self._places[key] = found
            while len(self._places) > _MOST_PLACES:
                self._places.popitem(last=False)
        return self._places[key]

    def _found(self, said: list[str], language: str, verdict: bool | None = None) -> Found:
        passages = tuple(
            Passage(source=self.tag, title="", text=text, language=language, direct=True)
            for text in said
        )
        return Found(passages, datetime.now(UTC) + timedelta(seconds=self.ttl), verdict)


def _endpoint(url: str | None, path: str) -> str | None:
    """Return the address to ask at: that of a server with its usual path, one with a path as it is."""
    if url is None or url.count("/") > 2:
        return url
    return url + path


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@lru_cache(maxsize=16)
def _patterns(language: str) -> Mapping[str, re.Pattern[str]]:
    asked = own_or_default(language, "forecast")["ask"]
    return {name: re.compile(rf"\b(?:{pattern})\b") for name, pattern in asked.items()}


def _about(query: str, language: str) -> frozenset[str]:
    """Return what a question is about, by the names of `[ask]`."""
    folded = fold(query)
    found = {
        name
        for name, pattern in _patterns(language).items()
        if name != "open" and pattern.search(folded)
    }
    if _patterns(language)["open"].match(folded):
        found.add("open")
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Teller:
    """Puts weather into words; `place` "" is the house's own."""

    words: Mapping[str, Any]
    units: str
    thresholds: Thresholds
    place: str

    def told(
        self, known: Outlook, days: Days, about: frozenset[str]
    ) -> tuple[list[str], bool | None]:
        """Return the sentences, and whether what was asked about is so on any of the days."""
        judged = next((what for what in _JUDGED if what in about), None)
        if days.first >= min(len(known.days), DAYS):
            return [self.words["said"]["far"].format(days=len(known.days))], None
        if days.now or (not days.named and about == {"temperature", "open"}):
            if known.now != Weather():
                so = None if judged is None else self._is(judged, known.now)
                return self._answer([self._line("now", known.now, about)], about, so), so
            days = Days(0, 0)
        weather = list(self._of(known, days))
        if not weather:
            return [self.words["said"]["far"].format(days=len(known.days))], None
        verdicts = [None if judged is None else self._is(judged, one) for _, one in weather]
        verdict: bool | None = None
        if judged == "dry":
            verdict = _all(verdicts)
        elif judged is not None:
            verdict = _any(verdicts)
        if judged is not None and not days.named and len(weather) > 1:
            # "Will it rain": of the days on which it does, else of today.
            sought = judged != "dry"
            weather = [
                one for one, so in zip(weather, verdicts, strict=True) if so is sought
            ] or weather[:1]
        said = [self._line(when, one, about) for when, one in weather[:_MOST_TOLD]]
        return self._answer(said, about, verdict), verdict

    def _answer(self, said: list[str], about: frozenset[str], verdict: bool | None) -> list[str]:
        if verdict is None or "open" in about:
            return said
        return [self.words["said"]["yes" if verdict else "no"], *said]

    def _of(self, known: Outlook, days: Days) -> Iterator[tuple[str, Weather]]:
        """Yield the days that are known, or their parts, with the words for when that is."""
        for at in range(days.first, min(days.last + 1, len(known.days))):
            day = self._day(known.today + timedelta(days=at), at)
            if days.part is None:
                if known.days[at] != Weather():
                    yield day, known.days[at]
                continue
            part = known.part(at, *PARTS[days.part])
            said = self.words["said"]
            if part is None:
                yield day, known.days[at]
            elif days.part == "night" and at == 0:
                yield said["night"], part
            else:
                yield f"{day} {said['next_night' if days.part == 'night' else days.part]}", part

    def _day(self, day: date, at: int) -> str:
        said = self.words["said"]
        near = (said["today"], said["tomorrow"], said["after_tomorrow"])
        return str(near[at] if at < len(near) else self.words["weekdays"][day.weekday()])

    def _line(self, when: str, one: Weather, about: frozenset[str]) -> str:
        """Return the sentence for one day or moment: what isn't known isn't said."""
        said = self.words["said"]
        when = said.get(when, when) if when == "now" else when
        parts: list[str] = []
        if (group := _CODES.get(one.code)) if one.code is not None else None:
            parts.append(self.words["conditions"][group])
        if one.low is not None and one.high is not None and round(one.low) != round(one.high):
            parts.append(
                said["range"].format(low=f"{round(one.low)}", high=self._degrees(one.high))
            )
        elif (degrees := one.high if one.high is not None else one.low) is not None:
            parts.append(self._degrees(degrees))
            if one.feels is not None and abs(one.feels - degrees) >= self._felt:
                parts.append(said["feels"].format(degrees=self._degrees(one.feels)))
        rainy = "rain" in about or "dry" in about
        if one.chance is not None and (rainy or one.chance >= self.thresholds.chance):
            parts.append(said["chance"].format(percent=f"{round(one.chance)} %"))
        if one.wind is not None and ("wind" in about or self._windy(one.wind)):
            unit = "mph" if self.units == "us" else "km/h"
            parts.append(said["wind"].format(speed=f"{round(one.wind)} {unit}"))
        for name in ("sunrise", "sunset"):
            moment = one.sunrise if name == "sunrise" else one.sunset
            if name in about and moment is not None:
                parts.insert(0, said[name].format(time=f"{moment:%H:%M}"))
        if self.place:
            when = said["place"].format(place=self.place, when=when)
        return _capital(said["day"].format(when=when, what=", ".join(parts) or "…"))

    def _degrees(self, value: float) -> str:
        return f"{round(value)} {'°F' if self.units == 'us' else '°C'}"

    @property
    def _felt(self) -> float:
        """From this difference on, what the air feels like is worth saying."""
        return 5.0 if self.units == "us" else 3.0

    def _windy(self, wind: float) -> bool:
        limit = self.thresholds.wind_mph
        return wind >= (limit if self.units == "us" else limit * _KM_A_MILE)

    def _is(self, what: str, one: Weather) -> bool | None:
        """Return whether it rains, snows, … in this weather; None where too little is known."""
        if what == "wind":
            return None if one.wind is None else self._windy(one.wind)
        if what in ("rain", "dry"):
            wet = None if one.code is None else one.code in _RAIN | _SNOW
            if one.chance is not None:
                wet = one.chance >= self.thresholds.chance
            return wet if what == "rain" or wet is None else not wet
        if one.code is None:
            return None
        return one.code in {"snow": _SNOW, "storm": _STORM, "sun": _SUN}[what]


def _any(verdicts: list[bool | None]) -> bool | None:
    if True in verdicts:
        return True
    return None if None in verdicts else False


def _all(verdicts: list[bool | None]) -> bool | None:
    if False in verdicts:
        return False
    return None if None in verdicts else True
