"""The words of one language for units, currencies and signs, in the form that a number asks for.

Names and plurals are CLDR's; `languages/<code>/speech.toml` has what CLDR lacks, and what people say instead. Where
such a name stands in a text is left to the rooms beside this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cached_property, lru_cache
import re
from typing import TYPE_CHECKING, Any, Final

from backend import languages
from backend.text.figures import grammar
from backend.text.segmentation import spans

if TYPE_CHECKING:
    from babel import Locale

NUM: Final = r"\d+(?:[.,'’\u00a0\u202f]\d+)*"
_SPACED: Final = r"\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d+)?"
SPACE: Final = r"[ \u00a0\u202f]?"
SAMPLES: Final = (1, 2, 5, 0, 1_000_000)
"""Numbers that ask for different plurals; whatever these don't show, a fraction does."""
_OTHER: Final = "other"
_HOURS: Final = 24
_LARGEST: Final = 1e15
_GENITIVE: Final = {"one": "other", "few": "many"}
"""The categories whose forms are those of the genitive, in languages with more than two cases."""
_RATIOS: Final = ("percent", "permille")
_NOUN: Final = re.compile(r" ([^\W\d_]{3,})")
_CLOSERS: Final = re.compile(r"[\"'”’»)\]]*")
_FORMS: Final = {1: (), 2: ("one",), 4: ("one", "few", "many")}
"""Forms of a name by how many there are, all but the last, which is for the rest."""


class SpokenWords:
    """What one language says; English where it has no words of its own and CLDR doesn't know it."""

    def __init__(self, language: str) -> None:
        """Read the tables of `language`, a primary subtag."""
        lexicon = languages.load(language)
        self.data: Mapping[str, Any] = lexicon.table("speech")
        self.own = bool(self.data)
        """Whether there are words for more than units."""
        if not self.own:
            lexicon = languages.load(languages.DEFAULT)
            self.data = lexicon.table("speech")
        self.language = language if self.own or _known(language) else lexicon.code
        self.lexicon = lexicon
        self.grammar = grammar(self.language)
        self.number = rf"(?:{_SPACED}|{NUM})" if self.grammar.spaced else NUM
        """The pattern of digits, with the separators of the language."""
        symbols = languages.symbols()
        self.per: Mapping[str, list[str]] = symbols["per"]
        units: dict[str, str] = {**symbols["units"]}
        if self.own:
            units.update(self.data["symbols"])
            careless: str = symbols["spoken"]["careless"]
            for written, symbol in (each.split("=") for each in careless.split()):
                if symbol in self.per or symbol in units:
                    units.setdefault(written, units.get(symbol, symbol))
        self.units: Mapping[str, str] = {symbol: name for symbol, name in units.items() if name}
        """CLDR's names, or ours, by symbol."""
        self.currencies: Mapping[str, str] = symbols["currencies"]
        self.short = dict(lexicon.short_units) if self.own else {}
        genitive = self.data["genitive"].split() if self.own else ()
        self._genitive = (
            re.compile(rf"(?<!\w)(?:{'|'.join(genitive)})\.? \Z", re.IGNORECASE)
            if genitive
            else None
        )

    def say(self, key: str) -> str:
        """Return the word for a sign."""
        word: str = self.data[key]
        return word

    def plural(self, number: str) -> str:
        """Return CLDR's plural category that digits ask for: "one", "few", "many", "other"."""
        return _plural(self.language, number)

    def plural_in(self, text: str, start: int, number: str) -> str:
        """Return the category for digits that stand at `start`: after "do" it is "do 3 godzin", not "godziny"."""
        category = self.plural(number)
        after = (
            self._genitive
            and category in _GENITIVE
            and self._genitive.search(text, max(0, start - 12), start)
        )
        return _GENITIVE[category] if after else category

    def value(self, number: str) -> float:
        """Return what digits are worth."""
        read = self.grammar.number(number, 0)
        return read[1] if read else 2.0

    def after_scale(self, scale_value: float) -> str:
        """Return the category of a name after "million": of "5 milionów kilometrów", "2 millones de metros"."""
        categories = _samples(self.language)
        if "few" in categories:
            return "many"
        return "many" if "many" in categories and scale_value >= 1e6 else _OTHER

    def digits(self, number: str) -> str:
        """Return digits with the decimal mark of the language: "1.5" is "1,5" in German."""
        own = self.grammar.decimal
        other = "," if own == "." else "."
        if re.fullmatch(rf"\d+{re.escape(other)}\d{{1,2}}", number):
            return number.replace(other, own)
        return number

    def ordinal_degree(self, text: str, end: int) -> bool:
        """Return whether "1°" is "first", as before "maggio", and no temperature."""
        if not self.own or not self.data["ordinal_degree"]:
            return False
        noun = _NOUN.match(text, end)
        return noun is not None and noun[1] not in self.grammar.function

    def clock(self, number: str) -> str | None:
        """Return a time of day that digits before "h" are: "15.30" is "15:30" where decimals have a comma."""
        match = re.fullmatch(r"(\d{1,2})([.:])([0-5]\d)", number)
        if not match or (match[2] == "." and self.grammar.decimal == ".") or int(match[1]) > _HOURS:
            return None
        return f"{match[1]}:{match[3]}"

    def unit(self, name: str, category: str) -> str | None:
        """Return the words for a unit by its name or "X/Y" symbol, "{0}" for the number; None for an unknown one."""
        return _unit(self.language, name, category)

    def bare_unit(self, name: str, category: str) -> str:
        """Return the words for a unit alone, its name where there are none."""
        return (self.unit(name, category) or name).replace("{0}", "").strip()

    def per_unit(self, name: str) -> str:
        """Return "per" and one of a unit: "na godzinę"."""
        one = self.bare_unit(name, self.plural("1"))
        old, new = self.data["per_ending"]
        if old and one.endswith(old):
            one = f"{one.removesuffix(old)}{new}"
        return f"{self.say('per')} {one}"

    def currency(self, code: str, category: str, *, by_code: bool) -> str:
        """Return the name of a currency: by its sign what is short, by its code all of it ("US dollars")."""
        if by_code and (name := self.data.get("codes", {}).get(code)):
            return self._of(form(name, category), name, category)
        own = None if by_code else self.data["currencies"].get(code)
        if own:
            return self._of(form(own[0], category), own[0], category)
        return _currency(self.language, code, category)

    def hundredth(self, code: str, category: str) -> str:
        """Return the name of the hundredth of a currency, "" where there is none."""
        own = self.data["currencies"].get(code, ())
        return form(own[1], category) if len(own) > 1 else ""

    def _of(self, name: str, forms: str, category: str) -> str:
        """Put "de" before a name after whole millions, where the language does."""
        return f"{self.joint(name)}{name}" if category == "many" and forms.count("|") < 2 else name

    def joint(self, name: str) -> str:
        """Return what stands between "millions" and a name: "de ", "d'" or nothing."""
        of: str = self.data["of"]
        elided: str = self.data.get("of_vowel", "")
        if elided and fold_vowel(name):
            return elided
        return f"{of} " if of else ""

    @cached_property
    def scales(self) -> re.Pattern[str]:
        """Return the pattern of "thousand", "million" and so on, in any case."""
        every = sorted(self.data["scales"].split(), key=len, reverse=True)
        return re.compile(rf"(?:{'|'.join(every)})(?!\w)", re.IGNORECASE)


def form(forms: str, category: str) -> str:
    """Return the form of a name for a plural category: "litr|litry|litrów|litra", "bar|bars", "lux"."""
    each = forms.split("|")
    order = _FORMS[len(each)]
    return each[order.index(category)] if category in order else each[-1]


def fold_vowel(name: str) -> bool:
    """Return whether "de" loses its vowel before a name, as before "euros" and "heure"."""
    return name[:1].lower() in "aeiouyàâéèêîôûh"


def replaced(
    text: str, pattern: re.Pattern[str], say: Callable[[re.Match[str]], str], language: str
) -> str:
    """Replace short forms; the full stop of one (all that its last group holds) goes, unless a sentence ends there."""
    ends: set[int] | None = None
    parts: list[str] = []
    place = 0
    for match in pattern.finditer(text):
        said = say(match)
        if said == match.group():
            continue
        stop = match.end()
        if text[stop - 1] == "." and not text.startswith("-", stop):
            if ends is None:
                ends = {end for _, end in spans(text, language)}
            closed = _CLOSERS.match(text, stop)
            said += "." if closed and closed.end() in ends else ""
        parts += text[place : match.start()], said
        place = match.end()
    return "".join((*parts, text[place:])) if parts else text


@lru_cache(maxsize=16)
def spoken_words(language: str) -> SpokenWords:
    """Return the words of `language`."""
    return SpokenWords(language)


def _known(language: str) -> bool:
    """Return whether CLDR has the language."""
    from babel import UnknownLocaleError

    try:
        _locale(language)
    except (UnknownLocaleError, ValueError):
        return False
    return True


@lru_cache(maxsize=16)
def _locale(language: str) -> Locale:
    from babel import Locale

    return Locale.parse(language)


@lru_cache(maxsize=16)
def _samples(language: str) -> Mapping[str, int | Decimal]:
    """Return a number for each plural category of the language."""
    plural = _locale(language).plural_form
    found: dict[str, int | Decimal] = {}
    for each in (*SAMPLES, Decimal("1.5"), Decimal("2.5")):
        found.setdefault(plural(each), each)
    return found


@lru_cache(maxsize=4096)
def _plural(language: str, number: str) -> str:
    words = spoken_words(language)
    read = words.grammar.number(number, 0)
    if read is None or read[1] >= _LARGEST or not number.isascii():
        return _OTHER
    _, value, step = read
    places = 0 if step >= 1 else len(f"{step:.0e}") and round(-Decimal(f"{step:.0e}").log10())
    # A shown decimal counts: "1.0 bars".
    return _locale(language).plural_form(Decimal(f"{value:.{int(places)}f}"))


@lru_cache(maxsize=2048)
def _unit(language: str, name: str, category: str) -> str | None:
    from babel.numbers import format_decimal
    from babel.units import UnknownUnitError, format_compound_unit, format_unit

    words = spoken_words(language)
    own = words.data["units"].get(name) if words.own else None
    if own:
        joint = words.joint(own) if category == "many" and own.count("|") < 2 else ""
        return f"{{0}} {joint}{form(own, category)}"
    samples = _samples(language)
    sample = samples.get(category) or samples[_OTHER]
    try:
        if name in words.per:
            numerator, denominator = words.per[name]
            spoken = format_compound_unit(
                sample, numerator, denominator_unit=denominator, locale=language
            )
        else:
            spoken = format_unit(sample, name, "long", locale=language)
    except UnknownUnitError:
        return None
    if spoken is None:
        return None
    number = format_decimal(sample, locale=language)
    spoken = re.sub(r"[\u00a0\u202f]", " ", spoken.replace(number, "{0}", 1)).replace("’", "'")
    if category == "many" and "few" not in samples and name not in _RATIOS:
        bare = spoken.removeprefix("{0} ")
        return f"{{0}} {words.joint(bare)}{bare}"
    return spoken


@lru_cache(maxsize=512)
def _currency(language: str, code: str, category: str) -> str:
    from babel.numbers import get_currency_name

    samples = _samples(language)
    name = get_currency_name(code, samples.get(category) or samples[_OTHER], locale=language)
    if category == "many" and "few" not in samples:
        return f"{spoken_words(language).joint(name)}{name}"
    return name
