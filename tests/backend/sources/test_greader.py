"""A feed reader with the GReader API. A server that speaks it stands in for FreshRSS, which can't be had, and for faults."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import time
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

from backend.settings import Settings
from backend.sources.http import open_session
from backend.sources.news import News
from backend.types import Failed, Found, Outcome

from .conftest import Asking

PASSWORD = "for-the-api"


class Reader:
    """One user's reader under `root`; its token can be forgotten."""

    def __init__(self, root: str = "") -> None:
        self.root = root
        self.token = "token-1"
        self.form_token: str | None = "for-forms"
        self.logins = 0
        self.asked: list[str] = []
        self.contents: Any = {
            "items": [
                {
                    "id": "1",
                    "title": "Bridge opens &amp; ferry stops",
                    "published": int(time.time()) - 60,
                    "summary": {"content": "<p>The <b>bridge</b> over the sound is open.</p>"},
                    "canonical": [{"href": "https://paper.example/bridge"}],
                },
                {"id": "2", "title": "", "summary": "no text"},
                "no item",
            ]
        }

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path_qs)
        path = request.path.removeprefix(self.root)
        if not request.path.startswith(self.root):
            raise web.HTTPNotFound
        if path == "/accounts/ClientLogin":
            form = await request.post()
            if form.get("Passwd") != PASSWORD:
                raise web.HTTPUnauthorized
            self.logins += 1
            return web.Response(text=f"SID=x\nLSID=y\nAuth={self.token}\n")
        if request.headers.get("Authorization") != f"GoogleLogin auth={self.token}":
            raise web.HTTPUnauthorized
        if path.endswith("/reader/api/0/token") and self.form_token is not None:
            return web.Response(text=f"{self.form_token}\n")
        if path.endswith("/stream/items/ids"):
            return web.json_response({"itemRefs": [{"id": "1"}, {"id": "2"}, {}]})
        if path.endswith("/stream/items/contents"):
            form = await request.post()
            if form.get("T", "") != (self.form_token or ""):
                raise web.HTTPUnauthorized
            assert form.getall("i") == ["1", "2"]
            return web.json_response(self.contents)
        raise web.HTTPNotFound


@asynccontextmanager
async def opened(reader: Reader, password: str = PASSWORD) -> AsyncIterator[News]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", reader.handle)
    async with TestServer(app) as server, open_session() as session:
        settings = Settings.model_validate(
            {
                "freshrss_url": str(server.make_url("/")),
                "freshrss_user": "anna",
                "freshrss_api_password": password,
            }
        )
        source = News.from_settings(settings, session)
        yield source
        await source.close()


async def ask(source: News, asking: Asking, text: str = "news about the bridge") -> Outcome:
    return await source.ask(*asking(text))


@pytest.mark.parametrize("root", ["", "/api/greader.php"])
async def test_items_are_told_wherever_the_api_is(root: str, asking: Asking) -> None:
    reader = Reader(root)
    async with opened(reader) as source:
        found = await ask(source, asking)
    assert isinstance(found, Found)
    (passage,) = found.passages
    assert passage.text == "The bridge over the sound is open."
    assert passage.url == "https://paper.example/bridge"
    assert not any(PASSWORD in path for path in reader.asked)


async def test_a_server_that_knows_no_token_for_forms_is_asked_without(asking: Asking) -> None:
    reader = Reader()
    reader.form_token = None
    async with opened(reader) as source:
        assert isinstance(await ask(source, asking), Found)


async def test_a_token_for_forms_that_was_forgotten_is_asked_for_again(asking: Asking) -> None:
    reader = Reader()
    async with opened(reader) as source:
        await source.look(time.monotonic() + 5)
        reader.form_token = "another"
        source._kept.clear()
        assert await source.look(time.monotonic() + 5)


async def test_a_login_is_kept_and_renewed_once_where_it_was_forgotten(asking: Asking) -> None:
    reader = Reader()
    async with opened(reader) as source:
        await source.look(time.monotonic() + 5)
        reader.token = "token-2"
        source._kept.clear()
        assert await source.look(time.monotonic() + 5)
        source._kept.clear()
        assert await source.look(time.monotonic() + 5)
    assert reader.logins == 2


async def test_a_server_that_leads_elsewhere_is_not_given_the_password_there(
    asking: Asking,
) -> None:
    other = Reader()

    async def lead(request: web.Request) -> web.StreamResponse:
        raise web.HTTPTemporaryRedirect(f"{elsewhere}{request.path_qs}")

    reader = Reader()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", other.handle)
    async with TestServer(app) as server:
        elsewhere = str(server.make_url("")).rstrip("/")
        reader.handle = lead  # type: ignore[method-assign]
        async with opened(reader) as source:
            assert await ask(source, asking) == Failed("bad_reply", "127.0.0.1 leads elsewhere")
    assert other.asked == []


async def test_a_wrong_password_is_told_and_never_shown(asking: Asking) -> None:
    async with opened(Reader(), password="a-wrong-one") as source:
        assert await ask(source, asking) == Failed("bad_reply", "127.0.0.1 refuses the key")
        assert "a-wrong-one" not in source.state().detail


@pytest.mark.parametrize("contents", [[], {}, {"items": 7}, "text", None])
async def test_a_reply_of_another_shape_has_no_items(contents: Any, asking: Asking) -> None:
    reader = Reader()
    reader.contents = contents
    async with opened(reader) as source:
        assert await source.look(time.monotonic() + 5) == ()
