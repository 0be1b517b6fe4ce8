"""The weather, told from replies in the shape that Open-Meteo documents: the service itself can't be had here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, timedelta
import json
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import given, strategies as st
import pytest

from backend.languages import SPOKEN, load
from backend.sources.http import UpstreamError
from backend.sources.open_meteo import read
from backend.text.days import asked_days
from backend.text.places import base_forms, named_place
from tests.backend.test_live_sources import Client, ask, house

TUESDAY = date(2026, 12, 1)
PLACES = {"lyon": ("Lyon", 45.75, 4.85), "null island": ("Null Island", 0.0, 0.0)}


class Meteo:
    """Serves a forecast from Tuesday, 1 December 2026 on; a test changes what it holds."""

    def __init__(self) -> None:
        self.asked: list[web.Request] = []
        self.status = 200
        self.hang = False
        days = [TUESDAY + timedelta(days=number) for number in range(10)]
        self.reply: dict[str, Any] = {
            "current": {
                "temperature_2m": 7.4,
                "apparent_temperature": 2.9,
                "weather_code": 3,
                "wind_speed_10m": 11,
            },
            "hourly": {
                "time": [f"{day}T{hour:02}:00" for day in days for hour in range(24)],
                "temperature_2m": [float(hour) for _ in days for hour in range(24)],
                "precipitation_probability": [0] * 240,
                "weather_code": [0] * 240,
                "wind_speed_10m": [5] * 240,
            },
            "daily": {
                "time": [day.isoformat() for day in days],
                "weather_code": [3, 63, 0, 0, 73, 0, 95, 0, 0, 0],
                "temperature_2m_max": [8.2, 11.6, 9, 9, 1, 5, 5, 5, 5, 5],
                "temperature_2m_min": [3.4, 6.5, 2, 2, -4, 0, 0, 0, 0, 0],
                "precipitation_probability_max": [10, 70, 0, 5, 40, 0, 90, 0, 0, 0],
                "precipitation_sum": [0, 6.2, 0, 0, 3, 0, 9, 0, 0, 0],
                "wind_speed_10m_max": [12, 15, 40, 8, 8, 8, 8, 8, 8, 8],
                "sunrise": [f"{day}T08:03" for day in days],
                "sunset": [f"{day}T16:58" for day in days],
            },
        }

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        if self.hang:
            await asyncio.Event().wait()
        if self.status != 200:
            return web.json_response({"error": True, "reason": "no"}, status=self.status)
        if request.path == "/v1/search":
            known = PLACES.get(request.query["name"].casefold())
            if known is None:
                return web.json_response({"generationtime_ms": 0.1})
            name, latitude, longitude = known
            row = {"name": name, "latitude": latitude, "longitude": longitude}
            return web.json_response({"results": [row]})
        return web.json_response(self.reply)

    @property
    def forecasts(self) -> list[web.Request]:
        return [request for request in self.asked if request.path == "/v1/forecast"]


@pytest.fixture
def meteo() -> Meteo:
    return Meteo()


@asynccontextmanager
async def served(meteo: Meteo, tmp_path: Path, **settings: Any) -> AsyncIterator[Client]:
    app = web.Application()
    app.router.add_get("/{path:.*}", meteo.handle)
    async with TestServer(app) as server:
        url = str(server.make_url("")).rstrip("/")
        async with house(tmp_path, forecast_url=url, geocoding_url=url, **settings) as client:
            yield client


@pytest.fixture
async def client(meteo: Meteo, tmp_path: Path) -> AsyncIterator[TestClient[Any, Any]]:
    async with served(meteo, tmp_path, forecast_latitude=0.0, forecast_longitude=0.0) as client:
        yield client


@pytest.mark.parametrize(
    ("query", "heard"),
    [
        ("what's the weather tomorrow", "Tomorrow: rain, 6 to 12 degrees Celsius"),
        ("will it rain tomorrow", "Yes. Tomorrow: rain"),
        ("will it rain today", "No. Today: overcast"),
        ("will it stay dry tomorrow", "No. Tomorrow: rain"),
        ("do i need an umbrella", "Yes. Tomorrow: rain"),
        ("will it snow on saturday", "Yes. Saturday: snow"),
        (
            "is it going to be windy the day after tomorrow",
            "Yes. The day after tomorrow: clear, 2 to 9 degrees Celsius, wind up to 40",
        ),
        ("how cold is it outside", "Now: overcast, 7 degrees Celsius, feels like 3"),
        ("how warm will it be tomorrow morning", "Tomorrow in the morning: clear, 6 to 11"),
        ("will it rain in lyon tomorrow", "Yes. Lyon, tomorrow: rain"),
        ("what's the weather in atlantis", "I don't know a place called atlantis."),
        ("what's the weather in 40 days", "I know the forecast for the next 10 days only."),
        ("when is sunset today", "Today: sunset at"),
    ],
)
async def test_what_was_asked_is_said_first_in_the_shape_open_meteo_documents(
    query: str, heard: str, client: Client
) -> None:
    reply = await ask(client, query, source="forecast")
    assert reply["speech"].startswith(heard)


async def test_a_place_that_is_named_is_the_one_asked_for_never_the_houses(
    client: Client, meteo: Meteo
) -> None:
    await ask(client, "will it rain in lyon tomorrow")
    (request,) = meteo.forecasts
    assert (request.query["latitude"], request.query["longitude"]) == ("45.7500", "4.8500")
    assert request.query["timezone"] == "auto"
    meteo.asked.clear()
    await ask(client, "what's the weather in atlantis")
    assert meteo.forecasts == []


async def test_zero_is_a_place_and_the_place_of_a_request_goes_before_the_houses(
    client: Client, meteo: Meteo
) -> None:
    await ask(client, "will it rain tomorrow")
    assert meteo.forecasts[0].query["longitude"] == "0.0000"
    place = {"name": "Cabin", "latitude": 60.5, "longitude": 0}
    await ask(client, "will it rain tomorrow", place=place)
    assert meteo.forecasts[1].query["latitude"] == "60.5000"


async def test_units_are_the_houses(client: Client, meteo: Meteo) -> None:
    reply = await ask(client, "how warm will it be tomorrow", units="us")
    assert meteo.forecasts[0].query["temperature_unit"] == "fahrenheit"
    assert "degrees Fahrenheit" in reply["speech"]


async def test_without_a_place_nothing_is_sent_and_the_setting_is_named(tmp_path: Path) -> None:
    async with house(tmp_path) as client:
        reply = await ask(client, "will it rain tomorrow")
        assert reply["error"] == "not_configured: FORECAST_LATITUDE"
        assert "FORECAST_LATITUDE" in reply["speech"]


async def test_a_request_that_brings_a_place_switches_it_on(meteo: Meteo, tmp_path: Path) -> None:
    async with served(meteo, tmp_path) as client:
        place = {"name": "Cabin", "latitude": 60.5, "longitude": 5.3}
        assert (await ask(client, "will it rain tomorrow", place=place))["success"]
        assert (await ask(client, "will it rain in lyon tomorrow"))["success"]
        reply = await ask(client, "will it rain tomorrow")
        assert reply["error"] == "not_configured: FORECAST_LATITUDE"


@pytest.mark.parametrize("status", [400, 429, 500])
async def test_a_server_that_refuses_is_said_to_be_away(
    status: int, client: Client, meteo: Meteo
) -> None:
    meteo.status = status
    reply = await ask(client, "will it rain tomorrow")
    assert not reply["success"]
    assert reply["speech"] == "I can't reach the source for that right now."
    meteo.status = 200
    assert (await ask(client, "will it rain tomorrow"))["success"]


async def test_a_server_that_hangs_ends_at_the_deadline(meteo: Meteo, tmp_path: Path) -> None:
    meteo.hang = True
    async with served(
        meteo,
        tmp_path,
        forecast_latitude=1.0,
        forecast_longitude=1.0,
        request_timeout_seconds=1.0,
    ) as client:
        reply = await ask(client, "will it rain tomorrow")
        assert (reply["success"], reply["error"]) == (False, "timeout")


async def test_sixteen_identical_cold_questions_are_one_call(client: Client, meteo: Meteo) -> None:
    await asyncio.gather(*(ask(client, "will it rain in lyon tomorrow") for _ in range(16)))
    assert len(meteo.asked) == 2  # where it is, and what comes


@pytest.mark.parametrize(
    ("keys", "heard"),
    [
        (["weather_code"], "Yes. Tomorrow: 6 to 12"),
        (["temperature_2m_max"], "Yes. Tomorrow: rain, 6 degrees"),
        (["precipitation_probability_max"], "Yes. Tomorrow: rain, 6 to 12 degrees Celsius."),
        (["wind_speed_10m_max", "sunrise"], "Yes. Tomorrow: rain"),
    ],
)
async def test_what_is_missing_is_not_said_and_what_is_there_is(
    keys: list[str], heard: str, client: Client, meteo: Meteo
) -> None:
    for key in keys:
        meteo.reply["daily"][key] = [None]
    reply = await ask(client, "will it rain tomorrow")
    assert reply["speech"].startswith(heard)


async def test_a_condition_on_the_weather_is_decided(client: Client, meteo: Meteo) -> None:
    asked = "if it rains tomorrow tell me the weather on saturday"
    reply = await ask(client, asked, explain=True)
    told = next(row for row in reply["explanation"] if row["event"] == "condition")
    assert told["verdict"] == "true"
    assert "Saturday: snow" in reply["speech"]
    meteo.reply["daily"]["precipitation_probability_max"][1] = 0
    await client.post("/cache/clear")
    reply = await ask(client, asked)
    assert reply["speech"].startswith("No. Tomorrow")
    assert "Saturday" not in reply["speech"]


async def test_follow_ups_keep_the_place_or_the_day(client: Client, meteo: Meteo) -> None:
    history = [
        {"role": "user", "text": "will it rain in lyon today"},
        {"role": "assistant", "text": "No."},
    ]
    reply = await ask(client, "and tomorrow", history=history)
    assert reply["speech"].startswith("Yes. Lyon, tomorrow: rain")


@pytest.mark.parametrize("language", SPOKEN)
async def test_every_language_tells_every_condition(
    language: str, client: Client, meteo: Meteo
) -> None:
    words = load(language).table("forecast")
    english = load("en").table("forecast")
    assert words["said"].keys() == english["said"].keys()
    assert words["conditions"].keys() == english["conditions"].keys()
    assert words["ask"].keys() == english["ask"].keys()
    assert len(words["weekdays"]) == len(words["days"]["weekdays"]) == 7
    reply = await ask(client, words["days"]["today"], source="forecast", language=language)
    assert reply["success"]
    assert reply["speech"].lower().startswith(words["said"]["today"])


DAYS = [
    ("en", "will it rain in the morning", 0, 0, "morning"),
    ("en", "weather the day after tomorrow", 2, 2, None),
    ("en", "how will the weekend be", 4, 5, None),
    ("en", "what about in three days", 3, 3, None),
    ("en", "will it rain on tuesday", 0, 0, None),
    ("en", "will it rain next tuesday", 7, 7, None),
    ("en", "weather next week", 6, 12, None),
    ("de", "regnet es heute morgen", 0, 0, "morning"),
    ("de", "regnet es morgen abend", 1, 1, "evening"),
    ("de", "wie wird es übermorgen", 2, 2, None),
    ("fr", "va-t-il pleuvoir après-demain", 2, 2, None),
    ("fr", "quel temps cette nuit", 0, 0, "night"),
    ("es", "qué tiempo hará mañana por la mañana", 1, 1, "morning"),
    ("es", "va a llover pasado mañana", 2, 2, None),
    ("it", "pioverà stasera", 0, 0, "evening"),
    ("nl", "regent het vanavond", 0, 0, "evening"),
    ("pl", "czy będzie padać w sobotę", 4, 4, None),
]


@pytest.mark.parametrize(("language", "query", "first", "last", "part"), DAYS)
def test_words_name_days(
    language: str, query: str, first: int, last: int, part: str | None
) -> None:
    days = asked_days(query, language, TUESDAY)
    assert (days.first, days.last, days.part) == (first, last, part)


@pytest.mark.parametrize(
    ("language", "query", "place"),
    [
        ("en", "will it rain in new york tomorrow", "new york"),
        ("en", "weather in St. Louis this weekend", "St. Louis"),
        ("en", "weather in paris in celsius", "paris"),
        ("en", "how cold is it in the garden", None),
        ("en", "will it rain in the morning", None),
        ("en", "will it rain in two days", None),
        ("de", "wie wird das wetter in bad homburg", "bad homburg"),
        ("de", "wie wird das wetter in der nacht", None),
        ("fr", "va-t-il pleuvoir à Aix-en-Provence ce soir", "Aix-en-Provence"),
        ("es", "va a llover en madrid el viernes", "madrid"),
        ("it", "pioverà a reggio emilia nel fine settimana", "reggio emilia"),
        ("nl", "wat voor weer wordt het in den haag", "den haag"),
        ("pl", "czy będzie padać w krakowie jutro", "krakowie"),
        ("pl", "czy będzie padać w weekend", None),
    ],
)
def test_words_name_a_place_or_none(language: str, query: str, place: str | None) -> None:
    assert named_place(query, language) == place


def test_names_that_are_declined_are_looked_up_in_their_base_form() -> None:
    assert "kraków" in base_forms("krakowie", "pl")
    assert "warszawa" in base_forms("warszawie", "pl")
    assert base_forms("lyon", "fr") == ("lyon",)


@given(st.text(max_size=120), st.sampled_from([*SPOKEN, "xx"]))
def test_any_words_have_days_and_a_place_out_of_them(query: str, language: str) -> None:
    days = asked_days(query, language, TUESDAY)
    assert 0 <= days.first <= days.last
    named_place(query, language)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["daily", "hourly", "current", "time", "weather_code", "sunrise"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_reply_is_read_or_refused(reply: Any) -> None:
    try:
        read(json.loads(json.dumps(reply)), "http://meteo.example/v1/forecast")
    except UpstreamError as error:
        refused = error.failed.kind
    else:
        refused = "bad_reply"
    assert refused == "bad_reply"
