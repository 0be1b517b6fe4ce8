"""Whether the numbers of a sentence are numbers of the material it stands on."""

from __future__ import annotations

from datetime import datetime
import re
from typing import Final

_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


class Material:
    """The numbers of a material, parsed once."""

    def __init__(
        self, text: str, language: str, question: str = "", now: datetime | None = None
    ) -> None:
        """Take the material and the question that it answers."""
        self._held = {each.replace(",", "") for each in _NUMBER.findall(text)}

    def unsupported(self, sentence: str, language: str | None = None) -> list[str]:
        """Return the numbers of `sentence` that the material doesn't hold."""
        return [
            each for each in _NUMBER.findall(sentence) if each.replace(",", "") not in self._held
        ]
