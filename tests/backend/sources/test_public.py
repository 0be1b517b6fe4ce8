"""What may be fetched from addresses that others chose; pages come over real sockets, names from a resolver of the test's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
import gzip
import ipaddress
import socket
import time
from typing import Any
import zlib

from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.test_utils import TestServer
from hypothesis import given, strategies as st
import pytest
from yarl import URL

from backend.sources.http import UpstreamError
from backend.sources.public import MOST_BYTES, Fetched, Pages, allowed, is_public
from tests.services.searxng import forever

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

INSIDE = [
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.251",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
]
OUTSIDE = [
    "1.1.1.1",
    "93.184.216.34",
    "172.32.0.1",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
]


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_inside_a_house_is_none_of_the_internet(address: str) -> None:
    assert not is_public(address)
    assert allowed(f"http://[{address}]/" if ":" in address else f"http://{address}/") is None


@pytest.mark.parametrize("address", OUTSIDE)
def test_an_address_of_the_internet_is_one(address: str) -> None:
    assert is_public(address)
    assert allowed(f"http://[{address}]/" if ":" in address else f"http://{address}/") is not None


PRIVATE = st.sampled_from(
    (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
).flatmap(lambda network: st.ip_addresses(network=network))


def written(ip: ipaddress.IPv4Address) -> list[str]:
    """Return an address as `inet_aton`, browsers, and Unicode know it too."""
    number = int(ip)
    a, b, c, d = ip.packed
    return [
        str(ip),
        f"{ip}.",
        str(number),
        f"0x{number:x}",
        f"0X{number:08X}",
        f"0{number:o}",
        f"{a}.{number & 0xFF_FFFF}",
        f"{a}.{b}.{number & 0xFFFF}",
        f"0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}",
        f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        f"{a:04}.{b}.{c}.{d}",
        "".join(chr(ord(sign) + 0xFEE0) if sign.isdigit() else sign for sign in str(ip)),
        str(ip).replace(".", "。"),
        f"%3{str(ip)[0]}{str(ip)[1:]}",
        f"[::ffff:{ip}]",
        f"[::ffff:{number >> 16:x}:{number & 0xFFFF:x}]",
        f"[::{ip}]",
        f"[64:ff9b::{ip}]",
        f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::1]",
        f"[::ffff:{ip}%25eth0]",
    ]


@given(PRIVATE, st.sampled_from(["http", "https", "HTTP"]), st.sampled_from(["", ":80", ":8123"]))
def test_no_notation_of_an_address_inside_may_be_fetched(
    ip: ipaddress.IPv4Address, scheme: str, port: str
) -> None:
    for host in written(ip):
        assert allowed(f"{scheme}://{host}{port}/x") is None, host


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ftp://example.org/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "//example.org/",
        "http:///x",
        "http://localhost/",
        "http://nas/",
        "http://user:password@example.org/",
        "http://user@example.org/",
        "http://example.org:0/",
        "http://example.org:99999/",
        "http://example.org:x/",
        "http://exa mple.org/",
        "http://example.org\\@127.0.0.1/",
        "http://example.org/\r\nHost: localhost",
        "http://[::1",
        "http://[fe80::1%25eth0]/",
        f"http://example.org/{'a' * 3000}",
    ],
)
def test_what_is_no_plain_address_of_a_page_is_not_fetched(address: str) -> None:
    assert allowed(address) is None


@given(st.text(max_size=60))
def test_whatever_is_written_is_an_address_or_none(text: str) -> None:
    for address in (text, f"http://{text}", f"http://{text}/x", f"http://example.org/{text}"):
        url = allowed(address)
        assert url is None or (url.scheme in ("http", "https") and url.user is None)


def test_a_host_that_the_owner_lists_may_be_fetched_from_and_no_other() -> None:
    hosts = {"nas", "127.0.0.1", "wiki.lan"}
    for address in (
        "http://nas/",
        "http://NAS:8080/a?b#c",
        "https://wiki.lan./",
        "http://127.0.0.1/",
    ):
        assert allowed(address, hosts) is not None, address
    for address in ("http://127.0.0.2/", "http://2130706433/", "http://[::ffff:127.0.0.1]/"):
        assert allowed(address, hosts) is None, address


class Names(AbstractResolver):
    """Has each name resolve to addresses, one after the other; the last one stays."""

    def __init__(self, **names: list[list[str]]) -> None:
        self._names = {name.replace("_", "."): each for name, each in names.items()}
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.asked.append(host)
        each = self._names[host]
        addresses = each.pop(0) if len(each) > 1 else each[0]
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """End nothing."""


@asynccontextmanager
async def site(
    handler: Handler, hosts: tuple[str, ...] = ("pages.example",), names: Names | None = None
) -> AsyncIterator[tuple[Pages, str, list[web.Request]]]:
    """Yield what fetches, the address of a page that `handler` serves, and what it was asked for."""
    asked: list[web.Request] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        asked.append(request)
        return await handler(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    pages = Pages(hosts, names or Names(pages_example=[["127.0.0.1"]]))
    async with TestServer(app, host="127.0.0.1") as server:
        try:
            yield pages, f"http://pages.example:{server.port}", asked
        finally:
            await pages.close()


async def fetch(pages: Pages, address: str, seconds: float = 20.0) -> Fetched:
    return await pages.fetch(address, language="de", until=time.monotonic() + seconds)


async def refused(pages: Pages, address: str, seconds: float = 20.0) -> str:
    with pytest.raises(UpstreamError) as raised:
        await fetch(pages, address, seconds)
    return str(raised.value)


def answering(body: str | bytes, kind: str = "text/html", **headers: str) -> Handler:
    raw = body.encode() if isinstance(body, str) else body

    async def answer(request: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(body=raw, headers={"Content-Type": kind, **named})

    return answer


async def test_a_page_comes_as_text_and_nothing_of_who_asks_goes_out() -> None:
    async with site(answering("<p>Größe</p>", Set_Cookie="a=b")) as (pages, url, asked):
        for _ in range(2):
            got = await fetch(pages, f"{url}/a?b=c#d")
            assert (got.text, got.plain) == ("<p>Größe</p>", False)
        assert [request.rel_url.human_repr() for request in asked] == ["/a?b=c", "/a?b=c"]
        assert set(asked[1].headers) == {
            "Host",
            "User-Agent",
            "Accept",
            "Accept-Encoding",
            "Accept-Language",
        }
        assert asked[0].headers["Accept-Language"].startswith("de,")


async def test_a_name_that_resolves_into_the_house_is_not_asked() -> None:
    inside = {
        "loop.example": ["127.0.0.1"],
        "cloud.example": ["169.254.169.254"],
        "mapped.example": ["::ffff:127.0.0.1"],
        "mixed.example": ["93.184.216.34", "127.0.0.1"],
    }
    names = Names(**{name.replace(".", "_"): [each] for name, each in inside.items()})
    async with site(answering("secret"), (), names) as (pages, url, asked):
        port = url.rsplit(":", 1)[1]
        for name in inside:
            assert (await refused(pages, f"http://{name}:{port}/")).startswith("unreachable: ")
        assert asked == []


async def test_a_name_that_resolves_elsewhere_the_second_time_leads_nowhere() -> None:
    # What is looked at is what is connected to: nothing asks a second time in between.
    names = Names(rebound_example=[["192.0.2.1"], ["127.0.0.1"]])
    async with site(answering("secret"), (), names) as (pages, url, asked):
        port = url.rsplit(":", 1)[1]
        for _ in range(3):
            told = await refused(pages, f"http://rebound.example:{port}/")
            assert told.startswith("unreachable: ")
        assert asked == []


async def test_a_connection_is_looked_at_by_its_address_whatever_led_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As if both looks before it had missed something."""
    monkeypatch.setattr("backend.sources.public.allowed", lambda address, hosts: URL(address))
    async with site(answering("secret"), ()) as (pages, url, asked):
        port = url.rsplit(":", 1)[1]
        for host in ("127.0.0.1", "[::ffff:127.0.0.1]", "[::1]"):
            assert (await refused(pages, f"http://{host}:{port}/")).startswith("unreachable: ")
        assert asked == []


async def test_a_page_that_leads_on_is_followed_three_times_and_looked_at_each_time() -> None:
    async def leading(request: web.Request) -> web.StreamResponse:
        left = int(request.query["left"])
        if left:
            raise web.HTTPFound(f"/next?left={left - 1}")
        return web.Response(text="there", content_type="text/plain")

    async with site(leading) as (pages, url, asked):
        got = await fetch(pages, f"{url}/?left=3")
        assert (got.text, got.plain, got.url) == ("there", True, f"{url}/next?left=0")
        assert "leads on and on" in await refused(pages, f"{url}/?left=4")


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/secret",
        "//127.0.0.1:{port}/secret",
        "http://localhost:{port}/secret",
        "http://2130706433:{port}/secret",
        "http://user:password@pages.example:{port}/secret",
        "file:///etc/passwd",
        "http://[::1/",
    ],
)
async def test_a_page_leads_only_where_it_may(location: str) -> None:
    async def leading(request: web.Request) -> web.StreamResponse:
        to = location.format(port=request.url.port)
        return web.Response(status=302, headers={"Location": to})

    async with site(leading) as (pages, url, asked):
        assert (await refused(pages, url)).startswith("bad_reply: ")
        assert len(asked) == 1


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
async def test_a_page_that_unpacks_to_more_than_there_is_room_for_is_read_up_to_there(
    pack: Callable[[bytes], bytes],
) -> None:
    coding = "gzip" if pack is gzip.compress else "deflate"
    bomb = pack(b"<p>first</p>" + bytes(50_000_000))
    assert len(bomb) < 300_000
    async with site(answering(bomb, Content_Encoding=coding)) as (pages, url, _):
        got = await fetch(pages, url)
        assert got.text.startswith("<p>first</p>")
        assert len(got.text) <= MOST_BYTES


async def test_an_endless_page_is_read_up_to_where_there_is_room() -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        reply = web.StreamResponse(headers={"Content-Type": "text/html"})
        await reply.prepare(request)
        while True:
            await reply.write(b"<p>on and on</p>" * 4096)

    async with site(endless) as (pages, url, _):
        assert len((await fetch(pages, url)).text) == MOST_BYTES


@pytest.mark.parametrize(
    ("handler", "told"),
    [
        (answering("%PDF", "application/pdf"), "bad_reply: pages.example sends application/pdf"),
        (answering("{}", "application/json"), "bad_reply: pages.example sends application/json"),
        (answering("x", "image/svg+xml"), "bad_reply: pages.example sends image/svg+xml"),
        (answering("x", Content_Encoding="br"), "bad_reply: pages.example: ValueError"),
        (answering("no gzip", Content_Encoding="gzip"), "bad_reply: pages.example: error"),
    ],
)
async def test_what_is_no_text_is_not_read(handler: Handler, told: str) -> None:
    async with site(handler) as (pages, url, _):
        assert await refused(pages, url) == told


async def test_what_a_server_refuses_or_does_not_say_is_told_apart() -> None:
    async def refusing(request: web.Request) -> web.StreamResponse:
        return await forever(request) if request.path == "/hangs" else web.Response(status=403)

    async with site(refusing) as (pages, url, _):
        assert await refused(pages, url) == "bad_reply: pages.example says 403"
        assert await refused(pages, f"{url}/hangs", 0.1) == "timeout: no answer from pages.example"
    async with site(refusing) as (pages, _, _):
        told = await refused(pages, "http://pages.example:1/")
        assert told.startswith("unreachable: no connection to pages.example")


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("Größe".encode(), "text/html", "Größe"),
        ("Größe".encode("latin-1"), "text/html; charset=iso-8859-1", "Größe"),
        ("Größe".encode("latin-1"), "text/plain", "Größe"),
        ("Größe".encode(), "text/html; charset=iso-8859-1", "Größe"),
        ('<meta charset="koi8-r">Привет'.encode("koi8-r"), "text/html", "Привет"),
        ("Größe".encode("utf-16"), "text/html", "Größe"),
        (b"Gr\xc3\xb6\xc3\x9fe \xff", "text/html", "Größe"),
        (b"a\x00b\x1bc", "text/plain", "abc"),
        (b"+ADw-script+AD4-", "text/html; charset=utf-7", "+ADw-script+AD4-"),
        (b"plain", "text/html; charset=unicode_escape", "plain"),
    ],
)
async def test_a_page_is_read_in_the_encoding_that_it_is_in(
    body: bytes, kind: str, text: str
) -> None:
    async with site(answering(body, kind)) as (pages, url, _):
        assert text in (await fetch(pages, url)).text


def test_plain_text_is_a_page_of_one_part_and_an_empty_one_has_none() -> None:
    (part,) = Fetched("http://a.example/", "<b>x</b> is no tag here.", True).page().parts
    assert part.text == "<b>x</b> is no tag here."
    assert Fetched("http://a.example/", " \n", True).page().parts == ()
    assert Fetched("http://a.example/", "<title>A</title><p>b</p>", False).page().title == "A"


async def test_pages_that_nobody_asked_for_hold_nothing_open() -> None:
    pages: Any = Pages()
    await pages.close()
    await asyncio.gather(pages.close(), pages.close())
