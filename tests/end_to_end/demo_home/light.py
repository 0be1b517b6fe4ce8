"""The kitchen light."""

from typing import Any

from homeassistant.components.light import LightEntity
from homeassistant.components.light.const import ColorMode
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import DOMAIN


async def async_setup_entry(
    hass: HomeAssistant, entry: ConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Add the light."""
    async_add_entities([KitchenLight()])


class KitchenLight(LightEntity):
    """A light that is on or off."""

    _attr_unique_id = "light"
    _attr_has_entity_name = True
    _attr_name = None
    _attr_should_poll = False
    _attr_is_on = False
    _attr_color_mode = ColorMode.ONOFF
    _attr_supported_color_modes = {ColorMode.ONOFF}
    _attr_device_info = DeviceInfo(identifiers={(DOMAIN, "light")})

    async def async_turn_on(self, **kwargs: Any) -> None:
        """Turn it on."""
        self._attr_is_on = True
        self.async_write_ha_state()

    async def async_turn_off(self, **kwargs: Any) -> None:
        """Turn it off."""
        self._attr_is_on = False
        self.async_write_ha_state()
