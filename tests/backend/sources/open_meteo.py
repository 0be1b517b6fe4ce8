"""A server in the shape that Open-Meteo documents, which can't be had: what a test has it say, on any day that is today."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from aiohttp import web

PLACES: dict[str, list[dict[str, Any]]] = {
    "lyon": [
        {
            "id": 2996944,
            "name": "Lyon",
            "latitude": 45.74846,
            "longitude": 4.84671,
            "elevation": 173.0,
            "feature_code": "PPLA",
            "country_code": "FR",
            "timezone": "Europe/Paris",
            "population": 522_250,
            "country": "France",
            "admin1": "Auvergne-Rhône-Alpes",
        }
    ],
    "portland": [
        {
            "name": "Portland",
            "latitude": 45.52,
            "longitude": -122.68,
            "feature_code": "PPLA2",
            "country_code": "US",
            "population": 632_309,
            "country": "United States",
            "admin1": "Oregon",
        },
        {
            "name": "Portland",
            "latitude": 43.66,
            "longitude": -70.26,
            "feature_code": "PPLA2",
            "country_code": "US",
            "population": 66_881,
            "country": "United States",
            "admin1": "Maine",
        },
    ],
    "null island": [
        {"name": "Null Island", "latitude": 0, "longitude": 0.0, "feature_code": "ISL"}
    ],
    "switzerland": [
        {"name": "Switzerland", "latitude": 47.0, "longitude": 8.0, "feature_code": "PCLI"}
    ],
    "kraków": [{"name": "Kraków", "latitude": 50.06, "longitude": 19.94, "feature_code": "PPLA"}],
}


class OpenMeteo:
    """Answers `/v1/forecast` and `/v1/search`; by default it is dry, 8 to 14 degrees, and the same each day."""

    def __init__(self, now: datetime | None = None, zone: str = "Europe/Paris") -> None:
        self.now = now
        self.zone = zone
        self.days: dict[int, dict[str, Any]] = {}
        self.hours: dict[int, dict[str, Any]] = {}
        """By the hour from today's midnight on."""
        self.current: dict[str, Any] = {
            "temperature_2m": 9.4,
            "apparent_temperature": 5.2,
            "relative_humidity_2m": 71,
            "weather_code": 3,
            "wind_speed_10m": 12.0,
        }
        self.change: dict[str, Any] = {}
        """What takes the place of parts of the reply."""
        self.status = 200
        self.reply: Any = None
        self.hang = False
        self.asked: list[web.Request] = []

    @property
    def forecasts(self) -> list[dict[str, str]]:
        """What forecasts were asked for."""
        return [dict(each.query) for each in self.asked if each.path == "/v1/forecast"]

    @property
    def names(self) -> list[str]:
        """What places were asked for."""
        return [each.query["name"] for each in self.asked if each.path == "/v1/search"]

    def rain(self, day: int, chance: int, code: int = 63) -> None:
        """Have it rain on a day, all day long."""
        self.days.setdefault(day, {}).update(
            precipitation_probability_max=chance, weather_code=code
        )
        for hour in range(day * 24, day * 24 + 24):
            self.hours.setdefault(hour, {}).update(
                precipitation_probability=chance, weather_code=code
            )

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        if self.hang:
            await asyncio.Event().wait()
        if self.reply is not None or self.status != 200:
            return web.json_response(self.reply, status=self.status)
        if request.path == "/v1/search":
            found = PLACES.get(request.query["name"].casefold())
            # Where there is no such place, there is no list.
            return web.json_response(
                {"generationtime_ms": 0.5} | ({"results": found} if found else {})
            )
        assert request.query["timeformat"] == "unixtime"
        return web.json_response(self.weather(request.query) | self.change)

    def weather(self, query: Any) -> dict[str, Any]:
        """Return a whole reply; all times by the offset that is valid now, as Open-Meteo has it."""
        zone = ZoneInfo(self.zone if query["timezone"] == "auto" else query["timezone"])
        now = (self.now or datetime.now(UTC)).astimezone(zone)
        offset = now.utcoffset()
        assert offset is not None
        midnight = int(
            (
                now.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=UTC) - offset
            ).timestamp()
        )
        count = int(query["forecast_days"])
        days = [
            {
                "time": midnight + day * 86_400,
                "weather_code": 2,
                "temperature_2m_max": 14.2,
                "temperature_2m_min": 7.8,
                "precipitation_probability_max": 5,
                "precipitation_sum": 0.0,
                "wind_speed_10m_max": 11.0,
                "uv_index_max": 3.4,
                "sunrise": midnight + day * 86_400 + 7 * 3600,
                "sunset": midnight + day * 86_400 + 18 * 3600,
            }
            | self.days.get(day, {})
            for day in range(count)
        ]
        hours = [
            {
                "time": midnight + hour * 3600,
                "temperature_2m": 8.0 + min(hour % 24, 6),
                "precipitation_probability": 5,
                "precipitation": 0.0,
                "weather_code": 2,
                "wind_speed_10m": 11.0,
            }
            | self.hours.get(hour, {})
            for hour in range(count * 24)
        ]
        return {
            "latitude": float(query["latitude"]),
            "longitude": float(query["longitude"]),
            "generationtime_ms": 0.1,
            "utc_offset_seconds": int(offset / timedelta(seconds=1)),
            "timezone": zone.key,
            "timezone_abbreviation": "CET",
            "current": {"time": int(now.timestamp()), "interval": 900} | self.current,
            "daily": _columns(days),
            "hourly": _columns(hours),
        }


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {key: [row[key] for row in rows] for key in rows[0]}
