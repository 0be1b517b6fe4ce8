"""One feed by its address: fetched where it has changed, from wherever it leads.

Decides how far a server may lead away from the address that the owner gave: to public addresses, and to hosts whose
feeds the owner named, never to others of the house. What a feed says is `feeds`'.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from http import HTTPStatus
from typing import Final
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver

from backend.sources import feeds
from backend.sources.feed_text import NoFeed
from backend.sources.feeds import NewsItem
from backend.sources.http import Answered, Moved, UpstreamError, fetch_whole, open_session
from backend.sources.public import MOST_REDIRECTIONS, allowed, connector
from backend.types import Failed

MOST_BYTES: Final = 2_000_000
_VALIDATORS: Final = {"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}
"""What a server tells of a feed's state, by what it wants to hear of it: RFC 9110, 8.8 and 13.1."""
_MOST_VALIDATOR: Final = 200


class Elsewhere:
    """Where feeds may lead to: the internet at large, and `hosts`, in lower case; `resolver` None is the system's."""

    def __init__(
        self, hosts: Collection[str] = (), resolver: AbstractResolver | None = None
    ) -> None:
        self.hosts = frozenset(hosts)
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None

    @property
    def session(self) -> aiohttp.ClientSession:
        """The session that goes nowhere else, opened when it is first needed."""
        if self._session is None:
            self._session = open_session(connector(self.hosts, self._resolver))
        return self._session

    async def close(self) -> None:
        """End all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


class Feed:
    """One feed by its address; what it held last is known until it has changed."""

    def __init__(self, session: aiohttp.ClientSession, url: str, elsewhere: Elsewhere) -> None:
        self._session = session
        self._url = url
        self._elsewhere = elsewhere
        self._known: tuple[dict[str, str], list[NewsItem]] = {}, []
        self.name = urlsplit(url).hostname or "a feed"

    async def items(self, until: float) -> list[NewsItem]:
        """Fetch the feed if it isn't as it was, by `until` (monotonic). Raises UpstreamError."""
        asked, items = self._known
        reply = await self._fetch(asked, until)
        if asked and reply.status == HTTPStatus.NOT_MODIFIED:
            return items
        try:
            items = await asyncio.to_thread(feeds.parse, reply.body)
        except NoFeed:
            raise UpstreamError(Failed("bad_reply", f"{self.name} sends no feed")) from None
        told = {asks: reply.headers.get(name, "") for name, asks in _VALIDATORS.items()}
        validators = {
            asks: value
            for asks, value in told.items()
            if 0 < len(value) <= _MOST_VALIDATOR and value.isprintable()
        }
        self._known = validators, items
        return items

    async def _fetch(self, headers: dict[str, str], until: float) -> Answered:
        address, session = self._url, self._session
        for _ in range(MOST_REDIRECTIONS + 1):
            try:
                return await fetch_whole(
                    session,
                    address,
                    until=until,
                    headers=headers,
                    most_bytes=MOST_BYTES,
                    follow=False,
                )
            except Moved as moved:
                address, session = self._led(address, moved.location), self._elsewhere.session
        raise UpstreamError(Failed("bad_reply", f"{self.name} leads on and on"))

    def _led(self, address: str, location: str) -> str:
        """Return where `address` leads. Raises UpstreamError where that may not be asked."""
        own = urlsplit(self._url)
        login, _, host = own.netloc.rpartition("@")
        try:
            target = urlsplit(urljoin(address, location))
        except ValueError:
            target = urlsplit("")
        bare = target._replace(netloc=target.netloc.rpartition("@")[2])
        url = allowed(bare.geturl(), self._elsewhere.hosts)
        if url is None:
            raise UpstreamError(Failed("bad_reply", f"{self.name} leads where it may not"))
        # A password is for the server that the owner gave it for, and never sent less safely.
        if login and bare.netloc == host and bare.scheme in (own.scheme, "https"):
            return bare._replace(netloc=f"{login}@{host}").geturl()
        return str(url)
