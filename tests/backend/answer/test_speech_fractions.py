"""Fractions in a voice: the part, the unit behind it, and what only looks like a fraction."""

from __future__ import annotations

import pytest

from backend.answer.speech import speech


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Add 1 1/2 cups and ½ tsp.", "Add 1 and a half cups and one half teaspoon."),
        ("en", "It is 31/32 of an inch.", "It is 31 thirty-seconds of an inch."),
        ("en", "Pi is about 22/7.", "Pi is about 22 sevenths."),
        ("en", "That is 1/100, not 3/1000.", "That is one hundredth, not 3 thousandths."),
        (
            "de",
            "Nimm ½ TL, ½ h oder 1/2 Liter.",
            "Nimm ein halber Teelöffel, eine halbe Stunde oder ein halber Liter.",
        ),
        (
            "de",
            "Es dauert 1 ½ Stunden oder 2 1/2 h.",
            "Es dauert eineinhalb Stunden oder zweieinhalb Stunden.",
        ),
        ("de", "Es dauert 20 ½ h.", "Es dauert 20 und ein halb Stunden."),
        ("de", "Das ist -1/22 davon.", "Das ist minus ein Zweiundzwanzigstel davon."),
        (
            "fr",
            "Il faut 1/2 h, 1 1/2 h ou 3/4 l.",
            "Il faut une demi-heure, 1 heure et demie ou 3 quarts de litre.",
        ),
        ("fr", "Ajoutez ½ l, puis ¼ h.", "Ajoutez un demi-litre, puis un quart d'heure."),
        (
            "es",
            "Son 1 1/2 mph, o 1 3/5 mph.",
            "Son 1 y media milla por hora, o 1 y 3 quintos de milla por hora.",
        ),
        (
            "es",
            "Echa ½ taza, 2 1/2 kg y 1/2 h.",
            "Echa media taza, 2 kilogramos y medio y media hora.",
        ),
        (
            "es",
            "Es 1/41, 1/500, 1/5000 o 1/1.000.000.",
            "Es un cuarentaiunavo, un quingentésimo, un cincomilésimo o un millonésimo.",
        ),
        ("es", "Es 1/1001 de eso.", "Es 1 sobre 1001 de eso."),
        (
            "it",
            "Metti ½ tazza, 1 1/2 l e 3/4 l.",
            "Metti mezza tazza, 1 litro e mezzo e 3 quarti di litro.",
        ),
        ("it", "È 1/4 del totale.", "È un quarto del totale."),
    ],
)
def test_parts_are_said_with_their_unit(language: str, text: str, expected: str) -> None:
    assert speech(text, language) == expected
    assert speech(expected, language) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "It was on 9/11, and it is open 24/7."),
        ("en", "Come on 3/4, not before 12/25."),
        ("en", "His pressure is 120/80, they went 50/50."),
        ("en", "The file is 1/2/3 of 4/4."),
        ("de", "Der Termin ist am 1/4, die Quote 0/5."),
        ("fr", "Rendez-vous le 1/4, ou le 22/7."),
        ("pl", "Mieszka przy ulicy Długiej 5/7."),
        ("es", "La cita es el 3/12, o el 5/7."),
    ],
)
def test_dates_scores_and_shares_are_no_fractions(language: str, text: str) -> None:
    assert speech(text, language) == text
