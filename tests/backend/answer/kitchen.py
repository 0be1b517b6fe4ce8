"""A composer over a scripted model, some evidence, and questions about it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
import time
from typing import Any

# The client of the model, loaded here: its loading, late in the product, is no part of any test's time.
import ollama  # noqa: F401

from backend.answer.synthesis import Composer
from backend.contract import LABELS
from backend.flights import Flights
from backend.llm.availability import Availability, from_settings
from backend.settings import Settings
from backend.types import Answer, Evidence, Passage, Question, Section, Sentence
from tests.scripted_model import MODEL, ScriptedModel

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

HOUSE = (
    "Error E24 means that the dishwasher can't pump out the water: the drain filter or the drain hose is blocked. "
    "Switch the dishwasher off and rinse the filter under warm water. The hose may hang 80 cm high at most. "
    "Error E25 means that the drain pump is blocked. The fuse of the dishwasher is number 7."
)
KIWIX = (
    "A dishwasher pumps its water out through a drain hose. The first one was patented in 1850. "
    "Household machines became common in the 1970s, when they used 40 litres a run."
)


def question(text: str = "what does error E24 mean", seconds: float = 8.0, **how: Any) -> Question:
    """Return a question that has `seconds` left."""
    received = time.monotonic()
    how.setdefault("language", "en")
    return Question(
        text=text,
        now=NOW,
        received=received,
        deadline=received + seconds,
        synthesize=True,
        **how,
    )


def evidence(language: str = "en", **texts: str) -> Evidence:
    """Return evidence with a section for each source named."""
    return Evidence(
        tuple(
            Section(
                tag,
                LABELS[tag],
                (Passage(tag, "Dishwasher", text, language=language, section="Errors"),),
            )
            for tag, text in texts.items()
        ),
        datetime.now(UTC) + timedelta(hours=1),
    )


ONE = evidence(house=HOUSE)
TWO = evidence(house=HOUSE, kiwix=KIWIX)


@dataclass
class _Kept:
    value: Answer
    age_s: float = 3.0


class Memory:
    """Keeps answers in a dict."""

    def __init__(self) -> None:
        self.kept: dict[str, Answer] = {}

    async def get(self, key: str) -> _Kept | None:
        return _Kept(self.kept[key]) if key in self.kept else None

    async def put(self, key: str, value: Answer, fresh_until: datetime) -> None:
        self.kept[key] = replace(value, events=())


class Kitchen:
    """A composer and all it needs."""

    def __init__(self, models: Availability, settings: Settings) -> None:
        self.models = models
        self.settings = settings
        self.answers = Memory()
        self.composer = Composer(settings, models, self.answers, Flights())

    @classmethod
    def over(cls, model: ScriptedModel | None, **settings: Any) -> Kitchen:
        """Return one whose answers `model` composes, by Ollama's API unless the settings say else."""
        values = {"llm_model": MODEL, **settings}
        if model is not None:
            values = {"llm_api_type": "ollama", "llm_url": model.url, **values}
        made = Settings.model_validate(values)
        return cls(from_settings(made), made)

    async def close(self) -> None:
        await self.models.close()

    async def answer(self, asked: Question | None = None, found: Evidence | None = ONE) -> Answer:
        """Return the answer, composed as a whole."""
        sentences, answer = await self.stream(asked, found, stream=False)
        assert not sentences
        return answer

    async def stream(
        self,
        asked: Question | None = None,
        found: Evidence | None = ONE,
        *,
        stream: bool = True,
        on_sentence: Callable[[Sentence], None] = lambda sentence: None,
    ) -> tuple[list[Sentence], Answer]:
        """Return the sentences as they left, and the answer; hold what every stream must hold."""
        items: AsyncGenerator[Sentence | Answer] = self.composer.compose(
            asked or question(), found, stream=stream
        )
        sentences: list[Sentence] = []
        answer: Answer | None = None
        async with aclosing(items):
            async for item in items:
                assert answer is None, "something came after the answer"
                if isinstance(item, Answer):
                    answer = item
                else:
                    sentences.append(item)
                    on_sentence(item)
        assert answer is not None
        if stream:
            holds(sentences, answer)
        return sentences, answer


def holds(sentences: list[Sentence], answer: Answer) -> None:
    """Assert what is promised of every stream."""
    assert [each.index for each in sentences] == list(range(len(sentences)))
    assert all(each.text.startswith(" ") and each.speech.startswith(" ") for each in sentences[1:])
    assert "".join(each.text for each in sentences) == (answer.text or "")
    assert "".join(each.speech for each in sentences) == (answer.speech or "")
    assert not (answer.speech or "").endswith("?")


def event(answer: Answer) -> tuple[str, dict[str, Any]]:
    """Return the one event that explains an answer, by its name and fields."""
    assert len(answer.events) == 1, answer.events
    return answer.events[0].event, dict(answer.events[0].fields)
