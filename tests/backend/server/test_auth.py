"""One boundary for keys, and none for pages of other sites."""

from __future__ import annotations

import logging

import pytest

from backend.server.routes import ROUTES
from tests.backend.server.conftest import Start
from tests.backend.server.scripted import SERVED, ScriptedAsk

KEYS = ("first-key", "second-kéy")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
async def test_every_address_but_liveness_needs_a_key(route: object, start: Start) -> None:
    client = await start(api_keys=KEYS)
    response = await client.request(route.method, route.path)  # type: ignore[attr-defined]
    assert response.status == (200 if route.path == "/health" else 401)  # type: ignore[attr-defined]
    if response.status == 401:
        assert response.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", ["/nothing", "/search/", "/health/", "/HEALTH"])
async def test_an_unknown_address_tells_nothing_without_a_key(path: str, start: Start) -> None:
    client = await start(api_keys=KEYS)
    assert (await client.get(path)).status == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"X-API-Key": "first-key"},
        {"Authorization": "Bearer first-key"},
        {"Authorization": "bearer  first-key "},
        {"X-API-Key": "second-kéy"},
    ],
)
async def test_each_key_opens_in_either_header(
    headers: dict[str, str], start: Start, ask: ScriptedAsk
) -> None:
    ask.items = [SERVED]
    client = await start(api_keys=KEYS)
    response = await client.post("/search", json={"query": "hello"}, headers=headers)
    assert response.status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"X-API-Key": ""},
        {"X-API-Key": "first-key "[:-2]},
        {"X-API-Key": "FIRST-KEY"},
        {"X-API-Key": "first-key,second-kéy"},
        {"Authorization": "Basic first-key"},
        {"Authorization": "Bearer"},
        {"Authorization": "first-key"},
        {"X-API-Key": "wrong", "Authorization": "Bearer first-key"},
    ],
)
async def test_a_wrong_key_opens_nothing(
    headers: dict[str, str], start: Start, ask: ScriptedAsk
) -> None:
    client = await start(api_keys=KEYS)
    response = await client.post("/search", json={"query": "hello"}, headers=headers)
    assert response.status == 401
    assert not ask.asked


async def test_without_keys_health_shows_all_and_any_key_is_welcome(start: Start) -> None:
    client = await start()
    for headers in ({}, {"X-API-Key": "anything"}):
        body = await (await client.get("/health", headers=headers)).json()
        assert body["sources"]


@pytest.mark.parametrize(
    "name", ["key", "api_key", "API_KEY", "X-API-Key", "token", "access_token"]
)
async def test_a_key_in_the_address_is_refused_and_not_repeated(
    name: str, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "backend")
    client = await start(api_keys=KEYS)
    response = await client.get("/health", params={name: "first-key"})
    assert response.status == 400
    text = await response.text()
    assert "X-API-Key" in text
    assert "first-key" not in text
    assert not [
        r for r in caplog.records if r.name.startswith("backend") and "first-key" in str(vars(r))
    ]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
@pytest.mark.parametrize("path", ["/search", "/cache/clear", "/logs/clear"])
async def test_a_page_of_another_site_gets_nothing_done(
    path: str, headers: dict[str, str], start: Start, ask: ScriptedAsk
) -> None:
    client = await start()
    # A body without a type is what a page can send without asking first.
    response = await client.post(
        path, data=b'{"query": "hello"}', headers=headers, skip_auto_headers=("Content-Type",)
    )
    assert response.status == 400
    assert (await response.json())["error"] == "cross_site"
    assert "Access-Control-Allow-Origin" not in response.headers
    assert not ask.asked


async def test_a_preflight_is_not_answered(start: Start) -> None:
    client = await start()
    response = await client.options(
        "/search",
        headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
    )
    assert response.status == 405
    assert not [name for name in response.headers if name.lower().startswith("access-control")]


async def test_a_page_of_this_server_may_ask(start: Start, ask: ScriptedAsk) -> None:
    ask.items = [SERVED]
    client = await start()
    headers = {"Origin": f"http://{client.host}:{client.port}", "Sec-Fetch-Site": "same-origin"}
    assert (await client.post("/search", json={"query": "a"}, headers=headers)).status == 200
