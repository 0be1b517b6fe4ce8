"""A composer over a model that says what a test has it say, asked whole and as a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.backend.answer.kitchen import Kitchen
from tests.scripted_model import ScriptedModel


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as server:
        yield server


@pytest.fixture
async def kitchen(model: ScriptedModel) -> AsyncIterator[Kitchen]:
    made = Kitchen.over(model)
    yield made
    await made.close()


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)
