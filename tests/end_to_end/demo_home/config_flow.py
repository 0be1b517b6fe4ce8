"""Set the demo home up, without any question."""

from typing import Any

from homeassistant.config_entries import ConfigFlow, ConfigFlowResult

from .const import DOMAIN


class DemoHomeConfigFlow(ConfigFlow, domain=DOMAIN):
    """Makes the one entry."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Make the entry."""
        return self.async_create_entry(title="Demo home", data={})
