"""The action `mnemolis_intents.ask`: a question in an automation, its reply as data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from homeassistant.core import (
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
    callback,
)
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import config_validation as cv, service
import voluptuous as vol

from . import asking, speech
from .client import MnemolisError, Refused
from .const import DOMAIN
from .coordinator import MnemolisConfigEntry

SERVICE_ASK: Final = "ask"
ATTR_QUERY: Final = "query"
ATTR_LANGUAGE: Final = "language"
ATTR_SOURCE: Final = "source"
ATTR_STYLE: Final = "style"
ATTR_CONFIG_ENTRY: Final = "config_entry"

STYLES: Final = ("voice", "brief", "detailed")

_SCHEMA: Final = vol.Schema(
    {
        vol.Required(ATTR_QUERY): vol.All(cv.string, vol.Strip, vol.Length(min=1, max=2000)),
        vol.Optional(ATTR_LANGUAGE): cv.string,
        vol.Optional(ATTR_SOURCE, default="auto"): cv.string,
        vol.Optional(ATTR_STYLE, default="voice"): vol.In(STYLES),
        vol.Optional(ATTR_CONFIG_ENTRY): cv.string,
    }
)


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Register the action."""
    hass.services.async_register(
        DOMAIN, SERVICE_ASK, _ask, schema=_SCHEMA, supports_response=SupportsResponse.ONLY
    )


async def _ask(call: ServiceCall) -> ServiceResponse:
    """Return the reply. A question without an answer is no error: `success` and `error` tell it."""
    hass = call.hass
    entry: MnemolisConfigEntry = service.async_get_config_entry(
        hass, DOMAIN, call.data.get(ATTR_CONFIG_ENTRY)
    )
    body = asking.question(
        hass,
        entry,
        call.data[ATTR_QUERY],
        language=call.data.get(ATTR_LANGUAGE),
        source=call.data[ATTR_SOURCE],
        style=call.data[ATTR_STYLE],
    )
    try:
        reply = await asking.async_ask(hass, entry, body)
    except Refused as error:
        raise ServiceValidationError(
            translation_domain=DOMAIN,
            translation_key="refused" if not error.allowed else "refused_allowed",
            translation_placeholders={
                "message": error.message,
                "allowed": ", ".join(error.allowed),
            },
        ) from error
    except MnemolisError as error:
        raise HomeAssistantError(translation_domain=DOMAIN, translation_key=error.key) from error
    return {
        "answer": reply.answer,
        "speech": speech.of_reply(reply),
        "sources": list(reply.answer_sources)
        or ([reply.source_used] if reply.success and reply.source_used else []),
        "citations": [asdict(citation) for citation in reply.citations],
        "result": reply.result,
        "success": reply.success,
        "error": reply.error,
        "language": reply.language,
    }
