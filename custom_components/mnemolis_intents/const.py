"""Names and limits that more than one module of the integration needs."""

from __future__ import annotations

from typing import Final

DOMAIN: Final = "mnemolis_intents"

KNOWN_CONTRACT: Final = 1
"""The newest contract with the server that this version knows."""

CONF_SEND_PLACE: Final = "send_place"

DEFAULT_URL: Final = "http://homeassistant.local:8888"
DEFAULT_SECONDS: Final = 9
"""How long a question may take: longer than the server's own 8 seconds, so that its reply is the one heard."""

POLL_SECONDS: Final = 30
