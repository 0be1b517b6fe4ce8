"""Intents and sentences, with Home Assistant's own agent: no file in the configuration, no agent of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aiohttp import web
from homeassistant.components.conversation import HOME_ASSISTANT_AGENT
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.mnemolis_intents.const import DOMAIN
from custom_components.mnemolis_intents.intent import INTENTS
from custom_components.mnemolis_intents.language import DATA_LANGUAGES
from tests.contract import example

from .broker import Broker, recorded
from .conftest import set_up
from .house import House

SPEECH = example("served").body["speech"]

SAID = [
    ("en", "look up the boiler pressure", "the boiler pressure", "auto"),
    ("en", "Please look up the boiler pressure.", "the boiler pressure", "auto"),
    ("en", "could you look the boiler pressure up", "the boiler pressure", "auto"),
    ("en", "ask mnemolis what error e24 means", "what error e24 means", "auto"),
    ("en", "search the documents for error e24", "error e24", "house"),
    ("en", "look in our manuals for the drain filter", "the drain filter", "house"),
    ("en", "search the encyclopedia for heat pumps", "heat pumps", "kiwix"),
    ("en", "search the news for the moon landing", "the moon landing", "news"),
    ("en", "search the web for bread recipes", "bread recipes", "web"),
    ("de", "schlag den kesseldruck nach", "den kesseldruck", "auto"),
    ("de", "bitte den kesseldruck nachschlagen", "den kesseldruck", "auto"),
    ("de", "frag mnemolis was e24 bedeutet", "was e24 bedeutet", "auto"),
    ("de", "suche in unseren unterlagen nach fehler e24", "fehler e24", "house"),
    ("de", "suche im lexikon nach wärmepumpen", "wärmepumpen", "kiwix"),
    ("de", "such in den nachrichten nach der mondlandung", "der mondlandung", "news"),
    ("fr", "recherche des informations sur la chaudière", "la chaudière", "auto"),
    ("fr", "cherche dans l'encyclopédie la pompe à chaleur", "la pompe à chaleur", "kiwix"),
    ("es", "busca información sobre la caldera", "la caldera", "auto"),
    ("it", "cerca informazioni sulla caldaia", "caldaia", "auto"),
    ("nl", "zoek de keteldruk op", "de keteldruk", "auto"),
    ("pl", "wyszukaj informacje o kotle", "kotle", "auto"),
]


@pytest.fixture(autouse=True)
def _served(broker: Broker) -> None:
    broker.search = recorded("served")


@pytest.mark.parametrize(("language", "text", "query", "source"), SAID)
async def test_a_sentence_is_answered_by_every_agent(
    house: House, agent: str, broker: Broker, language: str, text: str, query: str, source: str
) -> None:
    for engine in (HOME_ASSISTANT_AGENT, agent):
        heard = await house.say(text, await house.pipeline(engine, language=language))
        assert heard.speech == SPEECH
    for asked in broker.asked:
        assert asked["query"] == query
        assert asked["source"] == source
        assert asked["language"] == language
        assert asked["answer_style"] == "voice"
        assert asked["area"] == "Kitchen"
        assert "accepts" not in asked


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "search the web for bread recipes"),
        ("de", "such in den nachrichten nach der mondlandung"),
    ],
)
async def test_a_source_that_the_server_does_not_have_is_said_to_be_missing(
    hass: HomeAssistant, house: House, agent: str, broker: Broker, language: str, text: str
) -> None:
    broker.search = recorded("error_422_unknown_source")
    heard = await house.say(text, await house.pipeline(language=language))
    assert heard.speech == hass.data[DATA_LANGUAGES].of(language).spoken["no_source"]


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it", "nl", "pl"])
async def test_a_sentence_tells_in_its_language_that_the_server_is_away(
    hass: HomeAssistant, house: House, agent: str, broker: Broker, language: str
) -> None:
    await broker.stop()
    text = next(text for code, text, _, _ in SAID if code == language)
    heard = await house.say(text, await house.pipeline(language=language))
    assert heard.speech == hass.data[DATA_LANGUAGES].of(language).spoken["unreachable"]


async def test_of_several_servers_the_first_answers_alone(
    hass: HomeAssistant, house: House, agent: str, broker: Broker, entry: MockConfigEntry
) -> None:
    second = MockConfigEntry(domain=DOMAIN, title="Second", unique_id="second", data=entry.data)
    await set_up(hass, second)
    heard = await house.say("look up the boiler pressure", await house.pipeline())
    assert heard.speech == SPEECH
    assert len(broker.asked) == 1


async def test_sentences_outlive_a_reload_of_the_conversation(
    hass: HomeAssistant, house: House, agent: str, tmp_path: Path
) -> None:
    (tmp_path / "configuration.yaml").touch()
    hass.config.config_dir = str(tmp_path)
    await hass.services.async_call("conversation", "reload", {}, blocking=True)
    assert (await house.say("look up the boiler pressure", await house.pipeline())).speech == SPEECH


async def test_a_fault_of_our_own_is_said(
    hass: HomeAssistant, house: House, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr("custom_components.mnemolis_intents.asking.question", fail)
    heard = await house.say("look up the boiler pressure", await house.pipeline())
    assert heard.speech == hass.data[DATA_LANGUAGES].of("en").spoken["failed"]


async def test_the_agent_is_there_when_the_sentences_fail(
    hass: HomeAssistant, house: House, entry: MockConfigEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(
        "custom_components.mnemolis_intents.triggers.async_validate_trigger_config", fail
    )
    agent = await set_up(hass, entry)
    assert (await house.say("what is e24", await house.pipeline(agent))).speech == SPEECH


@pytest.mark.parametrize("intent_type", list(INTENTS))
async def test_every_intent_can_be_called(
    hass: HomeAssistant, house: House, agent: str, broker: Broker, intent_type: str
) -> None:
    response = await intent.async_handle(
        hass, "test", intent_type, {"query": {"value": "boiler pressure"}}, language="en"
    )
    assert response.speech["plain"]["speech"] == SPEECH
    assert response.response_type is intent.IntentResponseType.QUERY_ANSWER
    assert broker.asked[0]["source"] == INTENTS[intent_type][0]


async def test_an_intent_without_words_or_without_a_server_says_so(
    hass: HomeAssistant, house: House, agent: str, broker: Broker, entry: MockConfigEntry
) -> None:
    words = hass.data[DATA_LANGUAGES].of("de").spoken

    async def said(query: str) -> tuple[Any, str]:
        response = await intent.async_handle(
            hass, "test", "MnemolisAsk", {"query": {"value": query}}, language="de"
        )
        return response.response_type, response.speech["plain"]["speech"]

    assert await said(" . ") == (intent.IntentResponseType.ERROR, words["not_understood"])

    async def nothing(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response({"result": ""})

    broker.search = nothing
    assert await said("kesseldruck") == (intent.IntentResponseType.QUERY_ANSWER, words["nothing"])
    await hass.config_entries.async_unload(entry.entry_id)
    assert await said("kesseldruck") == (intent.IntentResponseType.ERROR, words["not_set_up"])
