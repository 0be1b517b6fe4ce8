"""Setting up a server: its address, its key, and what is wrong with either.

A server is known by the id that it tells, an older one by its address. One that has told none before may tell one
later, when it has been brought up to date: that is still the same server.
"""

from __future__ import annotations

from collections.abc import Mapping
import logging
from typing import Any, Final, override

from homeassistant.config_entries import ConfigFlow, ConfigFlowResult, OptionsFlow
from homeassistant.const import CONF_API_KEY, CONF_TIMEOUT, CONF_URL, CONF_VERIFY_SSL
from homeassistant.core import callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.selector import (
    BooleanSelector,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    TextSelector,
    TextSelectorConfig,
    TextSelectorType,
)
import voluptuous as vol
from yarl import URL

from .client import Health, MnemolisClient, MnemolisError
from .const import CONF_SEND_PLACE, DEFAULT_SECONDS, DEFAULT_URL, DOMAIN
from .coordinator import MnemolisConfigEntry

_LOGGER = logging.getLogger(__name__)

_URL: Final = TextSelector(TextSelectorConfig(type=TextSelectorType.URL))
_SECRET: Final = TextSelector(
    TextSelectorConfig(type=TextSelectorType.PASSWORD, autocomplete="off")
)

_SERVER: Final = vol.Schema(
    {
        vol.Required(CONF_URL, default=DEFAULT_URL): _URL,
        vol.Optional(CONF_API_KEY): _SECRET,
        vol.Required(CONF_VERIFY_SSL, default=True): BooleanSelector(),
    }
)
_KEY: Final = vol.Schema({vol.Required(CONF_API_KEY): _SECRET})
_OPTIONS: Final = vol.Schema(
    {
        vol.Required(CONF_TIMEOUT, default=DEFAULT_SECONDS): NumberSelector(
            NumberSelectorConfig(
                min=3, max=60, step=1, unit_of_measurement="s", mode=NumberSelectorMode.BOX
            )
        ),
        vol.Required(CONF_SEND_PLACE, default=True): BooleanSelector(),
    }
)


def normalised(address: str) -> str:
    """Return the address as it is kept: with a scheme, without what comes after the path. Raises ValueError."""
    address = address.strip()
    if "://" not in address:
        address = f"http://{address}"
    url = URL(address)
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError("not an HTTP address")
    return str(url.with_query(None).with_fragment(None)).rstrip("/")


class MnemolisConfigFlow(ConfigFlow, domain=DOMAIN):
    """Sets up a server, moves it to another address, gives it another key."""

    VERSION = 1

    def __init__(self) -> None:
        """Start without errors."""
        self._errors: dict[str, str] = {}

    @staticmethod
    @callback
    @override
    def async_get_options_flow(config_entry: MnemolisConfigEntry) -> MnemolisOptionsFlow:
        """Return the flow of the options."""
        return MnemolisOptionsFlow()

    @override
    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Add a server."""
        if user_input is not None and (
            data := await self._checked(user_input, user_input.get(CONF_API_KEY))
        ):
            await self.async_set_unique_id(data.pop("id"))
            self._abort_if_unique_id_configured()
            return self.async_create_entry(title="Mnemolis", data=data)
        return self.async_show_form(
            step_id="user",
            data_schema=self.add_suggested_values_to_schema(_SERVER, _shown(user_input)),
            errors=self._errors,
            description_placeholders={"example": DEFAULT_URL},
        )

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Move a server to another address. Without a new key the old one stays."""
        entry: MnemolisConfigEntry = self._get_reconfigure_entry()
        if user_input is not None:
            key = user_input.get(CONF_API_KEY) or entry.data.get(CONF_API_KEY)
            if data := await self._checked(user_input, key):
                return self._updated(entry, data)
        return self.async_show_form(
            step_id="reconfigure",
            data_schema=self.add_suggested_values_to_schema(
                _SERVER, _shown(user_input or entry.data)
            ),
            errors=self._errors,
            description_placeholders={"example": DEFAULT_URL},
        )

    async def async_step_reauth(self, entry_data: Mapping[str, Any]) -> ConfigFlowResult:
        """Begin with a key that is refused."""
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for another key."""
        entry: MnemolisConfigEntry = self._get_reauth_entry()
        if user_input is not None and (
            data := await self._checked(dict(entry.data), user_input[CONF_API_KEY])
        ):
            return self._updated(entry, data)
        return self.async_show_form(
            step_id="reauth_confirm",
            data_schema=_KEY,
            errors=self._errors,
            description_placeholders={"title": entry.title},
        )

    def _updated(self, entry: MnemolisConfigEntry, data: dict[str, Any]) -> ConfigFlowResult:
        """Keep what was entered, if it is still the same server."""
        known = entry.unique_id or ""
        unique_id = data.pop("id")
        # An address for an id: an older server, which may have moved or learnt its id since.
        if unique_id != known and "://" not in known:
            return self.async_abort(reason="another_server")
        return self.async_update_reload_and_abort(entry, unique_id=unique_id, data=data)

    async def _checked(
        self, user_input: dict[str, Any], api_key: str | None
    ) -> dict[str, Any] | None:
        """Return the data of an entry and the `id` of the server, None after noting what is wrong."""
        self._errors = {}
        try:
            url = normalised(user_input[CONF_URL])
        except ValueError:
            self._errors[CONF_URL] = "invalid_url"
            return None
        data = {CONF_URL: url, CONF_VERIFY_SSL: user_input[CONF_VERIFY_SSL]}
        if api_key and (api_key := api_key.strip()):
            data[CONF_API_KEY] = api_key
        session = async_get_clientsession(self.hass, verify_ssl=data[CONF_VERIFY_SSL])
        try:
            health: Health = await MnemolisClient(session, url, api_key or None).check()
        except MnemolisError as error:
            _LOGGER.debug("Setting up: %s: %s", type(error).__name__, error)
            self._errors["base"] = error.key
            return None
        except Exception:
            _LOGGER.exception("Setting up failed")
            self._errors["base"] = "unknown"
            return None
        return {**data, "id": health.id or url}


def _shown(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what a form may show of `values`: never the key."""
    return {key: value for key, value in (values or {}).items() if key != CONF_API_KEY}


class MnemolisOptionsFlow(OptionsFlow):
    """How long to wait, and what to tell. Read with each question, so that nothing has to be set up anew."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Change the options."""
        if user_input is not None:
            return self.async_create_entry(data=user_input)
        return self.async_show_form(
            step_id="init",
            data_schema=self.add_suggested_values_to_schema(_OPTIONS, self.config_entry.options),
        )
