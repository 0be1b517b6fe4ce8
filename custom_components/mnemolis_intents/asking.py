"""From what Home Assistant knows to a question for the server, and from a failure to what is said about it.

The agent, the intents and the action all ask this way. What goes along is what the contract has a field for;
states of the home are not among it.
"""

from __future__ import annotations

from collections.abc import Sequence
import re
from typing import Any, Final

from homeassistant.const import CONF_TIMEOUT
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er
from homeassistant.util.unit_system import US_CUSTOMARY_SYSTEM

from .client import (
    Busy,
    CannotConnect,
    InvalidAuth,
    MnemolisError,
    NotOurs,
    Refused,
    Reply,
    TimedOut,
    TlsError,
)
from .const import CONF_SEND_PLACE, DEFAULT_SECONDS
from .coordinator import MnemolisConfigEntry
from .language import Language

_MAX_TURNS: Final = 10
_MAX_TURN_CHARS: Final = 4_000
_MAX_SHORT_CHARS: Final = 255
_TAG: Final = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")

type Turn = tuple[str, str]
"""Role, `user` or `assistant`, and text."""


def question(
    hass: HomeAssistant,
    entry: MnemolisConfigEntry,
    text: str,
    *,
    language: str | None,
    source: str = "auto",
    style: str = "voice",
    history: Sequence[Turn] = (),
    conversation_id: str | None = None,
    device_id: str | None = None,
    satellite_id: str | None = None,
    accepts_handback: bool = False,
) -> dict[str, Any]:
    """Return the body of a request to the server."""
    config = hass.config
    body: dict[str, Any] = {
        "query": text,
        "source": source,
        "synthesize": True,
        "answer_style": style,
        "language": language if language and _TAG.fullmatch(language) else config.language,
        "units": "us" if config.units is US_CUSTOMARY_SYSTEM else "metric",
        "time_zone": config.time_zone,
    }
    if entry.options.get(CONF_SEND_PLACE, True):
        body["place"] = {
            "name": config.location_name[:_MAX_SHORT_CHARS],
            "latitude": config.latitude,
            "longitude": config.longitude,
        }
    if history:
        body["history"] = [
            {"role": role, "text": said[:_MAX_TURN_CHARS]} for role, said in history[-_MAX_TURNS:]
        ]
    short = {
        "conversation_id": conversation_id,
        "satellite": satellite_id or device_id,
        "area": _area(hass, satellite_id, device_id),
    }
    body.update(
        {key: value for key, value in short.items() if value and len(value) <= _MAX_SHORT_CHARS}
    )
    if accepts_handback:
        body["accepts"] = ["handback"]
    return body


def _area(hass: HomeAssistant, satellite_id: str | None, device_id: str | None) -> str | None:
    """Return the name of the area where someone asks."""
    area_id: str | None = None
    if satellite_id and (entity := er.async_get(hass).async_get(satellite_id)):
        area_id, device_id = entity.area_id, entity.device_id or device_id
    if area_id is None and device_id and (device := dr.async_get(hass).async_get(device_id)):
        area_id = device.area_id
    area = ar.async_get(hass).async_get_area(area_id) if area_id else None
    return area.name if area else None


def seconds(entry: MnemolisConfigEntry) -> float:
    """Return how long a question may take."""
    return float(entry.options.get(CONF_TIMEOUT, DEFAULT_SECONDS))


async def async_ask(hass: HomeAssistant, entry: MnemolisConfigEntry, body: dict[str, Any]) -> Reply:
    """Return the reply, whole. Raises MnemolisError; a refused key has started its renewal by then."""
    try:
        return await entry.runtime_data.client.search(body, seconds=seconds(entry))
    except InvalidAuth:
        entry.async_start_reauth(hass)
        raise


def spoken_failure(error: MnemolisError, language: Language) -> str:
    """Return what to say about a failure. Never the error's own text, which is English and for the log."""
    match error:
        case CannotConnect() | TlsError() | NotOurs():
            key = "unreachable"
        case TimedOut() | InvalidAuth() | Busy():
            key = error.key
        case Refused(allowed=allowed) if allowed:
            # Of what we ask for, only a source is one of several.
            key = "no_source"
        case _:
            key = "failed"
    return language.spoken[key]
