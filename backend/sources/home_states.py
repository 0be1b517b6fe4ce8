"""What Home Assistant's states mean: a thing of the house, what kind it is, and how it is.

Decides which entities are told of, and which of our words a state is: "on" of a window's sensor is "open". A state that
isn't reported is `UNKNOWN`, never the quiet one of two. Names of domains, device classes and states are Home Assistant's
(https://developers.home-assistant.io/docs/core/entity/); how people call them is in `languages/<code>/ha.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
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
    same for what belongs together, where that is known.
    """

    id: str
    name: str
    kind: str
    state: str
    area: str = ""
    value: str = ""
    target: str = ""
    current: str = ""
    domain: str = ""
    device: str = ""
    options: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Registry:
    """What Home Assistant knows of entities beside their states: areas and devices by entity, and what it hides."""

    areas: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    temperature_unit: str = "°"


def of_question(
    states: Iterable[HomeState], said: Mapping[str, str], battery_low: float
) -> list[Thing]:
    """Return the things that came with a question; `said` has our word for states that came in a language's words."""
    things = []
    for row in states:
        domain = row.domain or row.entity_id.partition(".")[0]
        thing = _thing(
            row.entity_id,
            row.name,
            domain,
            row.state,
            {"device_class": row.device_class, "unit_of_measurement": row.unit},
            said,
            battery_low,
        )
        if thing is not None:
            things.append(_placed(thing, row.area or "", ""))
    return things


def of_api(rows: Any, registry: Registry, battery_low: float) -> list[Thing]:
    """Return the things of `GET /api/states`; a row that is none is left out."""
    things = []
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict) or not isinstance(row.get("entity_id"), str):
            continue
        entity_id = row["entity_id"]
        if entity_id in registry.hidden or not isinstance(row.get("state"), str):
            continue
        attributes = row.get("attributes")
        attributes = attributes if isinstance(attributes, dict) else {}
        domain, _, own = entity_id.partition(".")
        name = attributes.get("friendly_name")
        if not isinstance(name, str) or not name.strip():
            name = own.replace("_", " ")
        thing = _thing(
            entity_id,
            name,
            domain,
            row["state"],
            {"temperature_unit": registry.temperature_unit, **attributes},
            {},
            battery_low,
        )
        if thing is not None:
            things.append(
                _placed(
                    thing, registry.areas.get(entity_id, ""), registry.devices.get(entity_id, "")
                )
            )
    return things


def _placed(thing: Thing, area: str, device: str) -> Thing:
    return replace(thing, area=plain(area, _NAME_CHARS), device=device)


def _thing(
    entity_id: str,
    name: str,
    domain: str,
    raw: str,
    attributes: Mapping[str, Any],
    said: Mapping[str, str],
    battery_low: float,
) -> Thing | None:
    """Return what an entity is; None for one that isn't told of."""
    name = plain(name, _NAME_CHARS)
    if domain in _QUIET_DOMAINS or not name:
        return None
    device_class = str(attributes.get("device_class") or "").casefold()
    folded = raw.strip().casefold()
    known = folded not in _NOT_REPORTED

    if domain == "binary_sensor":
        kind, states = _OF_BINARY.get(device_class, ("switch", _SWITCHED))
    elif domain == "cover":
        kind, states = _OF_COVER.get(device_class, "cover"), _MOVED
    elif domain in _OF_DOMAIN:
        kind, states = _OF_DOMAIN[domain]
    else:
        kind = MEASURED.get(device_class, "sensor")
        value = figure(raw, attributes.get("unit_of_measurement")) if known else ""
        return _measured(entity_id, name, kind, domain, value, raw, known, battery_low)

    state = states.get(folded) or said.get(fold(raw), "")
    state = state if state in states.values() else ""
    value = ""
    if not known:
        state = UNKNOWN
    elif not state and kind in ("person", "tracker"):
        # A zone's name: not at home, and where.
        state, value = "elsewhere", plain(raw, _VALUE_CHARS)
    elif not state:
        value = plain(raw, _VALUE_CHARS)
    options = frozenset(states.values())
    target = current = ""
    if kind == "climate":
        unit = attributes.get("temperature_unit")
        if known:
            state = _DOES.get(str(attributes.get("hvac_action")), state)
            target = figure(attributes.get("temperature"), unit)
            current = figure(attributes.get("current_temperature"), unit)
        options |= frozenset(_DOES.values())
    if kind in ("person", "tracker"):
        options |= {"elsewhere"}
    return Thing(
        entity_id,
        name,
        kind,
        state,
        value=value,
        target=target,
        current=current,
        domain=domain,
        options=options,
    )


def _measured(
    entity_id: str,
    name: str,
    kind: str,
    domain: str,
    value: str,
    raw: str,
    known: bool,
    battery_low: float,
) -> Thing:
    """Return a sensor; a battery has a figure, and is low or not."""
    state = "" if known else UNKNOWN
    options: frozenset[str] = frozenset()
    if kind == "battery":
        options = frozenset({"low", "normal"})
        charge = number(raw)
        if charge is not None:
            state = "low" if charge < battery_low else "normal"
    return Thing(
        entity_id,
        name,
        kind,
        state,
        value=value,
        domain=domain,
        options=options,
    )


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
