"""The Model Context Protocol over streamable HTTP, for assistants and desks that speak it.

Decides which tools there are and how a reply of the spine looks as one's result; the protocol itself is the official
SDK's, which is an extra and is loaded when a client first asks. Stateless: each message is one request with one JSON
reply, as the transport allows (https://modelcontextprotocol.io/specification/draft/basic/transports), and Home
Assistant's own server does it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
import json
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web
from pydantic import ValidationError

from backend import __version__
from backend.contract import AUTO, QUERY_MAX_CHARS, Reply, SearchRequest
from backend.server import asking, door
from backend.server.errors import REQUEST_ID, InvalidJson, NotInstalled, Refusal
from backend.server.metrics import METRICS
from backend.server.parts import ASK, SETTINGS
from backend.server.rates import room_for_a_question
from backend.types import FUSION

if TYPE_CHECKING:
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcp.shared.message import SessionMessage

_REMEDY: Final = (
    "MCP isn't installed; install it once with EXTRAS=mcp scripts/run, or pip install -e '.[mcp]'"
)
_NAMES: Final = {"answer": "synthesize"}
_NOT_A_FAULT: Final = "nothing_found"


async def post(request: web.Request) -> web.StreamResponse:
    """Answer one message of a client."""
    try:
        await asyncio.to_thread(__import__, "mcp.server.lowlevel")
    except ImportError:
        raise NotInstalled(_REMEDY) from None
    from mcp import types

    try:
        message = types.JSONRPCMessage.model_validate_json(await request.read())
    except ValidationError:
        raise InvalidJson("The body has to be one JSON-RPC 2.0 message.") from None
    if not isinstance(message.root, types.JSONRPCRequest):
        # Notifications and replies of the client are taken, and have no answer.
        return web.Response(status=202)
    reply = await _exchange(_server(request), message)
    return web.Response(
        text=reply.model_dump_json(by_alias=True, exclude_none=True),
        content_type="application/json",
    )


async def _exchange(server: Server[Any], message: types.JSONRPCMessage) -> types.JSONRPCMessage:
    """Return what `server` says to a request, by the in-memory streams that the SDK works on."""
    import anyio
    from mcp.shared.message import SessionMessage

    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](1)
    async with to_server, incoming, outgoing, from_server, anyio.create_task_group() as group:

        async def run() -> None:
            options = server.create_initialization_options()
            await server.run(incoming, outgoing, options, stateless=True)

        group.start_soon(run)
        await to_server.send(SessionMessage(message))
        reply: SessionMessage = await anext(from_server)
        group.cancel_scope.cancel()
    return reply.message


def _server(request: web.Request) -> Server[Any]:
    from mcp import types
    from mcp.server.lowlevel import Server

    server: Server[Any] = Server("Mnemolis", version=__version__)
    tags = (AUTO, FUSION, *request.app[ASK].sources)
    tools: dict[str, tuple[types.Tool, Callable[..., Awaitable[types.CallToolResult]]]] = {
        "search": (
            types.Tool(
                name="search",
                title="Ask the house",
                description=(
                    "Look a question up in the sources that the house owns: its own documents, encyclopedias, and what"
                    " else is configured. Returns the evidence word for word, or a short answer that stands on it."
                ),
                inputSchema=_schema(tags),
                annotations=_looks(),
            ),
            _search,
        ),
        "sources": (
            types.Tool(
                name="sources",
                title="Sources of the house",
                description="List the sources that can be searched, and how each is doing.",
                inputSchema={"type": "object", "properties": {}, "additionalProperties": False},
                annotations=_looks(),
            ),
            _sources,
        ),
    }

    async def list_tools() -> list[types.Tool]:
        return [tool for tool, _ in tools.values()]

    async def call_tool(name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        if name not in tools:
            return _fault(f"There is no tool {name!r}; there are: {', '.join(tools)}.")
        known = tools[name][0].inputSchema["properties"]
        for argument in arguments:
            if argument not in known:
                takes = ", ".join(known) or "nothing"
                return _fault(f"{name} doesn't take {argument!r}; it takes: {takes}.")
        return await tools[name][1](request, arguments)

    # The SDK's decorator for lists has no types of its own.
    server.list_tools()(list_tools)  # type: ignore[no-untyped-call]
    # Checked by the door as every request: what the SDK says of a wrong value repeats the value.
    server.call_tool(validate_input=False)(call_tool)
    return server


def _looks() -> types.ToolAnnotations:
    """Return what is true of every tool: it looks things up and changes nothing."""
    from mcp import types

    return types.ToolAnnotations(readOnlyHint=True, idempotentHint=True, openWorldHint=True)


def _schema(tags: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "minLength": 1,
                "maxLength": QUERY_MAX_CHARS,
                "description": "The question, in any words.",
            },
            "source": {"type": "string", "enum": list(tags), "default": AUTO},
            "answer": {
                "type": "boolean",
                "default": False,
                "description": "Compose a short answer too; without it, the evidence alone.",
            },
            "language": {"type": "string", "description": "BCP 47 tag of the question."},
        },
        "required": ["query"],
        "additionalProperties": False,
    }


async def _search(request: web.Request, arguments: Mapping[str, Any]) -> types.CallToolResult:
    app = request.app
    body = {_NAMES.get(name, name): value for name, value in arguments.items()}
    try:
        asked = SearchRequest.model_validate(body)
        question = await door.question(asked, app[SETTINGS], request[REQUEST_ID])
        door.check_sources(question, app[ASK].sources)
        with await room_for_a_question(app, request):
            told = asking.again(app[ASK], question)
            reply = told.reply if told else await asking.reply(app[ASK], question, explain=False)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return _fault(f"{first['loc'][0]}: {first['msg']}.")
    except Refusal as refusal:
        allowed = refusal.body.allowed
        return _fault(
            f"{refusal.body.message} Allowed: {', '.join(allowed)}."
            if allowed
            else refusal.body.message
        )
    asking.record(app[METRICS], question, reply, stream=False)
    return _result(reply)


async def _sources(request: web.Request, arguments: Mapping[str, Any]) -> types.CallToolResult:
    rows = asking.source_rows(request.app[ASK])
    return _text(json.dumps(rows, ensure_ascii=False), {"sources": rows})


def _result(reply: Reply) -> types.CallToolResult:
    """Return a reply as a tool's result: what failed is an error, what wasn't found is none."""
    if not reply.success and reply.error != _NOT_A_FAULT:
        return _fault(f"{reply.result} ({reply.error})")
    told = reply.model_dump(
        mode="json",
        include={
            "result",
            "answer",
            "answer_sources",
            "source_used",
            "citations",
            "language",
            "success",
        },
    )
    return _text(reply.answer or reply.result, told)


def _text(text: str, structured: dict[str, Any]) -> types.CallToolResult:
    from mcp import types

    content = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=list(content), structuredContent=structured, isError=False)


def _fault(text: str) -> types.CallToolResult:
    from mcp import types

    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], isError=True)
