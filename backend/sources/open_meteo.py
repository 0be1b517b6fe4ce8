"""Asking Open-Meteo: where a place is, and what weather it has and gets.

Decides what is asked of its two interfaces, and what becomes of replies with gaps: what is there is used, a value that
is missing is None. The fields are those of its documentation (forecast and geocoding API). What is said of it is
`backend.sources.forecast`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import aiohttp

from backend.sources.http import UpstreamError, fetch_json
from backend.types import Failed, Place

FORECAST: Final = "https://api.open-meteo.com/v1/forecast"
GEOCODING: Final = "https://geocoding-api.open-meteo.com/v1/search"
DAYS: Final = 10
"""So many days are asked for, today's the first; the service has 16, of which the last are guesses."""
_CURRENT: Final = ("temperature_2m", "apparent_temperature", "weather_code", "wind_speed_10m")
_HOURLY: Final = ("temperature_2m", "precipitation_probability", "weather_code", "wind_speed_10m")
_DAILY: Final = (
    "weather_code",
    "temperature_2m_max",
    "temperature_2m_min",
    "precipitation_probability_max",
    "precipitation_sum",
    "wind_speed_10m_max",
    "sunrise",
    "sunset",
)

Units = Literal["metric", "us"]


@dataclass(frozen=True, slots=True)
class Weather:
    """Weather of a day, a part of it or a moment; None is not known.

    `code` is WMO's; temperatures in °C or °F, `amount` in mm or inches, `wind` in km/h or mph, `chance` in percent.
    """

    code: int | None = None
    low: float | None = None
    high: float | None = None
    feels: float | None = None
    chance: float | None = None
    amount: float | None = None
    wind: float | None = None
    sunrise: datetime | None = None
    sunset: datetime | None = None


@dataclass(frozen=True, slots=True)
class Outlook:
    """What comes at a place: `days` from `today` on, in its own zone, `hours` by the hour from midnight on."""

    today: date
    now: Weather
    days: tuple[Weather, ...]
    hours: tuple[Weather, ...]

    def part(self, day: int, first: int, last: int) -> Weather | None:
        """Return the weather of the hours from `first` to before `last` of a day, None where nothing is known."""
        hours = self.hours[day * 24 + first : day * 24 + last]
        if not any(hour != Weather() for hour in hours):
            return None
        return Weather(
            code=max((hour.code for hour in hours if hour.code is not None), default=None),
            low=min((hour.low for hour in hours if hour.low is not None), default=None),
            high=max((hour.high for hour in hours if hour.high is not None), default=None),
            chance=max((hour.chance for hour in hours if hour.chance is not None), default=None),
            wind=max((hour.wind for hour in hours if hour.wind is not None), default=None),
        )


async def locate(
    session: aiohttp.ClientSession, url: str, name: str, language: str, until: float
) -> Place | None:
    """Return the best known place of a name, None where there is none. Raises UpstreamError."""
    reply = await fetch_json(
        session,
        url,
        until=until,
        params={"name": name, "count": "1", "language": language, "format": "json"},
    )
    found = reply.get("results") if isinstance(reply, dict) else None
    first = found[0] if isinstance(found, list) and found else None
    if first is None:
        return None
    latitude, longitude = (
        (_number(first.get("latitude")), _number(first.get("longitude")))
        if isinstance(first, dict)
        else (None, None)
    )
    if latitude is None or longitude is None:
        raise _odd(url)
    known_as = first.get("name")
    return Place(known_as if isinstance(known_as, str) and known_as else name, latitude, longitude)


async def outlook(
    session: aiohttp.ClientSession, url: str, place: Place, zone: str, units: Units, until: float
) -> Outlook:
    """Return what comes at a place; `zone` is an IANA name, or "auto" for that of the place. Raises UpstreamError."""
    params = {
        "latitude": f"{place.latitude:.4f}",
        "longitude": f"{place.longitude:.4f}",
        "current": ",".join(_CURRENT),
        "hourly": ",".join(_HOURLY),
        "daily": ",".join(_DAILY),
        "timezone": zone,
        "forecast_days": str(DAYS),
    }
    if units == "us":
        params |= {
            "temperature_unit": "fahrenheit",
            "wind_speed_unit": "mph",
            "precipitation_unit": "inch",
        }
    return read(await fetch_json(session, url, until=until, params=params), url)


def read(reply: Any, url: str) -> Outlook:
    """Return what a reply tells. Raises UpstreamError for one without days."""
    daily = _mapping(reply, "daily")
    times = daily.get("time")
    first = _date(times[0]) if isinstance(times, list) and times else None
    if first is None or not isinstance(times, list):
        raise _odd(url)
    hourly, current = _mapping(reply, "hourly"), _mapping(reply, "current")
    hours = hourly.get("time")
    days = tuple(
        Weather(
            code=_code(_at(daily, "weather_code", at)),
            low=_number(_at(daily, "temperature_2m_min", at)),
            high=_number(_at(daily, "temperature_2m_max", at)),
            chance=_number(_at(daily, "precipitation_probability_max", at)),
            amount=_number(_at(daily, "precipitation_sum", at)),
            wind=_number(_at(daily, "wind_speed_10m_max", at)),
            sunrise=_moment(_at(daily, "sunrise", at)),
            sunset=_moment(_at(daily, "sunset", at)),
        )
        for at in range(min(len(times), DAYS))
    )
    count = len(hours) if isinstance(hours, list) else 0
    by_hour: list[Weather] = []
    for at in range(min(count, (DAYS + 1) * 24)):
        degrees = _number(_at(hourly, "temperature_2m", at))
        by_hour.append(
            Weather(
                code=_code(_at(hourly, "weather_code", at)),
                low=degrees,
                high=degrees,
                chance=_number(_at(hourly, "precipitation_probability", at)),
                wind=_number(_at(hourly, "wind_speed_10m", at)),
            )
        )
    degrees = _number(current.get("temperature_2m"))
    now = Weather(
        code=_code(current.get("weather_code")),
        low=degrees,
        high=degrees,
        feels=_number(current.get("apparent_temperature")),
        wind=_number(current.get("wind_speed_10m")),
    )
    return Outlook(first, now, days, tuple(by_hour))


def _odd(url: str) -> UpstreamError:
    return UpstreamError(Failed("bad_reply", f"{urlsplit(url).hostname} sends no weather"))


def _mapping(value: Any, key: str) -> Mapping[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _at(table: Mapping[str, Any], key: str, at: int) -> Any:
    column = table.get(key)
    return column[at] if isinstance(column, Sequence) and at < len(column) else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e6 else None


def _code(value: Any) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _date(value: Any) -> date | None:
    moment = _moment(value)
    return None if moment is None else moment.date()


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
