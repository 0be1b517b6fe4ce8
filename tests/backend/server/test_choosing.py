"""A model chooses the source where no rule names one: over HTTP, with real feeds and a model that says what a test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import json
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import given, strategies as st
import pytest

from backend.bootstrap import build, create_server
from backend.planning.chooser import read
from backend.settings import Settings
from tests.backend.sources.test_news import Paper
from tests.scripted_model import MODEL, Say, ScriptedModel, prose

QUESTION = "did the probe of the space people make it"
Client = TestClient[Any, Any]


def chooses(*sources: str, query: str = "") -> Say:
    return prose(json.dumps({"sources": list(sources), "query": query}))


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as scripted:
        yield scripted


@pytest.fixture
def values(tmp_path: Path, model: ScriptedModel) -> dict[str, Any]:
    library = tmp_path / "library"
    library.mkdir()
    (library / "boiler.md").write_text("# Boiler\n\nThe boiler pressure is 1.5 bar.\n", "utf-8")
    return {
        "data_dir": tmp_path / "data",
        "library_dir": library,
        "llm_api_type": "ollama",
        "llm_url": model.url,
        "llm_model": MODEL,
    }


@pytest.fixture
async def client(values: dict[str, Any]) -> AsyncIterator[Client]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", Paper().handle)
    async with TestServer(app) as news:
        feeds = [str(news.make_url("/rss"))]
        settings = await asyncio.to_thread(Settings.model_validate, {**values, "news_feeds": feeds})
        async with (
            build(settings) as backend,
            TestClient(TestServer(create_server(backend))) as client,
        ):
            await backend.models.ready()
            yield client


async def route(client: Client, query: str = QUESTION) -> dict[str, Any]:
    async with client.post("/search", json={"query": query, "explain": True}) as response:
        assert response.status == 200
        explanation = (await response.json())["explanation"]
    return next(event for event in explanation if event["event"] == "route")


async def test_the_model_chooses_where_no_rule_names_a_source_and_the_choice_is_kept(
    client: Client, model: ScriptedModel
) -> None:
    model.script(chooses("news", query="moon probe landing"))
    chosen = await route(client)
    assert chosen["by"] == "model"
    assert [(step["source"], step["query"]) for step in chosen["steps"]] == [
        ("news", QUESTION),
        ("news", "moon probe landing"),
    ]
    again = await route(client, f"{QUESTION.capitalize()}?")
    assert (again["by"], again["steps"][0]["source"]) == ("cache", "news")
    assert model.calls == 1
    async with client.get("/cache/routing") as response:
        assert await response.json() == {"routes": 1}
    async with client.post("/cache/routing/clear") as response:
        assert await response.json() == {"status": "ok", "entries_removed": 1}
    await route(client)
    assert model.calls == 2


@pytest.mark.parametrize(
    "say",
    [
        prose("I would look at the news."),
        chooses("stars"),
        prose('{"sources": 7}'),
        Say(status=500),
        Say(drop=True),
        prose("[" * 100_000),
    ],
)
async def test_a_reply_of_no_use_leaves_the_documents_and_is_not_kept(
    say: Say, client: Client, model: ScriptedModel
) -> None:
    model.script(say, chooses("news"))
    assert (await route(client))["by"] == "default"
    assert (await route(client))["by"] == "model"


async def test_a_model_that_hangs_costs_a_moment_and_no_answer(
    values: dict[str, Any], client: Client, model: ScriptedModel
) -> None:
    model.script(Say(hang=True))
    assert (await route(client))["by"] == "default"
    await model.hung_up.wait()


async def test_what_a_rule_names_needs_no_model(client: Client, model: ScriptedModel) -> None:
    assert (await route(client, "what is in the news"))["by"] == "rule"
    assert model.calls == 0


async def test_identical_questions_at_once_are_one_choice(
    client: Client, model: ScriptedModel
) -> None:
    gate = asyncio.Event()
    model.script(prose(json.dumps({"sources": ["news"], "query": ""}), gate=gate), chooses("house"))
    asked = [asyncio.create_task(route(client)) for _ in range(8)]
    await model.called.wait()
    gate.set()
    chosen = await asyncio.gather(*asked)
    assert {event["steps"][0]["source"] for event in chosen} == {"news"}
    assert model.calls == 1


async def test_with_documents_alone_there_is_nothing_to_choose(
    values: dict[str, Any], model: ScriptedModel
) -> None:
    settings = await asyncio.to_thread(Settings.model_validate, values)
    async with (
        build(settings) as backend,
        TestClient(TestServer(create_server(backend))) as client,
    ):
        await backend.models.ready()
        assert (await route(client))["by"] == "default"
    assert model.calls == 0


@given(st.text() | st.recursive(st.none() | st.text(), st.lists, max_leaves=5).map(json.dumps))
def test_any_reply_chooses_only_what_was_offered(text: str) -> None:
    assert set(read(text, ("news", "web")).sources) <= {"news", "web"}
