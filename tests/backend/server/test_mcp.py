"""The Model Context Protocol, by the official client over a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp.test_utils import TestClient
import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent
import pytest

from tests.backend.server.conftest import Start
from tests.backend.server.scripted import SERVED, ScriptedAsk


@asynccontextmanager
async def session(client: TestClient[Any, Any], key: str = "") -> AsyncIterator[ClientSession]:
    """Open a session of the official client with a server."""
    headers = {"X-API-Key": key} if key else {}
    async with (
        httpx.AsyncClient(headers=headers) as http,
        streamable_http_client(str(client.make_url("/mcp")), http_client=http) as (read, write, _),
        ClientSession(read, write) as opened,
    ):
        await opened.initialize()
        yield opened


def text(result: CallToolResult) -> str:
    """Return what a result says."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def test_a_client_finds_the_tools_and_what_they_take(start: Start) -> None:
    client = await start()
    async with session(client) as opened:
        tools = {tool.name: tool for tool in (await opened.list_tools()).tools}
    assert set(tools) == {"search", "sources"}
    assert tools["search"].inputSchema["required"] == ["query"]
    assert "house" in tools["search"].inputSchema["properties"]["source"]["enum"]
    assert all(tool.annotations and tool.annotations.readOnlyHint for tool in tools.values())


async def test_a_search_brings_the_evidence_or_an_answer(start: Start, ask: ScriptedAsk) -> None:
    ask.items = [SERVED]
    client = await start()
    async with session(client) as opened:
        found = await opened.call_tool("search", {"query": "what does E24 mean"})
        assert not found.isError
        assert found.structuredContent is not None
        assert text(found) == SERVED.answer
        assert found.structuredContent["result"] == SERVED.result
        assert not ask.asked[-1].synthesize
        await opened.call_tool(
            "search", {"query": "Was heißt E24", "answer": True, "language": "de"}
        )
        assert (ask.asked[-1].synthesize, ask.asked[-1].language) == (True, "de")
        listed = await opened.call_tool("sources", {})
        assert listed.structuredContent is not None
        assert {row["tag"] for row in listed.structuredContent["sources"]} == set(ask.sources)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "query"),
        ({"query": ""}, "at least 1"),
        ({"query": "q" * 2_001}, "at most 2000"),
        ({"query": 7}, "string"),
        ({"query": "q", "source": "nowhere"}, "house"),
        ({"query": "q", "colour": "red"}, "colour"),
        ({"query": "\x00\x01"}, "nothing"),
        ({"query": "q", "language": "no language"}, "pattern"),
    ],
)
async def test_a_call_that_cannot_be_is_an_error_that_says_why(
    arguments: dict[str, Any], said: str, start: Start
) -> None:
    client = await start()
    async with session(client) as opened:
        result = await opened.call_tool("search", arguments)
    assert result.isError
    assert said in text(result)
    assert len(text(result)) < 200


async def test_an_unknown_tool_is_an_error_that_names_those_there_are(start: Start) -> None:
    client = await start()
    async with session(client) as opened:
        result = await opened.call_tool("turn_on_the_light", {})
    assert result.isError
    assert "search, sources" in text(result)


@pytest.mark.parametrize(
    ("error", "is_error"),
    [("nothing_found", False), ("timeout", True), ("not_configured: ZIM_DIR", True)],
)
async def test_a_failure_is_an_error_and_a_miss_is_none(
    error: str, is_error: bool, start: Start, ask: ScriptedAsk
) -> None:
    told = {"success": False, "error": error, "result": "Nothing to tell.", "answer": None}
    ask.items = [SERVED.model_copy(update=told)]
    client = await start()
    async with session(client) as opened:
        result = await opened.call_tool("search", {"query": "what does E24 mean"})
    assert result.isError is is_error
    assert "Nothing to tell." in text(result)


async def test_the_key_is_needed_here_too(start: Start) -> None:
    client = await start(api_keys=["a-long-key"])
    async with session(client, "a-long-key") as opened:
        assert (await opened.list_tools()).tools
    refused = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert refused.status == 401


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"jsonrpc": "1.0"}', b"\xff\xfe"])
async def test_what_is_no_message_is_refused(body: bytes, start: Start) -> None:
    client = await start()
    refused = await client.post("/mcp", data=body, headers={"Content-Type": "application/json"})
    assert refused.status == 400
    assert "JSON-RPC" in (await refused.json())["message"]


async def test_an_unknown_method_is_an_error_of_the_protocol(start: Start) -> None:
    client = await start()
    answered = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 7, "method": "lights/on"})
    told = await answered.json()
    assert told["id"] == 7
    assert told["error"]["code"] < 0
    assert (await client.get("/mcp")).status == 405
