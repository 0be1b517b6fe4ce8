"""What is asked word for word again is told again, as long as nothing that it stands on has changed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.backend.sources.homes import state
from tests.backend.sources.test_uptime import Kuma
from tests.backend.test_live_sources import Client, ask, client, house, kuma, paper, urls

__all__ = ["client", "kuma", "paper", "urls"]

PRESSURE = "what is the boiler pressure"


async def until_kept(client: Client, query: str = PRESSURE, **fields: Any) -> dict[str, Any]:
    """Ask until all of a reply comes from what was kept; while the library is read, nothing is."""
    while True:
        reply = await ask(client, query, **fields)
        if reply["success"] and reply["cached"]:
            return reply
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("voice", [{}, {"synthesize": True, "answer_style": "voice"}])
async def test_it_is_the_same_reply_under_an_id_of_its_own(
    voice: dict[str, Any], client: Client
) -> None:
    first = await until_kept(client, **voice)
    again = [await ask(client, PRESSURE, **voice) for _ in range(3)]
    ids = {reply.pop("request_id") for reply in (first, *again)}
    assert len(ids) == 4
    assert all(reply == first for reply in again)
    async with client.get("/logs") as response:
        logged = {row["request_id"] for row in (await response.json())["logs"]}
    assert ids <= logged


async def test_it_bears_the_id_that_its_client_gives(client: Client) -> None:
    await until_kept(client)
    for given in ("12345678", "abc.def-ghi_0"):
        async with client.post(
            "/search", json={"query": PRESSURE}, headers={"X-Request-Id": given}
        ) as response:
            reply = await response.json()
        assert (reply["request_id"], reply["cached"]) == (given, True)


async def test_a_document_that_changes_is_read_anew(tmp_path: Path) -> None:
    async with house(tmp_path, library_rescan_seconds=0.05) as client:
        await until_kept(client)
        await ask(client, PRESSURE)
        file = tmp_path / "library" / "boiler.md"
        text = "# Boiler\n\nThe boiler pressure is 1.9 bar, they say.\n"
        await asyncio.to_thread(file.write_text, text, "utf-8")
        while "1.9" not in (await ask(client, PRESSURE))["result"]:
            await asyncio.sleep(0.01)


async def test_what_was_cleared_is_asked_for_again(client: Client, kuma: Kuma) -> None:
    await until_kept(client, "is any service down")
    await ask(client, "is any service down")
    kuma.states["NAS"] = 0
    assert (await ask(client, "is any service down"))["speech"] == "All 3 services are up."
    async with client.post("/cache/clear") as response:
        assert response.status == 200
    assert (await ask(client, "is any service down"))["speech"].startswith("NAS is down.")


@pytest.mark.parametrize(
    "other",
    [
        {"language": "de"},
        {"source": "house"},
        {"history": [{"role": "user", "text": "how warm is the bedroom"}]},
        {"explain": True},
        {"time_zone": "Asia/Tokyo"},
    ],
)
async def test_another_question_in_the_same_words_is_another(
    other: dict[str, Any], client: Client
) -> None:
    await until_kept(client)
    await ask(client, PRESSURE)
    reply = await ask(client, PRESSURE, **other)
    assert (reply["explanation"] is not None) == ("explain" in other)
    assert reply["language"] == other.get("language", "en")


async def test_states_that_come_with_a_question_are_never_told_to_another(client: Client) -> None:
    query = "is the front door locked"
    for value, heard in (("locked", "Yes"), ("unlocked", "No"), ("locked", "Yes")):
        states = [state("lock.front", "Front door", value, "Hall")]
        reply = await ask(client, query, states=states)
        assert reply["speech"].startswith(heard)
    assert not (await ask(client, query))["success"]
