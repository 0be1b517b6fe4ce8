"""The weather from the door: over HTTP, by the rules alone, from a server in the shape that Open-Meteo documents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given, strategies as st
import pytest

from backend.languages import SPOKEN, table
from backend.text.days import named_days
from backend.text.places import named_place
from tests.backend.sources.open_meteo import OpenMeteo
from tests.backend.test_live_sources import Client, ask, house


@pytest.fixture
def sky() -> OpenMeteo:
    return OpenMeteo()


@asynccontextmanager
async def served(sky: OpenMeteo, tmp_path: Path, **settings: Any) -> AsyncIterator[Client]:
    app = web.Application()
    app.router.add_get("/{path:.*}", sky.handle)
    async with TestServer(app) as server:
        url = str(server.make_url("")).rstrip("/")
        async with house(tmp_path, forecast_url=url, geocoding_url=url, **settings) as client:
            yield client


@pytest.fixture
async def client(sky: OpenMeteo, tmp_path: Path) -> AsyncIterator[Client]:
    async with served(sky, tmp_path, forecast_latitude=45.9, forecast_longitude=0.0) as client:
        yield client


async def test_the_weather_is_told_of_the_place_that_is_named(
    client: Client, sky: OpenMeteo
) -> None:
    sky.rain(1, 80)
    reply = await ask(client, "will it rain in lyon tomorrow")
    assert reply["source_used"] == "forecast"
    assert reply["speech"].startswith("Yes, rain is likely tomorrow in Lyon")
    reply = await ask(client, "what's the weather in atlantis")
    assert reply["speech"] == "I don't know a place called atlantis."


@pytest.mark.parametrize(("rains", "verdict"), [(True, "true"), (False, "false")])
async def test_a_condition_on_the_weather_is_decided_by_it(
    rains: bool, verdict: str, client: Client, sky: OpenMeteo
) -> None:
    if rains:
        sky.rain(1, 80)
    reply = await ask(client, "if it rains tomorrow tell me the weather in lyon", explain=True)
    told = next(row for row in reply["explanation"] if row["event"] == "condition")
    assert told["verdict"] == verdict
    assert reply["success"]
    assert ("Lyon" in reply["speech"]) == rains


async def test_a_follow_up_keeps_the_place_and_changes_the_day(
    client: Client, sky: OpenMeteo
) -> None:
    sky.rain(1, 80)
    history = [
        {"role": "user", "text": "will it rain in lyon today"},
        {"role": "assistant", "text": "No."},
    ]
    reply = await ask(client, "and tomorrow", history=history)
    assert reply["speech"].startswith("Yes, rain is likely tomorrow in Lyon")


async def test_two_things_are_asked_of_it_and_of_another_source(
    client: Client, sky: OpenMeteo
) -> None:
    reply = await ask(client, "will it rain tomorrow and what is the boiler pressure")
    assert reply["source_used"] == "fusion"
    assert "no rain is expected tomorrow" in reply["speech"]
    assert "1.5 bar" in reply["speech"]


async def test_without_a_place_nothing_is_sent_and_the_setting_is_named(tmp_path: Path) -> None:
    async with house(tmp_path) as client:
        reply = await ask(client, "will it rain tomorrow")
        assert reply["error"] == "not_configured: FORECAST_LATITUDE"
        assert "FORECAST_LATITUDE" in reply["speech"]


async def test_a_place_that_comes_with_the_request_switches_it_on(
    sky: OpenMeteo, tmp_path: Path
) -> None:
    async with served(sky, tmp_path) as client:
        place = {"name": "Cabin", "latitude": 60.5, "longitude": 0}
        assert (await ask(client, "will it rain tomorrow", place=place))["success"]
        reply = await ask(client, "will it rain tomorrow")
        assert reply["error"] == "not_configured: FORECAST_LATITUDE"


async def test_a_server_that_refuses_or_hangs_is_told_and_no_failure_is_kept(
    sky: OpenMeteo, tmp_path: Path
) -> None:
    async with served(
        sky,
        tmp_path,
        forecast_latitude=1.0,
        forecast_longitude=1.0,
        request_timeout_seconds=1.5,
    ) as client:
        sky.status = 500
        assert (await ask(client, "will it rain tomorrow"))["error"] == "bad_reply"
        sky.status, sky.hang = 200, True
        assert (await ask(client, "will it rain tomorrow"))["error"] == "timeout"
        sky.hang = False
        assert (await ask(client, "will it rain tomorrow"))["success"]


async def test_sixteen_identical_cold_questions_are_one_look(
    client: Client, sky: OpenMeteo
) -> None:
    replies = await asyncio.gather(
        *(ask(client, "will it rain in lyon tomorrow") for _ in range(16))
    )
    assert len({reply["speech"] for reply in replies}) == 1
    paths = [request.path for request in sky.asked]
    assert paths.count("/v1/forecast") == 1


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("en", "what was the weather last monday"),
        ("en", "weather two days ago"),
        ("en", "was it sunny on monday"),
        ("en", "did it rain this morning"),
        ("en", "how hot was it in lyon in 2003"),
        ("de", "wie war das wetter letzten montag"),
        ("de", "hat es am montag geregnet"),
        ("fr", "quel temps faisait-il lundi"),
        ("fr", "est-ce qu'il a plu lundi dernier"),
        ("es", "que tiempo hizo el lunes pasado"),
        ("es", "llovio el lunes"),
        ("it", "che tempo faceva lunedi scorso"),
        ("it", "ha piovuto tre giorni fa"),
        ("nl", "wat was het weer vorige maandag"),
        ("nl", "heeft het maandag geregend"),
        ("pl", "czy padalo w zeszly poniedzialek"),
        ("pl", "jaka byla pogoda tydzien temu"),
    ],
)
async def test_the_weather_of_a_time_before_today_is_never_that_of_days_ahead(
    language: str, query: str, client: Client, sky: OpenMeteo
) -> None:
    reply = await ask(client, query, language=language, source="forecast")
    assert reply["speech"] == table(language, "forecast")["past"]
    assert sky.asked == []


async def test_a_day_that_no_calendar_has_or_no_forecast_reaches_is_not_today(
    client: Client,
) -> None:
    for day in ("on the 31st of february", "in a month", "in two months"):
        reply = await ask(client, f"will it rain {day}", source="forecast")
        assert reply["speech"] == "The forecast only reaches 14 days ahead."


@pytest.mark.parametrize(
    ("language", "query", "said"),
    [
        ("en", "will it stay dry tomorrow", "No, rain is likely"),
        ("de", "bleibt es morgen trocken", "Nein, morgen regnet"),
        ("fr", "va-t-il faire sec demain", "Non, il va probablement pleuvoir"),
        ("es", "va a estar seco manana", "No, es probable que llueva"),
        ("it", "sara asciutto domani", "No, è probabile che piova"),
        ("nl", "blijft het morgen droog", "Nee, morgen gaat het waarschijnlijk regenen"),
        ("pl", "czy jutro bedzie sucho", "Nie, jutro prawdopodobnie będzie padać"),
    ],
)
async def test_who_asks_for_dry_weather_hears_no_where_it_rains(
    language: str, query: str, said: str, client: Client, sky: OpenMeteo
) -> None:
    sky.rain(1, 80)
    reply = await ask(client, query, language=language, source="forecast")
    assert reply["speech"].startswith(said)


@pytest.mark.parametrize(("chance", "verdict"), [(80, "false"), (5, "true")])
async def test_a_condition_on_dry_weather_holds_where_no_rain_is_expected(
    chance: int, verdict: str, client: Client, sky: OpenMeteo
) -> None:
    sky.rain(1, chance, code=63 if chance > 50 else 2)
    reply = await ask(client, "if it's dry tomorrow tell me the weather in lyon", explain=True)
    told = next(row for row in reply["explanation"] if row["event"] == "condition")
    assert told["verdict"] == verdict


async def test_rain_that_is_only_told_of_whole_days_or_only_possible_is_no_all_clear(
    client: Client, sky: OpenMeteo
) -> None:
    sky.hours = {
        hour: {"precipitation_probability": None, "precipitation": None, "weather_code": None}
        for hour in range(48, 24 * 14)
    }
    sky.days[5] = {"precipitation_probability_max": 40, "weather_code": 61}
    reply = await ask(client, "when will it rain in lyon")
    assert "rain is possible" in reply["speech"].casefold()
    assert "40 percent" in reply["speech"]


async def test_no_rain_is_said_of_no_more_hours_than_are_told_of(
    client: Client, sky: OpenMeteo
) -> None:
    unknown = {"precipitation_probability": None, "precipitation": None, "weather_code": None}
    sky.hours = {hour: {**unknown, "temperature_2m": None} for hour in range(48, 24 * 14)}
    reply = await ask(client, "will it rain in the next 100 hours")
    assert "next 100 hours" not in reply["speech"]
    assert "no rain is expected in the next" in reply["speech"]


@given(st.text(max_size=120), st.sampled_from([*SPOKEN, "xx"]))
def test_any_words_name_days_and_a_place_that_stand_in_them(query: str, language: str) -> None:
    named_days(query, language, datetime.now(UTC).date())
    place = named_place(query, language)
    assert place is None or place in query
