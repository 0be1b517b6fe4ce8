"""Whether the server is there, and which: asked every half a minute, beside the questions.

Nothing waits for it: the agent works before the first reply and while none comes. What it finds out starts the
renewal of a refused key, writes one line to the log when the server goes and when it is back, and is there for
diagnostics and repairs.
"""

from __future__ import annotations

from datetime import timedelta
import logging

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ConfigEntryAuthFailed
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator, UpdateFailed

from .client import Health, InvalidAuth, MnemolisClient, MnemolisError
from .const import DOMAIN, POLL_SECONDS

_LOGGER = logging.getLogger(__name__)

type MnemolisConfigEntry = ConfigEntry[MnemolisCoordinator]


class MnemolisCoordinator(DataUpdateCoordinator[Health | None]):
    """The server of one entry. `data` is None until it has answered once."""

    config_entry: MnemolisConfigEntry

    def __init__(
        self, hass: HomeAssistant, entry: MnemolisConfigEntry, client: MnemolisClient
    ) -> None:
        """Start without having asked."""
        super().__init__(
            hass,
            _LOGGER,
            config_entry=entry,
            name=entry.title,
            update_interval=timedelta(seconds=POLL_SECONDS),
        )
        self.client = client

    async def _async_update_data(self) -> Health:
        """Return the server's health."""
        try:
            return await self.client.check()
        except InvalidAuth as error:
            raise ConfigEntryAuthFailed(
                translation_domain=DOMAIN, translation_key=error.key
            ) from error
        except MnemolisError as error:
            raise UpdateFailed(translation_domain=DOMAIN, translation_key=error.key) from error
