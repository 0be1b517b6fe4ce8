"""Open-Meteo's two interfaces: the weather at a point, and the points that a name stands for.

Decides what is asked of them and what of a reply can be used: whatever is missing is None. Field names are those of
https://open-meteo.com/en/docs and https://open-meteo.com/en/docs/geocoding-api. Times are asked for as seconds since
1970: written out they are in one offset for all days, also behind a change of the clocks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
import math
from typing import Any, Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import aiohttp

from backend.sources.http import UpstreamError, fetch_json
from backend.types import Failed, Place

FORECAST: Final = "https://api.open-meteo.com/v1/forecast"
GEOCODING: Final = "https://geocoding-api.open-meteo.com/v1/search"
DAYS: Final = 14
"""So far ahead the weather is asked for."""
_DECIMALS: Final = 2
"""Of a degree: a kilometre, finer than any forecast, and all that anyone needs to know of where a house stands."""
_RESULTS: Final = 10
_HALF_A_DAY: Final = 43_200
_LATEST: Final = 253_370_764_800
"""The last second that calendars know: the year 9999."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The weather of a moment or a span: degrees Celsius, per cent, millimetres, kilometres per hour; None is untold.

    `code` is the World Meteorological Organization's, the gravest of a span.
    """

    code: int | None = None
    low: float | None = None
    high: float | None = None
    chance: float | None = None
    amount: float | None = None
    wind: float | None = None
    felt: float | None = None
    humidity: float | None = None
    uv: float | None = None

    @property
    def told(self) -> bool:
        """Whether there is anything to say of the sky or the warmth."""
        return self.code is not None or self.low is not None or self.high is not None

    @property
    def wet(self) -> bool:
        """Whether anything is told that rain can be read from."""
        return self.chance is not None or self.code is not None or self.amount is not None


@dataclass(frozen=True, slots=True)
class Weather:
    """The weather of a place in its own zone: now, by day, by hour (from that moment on), and when the sun comes and goes."""

    zone: tzinfo
    now: Figures
    days: Mapping[date, Figures]
    hours: tuple[tuple[datetime, Figures], ...]
    sun: Mapping[date, tuple[datetime | None, datetime | None]]


@dataclass(frozen=True, slots=True)
class Found:
    """A place by its name: `region` and `country` tell it from others, `code` is the country's, `kind` GeoNames' feature code."""

    place: Place
    region: str
    country: str
    code: str
    kind: str
    population: float


async def weather(
    session: aiohttp.ClientSession, url: str, place: Place, zone: str | None, *, until: float
) -> Weather:
    """Return the weather at `place` by `until` (monotonic); `zone` None is the place's own. Raises UpstreamError."""
    params = {
        "latitude": f"{round(place.latitude, _DECIMALS):g}",
        "longitude": f"{round(place.longitude, _DECIMALS):g}",
        "current": "temperature_2m,apparent_temperature,relative_humidity_2m,weather_code,wind_speed_10m",
        "hourly": "temperature_2m,precipitation_probability,precipitation,weather_code,wind_speed_10m",
        "daily": "weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max,"
        "precipitation_sum,wind_speed_10m_max,uv_index_max,sunrise,sunset",
        "timezone": zone or "auto",
        "timeformat": "unixtime",
        "forecast_days": str(DAYS),
    }
    reply = await _asked(session, _whole(url, FORECAST), params, until)
    # In a thread: a zone is read from a file.
    read = await asyncio.to_thread(_weather, reply)
    if not (read.days or read.hours or read.now.told):
        raise UpstreamError(Failed("bad_reply", f"{urlsplit(url).hostname} tells no weather"))
    return read


async def places(
    session: aiohttp.ClientSession, url: str, name: str, language: str, *, until: float
) -> list[Found]:
    """Return the places called `name`, the best first, by `until` (monotonic). Raises UpstreamError."""
    params = {"name": name, "count": str(_RESULTS), "language": language, "format": "json"}
    reply = await _asked(session, _whole(url, GEOCODING), params, until)
    return list(_places(reply.get("results")))


def _whole(url: str, public: str) -> str:
    """Return the address to ask: of a server that is named without a path, where the public one has it."""
    parts = urlsplit(url)
    return url if parts.path.strip("/") else url.rstrip("/") + urlsplit(public).path


async def _asked(
    session: aiohttp.ClientSession, url: str, params: Mapping[str, str], until: float
) -> dict[str, Any]:
    reply = await fetch_json(session, url, until=until, params=params)
    if not isinstance(reply, dict) or reply.get("error"):
        host = urlsplit(url).hostname
        reason = reply.get("reason") if isinstance(reply, dict) else None
        raise UpstreamError(Failed("bad_reply", f"{host}: {reason or 'no object'}"))
    return reply


def _places(results: object) -> Iterator[Found]:
    for row in results if isinstance(results, list) else ():
        if not isinstance(row, dict):
            continue
        latitude, longitude = _number(row.get("latitude")), _number(row.get("longitude"))
        name = row.get("name")
        if latitude is None or longitude is None or not isinstance(name, str) or not name.strip():
            continue
        yield Found(
            Place(name.strip(), latitude, longitude),
            str(row.get("admin1") or ""),
            str(row.get("country") or ""),
            str(row.get("country_code") or ""),
            str(row.get("feature_code") or ""),
            _number(row.get("population")) or 0.0,
        )


def _weather(reply: Mapping[str, Any]) -> Weather:
    offset = int(_number(reply.get("utc_offset_seconds")) or 0)
    zone = _zone(reply.get("timezone"), offset)
    daily, hourly = _rows(reply.get("daily")), _rows(reply.get("hourly"))
    days: dict[date, Figures] = {}
    sun: dict[date, tuple[datetime | None, datetime | None]] = {}
    for row in daily:
        # A day begins at midnight by the offset of now: from noon on, an hour more or less does no harm.
        if (noon := _moment(row["time"] + offset + _HALF_A_DAY, UTC)) is None:
            continue
        days[noon.date()] = Figures(
            _code(row.get("weather_code")),
            row.get("temperature_2m_min"),
            row.get("temperature_2m_max"),
            row.get("precipitation_probability_max"),
            row.get("precipitation_sum"),
            row.get("wind_speed_10m_max"),
            uv=row.get("uv_index_max"),
        )
        rise, fall = row.get("sunrise"), row.get("sunset")
        sun[noon.date()] = _moment(rise, zone), _moment(fall, zone)
    hours = tuple(
        (at, _of_a_moment(row)) for row in hourly if (at := _moment(row["time"], zone)) is not None
    )
    now = {key: _number(value) for key, value in _object(reply.get("current")).items()}
    return Weather(zone, _of_a_moment(now), days, hours, sun)


def _of_a_moment(row: Mapping[str, float | None]) -> Figures:
    temperature = row.get("temperature_2m")
    return Figures(
        _code(row.get("weather_code")),
        temperature,
        temperature,
        row.get("precipitation_probability"),
        row.get("precipitation"),
        row.get("wind_speed_10m"),
        row.get("apparent_temperature"),
        row.get("relative_humidity_2m"),
    )


def _rows(columns: object) -> Iterator[dict[str, Any]]:
    """Yield the values of each time that is told; what a column lacks, or isn't a number, is None."""
    named = {key: column for key, column in _object(columns).items() if isinstance(column, list)}
    for at, moment in enumerate(named.get("time", ())):
        if _number(moment) is None:
            continue
        yield {
            key: _number(column[at]) if at < len(column) else None for key, column in named.items()
        }


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float | None:
    """Return a number of a reply; None for what is none, or has no end."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _code(value: float | None) -> int | None:
    return None if value is None else int(value)


def _moment(seconds: float | None, zone: tzinfo) -> datetime | None:
    """Return the moment in `zone`; None where none is told, as for the sun at the poles."""
    if seconds is None or not 0 < seconds < _LATEST:
        return None
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).astimezone(zone)


def _zone(name: object, offset: int) -> tzinfo:
    """Return the zone of a place: by its name, else by the offset that is valid now."""
    try:
        return ZoneInfo(str(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return timezone(
            timedelta(seconds=max(-_HALF_A_DAY * 2 + 1, min(offset, _HALF_A_DAY * 2 - 1)))
        )
