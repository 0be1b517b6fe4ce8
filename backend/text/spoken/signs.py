"""Signs that voices read wrongly or not at all, put into words: minus, ranges, sums, powers, dates in figures, arrows."""

from __future__ import annotations

from datetime import date
import re
from typing import Final

from backend.text.spoken.words import NUM, SpokenWords

_SUBSCRIPT: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_SUPERSCRIPT: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_ISO: Final = re.compile(
    r"\b(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?\b"
)
_TIME: Final = r"\d{1,2}(?::\d{2}(?:\s?[ap]\.?m\b\.?)?|\s?[ap]\.?m\b\.?)"
_TIME_RANGE: Final = re.compile(rf"(?<![\w:])({_TIME})\s?[-–—]\s?(?={_TIME})", re.IGNORECASE)
_MINUS: Final = re.compile(r"(?<![\w.,)\]%°-])[-−](?=\d|[€$£¥]\d)")
_COMPARISONS: Final = {"≤": "at_most", "≥": "at_least", "<": "less", ">": "more"}
_COMPARED: Final = re.compile(r"(?<!\S)(?<!\d )([≤≥<>])\s?(?=[-−]?[€$£¥]?\d)")
_ABOUT: Final = re.compile(r"[~≈∼]\s?(?=[€$£]?\d)")
_SIGN: Final = r"[€$£¥]"
_RANGE: Final = re.compile(
    rf"(?<![\w/.,-])({_SIGN})?({NUM})([^\W\d_]{{1,3}}|[%°€]|°[CF])?(\s?[–—]\s?|-|\s-\s)({_SIGN})?({NUM})"
    r"(?![\w]*[-/]\d|\d|-[A-Z])"
)
_SUM: Final = re.compile(
    rf"(?<![\w.,]){NUM}(?:\s?[-−–+*×/÷:]\s?{NUM})+(?=\s?=)|"
    rf"(?<![\w.,]){NUM}(?: [-−–+] {NUM})* \+ {NUM}(?: [-−–+] {NUM})*"
)
_SQUARED: Final = re.compile(r"(?<=\w)²")
_CUBED: Final = re.compile(r"(?<=\w)³")
_RAISED: Final = re.compile(r"(?<=\w)([⁰¹⁴⁵⁶⁷⁸⁹⁻][⁰¹²³⁴⁵⁶⁷⁸⁹]*)")
_POWER: Final = re.compile(r"\s?\^\{?(-?\w+)\}?")
_EQUALS: Final = re.compile(r"(?<=\w)\s?=\s?(?=[\w(-])")
_PLUS: Final = re.compile(r"(?<=\w)\s\+\s?(?=\d)(?!\d{1,3} \d)")
_AND: Final = re.compile(r"(?<=\S)\s&\s(?=\S)")
_ARROW: Final = re.compile(r"\s?[→⇒➜►]\s?")
_MARKS: Final = re.compile(r"[©®™†‡§¶]")
_ANYTHING: Final = re.compile(r"\w")
_MATHS: Final = {sign: re.compile(rf"\s?{sign}\s?(?=[\w(])") for sign in "×·±≈−"}
_WORDS: Final = {"×": "times", "·": "times", "≈": "about", "−": "minus"}
_OPERATORS: Final = {
    "-": "minus",
    "−": "minus",
    "–": "minus",
    "+": "plus",
    "*": "times",
    "×": "times",
    "/": "divided",
    "÷": "divided",
    ":": "divided",
}
_OPERATOR: Final = re.compile(r"\s?([-−–+*×/÷:])\s?")
_LAST_YEAR: Final = 2200


def say_dates(text: str, words: SpokenWords) -> str:
    """Put "2024-03-05T14:30" into words."""
    return _ISO.sub(lambda each: _iso(each, words.language), text)


def say_ranges(text: str, words: SpokenWords) -> str:
    """Put sums, signs of negative numbers and dashes between numbers into words."""
    to = words.say("to")
    out = _COMPARED.sub(lambda each: f"{words.say(_COMPARISONS[each[1]])} ", text)
    if "=" in out or "+" in out:
        out = _SUM.sub(lambda each: _sum(each, words), out)
    out = _TIME_RANGE.sub(lambda each: f"{each[1]} {to} ", out)
    out = _ABOUT.sub(f"{words.say('about')} ", out)
    minus = words.say("minus")
    if (signed := _MINUS.sub(f"{minus} ", out)) != out:
        out = re.sub(rf"(?<=\d)\s?[–—-]\s?(?={minus} \d)", f" {to} ", signed)
    return _RANGE.sub(lambda each: _range(each, words), out)


def say_signs(text: str, words: SpokenWords) -> str:
    """Put what is left of signs into words, or leave it out."""
    if text.isascii() and not any(each in text for each in "^=&+"):
        return text
    say = words.say
    out = text
    if not out.isascii():
        out = _SQUARED.sub(f" {say('squared')}", out.translate(_SUBSCRIPT))
        out = _CUBED.sub(f" {say('cubed')}", out)
        out = _RAISED.sub(lambda m: f" {say('power')} {m[1].translate(_SUPERSCRIPT)}", out)
        for sign, pattern in _MATHS.items():
            if sign in out:
                key = _WORDS.get(sign)
                word = say(key) if key else f"{say('plus')} {say('minus')}"
                out = pattern.sub(f" {word} ", out)
        out = _ARROW.sub(", ", out)
        if _ANYTHING.search(out):
            out = _MARKS.sub("", out)
    out = _POWER.sub(lambda each: f" {say('power')} {each[1]}", out)
    out = _EQUALS.sub(f" {say('equals')} ", out)
    out = _PLUS.sub(f" {say('plus')} ", out)
    return _AND.sub(f" {say('and')} ", out)


def _iso(match: re.Match[str], language: str) -> str:
    from babel.dates import format_date

    try:
        day = date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return match.group()
    spoken = format_date(day, "long", locale=language)
    return f"{spoken}, {match[4]}:{match[5]}" if match[4] else spoken


def _sum(match: re.Match[str], words: SpokenWords) -> str:
    return _OPERATOR.sub(lambda each: f" {words.say(_OPERATORS[each[1]])} ", match.group())


def _range(match: re.Match[str], words: SpokenWords) -> str:
    money, one, unit, dash, other_money, other = match.groups()
    first, second = words.value(one), words.value(other)
    years = len(one) == 4 and one.isdigit() and len(other) in (2, 4) and second < _LAST_YEAR
    if dash == "-" and years and not words.data["year_ranges"]:
        return match.group()
    if not years and first >= second:
        return match.group()
    if dash == "-" and not years and not unit and not money and _is_call(one, other):
        return match.group()
    if money and not other_money:
        money, other_money = None, money  # "€5-10" is "5 to 10 euros"
    return f"{money or ''}{one}{unit or ''} {words.say('to')} {other_money or ''}{other}"


def _is_call(one: str, other: str) -> bool:
    """Return whether two numbers with a hyphen look like one of a telephone: "0800-123", "555-1234"."""
    if not (one.isdigit() and other.isdigit()):
        return False
    zero = any(len(each) > 1 and each[0] == "0" for each in (one, other))
    long = len(one) >= 3 and len(other) >= 4 and not one[-1] == other[-1] == "0"
    return zero or long
