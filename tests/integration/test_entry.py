"""The life of an entry: always loaded, repairs, diagnostics, unloading, and what is left after removal."""

from __future__ import annotations

import asyncio
from datetime import timedelta
import json
import logging

from homeassistant.components.conversation import HOME_ASSISTANT_AGENT
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.mnemolis_intents.const import DOMAIN, POLL_SECONDS
from custom_components.mnemolis_intents.diagnostics import async_get_config_entry_diagnostics

from .broker import Broker
from .conftest import set_up
from .house import House


async def polled(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Let the time come at which the server is asked how it is, and wait for what it says."""
    coordinator = entry.runtime_data
    asked = asyncio.Event()
    remove = coordinator.async_add_listener(asked.set)
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=POLL_SECONDS + 1))
    async with asyncio.timeout(10):
        await asked.wait()
    remove()
    await hass.async_block_till_done()


async def looked(entry: MockConfigEntry) -> None:
    """Wait for the first look at the server."""
    coordinator = entry.runtime_data
    if coordinator.data is None and coordinator.last_update_success:
        asked = asyncio.Event()
        remove = coordinator.async_add_listener(asked.set)
        async with asyncio.timeout(10):
            await asked.wait()
        remove()


async def test_a_server_of_a_later_contract_works_and_is_told(
    hass: HomeAssistant, house: House, entry: MockConfigEntry, broker: Broker
) -> None:
    broker.health = {**broker.health, "contract": 7, "version": "9.0"}
    agent = await set_up(hass, entry)
    await looked(entry)
    issues = ir.async_get(hass)
    issue = issues.async_get_issue(DOMAIN, f"newer_contract_{entry.entry_id}")
    assert issue is not None
    assert issue.translation_placeholders is not None
    assert issue.translation_placeholders["contract"] == "7"
    assert (await house.say("what is a quasar", await house.pipeline(agent))).speech

    broker.health = {**broker.health, "contract": 1}
    await polled(hass, entry)
    assert not issues.async_get_issue(DOMAIN, f"newer_contract_{entry.entry_id}")


async def test_the_log_has_one_line_when_the_server_goes_and_one_when_it_is_back(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    broker: Broker,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await set_up(hass, entry)
    await looked(entry)
    await broker.stop()
    caplog.clear()
    for _ in range(3):
        await entry.runtime_data.async_refresh()
    told = [
        record.message
        for record in caplog.records
        if record.name.endswith("mnemolis_intents.coordinator") and record.levelno >= logging.INFO
    ]
    assert len(told) == 1
    await broker.start()
    caplog.clear()
    for _ in range(2):
        await entry.runtime_data.async_refresh()
    assert len([r for r in caplog.records if "recovered" in r.message]) == 1


@pytest.mark.parametrize("up", [True, False])
async def test_diagnostics_hold_no_secret_and_no_address(
    hass: HomeAssistant, entry: MockConfigEntry, broker: Broker, up: bool
) -> None:
    if not up:
        await broker.stop()
    await set_up(hass, entry)
    await looked(entry)
    diagnostics = await async_get_config_entry_diagnostics(hass, entry)
    text = json.dumps(diagnostics)
    assert "right" not in text
    assert "127.0.0.1" not in text
    assert diagnostics["entry"]["api_key"] is True
    assert diagnostics["server"]["reachable"] is up
    if up:
        assert diagnostics["server"]["sources"] == {"house": True, "kiwix": False}
        assert diagnostics["server"]["model"] == "ollama"
    else:
        assert diagnostics["server"]["last_error"] == "CannotConnect"


async def test_an_entry_unloads_and_comes_back(
    hass: HomeAssistant, house: House, entry: MockConfigEntry
) -> None:
    agent = await set_up(hass, entry)
    assert await hass.config_entries.async_unload(entry.entry_id)
    assert entry.state is ConfigEntryState.NOT_LOADED
    assert hass.states.get(agent) is not None
    assert hass.states.get(agent).state == "unavailable"  # type: ignore[union-attr]
    unknown = await house.say("look up the boiler pressure", await house.pipeline())
    assert unknown.response["response_type"] == "error"
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert (await house.say("look up the boiler pressure", await house.pipeline())).speech


async def test_pipelines_of_a_removed_agent_are_home_assistant_s_again(
    hass: HomeAssistant,
    house: House,
    entry: MockConfigEntry,
    caplog: pytest.LogCaptureFixture,
) -> None:
    agent = await set_up(hass, entry)
    ours = await house.pipeline(agent, prefer_local=True, language="de")
    others = await house.pipeline(HOME_ASSISTANT_AGENT)
    before = (await house.pipelines())[others]
    await hass.config_entries.async_remove(entry.entry_id)
    after = await house.pipelines()
    assert after[ours]["conversation_engine"] == HOME_ASSISTANT_AGENT
    assert after[ours]["conversation_language"] == "de"
    assert after[ours]["prefer_local_intents"] is True
    assert after[others] == before
    assert "Home Assistant's own agent" in caplog.text
    heard = await house.say("schalte das licht in der kitchen ein", ours)
    assert heard.response["response_type"] == "action_done"


async def test_an_entry_is_removed_where_there_are_no_pipelines(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    await set_up(hass, entry)
    assert "assist_pipeline" not in hass.config.components
    await hass.config_entries.async_remove(entry.entry_id)
    assert not hass.config_entries.async_entries(DOMAIN)


async def test_neither_keys_nor_questions_are_in_the_log(
    hass: HomeAssistant,
    house: House,
    entry: MockConfigEntry,
    broker: Broker,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "custom_components.mnemolis_intents")
    agent = await set_up(hass, entry)
    broker.key = "another"
    await house.say("what is my secret illness", await house.pipeline(agent))
    ours = [r.getMessage() for r in caplog.records if r.name.startswith("custom_components")]
    assert ours
    assert not any("secret illness" in message or "right" in message for message in ours)
