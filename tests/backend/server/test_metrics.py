"""The counters, as Prometheus reads them."""

from __future__ import annotations

from typing import Any

from aiohttp.test_utils import TestClient
from prometheus_client.parser import text_string_to_metric_families
import pytest

from tests.backend.server.conftest import Start
from tests.backend.server.scripted import SERVED, ScriptedAsk


async def figures(client: TestClient[Any, Any]) -> dict[tuple[str, tuple[str, ...]], float]:
    """Return every figure by its name and the values of its labels, in the order of their names."""
    response = await client.get("/metrics")
    assert response.status == 200
    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(await response.text())
        for sample in family.samples
    }


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, "answered"),
        ({"answer_sources": []}, "honest_miss"),
        ({"synthesized": False, "answer": None}, "found"),
        ({"success": False, "error": "nothing_found"}, "nothing_found"),
        ({"success": False, "error": "not_configured: ZIM_DIR"}, "not_configured"),
        ({"handback": True}, "handed_back"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_each_question_is_counted_once_by_how_it_ended(
    changes: dict[str, Any], outcome: str, stream: bool, start: Start, ask: ScriptedAsk
) -> None:
    reply = SERVED.model_copy(update=changes)
    ask.items = [reply] if reply.handback or not stream else [SERVED, reply]
    client = await start()
    headers = {"Accept": "text/event-stream"} if stream else {}
    async with client.post("/search", json={"query": "E24"}, headers=headers) as response:
        await response.read()
    counted = await figures(client)
    assert counted["mnemolis_questions_total", (outcome, SERVED.source_used)] == 1
    assert sum(v for (name, _), v in counted.items() if name == "mnemolis_questions_total") == 1
    assert counted["mnemolis_question_seconds_count", ("false", "brief")] == 1


async def test_the_state_of_the_server_is_among_them_and_no_word_of_a_question(
    start: Start, ask: ScriptedAsk
) -> None:
    ask.items = [SERVED]
    client = await start()
    await client.post("/search", json={"query": "what does zyzzyva mean"})
    counted = await figures(client)
    assert counted["mnemolis_source_configured", ("house",)] == 1
    assert counted["process_resident_memory_bytes", ()] > 1_000_000
    assert ("mnemolis_kept", ("answers",)) in counted
    assert "zyzzyva" not in await (await client.get("/metrics")).text()


async def test_the_counters_need_the_key(start: Start) -> None:
    client = await start(api_keys=["a-long-key"])
    assert (await client.get("/metrics")).status == 401
    assert (await client.get("/metrics", headers={"X-API-Key": "a-long-key"})).status == 200
