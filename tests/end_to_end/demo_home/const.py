"""Names of the demo home."""

from typing import Final

DOMAIN: Final = "demo_home"
