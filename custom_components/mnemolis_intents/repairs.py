"""What the owner has to put right; the agent works on meanwhile."""

from __future__ import annotations

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .client import Health
from .const import DOMAIN, KNOWN_CONTRACT
from .coordinator import MnemolisConfigEntry


def _newer_contract(entry: MnemolisConfigEntry) -> str:
    return f"newer_contract_{entry.entry_id}"


@callback
def async_check(hass: HomeAssistant, entry: MnemolisConfigEntry, health: Health) -> None:
    """Say, or take back, that the server is newer than this integration knows."""
    if health.contract <= KNOWN_CONTRACT:
        async_forget(hass, entry)
        return
    ir.async_create_issue(
        hass,
        DOMAIN,
        _newer_contract(entry),
        is_fixable=False,
        severity=ir.IssueSeverity.WARNING,
        translation_key="newer_contract",
        translation_placeholders={
            "title": entry.title,
            "version": health.version or "",
            "contract": str(health.contract),
            "known": str(KNOWN_CONTRACT),
        },
    )


@callback
def async_forget(hass: HomeAssistant, entry: MnemolisConfigEntry) -> None:
    """Take everything back."""
    ir.async_delete_issue(hass, DOMAIN, _newer_contract(entry))
