"""Every address and what answers there. A handler reads, asks, returns; it knows no failure by name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
import re
import time
from typing import Any, Final

from aiohttp import web
from pydantic import BaseModel
from pydantic_core import to_json

from backend.contract import CONTRACT, Health, Reply, SearchRequest
from backend.server import asking, backup, door, mcp, openapi, streaming
from backend.server.auth import MAY_SEE
from backend.server.errors import Invalid, Upstream
from backend.server.metrics import CONTENT_TYPE, METRICS
from backend.server.openapi import Route
from backend.server.parts import ASK, HEALTH, LOOK, SETTINGS, STORE
from backend.server.rates import room_for_a_question
from backend.sources.base import Catalogued, Placed
from backend.sources.http import UpstreamError
from backend.store.snapshots import KEEP

_HOURS_MAX: Final = int(KEEP.total_seconds() // 3600)
_HOURS_DEFAULT: Final = 24
_LOGS_MAX: Final = 1_000
_LOGS_DEFAULT: Final = 100
_AREAS_SECONDS: Final = 5.0


def _json(value: BaseModel | Mapping[str, Any]) -> web.Response:
    return _response(to_json(value))


def _response(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json", charset="utf-8")


async def search(request: web.Request) -> web.StreamResponse:
    """Answer a question, as JSON or as a stream."""
    app = request.app
    ask = app[ASK]
    question, explain = await door.read(request, app[SETTINGS])
    door.check_sources(question, ask.sources)
    with await room_for_a_question(app, request):
        if streaming.wants_stream(",".join(request.headers.getall("Accept", ()))):
            return await streaming.respond(request, ask, question, explain=explain)
        if not explain and (told := asking.again(ask, question)) is not None:
            asking.record(app[METRICS], question, told.reply, stream=False)
            return _response(to_json(question.request_id).join(told.json))
        reply = None
        try:
            reply = await asking.reply(ask, question, explain=explain)
        finally:
            asking.record(app[METRICS], question, reply, stream=False)
        return _json(reply)


async def health(request: web.Request) -> web.StreamResponse:
    """Return that the server lives, and how it is to those who may know."""
    state = await request.app[HEALTH]()
    if request[MAY_SEE]:
        return _json(state)
    return _json(state.model_dump(exclude={"sources", "model", "cache", "jobs"}))


async def sources(request: web.Request) -> web.StreamResponse:
    """Return every source with its label and how it is doing."""
    return _json({"sources": asking.source_rows(request.app[ASK])})


async def catalog(request: web.Request) -> web.StreamResponse:
    """Return every book that encyclopedias are looked up in."""
    return _json({"books": [book for source in _catalogued(request) for book in source.books()]})


async def catalog_refresh(request: web.Request) -> web.StreamResponse:
    """Look for books now."""
    sources = _catalogued(request)
    for source in sources:
        try:
            await source.refresh()
        except UpstreamError as error:
            raise Upstream(f"The catalogue can't be read: {error}.") from None
    return _json({"status": "ok", "books": sum(len(source.books()) for source in sources)})


def _catalogued(request: web.Request) -> list[Catalogued]:
    every = request.app[ASK].sources.values()
    return [source for source in every if isinstance(source, Catalogued)]


async def areas(request: web.Request) -> web.StreamResponse:
    """Return the areas of the house, by the names that Home Assistant has for them."""
    names: set[str] = set()
    for source in request.app[ASK].sources.values():
        if isinstance(source, Placed):
            names |= await source.areas(time.monotonic() + _AREAS_SECONDS)
    return _json({"areas": sorted(names)})


async def changes(request: web.Request) -> web.StreamResponse:
    """Return what has changed in the last hours, the oldest first."""
    hours = _whole_number(request, "hours", _HOURS_DEFAULT, _HOURS_MAX)
    until = datetime.now(UTC)
    rows = await request.app[STORE].snapshots.changes(until - timedelta(hours=hours), until)
    return _json(
        {
            "hours": hours,
            "changes": [
                {
                    "source": change.source,
                    "name": change.name,
                    "before": change.before,
                    "after": change.after,
                    "since": change.since.isoformat(),
                    "at": change.at.isoformat(),
                }
                for change in rows
            ],
        }
    )


async def snapshots_trigger(request: web.Request) -> web.StreamResponse:
    """Look at every source whose changes are told, now."""
    return _json({"status": "ok", "changes": await request.app[LOOK]()})


def _whole_number(request: web.Request, name: str, default: int, most: int) -> int:
    """Return the parameter `name` of the address, a number from 1 to `most`."""
    value = request.query.get(name, str(default))
    if not re.fullmatch(r"[0-9]{1,6}", value) or not 1 <= int(value) <= most:
        raise Invalid(
            f"{name}: has to be a whole number from 1 to {most}.",
            field=name,
            allowed=(f"1..{most}",),
        )
    return int(value)


def _number_parameter(name: str, default: int, most: int) -> dict[str, Any]:
    schema = {"type": "integer", "minimum": 1, "maximum": most, "default": default}
    return {"name": name, "in": "query", "schema": schema}


async def logs(request: web.Request) -> web.StreamResponse:
    """Return the newest questions."""
    limit = _whole_number(request, "limit", _LOGS_DEFAULT, _LOGS_MAX)
    rows = await request.app[STORE].log.recent(limit)
    return _json({"logs": [row.as_dict() for row in rows]})


async def logs_stats(request: web.Request) -> web.StreamResponse:
    """Return what the query log says in figures."""
    return _json(await request.app[STORE].log.stats())


async def logs_clear(request: web.Request) -> web.StreamResponse:
    """Forget all questions."""
    return _json({"status": "ok", "entries_removed": await request.app[STORE].log.clear()})


async def backup_info(request: web.Request) -> web.StreamResponse:
    """Return how much there is to keep a copy of."""
    return _json(await asyncio.to_thread(backup.info, request.app[STORE]))


async def cache(request: web.Request) -> web.StreamResponse:
    """Return how much is kept."""
    store = request.app[STORE]
    return _json({"results": await store.results.count(), "answers": await store.answers.count()})


async def cache_clear(request: web.Request) -> web.StreamResponse:
    """Forget what is kept."""
    store = request.app[STORE]
    answers = await store.answers.clear()
    results = await store.results.clear()
    return _json({"status": "ok", "entries_removed": results + answers})


async def routing_cache(request: web.Request) -> web.StreamResponse:
    """Return how many choices of a source are kept."""
    return _json({"routes": await request.app[STORE].routes.count()})


async def routing_cache_clear(request: web.Request) -> web.StreamResponse:
    """Forget the choices of a source."""
    return _json({"status": "ok", "entries_removed": await request.app[STORE].routes.clear()})


async def metrics(request: web.Request) -> web.StreamResponse:
    """Return the counters, for Prometheus."""
    health = await request.app[HEALTH]()
    # In a thread: the memory of the process is read from a file.
    text = await asyncio.to_thread(request.app[METRICS].text, health)
    return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE})


async def document(request: web.Request) -> web.StreamResponse:
    """Return the OpenAPI document."""
    return _json(openapi.document(ROUTES))


async def root(request: web.Request) -> web.StreamResponse:
    """Return what this is, to whoever opens the address by hand."""
    return _json(
        {
            "name": "mnemolis",
            "what": "Answers a household's spoken questions from sources the house owns.",
            "contract": CONTRACT,
            "ask": "POST /search",
            "see": "/openapi.json",
        }
    )


ROUTES: Final = (
    Route("GET", "/", root, "What this is."),
    Route(
        "POST",
        "/search",
        search,
        "Ask a question. With `Accept: text/event-stream` the reply comes as it grows.",
        body=SearchRequest,
        reply=Reply,
        streams=True,
    ),
    Route(
        "GET",
        "/health",
        health,
        "Whether the server lives; with a key (or where none is set) how its parts are doing.",
        reply=Health,
    ),
    Route("GET", "/sources", sources, "Every source: tag, label, state."),
    Route("GET", "/catalog", catalog, "Every book of the encyclopedias."),
    Route("POST", "/catalog/refresh", catalog_refresh, "Look for books now."),
    Route("GET", "/areas", areas, "The areas of the house, where HA_TOKEN lets them be read."),
    Route(
        "GET",
        "/logs",
        logs,
        "The newest questions, the newest first.",
        parameters=(_number_parameter("limit", _LOGS_DEFAULT, _LOGS_MAX),),
    ),
    Route(
        "GET",
        "/changes",
        changes,
        "What has changed in the last hours.",
        parameters=(_number_parameter("hours", _HOURS_DEFAULT, _HOURS_MAX),),
    ),
    Route("POST", "/snapshots/trigger", snapshots_trigger, "Look for changes now."),
    Route("GET", "/logs/stats", logs_stats, "The query log in figures."),
    Route("POST", "/logs/clear", logs_clear, "Forget all questions."),
    Route("GET", "/cache", cache, "How many results and answers are kept."),
    Route("POST", "/cache/clear", cache_clear, "Forget all kept results and answers."),
    Route("GET", "/cache/routing", routing_cache, "How many choices of a source are kept."),
    Route("POST", "/cache/routing/clear", routing_cache_clear, "Forget those choices."),
    Route("GET", "/backup", backup.get, "All that the server keeps, as one archive (tar.gz)."),
    Route("GET", "/backup/info", backup_info, "How large that is."),
    Route("GET", "/metrics", metrics, "The counters, for Prometheus."),
    Route("POST", "/mcp", mcp.post, "The Model Context Protocol over streamable HTTP, stateless."),
    Route("GET", "/openapi.json", document, "This document."),
)
