"""Units behind numbers, put into words: "3 hrs. 15 min.", "42 m²", "6 l/100 km", "5 kWh/day"."""

from __future__ import annotations

from functools import lru_cache
import re
from typing import Final

from backend.text.patterns import either
from backend.text.spoken.words import NUM, SPACE, SpokenWords, replaced, spoken_words

NOT_ON: Final = r"(?![A-Za-z\u00c0-\u024f\d]|[²³'’]|/(?!100 ?km)|-[^\W\d_])"
STOP: Final = rf"(?:(\.)(?:(?=-[^\W\d_])|{NOT_ON})|{NOT_ON})"
_LONE: Final = rf"(?<=[^\W_][ \u00a0])(km/h|m/s|km²|m²|m³|cm²|cm³|°C|°F|℃|kWh|%){NOT_ON}"
"""Units that are said without a number too: "in m²"."""
_TIGHT: Final = re.compile(
    # "17h30", "3h15min", "2m30s".
    r"(?<![\w.,:])(?:(\d{1,3}) ?h ?(\d{1,2})(min|mn|m)?|(\d{1,3})m(\d{1,2})s)(?![^\W_])"
)
_FEET: Final = re.compile(r"(?<![\w.,])(\d{1,2})['’′] ?(\d{1,2})(?:[\"”″]|''|’’)")

_INCHES: Final = re.compile(r"(\d ft\.? \d{1,2}) in(?![\w.])")
_POINTS: Final = frozenset("NW")
_STREET: Final = re.compile(r" \d+(?:st|nd|rd|th)\b")
_UNIT: Final = re.compile(r"[\d%°℃²³/]|kWh")
_ALTERNATIVE: Final = re.compile(r"(?<=[^\W\d_])~?/(?=\d)(?!100 ?km)")
_DEGREES: Final = re.compile(r"[°º](?:\s?([cf])|\s([CF]))\b")
_POWER: Final = re.compile(r"(?<![^\W\d_])([ckm]?m|ft|in|yd|mi)\^([23])(?!\w)")


class UnitPatterns:
    """Where units stand, in one language."""

    def __init__(self, words: SpokenWords) -> None:
        """Make the patterns from the symbols and short forms of `words`."""
        shorts = {
            written: unit
            for short, unit in words.short.items()
            for written in (short, short.capitalize() if len(short) > 1 else short, short.upper())
            # "5 A" and "20 MI" are something else.
            if written == short or not written.isupper() or len(short) > 2
        }
        self.names = {**shorts, **words.units, **{symbol: symbol for symbol in words.per}}
        self.hours = {written for written, name in self.names.items() if name == "hour"}
        self.unit = either(self.names)
        scale = rf"(?:[ \u00a0]({words.scales.pattern}))?" if words.own else "()"
        self.behind = re.compile(
            rf"(?<![A-Za-z\u00c0-\u024f\d_.,:])((?:\d{{1,2}}:)?{words.number})(?i:{scale})(-(?=\w+\.-)|{SPACE})({self.unit})"
            rf"(?:/([^\W\d_]{{3,}})(?![\w/])|{STOP})"
        )
        longer = either(each for each in self.names if len(each) > 1)
        self.hyphened = re.compile(rf"(?<![\w.,-])({NUM})-({longer})(?![\w/²³'’.])")
        self.lone = re.compile(_LONE)
        self.per = re.compile(rf"(?<=\d)\s?/\s?({self.unit}){NOT_ON}")


@lru_cache(maxsize=16)
def unit_patterns(language: str) -> UnitPatterns:
    """Return where units stand in `language`."""
    return UnitPatterns(spoken_words(language))


def say_units(text: str, words: SpokenWords) -> str:
    """Put units into words; the full stop of a short form goes, unless a sentence ends there."""
    if not _UNIT.search(text):
        return text
    patterns = unit_patterns(words.language)

    def behind(match: re.Match[str]) -> str:
        number, scale, space, unit, per, _ = match.groups()
        if unit in _POINTS and _STREET.match(match.string, match.end()):
            return match.group()  # "708 N 1st St"
        if unit == "°" and words.ordinal_degree(match.string, match.end()):
            return match.group()
        if unit == "s" and not space and not scale and number.endswith("0"):
            return match.group()  # "the 1980s"
        if scale:
            category = words.after_scale(words.grammar.words.get(scale.lower(), 1e6))
            spoken = words.unit(patterns.names[unit], category)
            said = spoken and spoken.replace("{0}", f"{words.digits(number)} {scale}")
        else:
            category = words.plural_in(match.string, match.start(), number)
            if unit in patterns.hours and (clock := words.clock(number)):
                return f"{clock} {words.say('clock')}".rstrip()
            spoken = words.unit(patterns.names[unit], category)
            said = spoken and spoken.replace("{0}", words.digits(number))
        if not said:
            return match.group()
        if per:
            return f"{said} {words.say('per')} {per}" if words.own else match.group()
        return said.replace(" ", "-", 1) if space == "-" else said

    out = replaced(text, patterns.behind, behind, words.language)
    if not words.own:
        return out
    if "-" in out:
        one = words.plural("1")
        out = patterns.hyphened.sub(
            lambda each: f"{each[1]}-{words.bare_unit(patterns.names[each[2]], one)}", out
        )
    if "/" in out:
        out = patterns.per.sub(lambda each: f" {words.per_unit(patterns.names[each[1]])}", out)
    return patterns.lone.sub(
        lambda each: words.bare_unit(patterns.names[each[1]], words.plural("5")), out
    )


def part_units(text: str, words: SpokenWords) -> str:
    """Write usually what is written tightly or oddly: "17h30" -> "17 h 30", "230 V~/50 Hz" -> "230 V, 50 Hz"."""
    out = _TIGHT.sub(_apart, text)
    if "foot" in words.short.values():
        out = _INCHES.sub(r"\1 in.", _FEET.sub(r"\1 ft \2 in.", out))
    if "/" in out:
        out = _ALTERNATIVE.sub(", ", out)
    if "°" in out or "º" in out:
        out = _DEGREES.sub(lambda each: f"°{(each[1] or each[2]).upper()}", out)
    if "^" in out:
        out = _POWER.sub(lambda each: each[1] + "²³"[int(each[2]) - 2], out)
    return out


def _apart(match: re.Match[str]) -> str:
    hours, minutes, unit, minutes_first, seconds = match.groups()
    if hours is None:
        return f"{minutes_first} min {seconds} s"
    return f"{hours} h {minutes}{' min' if unit else ''}"
