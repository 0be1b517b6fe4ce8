"""A real Uptime Kuma, asked about by voice: its status page, its metrics, and what it does when it isn't set up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.uptime_kuma import PAGE, UptimeKuma, serving

from .test_live_sources import ask, house


@pytest.fixture(scope="module")
def kuma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UptimeKuma]:
    with serving(tmp_path_factory.mktemp("uptime-kuma")) as running:
        yield running


QUESTIONS = {
    "is any service down": "NAS is down. 2 of 3 services are up.",
    "is the nas online": "NAS is down.",
    "is homeassistant's server up": "Home Assistant is up.",
    "is jellyfin running": "Jellyfin is not monitored.",
    "how many services are down": "One of 3 services is down. NAS is down.",
}


@pytest.mark.parametrize("door", ["status page", "metrics"])
async def test_the_truth_is_heard_through_either_door(
    door: str, kuma: UptimeKuma, tmp_path: Path
) -> None:
    settings = (
        {"uptime_kuma_status_page": PAGE}
        if door == "status page"
        else {"uptime_kuma_api_key": kuma.key}
    )
    async with house(tmp_path, uptime_kuma_url=kuma.url, **settings) as client:
        for question, said in QUESTIONS.items():
            reply = await ask(client, question)
            assert reply["speech"] == said
            assert (reply["source_used"], reply["success"]) == ("uptime", True)


async def test_a_status_page_that_is_not_there_is_waited_for_until_the_deadline_and_said(
    kuma: UptimeKuma, tmp_path: Path
) -> None:
    async with house(
        tmp_path,
        uptime_kuma_url=kuma.url,
        uptime_kuma_status_page="elsewhere",
        request_timeout_seconds=1,
    ) as client:
        reply = await ask(client, "is any service down")
        assert not reply["success"]
        assert "NAS" not in reply["speech"]
        assert reply["error"] == "timeout"
        assert reply["speech"] == "That took too long. Please try again in a moment."


async def test_a_wrong_key_is_no_all_clear(kuma: UptimeKuma, tmp_path: Path) -> None:
    wrong = "uk1_wrong"
    async with house(tmp_path, uptime_kuma_url=kuma.url, uptime_kuma_api_key=wrong) as client:
        reply = await ask(client, "are all services up")
        assert not reply["success"]
        assert reply["speech"] == "I can't reach the source for that right now."
        assert wrong not in str(reply)
