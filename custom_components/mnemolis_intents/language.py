"""The words of each language: what is said, what makes a question, what home is called, which sentences are ours.

All of it lies in `sentences/<language>.json`; a new language is one more file. What counts as a question decides
two things alone: that Home Assistant makes no timer of it ("will it rain in two hours"), and that, while the
server is out of reach, it isn't handed to Home Assistant as an order. Everything else is the server's to route.
"""

from __future__ import annotations

from dataclasses import dataclass
import json
from pathlib import Path
import unicodedata

from homeassistant.core import HomeAssistant
from homeassistant.util.hass_dict import HassKey

from .const import DOMAIN

_FOLDER = Path(__file__).parent / "sentences"
_DEFAULT = "en"


def fold(text: str) -> str:
    """Return the words of `text` in lower case, without accents and punctuation, one space apart."""
    # Twice: taking characters apart may leave capitals, and folding those may leave accents.
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return " ".join(
        "".join(
            char if char.isalnum() else " " for char in plain if not unicodedata.combining(char)
        ).split()
    )


@dataclass(frozen=True, slots=True)
class Language:
    """The words of one language. `sentences` and `ahead` are templates, all below them is folded.

    `ahead` matches questions that Home Assistant would make a timer of. `openings` are words before the matter
    itself, the longest first, and whether they ask for something to be done.
    """

    spoken: dict[str, str]
    sentences: dict[str, list[str]]
    ahead: list[str]
    home: frozenset[str]
    ghosts: frozenset[str]
    openings: dict[str, bool]
    questions: tuple[str, ...]

    @classmethod
    def parse(cls, data: dict[str, object]) -> Language:
        """Return the language of one data file."""

        def folded(key: str) -> list[str]:
            words = data[key]
            assert isinstance(words, list)
            return [fold(word) for word in words]

        spoken, sentences, ahead = data["spoken"], data["sentences"], data["ahead"]
        assert isinstance(spoken, dict)
        assert isinstance(sentences, dict)
        assert isinstance(ahead, list)
        openings = {
            f"{phrase} ": key == "requests"
            for key in ("polite", "requests")
            for phrase in folded(key)
        }
        return cls(
            spoken=spoken,
            sentences=sentences,
            ahead=ahead,
            home=frozenset(folded("home")),
            ghosts=frozenset(folded("ghosts")),
            openings=dict(sorted(openings.items(), key=lambda item: len(item[0]), reverse=True)),
            questions=tuple(f"{phrase} " for phrase in folded("questions")),
        )

    def is_question(self, text: str) -> bool:
        """Return whether someone wants to know something, not to have something done.

        "Can you open the blinds?" is no question, "can you tell me who wrote it" is one.
        """
        words, request = f"{fold(text)} ", False
        while phrase := next(
            (opening for opening in self.openings if words.startswith(opening)), ""
        ):
            words = words.removeprefix(phrase)
            request = request or self.openings[phrase]
        if words.startswith(self.questions):
            return True
        return not request and text.rstrip().endswith(("?", "？", ";"))

    def is_ghost(self, text: str) -> bool:
        """Return whether nobody said this: silence, or what speech recognition makes of noise."""
        words = fold(text)
        return not words or words in self.ghosts


class Languages:
    """All languages there are words for."""

    def __init__(self, languages: dict[str, Language]) -> None:
        self.all = languages

    def of(self, tag: str | None) -> Language:
        """Return the language of a BCP 47 tag; English where there are no words for it."""
        primary = (tag or _DEFAULT).replace("_", "-").partition("-")[0].lower()
        return self.all.get(primary, self.all[_DEFAULT])


DATA_LANGUAGES: HassKey[Languages] = HassKey(f"{DOMAIN}_languages")


def _load() -> Languages:
    return Languages(
        {
            path.stem: Language.parse(json.loads(path.read_text("utf-8")))
            for path in sorted(_FOLDER.glob("*.json"))
        }
    )


async def async_load(hass: HomeAssistant) -> None:
    """Read the words of all languages, once."""
    hass.data[DATA_LANGUAGES] = await hass.async_add_executor_job(_load)
