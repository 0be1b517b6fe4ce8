"""Who may ask: one boundary for every address.

With keys set, everything but the liveness form of `GET /health` needs one, in `X-API-Key` or as a bearer token.
A key in the address is refused, keys set or not, since addresses are written into logs on the way.

Pages of other sites can't make a browser act here: what changes something is refused when the browser says that
another site asks (`Origin`, `Sec-Fetch-Site`), a JSON body of another site is announced by a preflight that no
address answers, and there are no CORS headers. A page that has its own name point at this machine (DNS
rebinding) passes for the same site: against that, set keys.
"""

from __future__ import annotations

from collections.abc import Iterable
import hashlib
import hmac
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from pydantic import SecretStr

from backend.server.errors import CrossSite, Handler, KeyInUrl, Unauthorized

KEY_HEADER: Final = "X-API-Key"
MAY_SEE: Final = web.RequestKey("may_see", bool)
"""Whether the caller may see more than that the server lives."""

_IN_URL: Final = frozenset(
    ("access_token", "api-key", "api_key", "apikey", "key", "token", "x-api-key")
)
_SAFE: Final = frozenset(("GET", "HEAD", "OPTIONS"))


class Keys:
    """The keys that clients may use; none leaves the server open."""

    def __init__(self, keys: Iterable[SecretStr]) -> None:
        self._digests = tuple(_digest(key.get_secret_value()) for key in keys)

    def __bool__(self) -> bool:
        return bool(self._digests)

    def admits(self, key: str) -> bool:
        """Return whether the key is one of ours, in the same time for every wrong one."""
        presented = _digest(key)
        matches = [hmac.compare_digest(presented, known) for known in self._digests]
        return any(matches)


KEYS: Final = web.AppKey("keys", Keys)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def _presented(request: web.Request) -> str | None:
    """Return the key that came with the request, None without one."""
    if (key := request.headers.get(KEY_HEADER)) is not None:
        return key
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _cross_site(request: web.Request) -> bool:
    if request.headers.get("Sec-Fetch-Site") == "cross-site":
        return True
    origin = request.headers.get("Origin")
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc.lower() != request.host.lower()
    except ValueError:
        # No browser of ours sends what isn't an address.
        return True


def caller(request: web.Request) -> str:
    """Return who asks, in a word that is no secret."""
    key = _presented(request)
    return _digest(key).hex()[:16] if request.app[KEYS] and key else request.remote or ""


@web.middleware
async def admission(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let through who may ask, refuse the others."""
    for name in request.query if request.query_string else ():
        if name.lower() in _IN_URL:
            raise KeyInUrl(
                f"Keys don't belong into the address; send the key in the header {KEY_HEADER}.",
                field=name,
            )
    keys = request.app[KEYS]
    key = _presented(request)
    admitted = not keys or (key is not None and keys.admits(key))
    liveness = request.path == "/health" and request.method in _SAFE and key is None
    if not admitted and not liveness:
        raise Unauthorized(
            f"The key is missing or wrong; send one of API_KEYS in the header {KEY_HEADER}."
        )
    if request.method not in _SAFE and _cross_site(request):
        raise CrossSite("A web page of another site can't use this server.", field="Origin")
    request[MAY_SEE] = admitted
    return await handler(request)
