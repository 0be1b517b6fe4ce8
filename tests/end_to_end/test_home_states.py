"""The backend asks a real Home Assistant, with a token, how the things of the house are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from .backend import Backend
from .conftest import House

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def put(house: House, entity_id: str, state: str, **attributes: Any) -> None:
    """Give Home Assistant a state, as an integration would."""
    await house.home.rest(
        "POST", f"/api/states/{entity_id}", {"state": state, "attributes": attributes}
    )


@pytest_asyncio.fixture(scope="module", loop_scope="package")
async def asking(house: House, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Backend]:
    """Start a backend that may read the states of the house, which has doors and batteries by now."""
    await put(house, "lock.front_door", "unlocked", friendly_name="Front door")
    await put(
        house, "binary_sensor.back_door", "off", friendly_name="Back door", device_class="door"
    )
    await put(
        house, "binary_sensor.side", "unavailable", friendly_name="Side door", device_class="door"
    )
    await put(
        house,
        "climate.hall",
        "heat",
        friendly_name="Hall thermostat",
        hvac_action="idle",
        temperature=21,
        current_temperature=21.4,
    )
    await put(house, "cover.garage", "closed", friendly_name="Garage door", device_class="garage")
    token = await house.home.command(
        "auth/long_lived_access_token", client_name="Mnemolis", lifespan=1
    )
    backend = Backend(
        tmp_path_factory.mktemp("asking") / "data",
        {"HA_URL": house.home.url, "HA_TOKEN": token, "CACHE_TTL_HA_SECONDS": "0"},
    )
    await backend.start()
    yield backend
    assert await backend.stop() == 0


async def said(backend: Backend, query: str, **fields: Any) -> str:
    """Return what is said on a question to the home."""
    reply = await backend.ask(query, source="ha", **fields)
    assert reply["success"], reply
    assert reply["source_used"] == "ha"
    speech: str = reply["speech"]
    return speech


async def test_it_is_told_as_it_is_now(house: House, asking: Backend) -> None:
    await house.turn_light_off()
    assert await said(asking, "is the kitchen light on") == "No, Kitchen light is off."
    await house.home.say("turn on the kitchen light")
    assert await said(asking, "is the kitchen light on") == "Yes, Kitchen light is on."
    assert await said(asking, "which lights are on in the kitchen") == "Kitchen light is on."
    assert (
        await said(asking, "which lights are on in here", area="Kitchen") == "Kitchen light is on."
    )


async def test_a_room_is_known_by_its_area(house: House, asking: Backend) -> None:
    assert (
        await said(asking, "how warm is it in the kitchen")
        == "Kitchen temperature is at 21.5 degrees Celsius."
    )


async def test_doors_and_heating_are_told_with_what_is_not_known(
    house: House, asking: Backend
) -> None:
    assert (
        await said(asking, "are all doors closed")
        == "All doors I can see are closed. The state of Side door isn't known."
    )
    assert await said(asking, "did i lock the front door") == "No, Front door is unlocked."
    assert await said(asking, "what about the hall thermostat") == (
        "Hall thermostat is idle. Set to 21 degrees Celsius. It measures 21.4 degrees Celsius."
    )
    assert await said(asking, "is the sauna on") == "I see no sauna among the devices I may see."


async def test_what_is_hidden_in_home_assistant_is_not_told(house: House, asking: Backend) -> None:
    registry = await house.home.command("config/entity_registry/list")
    light = next(e["entity_id"] for e in registry if e["entity_id"].startswith("light."))
    await house.home.command("config/entity_registry/update", entity_id=light, hidden_by="user")
    try:
        fresh = Backend(asking.data.with_name("again"), asking.settings)
        await fresh.start()
        try:
            assert (
                await said(fresh, "is the kitchen light on")
                == "I see nothing like that among the devices I may see."
            )
        finally:
            await fresh.stop()
    finally:
        await house.home.command("config/entity_registry/update", entity_id=light, hidden_by=None)


async def test_what_changed_in_the_house_is_told_later(house: House, asking: Backend) -> None:
    await asking.post("/snapshots/trigger")
    await put(
        house, "cover.garage", "unavailable", friendly_name="Garage door", device_class="garage"
    )
    await asking.post("/snapshots/trigger")
    await put(house, "cover.garage", "open", friendly_name="Garage door", device_class="garage")
    _, changed = await asking.post("/snapshots/trigger")
    assert changed["changes"]["ha"] >= 1
    reply = await asking.ask("what changed in the last hour")
    line = next(text for text in reply["result"].splitlines() if text.startswith("Garage door"))
    assert line.startswith("Garage door: open at "), reply
    assert "," not in line


async def test_a_token_that_is_not_valid_is_a_failure_that_names_no_token(
    house: House, asking: Backend
) -> None:
    wrong = Backend(
        asking.data.with_name("wrong"), {"HA_URL": house.home.url, "HA_TOKEN": "not-a-token"}
    )
    await wrong.start()
    try:
        reply = await wrong.ask("is the front door locked", source="ha", explain=True)
        assert (reply["success"], reply["error"]) == (False, "bad_reply")
        assert "not-a-token" not in str(reply)
    finally:
        assert await wrong.stop() == 0
