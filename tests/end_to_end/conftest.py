"""The processes that the tests here share: they are dear, so one Home Assistant serves them all.

Every test and fixture runs on one event loop, since the processes are followed on it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from unittest.mock import patch

import pytest
import pytest_asyncio
import pytest_socket

from tests.scripted_model import MODEL, ScriptedModel, says

from .backend import Backend
from .home_assistant import INTEGRATION, HomeAssistant, Turn

COMMANDS: Final = (
    "turn on the kitchen light",
    "what is the temperature in the kitchen",
    "set a timer for 5 minutes",
)


def outcome(turn: Turn) -> dict[str, Any]:
    """Return what a command led to, ids and times aside."""
    response = turn.response
    return {
        "intents": turn.intents,
        "response_type": response["response_type"],
        "targets": response["data"],
        "speech": response["speech"]["plain"]["speech"],
        "in the chat log": turn.content,
        "goes on": turn.end["intent_output"]["continue_conversation"],
    }


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    """Keep sockets open, which Home Assistant's test plugin closes before each test.

    The hosts that it allows stay as they are: 127.0.0.1 alone.
    """
    pytest_socket.enable_socket()
    with patch("pytest_socket.disable_socket"):
        return (yield)


@pytest.fixture(autouse=True)
def verify_cleanup() -> None:
    """Stand in for the plugin's fixture, which ends the loop's threads and takes shared processes for leaks."""


@dataclass(frozen=True, slots=True)
class House:
    """A Home Assistant with a kitchen, our integration in it, and the backend beside it."""

    home: HomeAssistant
    backend: Backend
    pipelines: dict[str, str]
    """Pipelines by what they are."""
    without_us: dict[str, Turn]
    """What became of each command before our integration was there."""

    @asynccontextmanager
    async def backend_away(self) -> AsyncIterator[None]:
        """Stop the backend, and have it back at the end."""
        await self.backend.stop()
        try:
            yield
        finally:
            await self.backend.start()

    async def turn_light_off(self) -> None:
        """Turn the kitchen light off, not by voice."""
        light = next(iter(await self.home.states("light")))
        await self.home.rest("POST", "/api/services/light/turn_off", {"entity_id": light})

    async def light(self) -> str:
        """Return the state of the kitchen light."""
        state: str = next(iter((await self.home.states("light")).values()))["state"]
        return state


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def model_server() -> AsyncIterator[ScriptedModel]:
    """Start a model that says what a test tells it to."""
    async with ScriptedModel() as model:
        yield model


@pytest.fixture
def model(model_server: ScriptedModel) -> ScriptedModel:
    """Give the model as if it had just been started."""
    model_server.then = says("NOT_IN_SOURCES")
    model_server.script()
    model_server.called.clear()
    model_server.hung_up.clear()
    return model_server


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def backend(
    model_server: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Backend]:
    """Start the backend on the sample library, with the scripted model."""
    settings = {"LLM_API_TYPE": "ollama", "LLM_URL": model_server.url, "LLM_MODEL": MODEL}
    backend = Backend(tmp_path_factory.mktemp("backend") / "data", settings)
    await backend.start()
    yield backend
    assert await backend.stop() == 0


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def house(backend: Backend, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """Start Home Assistant and set it up as an owner has it."""
    home = HomeAssistant(tmp_path_factory.mktemp("home") / "config")
    home.prepare()
    await home.start()
    try:
        await home.set_up_demo_home()
        without_us = {command: await home.say(command) for command in COMMANDS}
        done = await home.set_up(INTEGRATION.name, url=backend.url, verify_ssl=True)
        assert done["type"] == "create_entry", done
        ours = await home.agent()
        pipelines = {
            "default agent": await home.create_pipeline(
                "default agent", engine="conversation.home_assistant"
            ),
            "ours": await home.create_pipeline("ours", engine=ours),
            "ours, local first": await home.create_pipeline(
                "ours, local first", engine=ours, prefer_local=True
            ),
            "ours, German": await home.create_pipeline("ours, German", engine=ours, language="de"),
        }
        yield House(home, backend, pipelines, without_us)
    finally:
        await home.stop()
