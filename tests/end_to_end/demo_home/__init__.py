"""A kitchen to try things out in: a light, a thermometer, and a satellite that can run timers.

A Home Assistant without any device can't show that the household's own commands still work. This is no part of
the product; the tests and `scripts/develop` lay it beside the integration.
"""

from homeassistant.components import intent
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er

from .const import DOMAIN

PLATFORMS = (Platform.LIGHT, Platform.SENSOR)


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Set the kitchen up."""
    areas = ar.async_get(hass)
    kitchen = areas.async_get_or_create("Kitchen")
    devices = dr.async_get(hass)
    for key in ("light", "temperature", "satellite"):
        device = devices.async_get_or_create(
            config_entry_id=entry.entry_id,
            identifiers={(DOMAIN, key)},
            name=f"Kitchen {key}",
        )
        devices.async_update_device(device.id, area_id=kitchen.id)

    @callback
    def on_timer(event: intent.TimerEventType, timer: intent.TimerInfo) -> None:
        """Take note of a timer, as a satellite would: without a handler there are no timers."""

    entry.async_on_unload(intent.async_register_timer_handler(hass, device.id, on_timer))
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)

    entities = er.async_get(hass)
    thermometer = entities.async_get_entity_id(Platform.SENSOR, DOMAIN, "temperature")
    areas.async_update(kitchen.id, temperature_entity_id=thermometer)
    return True


async def async_unload_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Take the kitchen away."""
    return await hass.config_entries.async_unload_platforms(entry, PLATFORMS)
