"""A store in a folder of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from backend.store import Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Store]:
    """Open a store with room for three results and three answers."""
    store = await Store.open(tmp_path / "data" / "mnemolis.sqlite", size=3)
    yield store
    await store.close()
