"""Asking a server of the house, or one that the owner named, over HTTP.

Decides what becomes of a server that is slow, away, or says what it shouldn't: `UpstreamError`, which holds the
outcome of the source. What is asked, and what a reply means, is each source's. Addresses stay out of every message
but for the host: feeds and status pages carry keys in their paths.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
import json
import time
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from backend.types import Failed

CONNECT_SECONDS: Final = 3.0
MOST_BYTES: Final = 4_000_000
Data = Mapping[str, str] | Sequence[tuple[str, str]] | bytes
_BUSY: Final = (429, 503)
_REFUSED: Final = (401, 403)


class UpstreamError(Exception):
    """A server couldn't be asked; `failed` is what the source answers, `status` that of a reply, if there was one."""

    def __init__(self, failed: Failed, status: int | None = None) -> None:
        super().__init__(f"{failed.kind}: {failed.detail}")
        self.failed = failed
        self.status = status


class Moved(UpstreamError):
    """A server names another place for what was asked; nobody has looked whether it may be asked there."""

    def __init__(self, host: str, location: str, status: int) -> None:
        super().__init__(Failed("bad_reply", f"{host} leads elsewhere"), status)
        self.location = location


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply below 300, or 304, which has no body. `headers` are found by their name in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def open_session(connector: aiohttp.BaseConnector | None = None) -> aiohttp.ClientSession:
    """Return a session that keeps no cookies; the one of all sources has aiohttp's own pool of connections."""
    return aiohttp.ClientSession(
        connector=connector,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": "Mnemolis"},
    )


async def fetch(
    session: aiohttp.ClientSession,
    url: str,
    *,
    until: float,
    method: str = "GET",
    params: Mapping[str, str] | None = None,
    data: Data | None = None,
    headers: Mapping[str, str] | None = None,
    most_bytes: int = MOST_BYTES,
    kind: str = "",
    follow: bool = True,
) -> bytes:
    """Return the body of a reply; `until` is a moment of the monotonic clock. Raises UpstreamError.

    A reply whose media type isn't `kind`, where one is given, isn't read. Without `follow` a redirection raises Moved.
    """
    answered = await fetch_whole(
        session,
        url,
        until=until,
        method=method,
        params=params,
        data=data,
        headers=headers,
        most_bytes=most_bytes,
        kind=kind,
        follow=follow,
    )
    return answered.body


async def fetch_whole(
    session: aiohttp.ClientSession,
    url: str,
    *,
    until: float,
    method: str = "GET",
    params: Mapping[str, str] | None = None,
    data: Data | None = None,
    headers: Mapping[str, str] | None = None,
    most_bytes: int = MOST_BYTES,
    kind: str = "",
    follow: bool = True,
) -> Answered:
    """Return a reply, as `fetch` does its body. Raises UpstreamError."""
    host = urlsplit(url).hostname or "the server"
    try:
        async with (
            asyncio.timeout(max(0.0, until - time.monotonic())),
            session.request(
                method,
                url,
                params=params,
                data=data,
                headers=headers,
                allow_redirects=follow,
                max_redirects=3,
            ) as reply,
        ):
            if reply.status in _REFUSED:
                raise UpstreamError(Failed("bad_reply", f"{host} refuses the key"), reply.status)
            if reply.status in _BUSY:
                raise UpstreamError(Failed("busy", f"{host} says {reply.status}"), reply.status)
            if reply.status >= 400:
                raise UpstreamError(
                    Failed("bad_reply", f"{host} says {reply.status}"), reply.status
                )
            if reply.status >= 300 and reply.status != HTTPStatus.NOT_MODIFIED:
                raise Moved(host, reply.headers.get("Location", ""), reply.status)
            if kind and reply.content_type != kind:
                raise UpstreamError(Failed("bad_reply", f"{host} sends {reply.content_type}"))
            body = bytearray()
            async for chunk in reply.content.iter_any():
                body += chunk
                if len(body) > most_bytes:
                    raise UpstreamError(
                        Failed("bad_reply", f"{host} sends more than {most_bytes >> 10} kB")
                    )
            return Answered(reply.status, reply.headers, bytes(body))
    except TimeoutError as error:
        raise UpstreamError(Failed("timeout", f"no answer from {host}")) from error
    except (aiohttp.ClientConnectionError, OSError) as error:
        raise UpstreamError(
            Failed("unreachable", f"no connection to {host} ({type(error).__name__})")
        ) from error
    except (aiohttp.ClientError, ValueError) as error:
        raise UpstreamError(Failed("bad_reply", f"{host}: {type(error).__name__}")) from error


async def fetch_json(
    session: aiohttp.ClientSession,
    url: str,
    *,
    until: float,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Any:
    """Return a reply that is JSON. Raises UpstreamError."""
    body = await fetch(session, url, until=until, params=params, headers=headers)
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        host = urlsplit(url).hostname or "the server"
        raise UpstreamError(Failed("bad_reply", f"{host} sends no JSON")) from error
