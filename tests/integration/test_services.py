"""The action `mnemolis_intents.ask`."""

from __future__ import annotations

from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
import voluptuous as vol

from custom_components.mnemolis_intents.const import DOMAIN
from tests.contract import example

from .broker import Broker, recorded
from .conftest import set_up


async def ask(hass: HomeAssistant, **data: Any) -> dict[str, Any]:
    """Call the action."""
    response = await hass.services.async_call(
        DOMAIN, "ask", data, blocking=True, return_response=True
    )
    assert isinstance(response, dict)
    return response


@pytest.mark.parametrize(
    "name", ["served", "served_by_two_sources", "honest_miss", "nothing_found"]
)
async def test_the_response_is_the_reply_as_data(
    hass: HomeAssistant, entry: MockConfigEntry, broker: Broker, name: str
) -> None:
    await set_up(hass, entry)
    broker.search = recorded(name)
    reply = example(name).body
    response = await ask(hass, query=" what is it ", language="de", source="house", style="brief")
    assert response == {
        "answer": reply["answer"],
        "speech": reply["speech"],
        "sources": reply["answer_sources"] or ([reply["source_used"]] if reply["success"] else []),
        "citations": reply["citations"],
        "result": reply["result"],
        "success": reply["success"],
        "error": reply["error"],
        "language": reply["language"],
    }
    (asked,) = broker.asked
    assert (asked["query"], asked["language"], asked["source"], asked["answer_style"]) == (
        "what is it",
        "de",
        "house",
        "brief",
    )


async def test_the_language_is_home_assistant_s_unless_said(
    hass: HomeAssistant, entry: MockConfigEntry, broker: Broker
) -> None:
    await set_up(hass, entry)
    broker.search = recorded("served")
    hass.config.language = "nl"
    await ask(hass, query="wat is het")
    await ask(hass, query="wat is het", language="??")
    assert [asked["language"] for asked in broker.asked] == ["nl", "nl"]


async def test_a_named_server_is_asked(
    hass: HomeAssistant, entry: MockConfigEntry, broker: Broker
) -> None:
    await set_up(hass, entry)
    broker.search = recorded("served")
    assert (await ask(hass, query="what", config_entry=entry.entry_id))["success"]
    with pytest.raises(ServiceValidationError):
        await ask(hass, query="what", config_entry="unknown")
    await hass.config_entries.async_unload(entry.entry_id)
    with pytest.raises(ServiceValidationError):
        await ask(hass, query="what")


@pytest.mark.parametrize(
    "data", [{}, {"query": " "}, {"query": "x" * 2001}, {"query": "x", "style": "chatty"}]
)
async def test_what_can_not_be_asked_is_refused(
    hass: HomeAssistant, entry: MockConfigEntry, broker: Broker, data: dict[str, Any]
) -> None:
    await set_up(hass, entry)
    with pytest.raises(vol.Invalid):
        await ask(hass, **data)
    assert not broker.asked


async def test_a_refusal_names_what_is_allowed(
    hass: HomeAssistant, entry: MockConfigEntry, broker: Broker
) -> None:
    await set_up(hass, entry)
    broker.search = recorded("error_422_unknown_source")
    with pytest.raises(ServiceValidationError, match="Allowed: auto, fusion, house, kiwix"):
        await ask(hass, query="what", source="wikipedia")
    broker.search = recorded("error_422_time_zone")
    with pytest.raises(ServiceValidationError, match="no such IANA time zone"):
        await ask(hass, query="what")


async def test_a_failure_is_told_by_its_kind(
    hass: HomeAssistant, entry: MockConfigEntry, broker: Broker
) -> None:
    await set_up(hass, entry)
    broker.search = recorded("error_429")
    with pytest.raises(HomeAssistantError, match="too many questions"):
        await ask(hass, query="what")
    broker.key = "another"
    with pytest.raises(HomeAssistantError, match="key is missing or wrong"):
        await ask(hass, query="what")
    await broker.stop()
    with pytest.raises(HomeAssistantError, match="Nothing answers") as caught:
        await ask(hass, query="what")
    assert caught.value.translation_key == "cannot_connect"
