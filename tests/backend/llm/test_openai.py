"""Servers with the OpenAI-style API, over a socket, against a model that does what a test has it do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
import logging

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

from backend.llm.openai import OpenAI
from backend.llm.provider import Call, ModelError, ReplyCut
from tests.scripted_model import MODEL, Say, ScriptedModel, prose

CALL = Call(system="rules", user="question", timeout=5.0, schema={"type": "object"}, max_tokens=64)
KEY = "s3cret-key"


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as server:
        yield server


@pytest.fixture
async def provider(model: ScriptedModel) -> AsyncIterator[OpenAI]:
    server = OpenAI(model.url, MODEL, key=KEY)
    yield server
    await server.close()


async def whole(provider: OpenAI, call: Call = CALL) -> str:
    async with aclosing(provider.stream(call)) as pieces:
        return "".join([piece async for piece in pieces])


async def test_a_reply_comes_piece_by_piece_held_to_the_schema(
    model: ScriptedModel, provider: OpenAI
) -> None:
    model.script(prose("Grüße, <think>hm</think>you.", size=3, thinking="in a field"))
    assert await whole(provider) == "Grüße, you."
    sent = model.requests[0]
    assert sent["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert sent["chat_template_kwargs"] == {"enable_thinking": False}
    assert sent["max_tokens"] == 64


async def test_what_a_server_refuses_is_left_out_from_then_on(
    model: ScriptedModel, provider: OpenAI
) -> None:
    model.script(Say(status=400), Say(status=400), prose("Yes."), prose("No."))
    assert await whole(provider) == "Yes."
    assert "response_format" in model.requests[1]
    assert "response_format" not in model.requests[2]
    assert provider.constrained is False
    assert await whole(provider) == "No."
    assert model.calls == 4


async def test_a_request_that_is_refused_in_any_form_changes_nothing(
    model: ScriptedModel, provider: OpenAI
) -> None:
    model.script(Say(status=400), Say(status=400), Say(status=400))
    with pytest.raises(ModelError) as raised:
        await whole(provider)
    assert raised.value.kind == "http_400"
    assert provider.constrained is True


@pytest.mark.parametrize(
    ("say", "kind"),
    [
        (Say(status=500), "http_500"),
        (Say(status=401), "http_401"),
        (Say(status=404), "no_model"),
        (Say(raw=b"data: {nonsense\n\n"), "bad_reply"),
        (Say(raw=b'data: {"error": "out of memory"}\n\n'), "bad_reply"),
        (Say(raw=b""), "bad_reply"),
        (Say(["He"], drop=True), "bad_reply"),
    ],
    ids=["500", "401", "404", "not JSON", "error event", "nothing", "dropped"],
)
async def test_each_trouble_has_its_kind(
    model: ScriptedModel, provider: OpenAI, say: Say, kind: str
) -> None:
    model.script(say)
    with pytest.raises(ModelError) as raised:
        await whole(provider)
    assert raised.value.kind == kind


async def test_a_reply_cut_at_its_length_says_so(model: ScriptedModel, provider: OpenAI) -> None:
    model.script(prose("One. Tw", done_reason="length"))
    with pytest.raises(ReplyCut):
        await whole(provider)


async def test_a_server_that_is_down_is_unreachable(model: ScriptedModel, provider: OpenAI) -> None:
    await provider.probe()
    await model.stop()
    for asked in (provider.probe(), whole(provider)):
        with pytest.raises(ModelError) as raised:
            await asked
        assert raised.value.kind == "unreachable"


@pytest.mark.parametrize("path", ["/elsewhere", "/v1/models"])
async def test_an_address_without_the_api_is_none(path: str, model: ScriptedModel) -> None:
    provider = OpenAI(f"{model.url}{path}", MODEL)
    with pytest.raises(ModelError) as raised:
        await provider.probe()
    await provider.close()
    assert raised.value.kind == "http_404"
    assert "no OpenAI-style API" in raised.value.detail


async def test_a_page_that_says_yes_to_everything_is_no_api() -> None:
    async def page(request: web.Request) -> web.Response:
        return web.Response(text="<!doctype html>\n<title>Chat</title>", content_type="text/html")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", page)
    async with TestServer(app) as server:
        provider = OpenAI(str(server.make_url("")).rstrip("/"), MODEL)
        with pytest.raises(ModelError) as raised:
            await provider.probe()
        await provider.close()
    assert raised.value.kind == "http_404"


async def test_a_model_by_another_name_is_there_unless_the_server_says_not(
    model: ScriptedModel,
) -> None:
    provider = OpenAI(model.url, "another")
    model.script(Say(status=400), Say(status=404))
    await provider.probe()
    with pytest.raises(ModelError) as raised:
        await provider.probe()
    await provider.close()
    assert raised.value.kind == "no_model"
    assert "another" in raised.value.detail


async def test_the_page_of_an_error_is_not_shown(model: ScriptedModel, provider: OpenAI) -> None:
    model.script(Say(status=500, error="<!DOCTYPE html>\n<title>oops</title>"))
    with pytest.raises(ModelError) as raised:
        await whole(provider)
    assert "\n" not in str(raised.value)


async def test_closing_the_stream_hangs_up(model: ScriptedModel, provider: OpenAI) -> None:
    model.script(Say(["He"], hang=True))
    async with aclosing(provider.stream(CALL)) as pieces:
        assert await anext(pieces) == "He"
    await asyncio.wait_for(model.hung_up.wait(), 5)


async def test_the_key_goes_into_the_header_and_nowhere_else(
    model: ScriptedModel, provider: OpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    model.script(prose("Yes."), Say(status=401))
    with caplog.at_level(logging.DEBUG):
        await whole(provider)
        with pytest.raises(ModelError) as raised:
            await whole(provider)
    assert model.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in str(model.requests)
    assert KEY not in str(raised.value)
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://host:8000", "http://host:8000/v1"),
        ("http://host:8000/", "http://host:8000/v1"),
        ("http://host:8000/v1", "http://host:8000/v1"),
        ("https://host/llm/v1", "https://host/llm/v1"),
    ],
)
def test_the_url_may_leave_out_its_version(given: str, used: str) -> None:
    assert OpenAI(given, MODEL).url == used
