"""The application over scripted parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from aiohttp.test_utils import TestClient, TestServer
import pytest

from backend.server.app import create_app
from backend.settings import Settings
from tests.backend.server.scripted import FakeStore, ScriptedAsk, healthy, look


@pytest.fixture
def ask() -> ScriptedAsk:
    """Return what answers the questions of a test."""
    return ScriptedAsk()


Start = Callable[..., Awaitable[TestClient[Any, Any]]]


@pytest.fixture
async def start(ask: ScriptedAsk) -> AsyncIterator[Start]:
    """Return what starts the application with given settings, and gives a client of it."""
    clients: list[TestClient[Any, Any]] = []

    async def start_app(searches_at_once: int = 64, **settings: Any) -> TestClient[Any, Any]:
        app = create_app(
            ask,
            settings=await asyncio.to_thread(Settings.model_validate, settings),
            health=healthy,
            store=FakeStore(),
            look=look,
            searches_at_once=searches_at_once,
        )
        client = TestClient(TestServer(app))
        await client.start_server()
        clients.append(client)
        return client

    yield start_app
    for client in clients:
        await client.close()
