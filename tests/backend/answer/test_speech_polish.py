"""What a voice says in Polish: plurals of three kinds, decimals in the genitive singular, genitives after "do"."""

from __future__ import annotations

import pytest

from backend.answer.speech import speech


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Na dworze jest 1 °C.", "Na dworze jest 1 stopień Celsjusza."),
        ("Na dworze są 2 °C.", "Na dworze są 2 stopnie Celsjusza."),
        ("Na dworze jest 5 °C.", "Na dworze jest 5 stopni Celsjusza."),
        ("Na dworze jest 12 °C.", "Na dworze jest 12 stopni Celsjusza."),
        ("Na dworze są 22 °C.", "Na dworze są 22 stopnie Celsjusza."),
        ("Na dworze jest 0 °C.", "Na dworze jest 0 stopni Celsjusza."),
        (
            "Jest 1,5 °C, a było -3 °C.",
            "Jest 1,5 stopnia Celsjusza, a było minus 3 stopnie Celsjusza.",
        ),
        ("Trasa ma 1 km.", "Trasa ma 1 kilometr."),
        ("Trasa ma 3 km.", "Trasa ma 3 kilometry."),
        ("Trasa ma 114 km.", "Trasa ma 114 kilometrów."),
        ("Trasa ma 2,5 km.", "Trasa ma 2,5 kilometra."),
        ("Pokój ma 42 m².", "Pokój ma 42 metry kwadratowe."),
        ("Wiatr wieje 50 km/h.", "Wiatr wieje 50 kilometrów na godzinę."),
        ("Zużywa 9,5 l i 0,83 kWh.", "Zużywa 9,5 litra i 0,83 kilowatogodziny."),
        ("Hałas to 44 dB przy 1400 obr./min.", "Hałas to 44 decybele przy 1400 obrotów na minutę."),
        ("Bezpiecznik ma 16 A, gniazdo 230 V.", "Bezpiecznik ma 16 amperów, gniazdo 230 woltów."),
        ("Wilgotność wynosi 50%.", "Wilgotność wynosi 50 procent."),
        ("To kosztuje 1 zł.", "To kosztuje 1 złoty."),
        ("To kosztuje 3 zł.", "To kosztuje 3 złote."),
        ("To kosztuje 22,50 zł.", "To kosztuje 22 złote 50 groszy."),
        ("Płacimy 0,99 zł/kWh.", "Płacimy 99 groszy na kilowatogodzinę."),
        ("Bilet kosztuje 5 €, a hotel 102 $.", "Bilet kosztuje 5 euro, a hotel 102 dolary."),
        ("Mieszka tu 2 tys. osób.", "Mieszka tu 2 tysiące osób."),
        ("Budżet to 5 mln zł.", "Budżet to 5 milionów złotych."),
        ("Budżet to 1,2 mld zł.", "Budżet to 1,2 miliarda złotych."),
        ("Zostały 3 szt. dla 5 os.", "Zostały 3 sztuki dla 5 osób."),
        ("Podgrzej do 2 °C.", "Podgrzej do 2 stopni Celsjusza."),
        ("Gotuj od 3 do 4 min na ogniu.", "Gotuj od 3 do 4 minut na ogniu."),
        ("Waży ok. 1 kg.", "Waży około 1 kilograma."),
        ("Gotuj 2–3 min na ogniu.", "Gotuj 2 do 3 minut na ogniu."),
        ("Dodaj ½ l wody.", "Dodaj pół litra wody."),
        ("Czekaj 1 1/2 godziny.", "Czekaj półtorej godziny."),
        ("Dodaj 1 ½ l mleka i 2 ½ kg mąki.", "Dodaj półtora litra mleka i 2 i pół kilograma mąki."),
        ("Wlej 3/4 l.", "Wlej 3 czwarte litra."),
        ("To 5/6 całości.", "To 5 szóstych całości."),
        ("Otwarte o godz. 15:30.", "Otwarte o godzinie 15:30."),
        ("Patrz nr 5 na str. 12.", "Patrz numer 5 na stronie 12."),
        ("Szczyt ma 2499 m n.p.m.", "Szczyt ma 2499 metrów nad poziomem morza."),
        ("W 1990 r. było inaczej.", "W 1990 roku było inaczej."),
        ("3. rocznica ślubu była w maju.", "3. rocznica ślubu była w maju."),
        ("- 500 g mąki\n- 2 łyżki cukru", "500 gramów mąki. 2 łyżki cukru"),
    ],
)
def test_polish_is_said_in_the_right_form(text: str, expected: str) -> None:
    assert speech(text, "pl") == expected
    assert speech(expected, "pl") == expected
