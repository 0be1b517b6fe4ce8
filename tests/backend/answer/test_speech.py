"""What a voice says.

A few rows come from the text normalisation tests of NVIDIA NeMo (Apache-2.0).
"""

from __future__ import annotations

import asyncio

from hypothesis import example, given, settings, strategies as st
import pytest

from backend import languages
from backend.answer.speech import prepare, speech


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "en",
            "Set it to 180 °C (356 °F).",
            "Set it to 180 degrees Celsius (356 degrees Fahrenheit).",
        ),
        ("en", "It takes 3–5 min at 1.5 bar.", "It takes 3 to 5 minutes at 1.5 bar."),
        (
            "en",
            "It is −5 °C, humidity 80 %.",
            "It is minus 5 degrees Celsius, humidity 80 percent.",
        ),
        (
            "en",
            "It costs $1,299.99, not $2.5 million.",
            "It costs 1,299 dollars 99 cents, not 2.5 million dollars.",
        ),
        ("en", "See No. 5, add ½ tsp.", "See number 5, add one half teaspoon."),
        ("en", "The air holds 12 µg/m³.", "The air holds 12 micrograms per cubic meter."),
        ("en", "Open 4:00 am - 8:12 pm.", "Open 4:00 am to 8:12 pm."),
        (
            "de",
            "Bei 130 km/h und 1.5 bar sind es 42 m².",
            "Bei 130 Kilometer pro Stunde und 1,5 Bar sind es 42 Quadratmeter.",
        ),
        (
            "de",
            "Das kostet 1.299,99 €, d. h. ca. 3,7 Mio. Euro.",
            "Das kostet 1.299 Euro 99 Cent, das heißt circa 3,7 Millionen Euro.",
        ),
        ("de", "Siehe Nr. 5: 1/4 Liter.", "Siehe Nummer 5: ein Viertel Liter."),
        (
            "fr",
            "Il fait 21 °C, soit 2 millions €.",
            "Il fait 21 degrés Celsius, soit 2 millions d'euros.",
        ),
        (
            "es",
            "Cuesta 5,50 €, aprox. 3 h.",
            "Cuesta 5 euros 50 céntimos, aproximadamente 3 horas.",
        ),
        (
            "it",
            "Va a 130 km/h, il 18% in più.",
            "Va a 130 chilometri orari, il 18 percento in più.",
        ),
        (
            "nl",
            "Het is 21 °C, d.w.z. 3–5 graden meer.",
            "Het is 21 graden Celsius, dat wil zeggen 3 tot 5 graden meer.",
        ),
        ("nl", "Het kost € 2,50 voor nr. 12.", "Het kost 2 euro 50 cent voor nummer 12."),
        (
            "nl",
            "Hij rijdt 1 km met 50 km/u en weegt 2 kg.",
            "Hij rijdt 1 kilometer met 50 kilometer per uur en weegt 2 kilogram.",
        ),
        (
            "pl",
            "Jest 21 °C, tj. ok. 70 °F.",
            "Jest 21 stopni Celsjusza, to jest około 70 stopni Fahrenheita.",
        ),
        ("pl", "Waży 2 kg, nr 5, 1,5 m.", "Waży 2 kilogramy, numer 5, 1,5 metra."),
        ("pl", "To kosztuje 5 zł.", "To kosztuje 5 złotych."),
    ],
)
def test_signs_are_said_in_words_of_the_language(language: str, text: str, expected: str) -> None:
    assert speech(text, language) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "It takes 3 hrs. 15 min. at most.", "It takes 3 hours 15 minutes at most."),
        ("en", "Wait 1 hr. 1 min. Then go.", "Wait 1 hour 1 minute. Then go."),
        ("en", "He is 5 ft. 3 in. tall.", "He is 5 feet 3 inches tall."),
        ("en", "He is 5'3\" tall.", "He is 5 feet 3 inches tall."),
        ("en", "It weighs 6 lbs. 1 oz.", "It weighs 6 pounds 1 ounce."),
        (
            "en",
            "It takes 3h15min or 2m30s.",
            "It takes 3 hours 15 minutes or 2 minutes 30 seconds.",
        ),
        ("en", "It is 20 cm. 5 people came.", "It is 20 centimeters. 5 people came."),
        ("de", "1 Std. 15 Min.", "1 Stunde 15 Minuten."),
        ("de", "Eco: 3 Std. 1 Min.; Wasser: 9 l", "Eco: 3 Stunden 1 Minute; Wasser: 9 Liter"),
        ("de", "Es dauert 2-3 Std. Danach", "Es dauert 2 bis 3 Stunden. Danach"),
        ("de", "Im 10 Min.-Takt, min. 5 Min.", "Im 10 Minuten-Takt, mindestens 5 Minuten."),
        ("fr", "Il faut min. 1 h. 15 min. Puis", "Il faut minimum 1 heure 15 minutes. Puis"),
        ("fr", "Il ouvre à 17h30.", "Il ouvre à 17 heures 30."),
        ("es", "Tarda 1 h. 15 min. y 30 seg.", "Tarda 1 hora 15 minutos y 30 segundos."),
        ("it", "Dura 1 h. 15 min. e 30 sec.", "Dura 1 ora 15 minuti e 30 secondi."),
        ("nl", "Het duurt 1 u. 15 min.", "Het duurt 1 uur 15 minuten."),
        ("pl", "Trwa 3 godz. 15 min. i 1 sek.", "Trwa 3 godziny 15 minut i 1 sekunda."),
    ],
)
def test_short_forms_of_units_are_said_in_full(language: str, text: str, expected: str) -> None:
    assert speech(text, language) == expected
    assert speech(expected, language) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rains on Tuesday. (web, news)", "It rains on Tuesday."),
        ("It rains on Tuesday (house).", "It rains on Tuesday."),
        (
            "See [the manual](https://example.com/a_(b).pdf) for details.",
            "See the manual for details.",
        ),
        ("The answer is 42 [1][2].", "The answer is 42."),
        (
            "According to [Source 2], it was built in 1932.",
            "According to the source, it was built in 1932.",
        ),
        ("<think>Let me see. 5 is…</think>It is 7.", "It is 7."),
        ("It is 7.<think>But what if", "It is 7."),
        ("so I think it is</think> It is 7.", "It is 7."),
        (
            "**Fill** the *tank*.\n- Press start\n- Wait 20 minutes.",
            "Fill the tank. Press start. Wait 20 minutes.",
        ),
        ("# Pressure\nIt has to be\nhigh.", "Pressure. It has to be high."),
        ("| Part | Size |\n|---|---|\n| Pump | 5 kg |", "Part, Size. Pump, 5 kilograms"),
        ("Sure! 😊 It works 👍🏽.", "Sure! It works."),
        ("More at https://example.com/page.", "More at."),
        ("It is cold (see https://example.com).", "It is cold."),
        ("&quot;Yes&quot; &amp; no<br/>more.", '"Yes" and no more.'),
        ("light.living_room_lamp is on.", "living room lamp is on."),
        ("The meeting is 2024-03-05T14:30:00Z.", "The meeting is March 5, 2024, 14:30."),
        (
            "Einstein (/ˈaɪnstaɪn/; 14 March 1879 – 18 April 1955) was here.",
            "Einstein (14 March 1879 to 18 April 1955) was here.",
        ),
        ("Is it on? (house)", "Is it on."),
    ],
)
def test_what_is_for_the_screen_is_not_said(text: str, expected: str) -> None:
    assert speech(text, "en") == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Error E24 means that the drain is blocked, see page 12."),
        ("en", "On 9/11 and in the 1980s it was 24/7, and/or a 5-year-old's, at 10:30 pm."),
        ("en", "Who said that?"),
        ("en", '"And now," he said, "He,'),
        ("en", "<cough/>"),
        ("en", "—"),
        ("de", "1970-2010"),
        ("de", "Der Termin ist am 3. Oktober um 8 Uhr."),
        ("fr", "L'eau bout ; c'est vrai !"),
        ("es", "veinte!"),
        ("en", "call  me\u00a0now"),
    ],
)
def test_plain_text_comes_back_as_it_is(language: str, text: str) -> None:
    assert speech(text, language) == text


PIECES = st.lists(
    st.sampled_from(
        [
            "5",
            "1.5",
            "1,500",
            "-",
            "–",
            " ",
            " ",
            " ",
            "°C",
            "%",
            "€",
            "$",
            "km/h",
            "m",
            "m²",
            "½",
            "1/2",
            "No.",
            "z.B.",
            "Std.",
            "min.",
            "in.",
            "3h15",
            "'",
            "(",
            ")",
            "[1]",
            "[",
            "]",
            "web",
            "*",
            "**",
            "_",
            "`",
            "#",
            "\n",
            "- ",
            "<b>",
            "</b>",
            "<think>",
            "</think>",
            "&amp;",
            "&",
            "https://a.b/c",
            "^",
            "2",
            "=",
            "×",
            "~",
            "/",
            "|",
            "😊",
            "word",
            "Word",
            ".",
            "?",
            "!",
            ",",
            "…",
            "²",
            "\\(",
            "2024-03-05",
            ":",
            "10",
            "am",
            "million",
            "B",
            "s",
            "h",
        ]
    ),
    max_size=14,
).map("".join)


@settings(max_examples=400, deadline=None)
@given(PIECES | st.text(max_size=60), st.sampled_from([*languages.SPOKEN, "ja"]))
@example("5%", "en")
def test_saying_it_again_changes_nothing_and_it_stays_short(text: str, language: str) -> None:
    said = speech(text, language)
    assert speech(said, language) == said
    assert len(said) <= max(3 * len(text), 48)
    assert not said.endswith("?") or text.rstrip().endswith("?")


async def test_units_and_dates_block_no_loop_once_they_are_prepared() -> None:
    await asyncio.to_thread(prepare, "nl")
    assert (
        speech("Op 2024-03-05 was het 5 °C.", "nl") == "Op 5 maart 2024 was het 5 graden Celsius."
    )
