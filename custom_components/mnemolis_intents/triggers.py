"""Our sentences for every agent, Home Assistant's own among them: "look up the boiler pressure".

They go in as conversation triggers, which need no file in the configuration, hold for all languages at once and
come before all other sentences. That is why each begins with words that nobody says to a device: a trigger can't
decline what it has matched.

One more kind is no wish of ours: questions with a time ahead, "will it rain in two hours", which Home Assistant
makes a timer of before it asks any agent.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import intent
from homeassistant.helpers.script import ScriptRunResult
from homeassistant.helpers.trigger import async_initialize_triggers, async_validate_trigger_config

from .const import DOMAIN
from .coordinator import MnemolisConfigEntry
from .intent import INTENTS
from .language import DATA_LANGUAGES

_LOGGER = logging.getLogger(__name__)


_AHEAD: Final = "ahead"


async def async_register(hass: HomeAssistant, entry: MnemolisConfigEntry) -> None:
    """Register the sentences for as long as the entry is loaded."""
    languages = hass.data[DATA_LANGUAGES]
    config = [
        {
            "platform": CONVERSATION_DOMAIN,
            "id": intent_type,
            "command": [
                sentence
                for language in languages.all.values()
                for sentence in language.sentences.get(intent_type, ())
            ],
        }
        for intent_type in INTENTS
    ]
    config.append(
        {
            "platform": CONVERSATION_DOMAIN,
            "id": _AHEAD,
            "command": [
                sentence for language in languages.all.values() for sentence in language.ahead
            ],
        }
    )

    async def answer(
        variables: dict[str, Any], context: Context | None = None
    ) -> ScriptRunResult | None:
        """Answer one of the sentences. Raises nothing: what escaped would be silence, or English."""
        first, *_ = hass.config_entries.async_loaded_entries(DOMAIN)
        if first is not entry:
            # Several servers: the first one answers, and None leaves the word to it.
            return None
        return ScriptRunResult(
            conversation_response=await _answer(hass, variables["trigger"]),
            service_response=None,
            variables={},
        )

    try:
        valid = await async_validate_trigger_config(hass, config)
        remove = await async_initialize_triggers(
            hass, valid, answer, DOMAIN, entry.title, _LOGGER.log
        )
    except Exception:
        # The agent works without them.
        _LOGGER.exception("The sentences couldn't be registered")
        return
    if remove is not None:
        entry.async_on_unload(remove)


async def _answer(hass: HomeAssistant, trigger: dict[str, Any]) -> str:
    """Return what to say to a matched sentence."""
    asked = trigger["user_input"]
    language = asked["language"] or hass.config.language
    intent_type, query = trigger["id"], trigger["slots"].get("query", "")
    if intent_type == _AHEAD:
        intent_type, query = "MnemolisAsk", asked["text"]
    try:
        response = await intent.async_handle(
            hass,
            DOMAIN,
            intent_type,
            {"query": {"value": query}},
            asked["text"],
            Context(user_id=asked["context"]["user_id"], parent_id=asked["context"]["id"]),
            language,
            assistant=CONVERSATION_DOMAIN,
            device_id=trigger["device_id"],
            satellite_id=trigger["satellite_id"],
            conversation_agent_id=asked["agent_id"],
        )
        speech: str = response.speech["plain"]["speech"]
    except Exception:
        _LOGGER.exception("Answering a sentence failed")
        return hass.data[DATA_LANGUAGES].of(language).spoken["failed"]
    return speech
