"""Pages at addresses that others chose, such as results of a search: what may be fetched, and how much of it.

Decides that an address leads out of the house (unless the owner lists its host): by how it is written, by what its name
resolves to, and once more for each connection, so that neither a redirection nor a name that resolves to something else
the second time leads in. What a page says on a question is its reader's to decide.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from http import HTTPStatus
import ipaddress
import re
import socket
import time
from typing import Any, Final
import zlib

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver
from yarl import URL

from backend.sources.http import CONNECT_SECONDS, UpstreamError
from backend.text import markup
from backend.text.decoding import decoded
from backend.text.parts import Part
from backend.types import Failed

MOST_BYTES: Final = 1_000_000
"""A page is read up to here, packed and unpacked; what is behind it is seldom text."""
MOST_REDIRECTIONS: Final = 3
_MOST_ADDRESS: Final = 2_000
_CONNECTIONS: Final = 24
_PER_HOST: Final = 4
_REDIRECTIONS: Final = (301, 302, 303, 307, 308)
_HTML: Final = "text/html"
_PLAIN: Final = "text/plain"
_UNPACKED: Final = ("", "identity")
_PACKED: Final = ("gzip", "x-gzip", "deflate")
_ANY_ZLIB: Final = zlib.MAX_WBITS | 32
"""Take gzip and zlib by what they begin with: https://docs.python.org/3/library/zlib.html#zlib.decompressobj."""
_DECLARED: Final = re.compile(
    rb"""<meta[^>]{0,200}charset=["']?\s*([\w.:-]{2,40})""", re.IGNORECASE
)
_NUMERIC: Final = re.compile(r"(?:.*\.)?(?:\d+|0x[\da-f]*)", re.IGNORECASE)
"""A host whose last label is a number is an IPv4 address: https://url.spec.whatwg.org/#ends-in-a-number-checker."""
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_LEADING_IN: Final = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "::/96",  # IPv4 addresses as IPv6 once wrote them
        "64:ff9b:1::/48",
        "2001::/32",  # tunnels, which end at an IPv4 address
        "2002::/16",
        "fec0::/10",
    )
)
"""Networks that Python takes for public, in some version, and that lead to another address than the one written."""


def is_public(address: str) -> bool:
    """Return whether an IP address, as a resolver or a socket has it, is one of the internet at large."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if ip in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)))
        if any(ip in network for network in _LEADING_IN):
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def allowed(address: str, hosts: Collection[str] = ()) -> URL | None:
    """Return an address that may be fetched, as it is asked for; None for any other.

    `hosts` are those of the owner's, in lower case, wherever they are. A name may still resolve to what may not.
    """
    if len(address) > _MOST_ADDRESS or re.search(r"[\s\x00-\x1f\\]", address):
        return None
    try:
        url = URL(address)
        host = (url.raw_host or "").rstrip(".").lower()
        port = url.port
    except (ValueError, TypeError):
        return None
    if url.scheme not in ("http", "https") or not host or not port or "@" in url.raw_authority:
        return None
    if host in hosts:
        return url.with_fragment(None)
    if ":" in host or _NUMERIC.fullmatch(host):
        return url.with_fragment(None) if is_public(host) else None
    # A name without a dot is one of the house.
    return url.with_fragment(None) if "." in host else None


class _Resolver(AbstractResolver):
    """Resolves names to public addresses; of `hosts` to any, which are `lent` then."""

    def __init__(self, hosts: Collection[str], asked: AbstractResolver) -> None:
        self._hosts = hosts
        self._asked = asked
        self.lent = set(hosts)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a name. Raises OSError where one of them isn't public."""
        found = await self._asked.resolve(host, port, family)
        if host.rstrip(".").lower() in self._hosts:
            self.lent.update(each["host"] for each in found)
        elif not all(is_public(each["host"]) for each in found):
            raise PermissionError(f"{host} is an address inside the house")
        return found

    async def close(self) -> None:
        """Close what was asked."""
        await self._asked.close()

    def socket(self, address: Any) -> socket.socket:
        """Return a socket for an address as `getaddrinfo` has it. Raises OSError where it isn't public."""
        family, kind, protocol, _, (host, *_) = address
        if host not in self.lent and not is_public(host):
            raise PermissionError("an address inside the house")
        return socket.socket(family, kind, protocol)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as it came: `text` is HTML, or plain text."""

    url: str
    text: str
    plain: bool

    def page(self) -> markup.Page:
        """Return what it says; blocks."""
        if self.plain:
            return markup.Page("", "", "", (Part((), self.text),) if self.text.strip() else ())
        return markup.html(self.text)


def connector(
    hosts: Collection[str] = (), resolver: AbstractResolver | None = None
) -> aiohttp.TCPConnector:
    """Return connections to the internet at large, and to `hosts`; `resolver` None is the system's."""
    checked = _Resolver(hosts, resolver or DefaultResolver())
    return aiohttp.TCPConnector(
        limit=_CONNECTIONS,
        limit_per_host=_PER_HOST,
        resolver=checked,
        socket_factory=checked.socket,
    )


class Pages:
    """Fetches pages from the internet at large, and from `hosts`; `resolver` None is the system's."""

    def __init__(
        self, hosts: Collection[str] = (), resolver: AbstractResolver | None = None
    ) -> None:
        self.hosts = frozenset(hosts)
        self._asked = resolver
        self._session: aiohttp.ClientSession | None = None

    def _opened(self) -> aiohttp.ClientSession:
        """Return the session of all pages, which keeps nothing of one for another."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=connector(self.hosts, self._asked),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                # Unpacked here, where it can be stopped.
                auto_decompress=False,
                headers={
                    "User-Agent": "Mozilla/5.0 (compatible; Mnemolis)",
                    "Accept": f"{_HTML},{_PLAIN};q=0.8",
                    "Accept-Encoding": "gzip, deflate",
                },
            )
        return self._session

    async def close(self) -> None:
        """End all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def fetch(self, address: str, *, language: str, until: float) -> Fetched:
        """Return the page at an address, or at the one it leads to. Raises UpstreamError.

        `until` is a moment of the monotonic clock; `language` is the one that who asks would like.
        """
        host = "a page"
        try:
            async with asyncio.timeout(max(0.0, until - time.monotonic())):
                for _ in range(MOST_REDIRECTIONS + 1):
                    url = allowed(address, self.hosts)
                    if url is None:
                        raise UpstreamError(Failed("bad_reply", f"{host} leads where it may not"))
                    host = url.host or host
                    got = await self._once(url, language)
                    if isinstance(got, Fetched):
                        return got
                    address = got
        except TimeoutError as error:
            raise UpstreamError(Failed("timeout", f"no answer from {host}")) from error
        except (aiohttp.ClientConnectionError, OSError) as error:
            why = type(error).__name__
            raise UpstreamError(
                Failed("unreachable", f"no connection to {host} ({why})")
            ) from error
        except (aiohttp.ClientError, ValueError, zlib.error) as error:
            raise UpstreamError(Failed("bad_reply", f"{host}: {type(error).__name__}")) from error
        raise UpstreamError(Failed("bad_reply", f"{host} leads on and on"))

    async def _once(self, url: URL, language: str) -> Fetched | str:
        """Return the page at an address, or the address that it leads to."""
        async with self._opened().get(
            url,
            headers={"Accept-Language": f"{language},*;q=0.5"},
            allow_redirects=False,
        ) as reply:
            if reply.status in _REDIRECTIONS and (location := reply.headers.get("Location")):
                return str(url.join(URL(location)))
            if reply.status != HTTPStatus.OK:
                raise UpstreamError(
                    Failed("bad_reply", f"{url.host} says {reply.status}"), reply.status
                )
            if reply.content_type not in (_HTML, _PLAIN):
                raise UpstreamError(Failed("bad_reply", f"{url.host} sends {reply.content_type}"))
            plain = reply.content_type == _PLAIN
            body = await _read(reply)
            declared = reply.charset or ""
        if not declared and not plain and (said := _DECLARED.search(body, 0, 4096)):
            declared = said[1].decode("ascii", "replace")
        return Fetched(str(url), decoded(body, declared), plain)


async def _read(reply: aiohttp.ClientResponse) -> bytes:
    """Return the beginning of a body, unpacked; no more of it is ever held. Raises zlib.error, ValueError."""
    packed = reply.headers.get("Content-Encoding", "").strip().lower()
    if packed not in (*_UNPACKED, *_PACKED):
        raise ValueError(f"packed as {packed}")
    unpacking = zlib.decompressobj(_ANY_ZLIB) if packed in _PACKED else None
    body = bytearray()
    received = 0
    async for chunk in reply.content.iter_any():
        received += len(chunk)
        left = MOST_BYTES - len(body)
        body += unpacking.decompress(chunk, left) if unpacking is not None else chunk[:left]
        if len(body) >= MOST_BYTES or received >= MOST_BYTES:
            break
    return bytes(body)
