"""What a refused or broken request looks like on the wire.

Code anywhere in `server/` raises a `Refusal`; the one middleware here turns it, aiohttp's own refusals and every
fault into the same JSON shape, and gives each reply its request id. Failures of a question are no HTTP errors:
those are replies with a sentence to say, and `backend.server.asking` makes them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
import json
import logging
import random
import re
from typing import Any, ClassVar, Final

from aiohttp import web
from pydantic import ValidationError

from backend.contract import BODY_MAX_BYTES, ErrorBody
from backend.store.database import StoreError

_LOGGER = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

REQUEST_ID: Final = web.RequestKey("request_id", str)
REQUEST_ID_HEADER: Final = "X-Request-ID"
_SANE_ID: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")


class Refusal(Exception):
    """A request that can't be served: `field` names what is wrong with it, `allowed` what would be right."""

    status: ClassVar[int]
    error: ClassVar[str]

    def __init__(
        self, message: str, *, field: str | None = None, allowed: Iterable[str] | None = None
    ) -> None:
        super().__init__(message)
        self.body = ErrorBody(
            error=self.error,
            message=message,
            field=field,
            allowed=None if allowed is None else list(allowed),
        )


class InvalidJson(Refusal):
    """The body isn't JSON."""

    status, error = 400, "invalid_json"


class IncompleteBody(Refusal):
    """The body didn't arrive in time."""

    status, error = 400, "incomplete_body"


class BrokenBody(Refusal):
    """The body isn't in the encoding that the request says."""

    status, error = 400, "broken_body"


class KeyInUrl(Refusal):
    """A key in the address, where proxies and browsers write it down."""

    status, error = 400, "key_in_url"


class CrossSite(Refusal):
    """A web page of another site wants something done."""

    status, error = 400, "cross_site"


class Unauthorized(Refusal):
    """No key, or a wrong one."""

    status, error = 401, "unauthorized"


class UnsupportedMediaType(Refusal):
    """A body that says it is something else than JSON."""

    status, error = 415, "unsupported_media_type"


class Invalid(Refusal):
    """A value of a wrong type, out of its bounds, or unknown."""

    status, error = 422, "invalid"


class Busy(Refusal):
    """More at once than the server takes."""

    status, error = 429, "busy"


class Upstream(Refusal):
    """A server that we ask doesn't answer."""

    status, error = 502, "upstream"


class NotInstalled(Refusal):
    """A part of the server that is an extra and isn't there."""

    status, error = 501, "not_installed"


def invalid(error: ValidationError, body: bytes) -> Refusal:
    """Return the refusal that says what pydantic found first. The values themselves aren't repeated."""
    first = error.errors(include_url=False, include_input=False)[0]
    expected = str(first.get("ctx", {}).get("expected", ""))
    if first["type"] == "json_invalid":
        fault = str(first.get("ctx", {}).get("error", first["msg"]))
        if _is_json(body):
            # JSON's grammar allows half of a surrogate pair; as text there is no such thing.
            return Invalid(f"The body holds a value that can't be: {fault}.")
        return InvalidJson(f"The body isn't valid JSON: {fault}.")
    field = ".".join(str(part) for part in first["loc"])
    return Invalid(
        f"{field or 'body'}: {first['msg']}.",
        field=field or None,
        allowed=re.findall(r"'([^']*)'", expected) or None,
    )


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def json_response(body: ErrorBody, status: int) -> web.Response:
    """Return an error as every client gets it."""
    return web.json_response(
        body.model_dump(exclude_none=True),
        status=status,
        dumps=lambda value: json.dumps(value, ensure_ascii=False),
    )


def _of_aiohttp(request: web.Request, error: web.HTTPException) -> web.Response:
    """Return a refusal of aiohttp's own in our shape."""
    match error:
        case web.HTTPRequestEntityTooLarge():
            message = f"The body is larger than the limit of {BODY_MAX_BYTES} bytes."
            return json_response(ErrorBody(error="body_too_large", message=message), 413)
        case web.HTTPMethodNotAllowed():
            response = json_response(
                ErrorBody(
                    error="method_not_allowed",
                    message=f"This address doesn't take {request.method}.",
                    allowed=sorted(error.allowed_methods),
                ),
                405,
            )
            response.headers["Allow"] = ", ".join(sorted(error.allowed_methods))
            return response
        case web.HTTPNotFound():
            message = "There is nothing at this address; GET /openapi.json says what there is."
            return json_response(ErrorBody(error="not_found", message=message), 404)
        case _:
            # What remains are malformed requests (a bad Expect header, a broken body).
            message = f"The request can't be understood ({error.reason})."
            return json_response(ErrorBody(error="bad_request", message=message), error.status)


def _fault(request_id: str) -> web.Response:
    message = f"Something went wrong; the server's log says what, under request {request_id}."
    return json_response(ErrorBody(error="internal", message=message), 500)


@web.middleware
async def boundary(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn whatever a handler raises into HTTP; the outermost middleware."""
    asked = request.headers.get(REQUEST_ID_HEADER, "")
    request_id = asked if _SANE_ID.fullmatch(asked) else f"{random.getrandbits(128):032x}"
    request[REQUEST_ID] = request_id
    response: web.StreamResponse
    try:
        response = await handler(request)
    except Refusal as refusal:
        response = json_response(refusal.body, refusal.status)
        if isinstance(refusal, Unauthorized):
            response.headers["WWW-Authenticate"] = 'Bearer realm="mnemolis"'
        elif isinstance(refusal, Busy):
            response.headers["Retry-After"] = "1"
        _log_refusal(request, request_id, response.status, refusal.body.error)
    except web.HTTPException as error:
        response = _of_aiohttp(request, error)
        _log_refusal(request, request_id, response.status, error.reason)
    except StoreError as error:
        # Its message is for the owner, and says the remedy.
        _LOGGER.error("%s", error, extra={"request_id": request_id})
        response = json_response(ErrorBody(error="store", message=f"{error}."), 500)
    except Exception:
        _LOGGER.exception(
            "a handler failed", extra={"request_id": request_id, "path": request.path}
        )
        response = _fault(request_id)
    if not response.prepared:
        head(response, request_id)
    return response


def head(response: web.StreamResponse, request_id: str) -> None:
    """Put the headers on that every reply has."""
    response.headers[REQUEST_ID_HEADER] = request_id
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"


def _log_refusal(request: web.Request, request_id: str, status: int, error: str) -> None:
    fields: dict[str, Any] = {
        "request_id": request_id,
        "method": request.method,
        "path": request.path,
        "status": status,
        "error": error,
    }
    _LOGGER.info("refused", extra=fields)
