"""Units of one kind: what they are worth in each other, and which values are written in several of them.

"3 h 15 min", "5 ft 3" and "6 lb 3 oz" are one value each: the smaller unit counts what is left over of the greater.
Units have CLDR's names. How a language writes them stands in its `units.toml`; reading is left to `text/figures.py`.
"""

from __future__ import annotations

from typing import Final

_SCALES: Final[dict[str, dict[str, float]]] = {
    "time": {
        "week": 604_800,
        "day": 86_400,
        "hour": 3_600,
        "minute": 60,
        "second": 1,
        "millisecond": 0.001,
    },
    "calendar": {"year": 12, "month": 1},
    "length": {"kilometer": 1_000, "meter": 1, "decimeter": 0.1, "centimeter": 0.01},
    "length, imperial": {"mile": 1609.344, "yard": 0.9144, "foot": 0.3048, "inch": 0.0254},
    "mass": {"tonne": 1_000, "kilogram": 1, "gram": 0.001, "milligram": 0.000_001},
    "mass, imperial": {"pound": 0.453_592_37, "ounce": 0.453_592_37 / 16},
    "volume": {"liter": 1, "deciliter": 0.1, "centiliter": 0.01, "milliliter": 0.001},
    "volume, imperial": {
        "gallon": 3.785_412,
        "quart": 3.785_412 / 4,
        "pint": 3.785_412 / 8,
        "cup": 3.785_412 / 16,
        "tablespoon": 3.785_412 / 256,
        "teaspoon": 3.785_412 / 768,
    },
}
"""Units by scale, the greatest first; what has the same name before the comma can be converted, if not exactly."""
_SCALE: Final = {unit: scale for scale, units in _SCALES.items() for unit in units}
_HUNDREDTHS: Final = frozenset(("cent", "penny"))
_CURRENCY: Final = 3
NEXT: Final = {"foot": "inch", "pound": "ounce", "hour": "minute"}
"""The unit that is left out where a value is written short: "5 ft 3"."""


def share(greater: str, smaller: str) -> float | None:
    """Return what one of `smaller` is of `greater` where a value may be written in both, else None."""
    if smaller in _HUNDREDTHS and len(greater) == _CURRENCY and greater.isupper():
        return 0.01
    scale = _SCALE.get(greater)
    if scale is None or _SCALE.get(smaller) != scale:
        return None
    worth = _SCALES[scale][smaller] / _SCALES[scale][greater]
    return worth if worth < 1 else None


def convert(value: float, one: str, other: str) -> tuple[float, bool] | None:
    """Return `value` of the unit `one` in the unit `other` and whether that is exact; None if they differ in kind."""
    if (one, other) == ("celsius", "fahrenheit"):
        return value * 1.8 + 32, False
    if (one, other) == ("fahrenheit", "celsius"):
        return (value - 32) / 1.8, False
    here, there = _SCALE.get(one), _SCALE.get(other)
    if here is None or there is None or here.split(",")[0] != there.split(",")[0]:
        return None
    return value * _SCALES[here][one] / _SCALES[there][other], here == there
