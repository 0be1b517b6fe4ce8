"""The OpenAPI document, made from the contract's models and the table of routes: it can't say anything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from backend.contract import (
    BODY_MAX_BYTES,
    CONTRACT,
    ErrorBody,
    ErrorEvent,
    Health,
    Reply,
    SearchRequest,
    SentenceEvent,
)
from backend.server.errors import Handler

_REFUSALS: Final = {
    400: "Not JSON, or a request that can't be understood.",
    401: "No key, or a wrong one.",
    413: f"The body is larger than {BODY_MAX_BYTES} bytes.",
    415: "The body doesn't say that it is JSON.",
    422: "A value is of a wrong type, out of its bounds, or unknown; `allowed` says what isn't.",
    429: "Too many questions at once.",
}
_STREAM: Final = (
    "Server-sent events: `retrieval` (Reply, its answer null), `sentence` (SentenceEvent), `done` (Reply), or `error`"
    " (ErrorEvent), after which nothing follows. On hand-back `done` alone."
)


@dataclass(frozen=True)
class Route:
    """An address, for the router and for the document."""

    method: str
    path: str
    handler: Handler
    summary: str
    body: type[BaseModel] | None = None
    reply: type[BaseModel] | None = None
    streams: bool = False
    parameters: tuple[Mapping[str, Any], ...] = ()


def _ref(model: type[BaseModel]) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _operation(route: Route) -> dict[str, Any]:
    schema = _ref(route.reply) if route.reply else {"type": "object"}
    content: dict[str, Any] = {"application/json": {"schema": schema}}
    if route.streams:
        content["text/event-stream"] = {"schema": {"type": "string", "description": _STREAM}}
    refusals = _REFUSALS if route.body else {code: _REFUSALS[code] for code in (400, 401)}
    if route.parameters:
        refusals = {**refusals, 422: _REFUSALS[422]}
    operation: dict[str, Any] = {
        "summary": route.summary,
        "responses": {"200": {"description": "Done.", "content": content}}
        | {
            str(code): {
                "description": text,
                "content": {"application/json": {"schema": _ref(ErrorBody)}},
            }
            for code, text in refusals.items()
        },
    }
    if route.body:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _ref(route.body)}},
        }
    if route.parameters:
        operation["parameters"] = list(route.parameters)
    return operation


def document(routes: Iterable[Route]) -> dict[str, Any]:
    """Return the document; `info.version` is the number of the contract."""
    _, schemas = models_json_schema(
        [
            (SearchRequest, "validation"),
            *(
                (model, "serialization")
                for model in (Reply, SentenceEvent, ErrorEvent, ErrorBody, Health)
            ),
        ],
        ref_template="#/components/schemas/{model}",
    )
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "mnemolis", "version": str(CONTRACT)},
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {
                "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
        "security": [{"key": []}, {"bearer": []}, {}],
    }
