"""Questions over the limit of a minute are refused, each caller's by its own."""

from __future__ import annotations

from tests.backend.server.conftest import Start
from tests.backend.server.scripted import SERVED, ScriptedAsk


async def test_a_caller_over_its_limit_is_refused_and_others_are_not(
    start: Start, ask: ScriptedAsk
) -> None:
    ask.items = [SERVED]
    client = await start(api_keys=["key-of-one", "key-of-two"], rate_limit_per_minute=3)

    async def status(key: str, **headers: str) -> int:
        async with client.post(
            "/search", json={"query": "E24"}, headers={"X-API-Key": key, **headers}
        ) as response:
            await response.read()
            return response.status

    assert [await status("key-of-one") for _ in range(4)] == [200, 200, 200, 429]
    assert await status("key-of-one", Accept="text/event-stream") == 429
    assert await status("key-of-two") == 200
    assert len(ask.asked) == 4
    health = await client.get("/health", headers={"X-API-Key": "key-of-one"})
    assert health.status == 200


async def test_the_total_holds_for_all_together(start: Start, ask: ScriptedAsk) -> None:
    ask.items = [SERVED]
    client = await start(
        api_keys=["one", "two", "three"], rate_limit_per_minute=3, rate_limit_total_per_minute=4
    )
    statuses = []
    for key in ("one", "two", "one", "three", "two"):
        response = await client.post("/search", json={"query": "E24"}, headers={"X-API-Key": key})
        statuses.append(response.status)
    assert statuses == [200, 200, 200, 200, 429]
    body = await response.json()
    assert (body["error"], response.headers["Retry-After"]) == ("busy", "1")


async def test_a_question_that_cannot_be_asked_counts_for_nothing(
    start: Start, ask: ScriptedAsk
) -> None:
    ask.items = [SERVED]
    client = await start(rate_limit_per_minute=1)
    for _ in range(3):
        assert (await client.post("/search", json={"query": ""})).status == 422
    assert (await client.post("/search", json={"query": "E24"})).status == 200
    assert (await client.post("/search", json={"query": "E24"})).status == 429
