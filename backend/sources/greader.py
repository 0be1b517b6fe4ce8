"""A feed reader with the GReader API: FreshRSS, Miniflux and others.

Decides how one logs in, and what of a reply is an item. The login is kept, and renewed once where the server has
forgotten it. Miniflux takes a form only with a token of its own in it, as Google's reader did. A server that leads
elsewhere isn't followed: the password is for the one that the owner named. Described at
https://www.inoreader.com/developers/ and, for FreshRSS, in its p/api/greader.php.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
import json
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from backend.sources.feeds import NewsItem, clean, in_language, shortened, web_address
from backend.sources.http import UpstreamError, fetch
from backend.types import Failed

_MOST_ITEMS: Final = 100
_READING_LIST: Final = "user/-/state/com.google/reading-list"
_UNKNOWN: Final = (404, 405)
"""What a server says to paths that it doesn't have."""
_MOST_TOKEN: Final = 500
_PHP: Final = "/api/greader.php"
_LATEST: Final = 253_402_300_800
"""The year 10000 in seconds since 1970, which no calendar here has."""


@dataclass(frozen=True, slots=True)
class _Login:
    """Where the API is, who asks it, and what a form has to hold; "" where the server needs nothing in it."""

    base: str
    auth: str
    token: str = ""


class Reader:
    """The items of one user of a feed reader at `url`."""

    def __init__(
        self, session: aiohttp.ClientSession, url: str, user: str, password: str, most_bytes: int
    ) -> None:
        self._session = session
        self._user = user
        self._password = password
        self._most_bytes = most_bytes
        # FreshRSS has its API under this path, others at the root; which, the first login tells.
        self._bases = [url] if url.endswith(".php") else [url, url + _PHP]
        self._login: _Login | None = None
        self.name = urlsplit(url).hostname or "the feed reader"

    async def items(self, until: float) -> list[NewsItem]:
        """Return the newest items by `until` (monotonic). Raises UpstreamError."""
        ids = await self._api(
            "ids", until, params={"s": _READING_LIST, "n": str(_MOST_ITEMS), "output": "json"}
        )
        wanted = [str(ref["id"]) for ref in _rows(ids, "itemRefs") if ref.get("id")]
        if not wanted:
            return []
        form = [("output", "json"), *(("i", one) for one in wanted[:_MOST_ITEMS])]
        reply = await self._api("contents", until, params={"output": "json"}, data=form)
        by_feed: dict[str, list[NewsItem]] = {}
        for row in _rows(reply, "items"):
            if (item := _item(row)) is not None:
                stream = _text(_inside(row.get("origin"), "streamId"))
                by_feed.setdefault(stream, []).append(item)
        return [item for items in by_feed.values() for item in in_language(items)]

    async def _api(
        self,
        what: str,
        until: float,
        *,
        params: Mapping[str, str],
        data: Sequence[tuple[str, str]] | None = None,
    ) -> Any:
        fresh = self._login is None
        login = self._login or await self._log_in(until)
        try:
            body = await self._items(login, what, until, params, data)
        except UpstreamError as error:
            if error.status != 401 or fresh:
                raise
            self._login = None
            login = await self._log_in(until)
            body = await self._items(login, what, until, params, data)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise UpstreamError(Failed("bad_reply", f"{self.name} sends no JSON")) from error

    async def _items(
        self,
        login: _Login,
        what: str,
        until: float,
        params: Mapping[str, str],
        data: Sequence[tuple[str, str]] | None,
    ) -> bytes:
        return await fetch(
            self._session,
            f"{login.base}/reader/api/0/stream/items/{what}",
            until=until,
            method="GET" if data is None else "POST",
            params=params,
            data=None if data is None else [*data, ("T", login.token)],
            headers=_header(login.auth),
            most_bytes=self._most_bytes,
            follow=False,
        )

    async def _log_in(self, until: float) -> _Login:
        """Log in; the password goes in the body, never in the address."""
        for base in self._bases:
            try:
                body = await fetch(
                    self._session,
                    f"{base}/accounts/ClientLogin",
                    until=until,
                    method="POST",
                    data={"Email": self._user, "Passwd": self._password},
                    follow=False,
                )
            except UpstreamError as error:
                if error.status in _UNKNOWN and base != self._bases[-1]:
                    continue
                raise
            for line in body.decode("utf-8", "replace").splitlines():
                key, _, value = line.partition("=")
                if key == "Auth" and value.strip().isprintable() and value.strip():
                    token = await self._token(base, value.strip(), until)
                    self._login = _Login(base, value.strip(), token)
                    return self._login
        raise UpstreamError(Failed("bad_reply", f"{self.name} has no GReader API there"))

    async def _token(self, base: str, auth: str, until: float) -> str:
        """Return what forms have to hold, "" from a server that knows nothing of it."""
        try:
            body = await fetch(
                self._session,
                f"{base}/reader/api/0/token",
                until=until,
                headers=_header(auth),
                follow=False,
            )
        except UpstreamError as error:
            if error.status not in _UNKNOWN:
                raise
            return ""
        return body.decode("utf-8", "replace").strip()[:_MOST_TOKEN]


def _header(auth: str) -> dict[str, str]:
    return {"Authorization": f"GoogleLogin auth={auth}"}


def _rows(reply: Any, key: str) -> list[dict[str, Any]]:
    rows = reply.get(key) if isinstance(reply, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _item(row: Mapping[str, Any]) -> NewsItem | None:
    title = clean(_text(row.get("title")))
    text = next(
        filter(
            None, (clean(_text(_inside(row.get(key), "content"))) for key in ("summary", "content"))
        ),
        "",
    )
    if not title:
        return None
    links = (
        _text(link.get("href")) for key in ("canonical", "alternate") for link in _rows(row, key)
    )
    published = row.get("published")
    at = None
    if isinstance(published, int | float) and 0 < published < _LATEST:
        at = datetime.fromtimestamp(published, UTC)
    return NewsItem(
        title[:300], shortened(text), next(filter(None, map(web_address, links)), None), at
    )


def _inside(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
