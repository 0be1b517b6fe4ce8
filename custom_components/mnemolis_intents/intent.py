"""Intents by which anything in Home Assistant can ask: sentences, automations, other agents.

They differ only in where is looked. Whatever happens, the response holds a sentence to say in the language of
the request.
"""

from __future__ import annotations

import logging
from typing import Any, Final, override

from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv, intent
import voluptuous as vol

from . import asking, speech
from .client import MnemolisError
from .const import DOMAIN
from .language import DATA_LANGUAGES

_LOGGER = logging.getLogger(__name__)

INTENTS: Final = {
    "MnemolisAsk": ("auto", "Answers a question of knowledge from the sources that the house owns"),
    "MnemolisLookUp": ("auto", "Looks something up in the sources that the house owns"),
    "MnemolisDocuments": ("house", "Looks something up in the documents and manuals of the house"),
    "MnemolisEncyclopedia": ("kiwix", "Looks something up in the encyclopedia"),
    "MnemolisNews": ("news", "Looks something up in the news"),
    "MnemolisWeb": ("web", "Looks something up on the web"),
}
"""Where each intent looks, and what it is for."""


async def async_setup_intents(hass: HomeAssistant) -> None:
    """Register the intents."""
    for intent_type, (source, description) in INTENTS.items():
        intent.async_register(hass, LookUp(intent_type, source, description))


class LookUp(intent.IntentHandler):
    """Asks one source, or lets the server choose."""

    def __init__(self, intent_type: str, source: str, description: str) -> None:
        """Look in `source`."""
        self.intent_type = intent_type
        self.description = description
        self._source = source

    @property
    @override
    def slot_schema(self) -> dict[Any, Any]:
        """Return what is asked for."""
        return {vol.Required("query", description="What to look up"): cv.string}

    @override
    async def async_handle(self, intent_obj: intent.Intent) -> intent.IntentResponse:
        """Return the answer, or what is to be said in its place."""
        hass = intent_obj.hass
        slots = self.async_validate_slots(intent_obj.slots)
        language = hass.data[DATA_LANGUAGES].of(intent_obj.language)
        response = intent_obj.create_response()
        entries = hass.config_entries.async_loaded_entries(DOMAIN)
        if not entries:
            response.async_set_error(
                intent.IntentResponseErrorCode.FAILED_TO_HANDLE, language.spoken["not_set_up"]
            )
            return response
        query = slots["query"]["value"].strip()
        if language.is_ghost(query):
            response.async_set_error(
                intent.IntentResponseErrorCode.FAILED_TO_HANDLE, language.spoken["not_understood"]
            )
            return response
        try:
            reply = await asking.async_ask(
                hass,
                entries[0],
                asking.question(
                    hass,
                    entries[0],
                    query,
                    language=intent_obj.language,
                    source=self._source,
                    device_id=intent_obj.device_id,
                    satellite_id=intent_obj.satellite_id,
                ),
            )
        except MnemolisError as error:
            _LOGGER.debug("%s: %s", self.intent_type, error)
            response.async_set_error(
                intent.IntentResponseErrorCode.FAILED_TO_HANDLE,
                asking.spoken_failure(error, language),
            )
            return response
        response.response_type = intent.IntentResponseType.QUERY_ANSWER
        response.async_set_speech(speech.of_reply(reply) or language.spoken["nothing"])
        return response
