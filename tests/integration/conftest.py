"""A house with a light, a thermometer and a timer, a server of knowledge, and pipelines of either agent."""

from __future__ import annotations

from collections.abc import AsyncIterator

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import CONF_API_KEY, CONF_URL, CONF_VERIFY_SSL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_mock_service
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.mnemolis_intents.const import DOMAIN
from tests.contract import example

from .broker import Broker
from .house import House


@pytest.fixture(autouse=True)
async def _our_integration(
    hass: HomeAssistant, enable_custom_integrations: None, socket_enabled: None
) -> None:
    """Let Home Assistant find the integration, and the integration its server on this machine."""
    assert await async_setup_component(hass, "homeassistant", {})


@pytest.fixture
async def broker() -> AsyncIterator[Broker]:
    """Return a server that is there."""
    broker = Broker()
    await broker.start()
    yield broker
    await broker.stop()


@pytest.fixture
async def house(hass: HomeAssistant, hass_ws_client: WebSocketGenerator) -> House:
    """Return a house of which Assist knows the devices."""
    for component in (
        "intent",
        "conversation",
        "assist_pipeline",
        "light",
        "climate",
        "sensor",
    ):
        assert await async_setup_component(hass, component, {})
    kitchen = ar.async_get(hass).async_create("Kitchen")
    entities = er.async_get(hass)
    light = entities.async_get_or_create("light", "demo", "light", suggested_object_id="kitchen")
    entities.async_update_entity(light.entity_id, area_id=kitchen.id)
    hass.states.async_set(light.entity_id, "off", {"friendly_name": "Kitchen Light"})
    sensor = entities.async_get_or_create(
        "sensor",
        "demo",
        "temperature",
        suggested_object_id="kitchen_temperature",
        original_device_class="temperature",
        unit_of_measurement="°C",
    )
    entities.async_update_entity(sensor.entity_id, area_id=kitchen.id)
    hass.states.async_set(
        sensor.entity_id,
        "21.5",
        {
            "friendly_name": "Kitchen Temperature",
            "device_class": "temperature",
            "unit_of_measurement": "°C",
        },
    )
    ar.async_get(hass).async_update(kitchen.id, temperature_entity_id=sensor.entity_id)
    hass.states.async_set(
        "zone.work", "0", {"friendly_name": "Work", "latitude": 1, "longitude": 1}
    )
    hass.states.async_set("person.anna", "home", {"friendly_name": "Anna"})
    async_expose_entity(hass, "conversation", "person.anna", True)
    entry = MockConfigEntry(domain="demo")
    entry.add_to_hass(hass)
    satellite = dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("demo", "satellite")}, name="Satellite"
    )
    dr.async_get(hass).async_update_device(satellite.id, area_id=kitchen.id)
    house = House(hass, await hass_ws_client(hass), satellite.id)
    entry.async_on_unload(async_register_timer_handler(hass, satellite.id, house.timer_event))
    house.service_calls = async_mock_service(hass, "light", "turn_on")
    return house


@pytest.fixture
def entry(broker: Broker) -> MockConfigEntry:
    """Return the entry of the server, not set up yet."""
    return MockConfigEntry(
        domain=DOMAIN,
        title="Mnemolis",
        unique_id=example("health_with_key").body["id"],
        data={CONF_URL: broker.url, CONF_API_KEY: "right", CONF_VERIFY_SSL: True},
    )


@pytest.fixture
async def agent(hass: HomeAssistant, house: House, entry: MockConfigEntry) -> str:
    """Return the agent's entity id, set up in the house."""
    return await set_up(hass, entry)


async def set_up(hass: HomeAssistant, entry: MockConfigEntry) -> str:
    """Set up the entry, which must work whatever the server does; return its agent."""
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    assert entry.state is ConfigEntryState.LOADED
    return "conversation.mnemolis"
