"""Amounts of money, put into words: "$1,299.99", "€2.5 million", "0,30 €/kWh", "50 k€", "5 USD"."""

from __future__ import annotations

from functools import lru_cache
import re
from typing import Final

from backend import languages
from backend.text.patterns import either
from backend.text.spoken.units import unit_patterns
from backend.text.spoken.words import SPACE, SpokenWords, form, spoken_words
from backend.text.words import fold

_MONEY: Final = re.compile(r"[\d€$£¥]")
_POINT: Final = re.compile(r"(?<=[€$£¥])\.(?=\d)")


class MoneyPatterns:
    """Where money stands, in one language."""

    def __init__(self, words: SpokenWords) -> None:
        """Make the patterns from the signs and codes of `words`."""
        spoken = languages.symbols()["spoken"]
        self.codes = {each: each for each in spoken["codes"].split()}
        self.codes |= {each: each.upper() for each in spoken["small_codes"].split()}
        self.own: dict[str, str] = words.data["short_money"]
        # "kWh" and "kr" are no thousands.
        self.short_scales: dict[str, str] = words.data["short_scales"]
        every = {*words.currencies, *self.codes, *self.own}
        signs = "".join({each[-1] for each in every if not each[-1].isalnum() and each[-1] != "."})
        # "Fr. 5" is a Friday.
        before = {each for each in every if not each.endswith(".") or each == "Rs."}
        scale = (
            rf"(?:[ \u00a0]?(?P<scale>(?i:{words.scales.pattern})|{either(self.short_scales)})"
            rf"(?=\W|\Z|{either(each for each in every if not each.isalnum())}))?"
        )
        per = rf"(?:\s?/\s?(?:(?P<unit>{unit_patterns(words.language).unit})|(?P<each>[^\W\d_]{{3,}}))(?!\w))?"
        self.before = re.compile(
            rf"(?<![\w.{signs}])(?<!\d[ \u00a0])(?P<sign>{either(before)}){SPACE}(?P<number>{words.number}){scale}(?!\w){per}"
        )
        self.behind = re.compile(
            rf"(?<![\w.,])(?P<number>{words.number}){scale}{SPACE}(?P<sign>{either(every)})(?![\w{signs}]){per}"
        )
        self.lone = re.compile(r"(?<=[^\W_] )([€$£¥])(?=[\s).,;:!?]|\Z)(?! ?\d)")


@lru_cache(maxsize=16)
def _patterns(language: str) -> MoneyPatterns:
    return MoneyPatterns(spoken_words(language))


def say_money(text: str, words: SpokenWords) -> str:
    """Put amounts into words: "1,299 dollars 99 cents", "2.5 million dollars", "30 cents per kilowatt hour"."""
    if not _MONEY.search(text):
        return text
    patterns = _patterns(words.language)
    out = _POINT.sub("0.", text)
    for pattern in (patterns.before, patterns.behind):
        out = pattern.sub(lambda each: _rate(each, words, patterns), out)
    return patterns.lone.sub(
        lambda m: words.currency(words.currencies[m[1]], words.plural("5"), by_code=False), out
    )


def _rate(match: re.Match[str], words: SpokenWords, patterns: MoneyPatterns) -> str:
    """Return an amount and what it is for."""
    amount, each = _amount(match, words, patterns), match["each"]
    if match["unit"]:
        return f"{amount} {words.per_unit(unit_patterns(words.language).names[match['unit']])}"
    return f"{amount} {words.say('per')} {each}" if each else amount


def _amount(match: re.Match[str], words: SpokenWords, patterns: MoneyPatterns) -> str:
    """Return an amount in words."""
    number, sign, scale = match["number"], match["sign"], match["scale"]
    code = words.currencies.get(sign) or patterns.codes.get(sign, "")
    own = patterns.own.get(sign)
    by_code = sign in patterns.codes or sign == "US$"

    def name(category: str) -> str:
        return form(own, category) if own else words.currency(code, category, by_code=by_code)

    def plural(digits: str) -> str:
        return words.plural_in(match.string, match.start(), digits)

    if scale:
        if scale in patterns.short_scales:
            scale = form(patterns.short_scales[scale], plural(number))
        worth = words.grammar.words.get(fold(scale), 1e6)
        bare = name(words.after_scale(worth))
        joint = words.joint(bare) if own and worth >= 1e6 else ""
        return f"{words.digits(number)} {scale} {joint}{bare}"
    whole, part = _split(number, words)
    if part is None or not words.hundredth(code, "other"):
        return f"{words.digits(number)} {name(plural(words.digits(number)))}"
    main = f"{whole} {name(plural(whole))}"
    if not part:
        return main
    small = f"{part} {words.hundredth(code, plural(str(part)))}"
    return small if whole == "0" else f"{main} {small}"


def _split(number: str, words: SpokenWords) -> tuple[str, int | None]:
    """Return the whole and the hundredths; None where the decimals are no hundredths."""
    match = re.fullmatch(r"(.*?)([.,])(\d+)", number)
    if not match:
        return number, None
    whole, mark, decimals = match.groups()
    if mark != words.grammar.decimal:
        return (
            (whole, int(decimals)) if re.fullmatch(r"\d{1,3}[.,]\d\d", number) else (number, None)
        )
    if len(decimals) > 2 and mark == ".":
        # After a comma three of them may be an English thousand.
        decimals = decimals.rstrip("0").ljust(2, "0")
    if len(decimals) > 2:
        return number, None
    return whole, int(decimals.ljust(2, "0"))
