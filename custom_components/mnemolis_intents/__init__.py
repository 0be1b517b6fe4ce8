"""Spoken questions, answered by a Mnemolis server from sources that the house owns.

The one rule here: the household's own commands never depend on the server. A pipeline that names our agent finds
it whatever the server does, so setting up an entry waits for nothing and fails for nothing on the network.
"""

from __future__ import annotations

import logging

from homeassistant.const import CONF_API_KEY, CONF_URL, CONF_VERIFY_SSL, Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, entity_registry as er
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.typing import ConfigType

from . import language, repairs, triggers
from .client import MnemolisClient
from .const import DOMAIN
from .coordinator import MnemolisConfigEntry, MnemolisCoordinator
from .services import async_setup_services

_LOGGER = logging.getLogger(__name__)

CONFIG_SCHEMA = cv.config_entry_only_config_schema(DOMAIN)
PLATFORMS = (Platform.CONVERSATION,)


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:
    """Set up what there is once: the words of all languages, and the action."""
    await language.async_load(hass)
    async_setup_services(hass)
    return True


async def async_setup_entry(hass: HomeAssistant, entry: MnemolisConfigEntry) -> bool:
    """Set up the agent of one server, reachable or not."""
    session = async_get_clientsession(hass, verify_ssl=entry.data[CONF_VERIFY_SSL])
    client = MnemolisClient(session, entry.data[CONF_URL], entry.data.get(CONF_API_KEY))
    coordinator = entry.runtime_data = MnemolisCoordinator(hass, entry, client)
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)

    @callback
    def check() -> None:
        if coordinator.last_update_success and coordinator.data:
            repairs.async_check(hass, entry, coordinator.data)

    # Listening is also what keeps the coordinator asking.
    entry.async_on_unload(coordinator.async_add_listener(check))
    entry.async_create_background_task(
        hass, coordinator.async_refresh(), f"{DOMAIN} first look at the server"
    )
    await triggers.async_register(hass, entry)
    return True


async def async_unload_entry(hass: HomeAssistant, entry: MnemolisConfigEntry) -> bool:
    """Take the agent away."""
    return await hass.config_entries.async_unload_platforms(entry, PLATFORMS)


async def async_remove_entry(hass: HomeAssistant, entry: MnemolisConfigEntry) -> None:
    """Hand the pipelines of our agent back to Home Assistant: with the agent gone they would do nothing at all."""
    repairs.async_forget(hass, entry)
    if "assist_pipeline" not in hass.config.components:
        return
    # Imported here since without it, say in a stripped-down installation, all the rest works.
    from homeassistant.components.assist_pipeline import async_get_pipelines, async_update_pipeline
    from homeassistant.components.conversation import HOME_ASSISTANT_AGENT

    ours = {
        entity.entity_id
        for entity in er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)
    }
    for pipeline in async_get_pipelines(hass):
        if pipeline.conversation_engine in ours:
            await async_update_pipeline(
                hass,
                pipeline,
                conversation_engine=HOME_ASSISTANT_AGENT,
                conversation_language=pipeline.language,
            )
            _LOGGER.warning(
                "The assistant %s used %s, which was removed; it uses Home Assistant's own agent now",
                pipeline.name,
                entry.title,
            )
