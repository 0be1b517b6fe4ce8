"""What the owner may show others to get help: no key, no address, no words of anyone."""

from __future__ import annotations

from typing import Any

from homeassistant.const import CONF_API_KEY, CONF_URL, CONF_VERIFY_SSL
from homeassistant.core import HomeAssistant
from yarl import URL

from .coordinator import MnemolisConfigEntry


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: MnemolisConfigEntry
) -> dict[str, Any]:
    """Return the diagnostics of an entry."""
    coordinator = entry.runtime_data
    health = coordinator.data
    url = URL(entry.data[CONF_URL])
    sources = health.details.get("sources", {}) if health else {}
    return {
        "entry": {
            "scheme": url.scheme,
            "port": url.port,
            "api_key": bool(entry.data.get(CONF_API_KEY)),
            "verify_ssl": entry.data[CONF_VERIFY_SSL],
            "options": dict(entry.options),
        },
        "server": {
            "reachable": coordinator.data is not None and coordinator.last_update_success,
            "last_error": type(coordinator.last_exception.__cause__).__name__
            if coordinator.last_exception
            else None,
            "version": health.version if health else None,
            "contract": health.contract if health else None,
            "status": health.status if health else None,
            "sources": {
                tag: source.get("configured") is True
                for tag, source in sources.items()
                if isinstance(source, dict)
            },
            "model": health.details.get("model", {}).get("kind") if health else None,
        },
    }
