"""Units in a voice: every symbol has words in every language, and they are those that people say."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st
import pytest

from backend import languages
from backend.answer.speech import speech

SYMBOLS = languages.symbols()


@pytest.mark.parametrize("language", languages.SPOKEN)
@pytest.mark.parametrize("number", ["1", "2", "5", "1.5", "1,5", "0", "1000000"])
def test_every_symbol_of_a_unit_has_words_in_every_language(language: str, number: str) -> None:
    own = languages.load(language).table("speech")["symbols"]
    left = {symbol for symbol, name in own.items() if not name}
    for symbol in {*SYMBOLS["units"], *SYMBOLS["per"], *own} - left:
        text = f"This is long enough for it, and here are {number} {symbol} of it."
        said = speech(text, language)
        words = said.removeprefix("This is long enough for it, and here are ").removesuffix(
            " of it."
        )
        assert not words.endswith((f" {symbol}", number)) or symbol in ("bar", "psi", "ppm"), symbol
        assert not set(words) & set("%°ºµμ²³/Ω‰"), symbol
        assert "{" not in words
        assert speech(said, language) == said


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "It runs at 1 bar, 2 bar or 1.5 bar.", "It runs at 1 bar, 2 bar or 1.5 bar."),
        (
            "en",
            "It has 44 dB and uses 0.83 kWh.",
            "It has 44 decibels and uses 0.83 kilowatt hours.",
        ),
        ("en", "Inflate it to 32 psi.", "Inflate it to 32 pounds per square inch."),
        ("en", "It weighs 1.0 kg or 1 kg.", "It weighs 1.0 kilograms or 1 kilogram."),
        ("en", "A 3500 mAh battery gives 12 V.", "A 3500 milliamp hours battery gives 12 volts."),
        (
            "en",
            "Take a 10-km run with a 5-kg bag.",
            "Take a 10-kilometer run with a 5-kilogram bag.",
        ),
        ("en", "He lives at 708 N 1st St.", "He lives at 708 N 1st St."),
        ("en", "He is 6 ft 2 in tall.", "He is 6 feet 2 inches tall."),
        (
            "en",
            "Drink 2 l/day, it holds 5 m^2.",
            "Drink 2 liters per day, it holds 5 square meters.",
        ),
        (
            "en",
            "In °F it is more, in km/h less.",
            "In degrees Fahrenheit it is more, in kilometers per hour less.",
        ),
        ("de", "Der Verbrauch ist 6,5 l/100 km.", "Der Verbrauch ist 6,5 Liter pro 100 Kilometer."),
        ("de", "Sie schleudert mit 1400 U/min.", "Sie schleudert mit 1400 Umdrehungen pro Minute."),
        ("de", "Das Wasser hat 21 °dH.", "Das Wasser hat 21 Grad deutscher Härte."),
        ("de", "Nimm 3 EL Zucker und 1 TL Salz.", "Nimm 3 Esslöffel Zucker und 1 Teelöffel Salz."),
        ("de", "Um 15.30 h, nach 1,5 h.", "Um 15:30 Uhr, nach 1,5 Stunden."),
        ("de", "Der 10-kg-Sack ist da.", "Der 10-Kilogramm-Sack ist da."),
        ("fr", "Le disque a 5 Go.", "Le disque a 5 gigaoctets."),
        (
            "fr",
            "Il a 1 500 000 m à faire, ou 2 millions km.",
            "Il a 1 500 000 mètres à faire, ou 2 millions de kilomètres.",
        ),
        ("es", "Estamos a -8° c.", "Estamos a menos 8 grados centígrados."),
        (
            "es",
            "Son 1.000.000 m, o 2 millones km.",
            "Son 1.000.000 de metros, o 2 millones de kilómetros.",
        ),
        ("es", "El 28º día hubo 2 cdas. de sal.", "El 28º día hubo 2 cucharadas de sal."),
        (
            "it",
            "Metti 2 tbsp di olio, 1 tsp di sale.",
            "Metti 2 cucchiai di olio, 1 cucchiaino di sale.",
        ),
    ],
)
def test_units_are_called_what_people_call_them(language: str, text: str, expected: str) -> None:
    assert speech(text, language) == expected
    assert speech(expected, language) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Es braucht 3 kw.", "Es braucht 3 Kilowatt."),
        ("Es sind 1 mv da.", "Es sind 1 Millivolt da."),
        ("Er wiegt 5 KG.", "Er wiegt 5 Kilogramm."),
        ("Es hat 20 mhz.", "Es hat 20 Megahertz."),
    ],
)
def test_symbols_in_the_wrong_case_are_the_units_they_can_only_mean(
    text: str, expected: str
) -> None:
    assert speech(text, "de") == expected


@settings(max_examples=200, deadline=None)
@given(
    st.from_regex(r"[0-9]{1,30}([.,][0-9]{1,30}){0,3}", fullmatch=True),
    st.sampled_from(sorted({*SYMBOLS["units"], *SYMBOLS["currencies"], *SYMBOLS["per"]})),
    st.sampled_from(languages.SPOKEN),
)
def test_any_number_may_stand_before_any_symbol(number: str, symbol: str, language: str) -> None:
    said = speech(f"Das hier sind etwa {number} {symbol} in allem", language)
    assert speech(said, language) == said
