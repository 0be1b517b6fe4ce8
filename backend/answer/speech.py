"""A text made fit to be said: what is for the screen goes, signs become words.

Decides what a voice says for units, money, ranges, fractions and short forms. Words come from CLDR and from
`languages/<code>/speech.toml`; digits stay digits, engines read them. Plain text comes back as it is. What isn't
said at all is `answer/screen.py`'s, which text is spoken is decided by those who call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from functools import cached_property, lru_cache
import re
from typing import Any, Final

from backend import languages
from backend.answer.screen import strip, tidy
from backend.contract import LABELS
from backend.text.figures import grammar
from backend.text.segmentation import spans
from backend.text.words import fold

_TIMES_LONGER: Final = 3
_ALWAYS_ROOM: Final = 48
"""Speech is at most three times as long as its text, or so many characters: "1 %" needs more."""
_PASSES: Final = 4
_DAYS: Final = 31
_BRACKETED: Final = re.compile(r"(\s*)\[([^\[\]\n]{1,40})\]")
_SUBSCRIPT: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_SUPERSCRIPT: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_ISO: Final = re.compile(
    r"\b(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?\b"
)
_NUM: Final = r"\d+(?:[.,'’\u00a0\u202f]\d+)*"
_VULGAR: Final = {
    "½": (1, 2),
    "⅓": (1, 3),
    "⅔": (2, 3),
    "¼": (1, 4),
    "¾": (3, 4),
    "⅕": (1, 5),
    "⅖": (2, 5),
    "⅗": (3, 5),
    "⅘": (4, 5),
    "⅙": (1, 6),
    "⅚": (5, 6),
    "⅛": (1, 8),
    "⅜": (3, 8),
    "⅝": (5, 8),
    "⅞": (7, 8),
}
_FRACTION: Final = (
    rf"(?:(?<![\w.,])(\d{{1,3}}) ?)?([{''.join(_VULGAR)}])|(?<![\w/.,-])(?:(\d{{1,3}}) )?(\d{{1,2}})[/⁄](\d{{1,4}})(?:th|rd|nd)?"
    r"(?![\w/]|[.,]\d)"
)
_TIME: Final = r"\d{1,2}(?::\d{2}(?:\s?[ap]\.?m\b\.?)?|\s?[ap]\.?m\b\.?)"
_TIME_RANGE: Final = re.compile(rf"(?<![\w:])({_TIME})\s?[-–—]\s?(?={_TIME})", re.IGNORECASE)
_TIGHT: Final = re.compile(
    # "17h30", "3h15min", "2m30s".
    r"(?<![\w.,:])(?:(\d{1,3}) ?h ?(\d{1,2})(min|mn|m)?|(\d{1,3})m(\d{1,2})s)(?![^\W_])"
)
_FEET: Final = re.compile(r"(?<![\w.,])(\d{1,2})['’′] ?(\d{1,2})(?:[\"”″]|''|’’)")
_CLOSERS: Final = re.compile(r"[\"'”’»)\]]*")
_MINUS: Final = re.compile(r"(?<![\w.,)\]%°-])[-−](?=\d|[€$£¥]\d)")
_RANGE: Final = re.compile(
    rf"(?<![\w/.,-])({_NUM})([^\W\d_]{{1,3}}|[%°€]|°[CF])?(\s?[–—]\s?|-|\s-\s)([€$£¥]?)({_NUM})(?![\w]*[-/]\d|\d)"
)


class _Voice:
    """What one language says for signs."""

    def __init__(self, language: str) -> None:
        lexicon = languages.load(language)
        self.data: Mapping[str, Any] = lexicon.table("speech")
        self.own = bool(self.data)
        if not self.own:
            lexicon = languages.load(languages.DEFAULT)
            self.data = lexicon.table("speech")
        self.language = language if self.own or _known(language) else lexicon.code
        self.grammar = grammar(self.language)
        self.references = self.grammar.references
        symbols = languages.symbols()
        self.units: Mapping[str, str] = symbols["units"]
        self.per: Mapping[str, list[str]] = symbols["per"]
        self.currencies: Mapping[str, str] = symbols["currencies"]
        self.short = {form: unit for form, unit in lexicon.short_units.items() if self.own}
        shorts = {
            written: form
            for form in self.short
            for written in (form, form.capitalize() if len(form) > 1 else form, form.upper())
            # "5 A" and "20 MI" are something else.
            if written == form or not written.isupper() or len(form) > 2
        }
        every = sorted({*self.units, *self.per, *shorts}, key=len, reverse=True)
        unit = "|".join(map(re.escape, every))
        self.names = {
            **{written: self.short[form] for written, form in shorts.items()},
            **self.units,
        }
        not_on = r"(?![A-Za-z\u00c0-\u024f\d]|[²³/'’]|-[^\W\d_])"
        stop = rf"(?:(\.)(?:(?=-[^\W\d_])|{not_on})|{not_on})"
        self.unit = re.compile(
            rf"(?<![A-Za-z\u00c0-\u024f\d_.,])({_NUM})(-(?=\w+\.-)|[ \u00a0\u202f]?)({unit}){stop}"
        )
        self.lone_unit = re.compile(
            rf"(?<=[^\W_][ \u00a0])(km/h|m/s|km²|m²|m³|cm²|cm³|°C|°F|℃|%){not_on}"
        )
        self.per_unit = re.compile(rf"(?<=\d)\s?/\s?({unit}){not_on}")
        self.fraction_unit = re.compile(rf"(?:{_FRACTION})(?:[ \u00a0\u202f]?({unit}){stop})?")
        money = "|".join(re.escape(each) for each in sorted(self.currencies, key=len, reverse=True))
        self.short_scales: Mapping[str, str] = self.data.get("short_scales", {})
        scale = "|".join(sorted(self.data["scales"].split(), key=len, reverse=True))
        scales = "|".join(self.short_scales) or "(?!)"
        scale = rf"(?:[ \u00a0]?((?i:{scale})|{scales})(?!\w))?"
        self.money_before = re.compile(rf"(?<!\w)({money})[ \u00a0\u202f]?({_NUM}){scale}(?!\w)")
        self.money_after = re.compile(rf"(?<![\w.,])({_NUM}){scale}[ \u00a0\u202f]?({money})(?!\w)")

    def say(self, key: str) -> str:
        """Return the word for a sign."""
        word: str = self.data[key]
        return word

    @cached_property
    def short_forms(self) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
        """Return the patterns of abbreviations, and of those before figures."""
        patterns = []
        for key, tail in (("abbreviations", r"(?![^\W_])"), ("numbered", r"[ \u00a0]?(?=\d)")):
            forms = sorted(self.data[key], key=len, reverse=True)
            patterns.append(
                re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, forms))}){tail}")
                if forms
                else None
            )
        return patterns[0], patterns[1]

    def value(self, number: str) -> float:
        """Return what digits are worth, to choose the plural."""
        read = self.grammar.number(number, 0)
        return read[1] if read else 2.0

    def digits(self, number: str) -> str:
        """Return digits with the decimal mark of the language: "1.5" is "1,5" in German."""
        own = self.grammar.decimal
        other = "," if own == "." else "."
        if re.fullmatch(rf"\d+{re.escape(other)}\d{{1,2}}", number):
            return number.replace(other, own)
        return number

    def unit_name(self, number: str, unit: str) -> str:
        """Return number and unit in words: ("5", "°C") -> "5 degrees Celsius"."""
        value = self.value(number)
        spoken = _cldr_unit(self.language, unit, value)
        return spoken.replace("{0}", self.digits(number))

    def bare_unit(self, unit: str, value: float) -> str:
        """Return the words for a unit alone."""
        return _cldr_unit(self.language, unit, value).replace("{0}", "").strip()

    def money_name(self, number: str, currency: str, scale: str | None) -> str:
        """Return an amount in words: "1,299 dollars 99 cents", "2.5 million dollars"."""
        code = self.currencies[currency]
        value = self.value(number)
        if scale:
            scale = self.short_scales.get(scale, scale)
            name = self._currency(code, 1e6)[1]
            of = self.say("of") if self.grammar.words.get(fold(scale)) != 1000 else ""
            elided: str = self.data.get("of_vowel", "")
            joint = (
                f" {elided}" if of and elided and name[0] in "aeiou" else f" {of} " if of else " "
            )
            return f"{self.digits(number)} {scale}{joint}{name}"
        whole, part = _split_amount(number, self.grammar.decimal)
        names = self._currency(code, self.value(whole))
        main = names[0] if self.value(whole) == 1 else names[1]
        if part is None or not names[2]:
            one = names[0] if value == 1 else names[1]
            return f"{self.digits(number)} {one}"
        cents = int(part)
        if not cents:
            return f"{whole} {main}"
        small = f"{cents} {names[2] if cents == 1 else names[3]}"
        return small if whole == "0" else f"{whole} {main} {small}"

    def _currency(self, code: str, value: float) -> tuple[str, str, str, str]:
        own = self.data["currencies"].get(code)
        if own:
            one, many, hundredth, hundredths = own
            return one, many, hundredth, hundredths
        name = _cldr_currency(self.language, code, value)
        return name, name, "", ""

    def fraction(self, whole: str | None, one: int, other: int) -> str:
        """Return a fraction in words."""
        names = self.data["denominators"].get(str(other))
        if not names:
            part = f"{one} {self.say('over')} {other}"
        elif (one, other) == (1, 2):
            part = self.say("and_half" if whole else "half")
        else:
            part = f"{self.say('one')} {names[0]}" if one == 1 else f"{one} {names[1]}"
        return f"{whole} {self.say('and')} {part}" if whole else part


@lru_cache(maxsize=16)
def _voice(language: str) -> _Voice:
    return _Voice(language)


def _known(language: str) -> bool:
    """Return whether CLDR has the language."""
    from babel import Locale, UnknownLocaleError

    try:
        Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        return False
    return True


@lru_cache(maxsize=2048)
def _cldr_unit(language: str, unit: str, value: float) -> str:
    """Return CLDR's words for a unit with "{0}" for the number; `unit` is a symbol."""
    from babel.numbers import format_decimal
    from babel.units import format_compound_unit, format_unit

    voice = _voice(language)
    if unit in voice.per:
        numerator, denominator = voice.per[unit]
        spoken = format_compound_unit(
            value, numerator, denominator_unit=denominator, locale=language
        )
    elif voice.names[unit] in voice.data.get("units", {}):
        one, many = voice.data["units"][voice.names[unit]]
        return f"{{0}} {one if value == 1 else many}"
    else:
        spoken = format_unit(value, voice.names[unit], "long", locale=language)
    number = format_decimal(value, locale=language)
    return (
        (spoken or f"{number} {unit}")
        .replace(number, "{0}", 1)
        .replace("\u00a0", " ")
        .replace("\u202f", " ")
    )


@lru_cache(maxsize=512)
def _cldr_currency(language: str, code: str, value: float) -> str:
    from babel.numbers import get_currency_name

    return get_currency_name(code, value, locale=language)


def _split_amount(number: str, decimal: str) -> tuple[str, str | None]:
    """Return the whole and the two digits after the decimal mark, None where there are not two."""
    match = re.fullmatch(r"(.*?)([.,])(\d{2})", number)
    if not match or (match[2] != decimal and re.fullmatch(r"\d{1,3}", match[1]) is None):
        return number, None
    return match[1], match[3]


def speech(text: str, language: str) -> str:
    """Return `text` as it is to be said in `language`; the same text where nothing needs to change.

    Never longer than three times the text but for a few characters of a very short one; doing it again changes nothing. It ends in a question mark only if
    the text does: at one, satellites listen for a reply.
    """
    voice = _voice(language)
    bare = _settle(text, strip)
    spoken = _settle(bare, lambda each: strip(_words(each, voice)))
    if len(spoken) > max(_TIMES_LONGER * len(text), _ALWAYS_ROOM):
        spoken = bare
    if spoken.endswith("?") and not text.rstrip().endswith(("?", "？")):
        spoken = spoken.rstrip("? ") + "."
    return spoken


@lru_cache(maxsize=64)
def prepare(language: str) -> None:
    """Read what units, money and dates need, once in a process: it blocks for up to 0.2 s, so call it in a thread.

    Without it the first text that needs these waits for them.
    """
    speech("1 °C, 2 ₩, 2000-01-01", language)


def _settle(text: str, change: Callable[[str], str]) -> str:
    for _ in range(_PASSES):
        changed = change(text)
        if changed == text:
            break
        text = changed
    return text


def _words(text: str, voice: _Voice) -> str:
    """Put signs into words; only units where the language has no words of its own for others."""
    if not voice.own:
        out = _units(text, voice)
        return text if out == text else tidy(out)
    out = text
    if "[" in out:
        out = _BRACKETED.sub(lambda each: _bracketed(each, voice), out)
    out = _TIGHT.sub(_apart, out)
    if "foot" in voice.short.values():
        out = _FEET.sub(r"\1 ft \2 in.", out)
    shorts, numbered = voice.short_forms
    if numbered:
        out = numbered.sub(lambda each: f"{voice.data['numbered'][each[1]]} ", out)
    if shorts:
        out = shorts.sub(lambda each: _short(each, voice), out)
    out = _ISO.sub(lambda each: _iso(each, voice), out)
    out = re.sub(r"(?<=[^\W\d_])~?/(?=\d)", ", ", re.sub(r"(?<=[^\W\d_])~(?=/)", "", out))
    out = re.sub(r"(?<=°)\s?c\b", "C", re.sub(r"°\s(?=[CF]\b)", "°", out))
    out = re.sub(r"(?<=[€$£¥])\.(?=\d)", "0.", out)
    out = _TIME_RANGE.sub(lambda each: f"{each[1]} {voice.say('to')} ", out)
    out = re.sub(r"[~≈∼]\s?(?=[€$£]?\d)", f"{voice.say('about')} ", out)
    out = _MINUS.sub(f"{voice.say('minus')} ", out)
    out = _RANGE.sub(lambda each: _range(each, voice), out)
    out = voice.money_before.sub(lambda each: voice.money_name(each[2], each[1], each[3]), out)
    out = voice.money_after.sub(lambda each: voice.money_name(each[1], each[3], each[2]), out)
    out = _units(out, voice)
    out = voice.per_unit.sub(lambda each: f" {voice.say('per')} {voice.bare_unit(each[1], 1)}", out)
    out = voice.lone_unit.sub(lambda each: voice.bare_unit(each[1], 2), out)
    if not out.isascii() or "^" in out or "=" in out or "&" in out:
        out = _signs(out, voice)
    return text if out == text else tidy(out)


def _signs(text: str, voice: _Voice) -> str:
    """Put what is left of signs into words, or leave it out."""
    out = text.translate(_SUBSCRIPT)
    out = re.sub(r"\s?\^\{?(-?\w+)\}?", lambda each: f" {voice.say('power')} {each[1]}", out)
    out = re.sub(r"(?<=\w)²", f" {voice.say('squared')}", out)
    out = re.sub(r"(?<=\w)³", f" {voice.say('cubed')}", out)
    out = re.sub(
        r"(?<=\w)([⁰¹⁴⁵⁶⁷⁸⁹⁻][⁰¹²³⁴⁵⁶⁷⁸⁹]*)",
        lambda each: f" {voice.say('power')} {each[1].translate(_SUPERSCRIPT)}",
        out,
    )
    for sign, key in (
        ("×", "times"),
        ("·", "times"),
        ("±", "plus"),
        ("≈", "about"),
        ("−", "minus"),
    ):
        if sign in out:
            word = f"{voice.say('plus')} {voice.say('minus')}" if sign == "±" else voice.say(key)
            out = re.sub(rf"\s?{sign}\s?(?=[\w(])", f" {word} ", out)
    out = re.sub(r"(?<=\w)\s?=\s?(?=[\w(-])", f" {voice.say('equals')} ", out)
    out = re.sub(r"(?<=\w)\s\+\s?(?=\d)", f" {voice.say('plus')} ", out)
    out = re.sub(r"(?<=\S)\s&\s(?=\S)", f" {voice.say('and')} ", out)
    out = re.sub(r"\s?[→⇒➜►]\s?", ", ", out)
    return re.sub(r"[©®™†‡§¶]", "", out) if re.search(r"\w", out) else out


def _bracketed(match: re.Match[str], voice: _Voice) -> str:
    """Take out marks of sources, such as "[Source 2]" and "[web]"."""
    label = match[2].casefold().split()
    head = label[0].rstrip(".,:;0123456789")
    if head not in voice.references and head not in LABELS:
        return match.group()
    before = match.string[: match.start()].rstrip()
    after = match.string[match.end() : match.end() + 1]
    if match[1] and before[-1:].isalpha() and after in (",", " "):
        last = before.split()[-1].casefold()
        if last in voice.grammar.function:
            return f" {voice.say('the_source')}"
    return ""


def _short(match: re.Match[str], voice: _Voice) -> str:
    form = match[1]
    spoken: str = voice.data["abbreviations"][form]
    before = match.string[: match.start()].rstrip(" \u00a0\u202f")
    if before[-1:].isnumeric() and form.rstrip(".").lower() in voice.short:
        return match.group()  # a unit, not "minimum"
    rest = match.string[match.end() :]
    if not form.endswith("."):
        return spoken
    bare = form[:-1].lower()
    inside = languages.load(voice.language).segmentation
    # The full stop may end the sentence too.
    ends = not rest.strip() or (
        rest[0].isspace()
        and rest.lstrip()[0].isupper()
        and bare not in inside.abbreviations | inside.titles
    )
    return f"{spoken}." if ends else spoken


def _iso(match: re.Match[str], voice: _Voice) -> str:
    from babel.dates import format_date

    try:
        day = date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return match.group()
    spoken = format_date(day, "long", locale=voice.language)
    return f"{spoken}, {match[4]}:{match[5]}" if match[4] else spoken


def _range(match: re.Match[str], voice: _Voice) -> str:
    one, unit, dash, money, other = match.groups()
    first, second = voice.value(one), voice.value(other)
    years = len(one) == 4 and one.isdigit() and len(other) in (2, 4)
    if dash == "-" and years and not voice.data["year_ranges"]:
        return match.group()
    after = match.string[match.end() : match.end() + 2]
    if not years and first >= second:
        return match.group()
    if dash == "-" and not years and not unit and not money and re.match(r"\d", after):
        return match.group()
    return f"{one}{unit or ''} {voice.say('to')} {money}{other}"


def _apart(match: re.Match[str]) -> str:
    hours, minutes, unit, minutes_first, seconds = match.groups()
    if hours is None:
        return f"{minutes_first} min {seconds} s"
    return f"{hours} h {minutes}{' min' if unit else ''}"


def _units(text: str, voice: _Voice) -> str:
    """Put units behind numbers into words; the full stop of a short form goes, unless a sentence ends there."""
    fractions = ((voice.fraction_unit, _fraction),) if voice.own else ()
    for pattern, say in (*fractions, (voice.unit, _unit)):
        ends: set[int] | None = None
        parts: list[str] = []
        place = 0
        for match in pattern.finditer(text):
            said = say(match, voice)
            stop = match.end(match.lastindex or 0)
            if said != match.group() and text[stop - 1] == "." and not text.startswith("-", stop):
                if ends is None:
                    ends = {end for _, end in spans(text, voice.language)}
                closed = _CLOSERS.match(text, stop)
                said += "." if closed and closed.end() in ends else ""
            parts += text[place : match.start()], said
            place = match.end()
        text = "".join((*parts, text[place:]))
    return text


def _unit(match: re.Match[str], voice: _Voice) -> str:
    number, space, unit, stop = match.groups()
    if unit == "s" and not space and number.endswith("0"):
        return match.group()  # "the 1980s"
    if unit not in voice.names and unit not in voice.per:
        return match.group()
    if space == "-":
        return voice.unit_name(number, unit).replace(" ", "-", 1)
    return voice.unit_name(number, unit)


def _fraction(match: re.Match[str], voice: _Voice) -> str:
    whole_sign, sign, whole, upper, lower, unit, _stop = match.groups()
    if sign:
        one, other = _VULGAR[sign]
        whole = whole_sign
    else:
        one, other = int(upper), int(lower)
        if not other or (one > other and not whole) or (one, other) == (24, 7):
            return match.group()
        if other <= _DAYS and str(other) not in voice.data["denominators"]:
            return match.group()  # "9/11"
    spoken = voice.fraction(whole, one, other)
    if unit:
        spoken += f" {voice.bare_unit(unit, 2 if whole else 1)}"
    return f" {spoken}" if match.string[match.start() - 1 : match.start()].isalnum() else spoken
