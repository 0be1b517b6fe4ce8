"""Signs and short forms in a voice: minus, ranges, sums, comparisons, lists, ordinals."""

from __future__ import annotations

import pytest

from backend.answer.speech import speech


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "- 500 g flour", "500 grams flour"),
        (
            "en",
            "It is -5–-2 °C, or −5 – −2 °C.",
            "It is minus 5 to minus 2 degrees Celsius, or minus 5 to minus 2 degrees Celsius.",
        ),
        ("en", "It is -5–10 °C.", "It is minus 5 to 10 degrees Celsius."),
        (
            "en",
            "Wait 3-4 weeks or 20–30 % longer.",
            "Wait 3 to 4 weeks or 20 to 30 percent longer.",
        ),
        (
            "en",
            "2 + 2 - 1 = 3 and 10 / 2 = 5",
            "2 plus 2 minus 1 equals 3 and 10 divided by 2 equals 5",
        ),
        ("en", "1-4=-3 holds.", "1 minus 4 equals minus 3 holds."),
        ("en", "Use ≤ 5 kg, > 10 days.", "Use at most 5 kilograms, more than 10 days."),
        ("en", "> 10 kg is much.", "more than 10 kilograms is much."),
        (
            "en",
            "See pp. 5-7, #5 and Nos. 3 & 4.",
            "See pages 5 to 7, number 5 and numbers 3 and 4.",
        ),
        ("en", "It was in 1990-95, not 1980-1986.", "It was in 1990 to 95, not 1980 to 1986."),
        ("de", "500 v. Chr. gab es 5 Mio. davon.", "500 vor Christus gab es 5 Millionen davon."),
        ("de", "1. Wasser einfüllen\n2. Start drücken", "Wasser einfüllen. Start drücken"),
        (
            "it",
            "In casa ci sono 28°, fuori 30° C.",
            "In casa ci sono 28 gradi, fuori 30 gradi Celsius.",
        ),
        ("de", "Siehe § 5, Abb. 3 und S. 12.", "Siehe Paragraf 5, Abbildung 3 und Seite 12."),
        ("es", "Son 2 + 2 - 1 = 3.", "Son 2 más 2 menos 1 es igual a 3."),
        ("fr", "C'est la Mᵐᵉ Dupont, env. 5 km.", "C'est la madame Dupont, environ 5 kilomètres."),
        ("it", "Sale q.b. e ca. 5 g di pepe.", "Sale quanto basta e circa 5 grammi di pepe."),
    ],
)
def test_signs_that_voices_misread_are_words(language: str, text: str, expected: str) -> None:
    assert speech(text, language) == expected
    assert speech(expected, language) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Call 555-1234, 0800-123456 or 1-800-GO-U-HAUL."),
        ("es", "Llama al +54 911 1234-5678."),
        ("en", "Figure 3-A is a 3-in-1, mid-1980s."),
        ("en", "If a < b and 5 > 3, then stop."),
        ("de", "3. Oktober 1990 war ein Mittwoch."),
        ("de", "100. Geburtstag der Oma"),
        ("it", "Il 1° maggio è al 3° piano."),
        ("pl", "25. Festiwal zaczyna się dziś."),
    ],
)
def test_what_only_looks_like_a_range_or_a_list_stays(language: str, text: str) -> None:
    assert speech(text, language) == text
