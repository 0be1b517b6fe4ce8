"""What Home Assistant's states mean: a thing of the house, what kind it is, and how it is.

Decides which entities are told of, and which of our words a state is: "on" of a window's sensor is "open". A state that
isn't reported is `UNKNOWN`, never the quiet one of two. Names of domains, device classes and states are Home Assistant's
(https://developers.home-assistant.io/docs/core/entity/); how people call them is in `languages/<code>/ha.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
import re
from typing import Any, Final
import unicodedata

from backend.text.words import fold
from backend.types import HomeState

UNKNOWN: Final = "unknown"
_NOT_REPORTED: Final = frozenset({"unknown", "unavailable", "none", ""})
_NAME_CHARS: Final = 60
_VALUE_CHARS: Final = 80

_QUIET_DOMAINS: Final = frozenset(
    {"ai_task", "automation", "button", "calendar", "camera", "conversation", "date", "datetime"}
    | {"event", "geo_location", "image", "input_button", "input_datetime", "input_text", "notify"}
    | {"persistent_notification", "scene", "script", "stt", "sun", "text", "time", "todo", "tts"}
    | {"update", "wake_word", "weather", "zone"}
)
"""Domains whose state tells nothing of the house: what could be run, moments, and what another source tells."""

_CONTACT: Final = {"on": "open", "off": "closed"}
_SWITCHED: Final = {"on": "on", "off": "off"}
_OF_BINARY: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "door": ("door", _CONTACT),
    "garage_door": ("garage_door", _CONTACT),
    "window": ("window", _CONTACT),
    "opening": ("opening", _CONTACT),
    "lock": ("lock", {"on": "unlocked", "off": "locked"}),
    "motion": ("motion", {"on": "motion", "off": "still"}),
    "moving": ("motion", {"on": "motion", "off": "still"}),
    "occupancy": ("motion", {"on": "occupied", "off": "vacant"}),
    "presence": ("person", {"on": "home", "off": "away"}),
    "battery": ("battery", {"on": "low", "off": "normal"}),
    "moisture": ("moisture", {"on": "wet", "off": "dry"}),
    "smoke": ("smoke", {"on": "detected", "off": "clear"}),
    "gas": ("gas", {"on": "detected", "off": "clear"}),
    "carbon_monoxide": ("gas", {"on": "detected", "off": "clear"}),
    "problem": ("problem", {"on": "problem", "off": "fine"}),
    "tamper": ("problem", {"on": "problem", "off": "fine"}),
    "safety": ("problem", {"on": "problem", "off": "fine"}),
    "connectivity": ("connectivity", {"on": "connected", "off": "disconnected"}),
    "plug": ("plug", {"on": "plugged", "off": "unplugged"}),
    "battery_charging": ("charging", {"on": "charging", "off": "not_charging"}),
    "sound": ("sensor", {"on": "detected", "off": "clear"}),
    "vibration": ("sensor", {"on": "detected", "off": "clear"}),
}
_OF_COVER: Final = {
    "door": "door",
    "garage": "garage_door",
    "gate": "gate",
    "window": "window",
}
_MOVED: Final = {
    "open": "open",
    "closed": "closed",
    "opening": "opening",
    "closing": "closing",
    "stopped": "open",
}
_LOCKED: Final = {
    state: state for state in ("locked", "unlocked", "locking", "unlocking", "jammed")
} | {"open": "unlocked", "opening": "unlocking"}
_ARMED: Final = {
    f"armed_{how}": f"armed_{how}" for how in ("home", "away", "night", "vacation")
} | {
    "armed_custom_bypass": "armed",
    "armed": "armed",
    "arming": "arming",
    "disarming": "arming",
    "pending": "pending",
    "disarmed": "disarmed",
    "triggered": "triggered",
}
_CLEANED: Final = {
    "cleaning": "working",
    "mowing": "working",
    "on": "on",
    "off": "off",
    "docked": "docked",
    "returning": "returning",
    "paused": "paused",
    "idle": "idle",
    "error": "problem",
}
_PLAYED: Final = {
    "playing": "playing",
    "buffering": "playing",
    "paused": "paused",
    "idle": "idle",
    "on": "on",
    "off": "off",
    "standby": "off",
}
_HEATED: Final = {
    "off": "off",
    "heat": "set_heat",
    "cool": "set_cool",
    "heat_cool": "on",
    "auto": "on",
    "dry": "drying",
    "fan_only": "fanning",
}
_DOES: Final = {
    "heating": "heating",
    "preheating": "heating",
    "defrosting": "on",
    "cooling": "cooling",
    "idle": "idle",
    "drying": "drying",
    "fan": "fanning",
    "off": "off",
}
"""What a climate device does now; it may be set to heat and have nothing to do."""
_OF_DOMAIN: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "light": ("light", _SWITCHED),
    "switch": ("switch", _SWITCHED),
    "input_boolean": ("switch", _SWITCHED),
    "fan": ("fan", _SWITCHED),
    "humidifier": ("switch", _SWITCHED),
    "siren": ("switch", _SWITCHED),
    "remote": ("switch", _SWITCHED),
    "group": ("switch", {**_SWITCHED, **_MOVED, **_LOCKED}),
    "lock": ("lock", _LOCKED),
    "cover": ("cover", _MOVED),
    "valve": ("valve", _MOVED),
    "person": ("person", {"home": "home", "not_home": "away"}),
    "device_tracker": ("tracker", {"home": "home", "not_home": "away"}),
    "alarm_control_panel": ("alarm", _ARMED),
    "vacuum": ("vacuum", _CLEANED),
    "lawn_mower": ("vacuum", _CLEANED),
    "media_player": ("media", _PLAYED),
    "climate": ("climate", _HEATED),
    "water_heater": ("climate", {"off": "off"}),
}
MEASURED: Final = {
    "temperature": "temperature",
    "humidity": "humidity",
    "battery": "battery",
    "power": "power",
    "energy": "energy",
    "energy_storage": "energy",
    "carbon_dioxide": "carbon_dioxide",
    "illuminance": "illuminance",
    "pressure": "pressure",
    "atmospheric_pressure": "pressure",
}
"""Kinds of sensors that are asked for by what they measure, by device class."""

REMEMBERED: Final = frozenset(
    {"door", "garage_door", "gate", "window", "opening", "lock", "cover", "valve", "light", "fan"}
    | {"switch", "climate", "media", "vacuum", "person", "alarm", "smoke", "gas", "moisture"}
    | {"battery", "problem", "plug", "connectivity"}
)
"""Kinds whose changes are worth telling hours later; what moves and what is measured changes all the time."""


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing of the house as it is told of.

    `state` is one of our words; "" where `value` is all there is, a figure with its unit or a text. `target` and
    `current` are a climate device's, with their unit. `options` are all states that it could have. `device` is the
    same for what belongs together, where that is known; `members` are the ids of what a group is made of.
    """

    id: str
    name: str
    kind: str
    state: str
    area: str = ""
    value: str = ""
    target: str = ""
    current: str = ""
    device: str = ""
    options: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Registry:
    """What Home Assistant knows of entities beside their states: areas and devices by entity, and what it hides."""

    areas: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    temperature_unit: str = "°"


@dataclass(frozen=True, slots=True)
class Reading:
    """How states are read: below which charge a battery is low, in which zone moments are told, and what a language calls states.

    `said` has our word for a state by its folded words: states may come in the words of the one who asks.
    """

    battery_low: float
    zone: tzinfo = UTC
    said: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Entity:
    """An entity as Home Assistant has it."""

    id: str
    name: str
    domain: str
    state: str
    attributes: Mapping[str, Any]

    @property
    def known(self) -> bool:
        return self.state.strip().casefold() not in _NOT_REPORTED

    @property
    def device_class(self) -> str:
        return str(self.attributes.get("device_class") or "").casefold()


def of_question(states: Iterable[HomeState], reading: Reading) -> list[Thing]:
    """Return the things that came with a question."""
    things = []
    for row in states:
        domain = row.domain or row.entity_id.partition(".")[0]
        attributes = {"device_class": row.device_class, "unit_of_measurement": row.unit}
        thing = _thing(_Entity(row.entity_id, row.name, domain, row.state, attributes), reading)
        if thing is not None:
            things.append(replace(thing, area=plain(row.area or "", _NAME_CHARS)))
    return things


def of_api(rows: Sequence[Any], registry: Registry, reading: Reading) -> list[Thing]:
    """Return the things of `GET /api/states`; a row that is none is left out."""
    things = []
    for row in rows:
        match row:
            case {"entity_id": str(entity_id), "state": str(state)}:
                pass
            case _:
                continue
        if entity_id in registry.hidden:
            continue
        attributes = row.get("attributes")
        attributes = attributes if isinstance(attributes, dict) else {}
        domain, _, own = entity_id.partition(".")
        name = attributes.get("friendly_name")
        if not isinstance(name, str) or not name.strip():
            name = own.replace("_", " ")
        attributes = {"temperature_unit": registry.temperature_unit, **attributes}
        thing = _thing(_Entity(entity_id, name, domain, state, attributes), reading)
        if thing is None:
            continue
        members = attributes.get("entity_id")
        things.append(
            replace(
                thing,
                area=plain(registry.areas.get(entity_id, ""), _NAME_CHARS),
                device=registry.devices.get(entity_id, ""),
                members=frozenset(each for each in members if isinstance(each, str))
                if isinstance(members, list)
                else frozenset(),
            )
        )
    return things


def _thing(entity: _Entity, reading: Reading) -> Thing | None:
    """Return what an entity is; None for one that isn't told of."""
    name = plain(entity.name, _NAME_CHARS)
    if entity.domain in _QUIET_DOMAINS or not name:
        return None
    if entity.domain == "binary_sensor":
        kind, states = _OF_BINARY.get(entity.device_class, ("switch", _SWITCHED))
    elif entity.domain == "cover":
        kind, states = _OF_COVER.get(entity.device_class, "cover"), _MOVED
    elif entity.domain in _OF_DOMAIN:
        kind, states = _OF_DOMAIN[entity.domain]
    else:
        return _measured(entity, name, reading)

    state = states.get(entity.state.strip().casefold()) or reading.said.get(fold(entity.state), "")
    state = state if state in states.values() else ""
    options = frozenset(states.values())
    thing = Thing(entity.id, name, kind, state, options=options)
    if not entity.known:
        state = UNKNOWN
    elif not state:
        thing = replace(thing, value=plain(entity.state, _VALUE_CHARS))
    if kind == "climate":
        return _climate(replace(thing, state=state), entity)
    if kind in ("person", "tracker"):
        # A zone's name: not at home, and where.
        return replace(thing, state=state or "elsewhere", options=options | {"elsewhere"})
    return replace(thing, state=state)


def _climate(thing: Thing, entity: _Entity) -> Thing:
    """Return a thing that heats or cools: it may be set to, and have nothing to do now."""
    options = thing.options | frozenset(_DOES.values())
    if thing.state == UNKNOWN:
        return replace(thing, options=options)
    unit = entity.attributes.get("temperature_unit")
    return replace(
        thing,
        # A water heater's "eco" is a way of being on.
        state=_DOES.get(str(entity.attributes.get("hvac_action")), thing.state or "on"),
        value="",
        target=figure(entity.attributes.get("temperature"), unit),
        current=figure(entity.attributes.get("current_temperature"), unit),
        options=options,
    )


def _measured(entity: _Entity, name: str, reading: Reading) -> Thing:
    """Return a sensor; a battery has a figure, and is low or not."""
    kind = MEASURED.get(entity.device_class, "sensor")
    thing = Thing(entity.id, name, kind, "" if entity.known else UNKNOWN)
    if kind == "battery":
        charge = number(entity.state)
        if charge is not None:
            thing = replace(thing, state="low" if charge < reading.battery_low else "normal")
        thing = replace(thing, options=frozenset({"low", "normal"}))
    if not entity.known:
        return thing
    if entity.device_class == "timestamp" and (at := _moment(entity.state, reading.zone)):
        return replace(thing, value=at)
    return replace(thing, value=figure(entity.state, entity.attributes.get("unit_of_measurement")))


def _moment(value: str, zone: tzinfo) -> str:
    """Return a moment in the zone of the house, "" for what is none."""
    try:
        return datetime.fromisoformat(value).astimezone(zone).strftime("%Y-%m-%d, %H:%M")
    except (ValueError, OverflowError):
        return ""


def number(value: object) -> float | None:
    """Return a figure; None for what is none, or isn't finite."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) < 1e15 else None


def figure(value: object, unit: object) -> str:
    """Return a figure with its unit, no finer than it is said; a text as it is; "" for nothing."""
    if value is None:
        return ""
    found = number(value)
    if found is None:
        return plain(str(value), _VALUE_CHARS)
    digits = 0 if abs(found) >= 100 else 1 if abs(found) >= 10 else 2
    said = f"{round(found, digits) + 0.0:.{digits}f}"
    if "." in said:
        said = said.rstrip("0").rstrip(".")
    said = "0" if said == "-0" else said
    named = plain(str(unit), 16) if isinstance(unit, str) else ""
    return f"{said} {named}".strip() if named != "°" else f"{said}°"


_UNSAID: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


def plain(text: str, most: int) -> str:
    """Return a name or a text of the house on one line, at most `most` characters, cut after a word."""
    # Only what could be kept is looked at: names of some kilobytes exist.
    line = _UNSAID.sub(" ", unicodedata.normalize("NFC", text[: most * 8])).strip()
    if len(line) > most:
        line = line[:most].rpartition(" ")[0] or line[:most]
    return line.strip()
