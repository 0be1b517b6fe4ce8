"""The weather of the days ahead, told by a server in the shape that Open-Meteo documents: it can't be had here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
import time
from typing import Any
from zoneinfo import ZoneInfo

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

from backend.languages import SPOKEN
from backend.sources.forecast import Forecast
from backend.sources.http import open_session
from backend.sources.outlook import Limits
from backend.text.since import Hours
from backend.types import Failed, Found, NotConfigured, Outcome, Place, Question, Step

from .open_meteo import OpenMeteo

PARIS = ZoneInfo("Europe/Paris")
TUESDAY = datetime(2026, 12, 1, 10, 20, tzinfo=PARIS)
HOME = Place("Annecy", 45.899, 6.129)


@asynccontextmanager
async def opened(
    sky: OpenMeteo, home: Place | None = HOME, **changes: Any
) -> AsyncIterator[Forecast]:
    app = web.Application()
    app.router.add_get("/{path:.*}", sky.handle)
    async with TestServer(app) as server, open_session() as session:
        url = str(server.make_url("")).rstrip("/")
        made: dict[str, Any] = {
            "home": home,
            "zone": None,
            "url": url,
            "geocoding": url,
            "limits": Limits(20, 15),
            "hours": Hours(),
            "ttl": 1800,
        }
        yield Forecast(session, **made | changes)


@pytest.fixture
def sky() -> OpenMeteo:
    return OpenMeteo(TUESDAY)


async def outcome(
    source: Forecast,
    text: str,
    language: str = "en",
    *,
    now: datetime = TUESDAY,
    seconds: float = 20.0,
    step_place: Place | None = None,
    **fields: Any,
) -> Outcome:
    begun = time.monotonic()
    question = Question(text, language, now, begun, begun + seconds, **fields)
    return await source.ask(Step("forecast", text, step_place), question)


async def told(source: Forecast, text: str, language: str = "en", **fields: Any) -> str:
    found = await outcome(source, text, language, **fields)
    assert isinstance(found, Found), found
    assert all(passage.direct and passage.language == language for passage in found.passages)
    return " ".join(passage.text for passage in found.passages)


async def test_without_a_day_three_days_are_told_in_the_shape_open_meteo_documents(
    sky: OpenMeteo,
) -> None:
    sky.rain(1, 80)
    sky.days[1] |= {"precipitation_sum": 14.0, "wind_speed_10m_max": 42.0}
    async with opened(sky) as source:
        assert await told(source, "what's the weather") == (
            "Today: partly cloudy, 8 to 14°. Tomorrow: rain, 8 to 14°, chance of rain 80 %, 14 mm of rain,"
            " wind up to 42 km/h. On Thursday: partly cloudy, 8 to 14°."
        )
        assert "46 to 58°" in await told(source, "weather tomorrow", units="us")
        assert "0.6 inches of rain, wind up to 26 mph" in await told(
            source, "weather tomorrow", units="us"
        )
    # Where the house stands is sent no finer than to a kilometre, and once for all four.
    (asked,) = sky.forecasts
    assert (asked["latitude"], asked["longitude"], asked["timezone"]) == ("45.9", "6.13", "auto")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("will it rain tomorrow", "Yes, rain is likely tomorrow, the chance is 80 %."),
        ("do i need an umbrella on thursday", "Rain is possible on Thursday, the chance is 40 %."),
        ("will it rain today", "No, no rain is expected today, the chance is 5 %."),
        (
            "will it rain this afternoon",
            "No, no rain is expected this afternoon, the chance is 5 %.",
        ),
        ("will it rain tonight", "Yes, rain is likely tonight, the chance is 80 %."),
        ("will it snow this weekend", "Yes, snow is likely on Saturday, the chance is 70 %."),
        ("is it raining", "No, it isn't raining right now."),
        (
            "when will it rain",
            "Rain is next expected tomorrow around 12:00\u202fAM, the chance is 80 %.",
        ),
        (
            "will it rain in the next 3 hours",
            "No, no rain is expected in the next 3 hours, the chance is 5 %.",
        ),
        ("how cold will it be tonight", "It will get down to 8° tonight."),
        ("how hot will it get tomorrow", "It will get up to 14° tomorrow."),
        ("what's the temperature outside", "It is 9° right now, overcast, feels like 5°."),
        ("is it windy tomorrow", "Yes, it will be windy tomorrow, up to 42 km/h."),
        ("is it windy today", "No, there won't be much wind today, up to 11 km/h."),
        ("when does the sun rise tomorrow", "The sun rises tomorrow at 7:00\u202fAM."),
        ("how humid is it outside", "The humidity is 71 % right now."),
        ("weather on saturday morning", "On Saturday morning: snow, 14°, chance of snow 70 %."),
        ("weather in 10 days", "On Friday, December 11: partly cloudy, 8 to 14°."),
        ("weather in three weeks", "The forecast only reaches 14 days ahead."),
        ("what was the weather yesterday", "I only know the weather from today on."),
    ],
)
async def test_what_was_asked_is_answered_first_in_the_shape_open_meteo_documents(
    query: str, said: str, sky: OpenMeteo
) -> None:
    sky.rain(1, 80)
    sky.days[1]["wind_speed_10m_max"] = 42.0
    sky.rain(2, 40, 61)
    sky.rain(4, 70, 73)
    async with opened(sky) as source:
        assert await told(source, query) == said


async def test_what_a_condition_asks_has_a_verdict(sky: OpenMeteo) -> None:
    sky.rain(1, 80)
    async with opened(sky) as source:
        for query, verdict in (
            ("it rains tomorrow", True),
            ("it rains on friday", False),
            ("it is windy tomorrow", False),
            ("the weather tomorrow", None),
        ):
            found = await outcome(source, query)
            assert isinstance(found, Found)
            assert found.verdict is verdict, query


async def test_a_named_place_is_looked_up_and_told_by_its_name(sky: OpenMeteo) -> None:
    sky.rain(1, 80)
    async with opened(sky) as source:
        for _ in range(2):
            assert await told(source, "will it rain in lyon tomorrow") == (
                "Yes, rain is likely tomorrow in Lyon, the chance is 80 %."
            )
        assert (await told(source, "weather in switzerland today")).startswith(
            "Switzerland: Today:"
        )
        assert (await told(source, "portland oregon weather today")).startswith(
            "Today in Portland, Oregon:"
        )
        assert (await told(source, "weather in portland maine today")).startswith(
            "Today in Portland, Maine:"
        )
        assert (await told(source, "pogoda w krakowie jutro", "pl")).startswith("Kraków: Jutro:")
    assert sky.names.count("lyon") == 1
    assert sky.forecasts[0]["latitude"] == "45.75"
    assert {each["latitude"] for each in sky.forecasts} == {
        "45.75",
        "47",
        "45.52",
        "43.66",
        "50.06",
    }


@pytest.mark.parametrize("language", SPOKEN)
async def test_a_place_that_nobody_knows_is_said_to_be_unknown_and_home_is_not_told(
    language: str, sky: OpenMeteo
) -> None:
    before = {"en": "in", "de": "in", "fr": "à", "es": "en", "it": "a", "nl": "in", "pl": "w"}
    weather = {
        "en": "weather",
        "de": "wetter",
        "fr": "météo",
        "es": "tiempo",
        "it": "meteo",
        "nl": "weer",
    }
    async with opened(sky) as source:
        query = f"{weather.get(language, 'pogoda')} {before[language]} xyzzy"
        found = await outcome(source, query, language)
        assert isinstance(found, Found)
        (passage,) = found.passages
        assert "xyzzy" in passage.text
        # That it isn't known is not kept.
        assert found.fresh_until <= datetime.now(UTC)
    assert not sky.forecasts


async def test_places_come_in_their_order_and_nought_is_a_value(sky: OpenMeteo) -> None:
    there = Place("Quito", 0.0, -78.5)
    async with opened(sky) as source:
        assert (await told(source, "weather today", place=there)).startswith("Today: ")
        assert (await told(source, "weather today", step_place=there)).startswith(
            "Today in Quito: "
        )
        await told(source, "weather in null island today")
        await told(source, "weather in annecy today")
    assert [(each["latitude"], each["longitude"]) for each in sky.forecasts] == [
        ("0", "-78.5"),
        ("0", "0"),
        ("45.9", "6.13"),
    ]
    assert sky.names == ["null island", "null"]
    nowhere = OpenMeteo(TUESDAY)
    async with opened(nowhere, home=Place("", 0.0, 0.0)) as source:
        assert source.state().configured
        await told(source, "weather today")


async def test_nothing_is_sent_before_a_place_is_named_by_the_owner_or_the_request(
    sky: OpenMeteo,
) -> None:
    async with opened(sky, home=None, url=None) as source:
        for query in ("will it rain", "will it rain in lyon"):
            assert await outcome(source, query) == NotConfigured("FORECAST_LATITUDE")
        assert not source.state().configured
        assert source.state().setting == "FORECAST_LATITUDE"
    async with opened(sky, home=None) as source:
        assert await outcome(source, "will it rain") == NotConfigured("FORECAST_LATITUDE")
        assert not sky.asked
        assert "Lyon" in await told(source, "will it rain in lyon")


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ({"error": True, "reason": "Latitude must be in range of -90 to 90°."}, 400),
        ({"error": True, "reason": "Daily API request limit exceeded."}, 200),
        ([], 200),
        ({}, 200),
        ({"daily": [], "hourly": "none", "current": None}, 200),
        ({"daily": {"time": [None, "x", 1e300]}, "hourly": {"time": 7}, "current": {}}, 200),
    ],
)
async def test_what_is_no_forecast_is_a_bad_reply(reply: Any, status: int, sky: OpenMeteo) -> None:
    sky.reply, sky.status = reply, status
    async with opened(sky) as source:
        failed = await outcome(source, "will it rain")
        assert isinstance(failed, Failed)
        assert failed.kind == "bad_reply"
        assert source.state().detail


async def test_of_a_reply_that_lacks_parts_is_told_what_is_there(sky: OpenMeteo) -> None:
    async with opened(sky) as source:
        day = int(TUESDAY.replace(hour=0, minute=0).timestamp())
        sky.change = {
            "current": None,
            "hourly": {"time": [day, None], "temperature_2m": []},
            "daily": {
                "time": [day, day + 86_400, day + 2 * 86_400],
                "temperature_2m_max": [3.0, None],
                "temperature_2m_min": [None, -2.4],
                "weather_code": [None, 1234],
                "precipitation_probability_max": "none",
            },
        }
        assert await told(source, "weather today") == "Today: up to 3°."
        assert await told(source, "weather tomorrow") == "Tomorrow: down to -2°."
        assert await told(source, "weather on thursday") == "There is no forecast on Thursday."
        assert await told(source, "weather") == "Today: up to 3°. Tomorrow: down to -2°."
        assert await told(source, "will it rain today") == "Today: up to 3°."
        assert await told(source, "when does the sun set") == "There is no forecast today."


async def test_a_day_is_the_places_own_also_where_the_clocks_change() -> None:
    # The clocks go back on the 25th of October 2026: behind it all days begin an hour early by today's offset.
    saturday = datetime(2026, 10, 24, 12, 0, tzinfo=PARIS)
    sky = OpenMeteo(saturday)
    sky.rain(2, 90)
    async with opened(sky) as source:
        assert await told(source, "will it rain on monday", now=saturday) == (
            "Yes, rain is likely on Monday, the chance is 90 %."
        )
        assert (await told(source, "will it rain tomorrow", now=saturday)).startswith("No, ")
        for day, clock in (("today", "7:00"), ("sunday", "6:00"), ("monday", "6:00")):
            assert clock in await told(source, f"when is sunrise {day}", now=saturday)
        # Monday's first hour is the 49th from now on: a day has 25 of them.
        sky.days.clear()
        sky.hours = {49: {"precipitation_probability": 90, "weather_code": 63}}
        await source.close()
        assert "Monday" in await told(source, "when will it rain", now=saturday)


async def test_tomorrow_is_reckoned_where_the_place_is(sky: OpenMeteo) -> None:
    sky.zone = "Pacific/Kiritimati"
    # It is Wednesday there by now.
    sky.rain(1, 80)
    async with opened(sky) as source:
        late = datetime(2026, 12, 1, 11, 0, tzinfo=UTC)
        sky.now = late
        assert await told(source, "will it rain on thursday", now=late) == (
            "Yes, rain is likely tomorrow, the chance is 80 %."
        )
        zoned = await outcome(source, "will it rain tomorrow", now=late)
        assert isinstance(zoned, Found)
        # What is "tomorrow" holds until midnight there.
        assert (zoned.fresh_until - datetime.now(UTC)).total_seconds() <= 1800


async def test_the_zone_that_is_set_is_homes(sky: OpenMeteo) -> None:
    async with opened(sky, zone="America/New_York") as source:
        await told(source, "weather")
        await told(source, "weather in lyon")
    assert [each["timezone"] for each in sky.forecasts] == ["America/New_York", "auto"]


async def test_one_who_hangs_ends_at_the_deadline(sky: OpenMeteo) -> None:
    sky.hang = True
    async with opened(sky) as source:
        for query in ("weather", "weather in lyon"):
            failed = await outcome(source, query, seconds=0.8)
            assert isinstance(failed, Failed)
            assert failed.kind == "timeout"


async def test_identical_questions_at_once_are_one_look_at_the_place_and_one_at_the_sky(
    sky: OpenMeteo,
) -> None:
    async with opened(sky) as source:
        said = await asyncio.gather(*(told(source, "weather in lyon") for _ in range(16)))
    assert len(set(said)) == 1
    assert (len(sky.names), len(sky.forecasts)) == (1, 1)


QUERIES = {
    "en": (
        "will it rain tomorrow",
        "is it raining",
        "how cold will it get tonight",
        "when will it rain",
    ),
    "de": ("regnet es morgen", "regnet es", "wie kalt wird es heute nacht", "wann regnet es"),
    "fr": (
        "va-t-il pleuvoir demain",
        "est-ce qu'il pleut",
        "quelle minimale cette nuit",
        "quand va-t-il pleuvoir",
    ),
    "es": (
        "va a llover mañana",
        "está lloviendo",
        "cuánto frío hará esta noche",
        "cuándo va a llover",
    ),
    "it": ("pioverà domani", "sta piovendo", "quanto freddo farà stanotte", "quando pioverà"),
    "nl": (
        "gaat het morgen regenen",
        "regent het",
        "hoe koud wordt het vannacht",
        "wanneer gaat het regenen",
    ),
    "pl": (
        "czy jutro będzie padać",
        "czy pada",
        "jak zimno będzie dziś w nocy",
        "kiedy będzie padać",
    ),
}
YES = {"en": "Yes", "de": "Ja", "fr": "Oui", "es": "Sí", "it": "Sì", "nl": "Ja", "pl": "Tak"}
NO = {"en": "No", "de": "Nein", "fr": "Non", "es": "No", "it": "No", "nl": "Nee", "pl": "Nie"}


@pytest.mark.parametrize("language", SPOKEN)
async def test_every_language_answers_yes_no_how_cold_and_when(
    language: str, sky: OpenMeteo
) -> None:
    sky.rain(1, 80)
    rain, now, cold, when = QUERIES[language]
    async with opened(sky) as source:
        said = await told(source, rain, language)
        assert said.startswith(f"{YES[language]}, ")
        assert "80 %" in said
        assert (await told(source, now, language)).startswith(f"{NO[language]}, ")
        assert "8°" in await told(source, cold, language)
        assert "80 %" in await told(source, when, language)
        assert "{" not in said


@pytest.mark.parametrize("language", SPOKEN)
async def test_every_sky_has_its_words_in_every_language(language: str, sky: OpenMeteo) -> None:
    codes = (0, 1, 2, 3, 45, 48, 51, 53, 55, 56, 57, 61, 63, 65, 66, 67)
    codes += (71, 73, 75, 77, 80, 81, 82, 85, 86, 95, 96, 99)
    words = {
        "en": "weather today",
        "de": "wetter heute",
        "fr": "météo aujourd'hui",
        "es": "tiempo hoy",
    }
    words |= {"it": "meteo oggi", "nl": "weer vandaag", "pl": "pogoda dzisiaj"}
    said = set()
    async with opened(sky) as source:
        for code in codes:
            sky.days[0] = {"weather_code": code}
            sky.hours = {hour: {"weather_code": code} for hour in range(24)}
            text = await told(source, words[language], language)
            assert "," in text, (code, text)
            said.add(text.split(":")[1].split(",")[0])
            # It forgets what it has fetched.
            await source.close()
    assert len(said) == 18
