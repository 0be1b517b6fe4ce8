"""What a voice says in Dutch: units that have no plural behind numbers, and those that have one."""

from __future__ import annotations

import pytest

from backend.answer.speech import speech


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Het is 1 °C.", "Het is 1 graad Celsius."),
        ("Het is 21,5 °C.", "Het is 21,5 graden Celsius."),
        ("Het is -3 °C.", "Het is min 3 graden Celsius."),
        ("De hoek is 90°.", "De hoek is 90 graden."),
        ("De vochtigheid is 80 %.", "De vochtigheid is 80 procent."),
        ("Het is 5 km rijden.", "Het is 5 kilometer rijden."),
        ("Hij rijdt 120 km/u.", "Hij rijdt 120 kilometer per uur."),
        ("De wind is 10 m/s.", "De wind is 10 meter per seconde."),
        ("De kamer is 42 m².", "De kamer is 42 vierkante meter."),
        ("Er past 3 m³ in.", "Er past 3 kubieke meter in."),
        ("Het duurt 3 u. en 1 min.", "Het duurt 3 uur en 1 minuut."),
        ("Wacht 5 min en 10 sec.", "Wacht 5 minuten en 10 seconden."),
        ("Open om 15.30 u.", "Open om 15:30 uur."),
        ("Verbruik: 9 l en 0,83 kWh.", "Verbruik: 9 liter en 0,83 kilowattuur."),
        (
            "Het geluid is 44 dB bij 1400 tpm.",
            "Het geluid is 44 decibel bij 1400 toeren per minuut.",
        ),
        ("De druk is 1,5 bar of 22 psi.", "De druk is 1,5 bar of 22 pond per vierkante inch."),
        ("De zekering is 16 A bij 230 V.", "De zekering is 16 ampère bij 230 volt."),
        ("Hij rijdt 6,5 l/100 km.", "Hij rijdt 6,5 liter per 100 kilometer."),
        ("Het kost € 1.299,99.", "Het kost 1.299 euro 99 cent."),
        ("Het kost 5 USD of £ 3,20.", "Het kost 5 Amerikaanse dollar of 3 pond 20 pence."),
        ("Stroom kost 30 ct/kWh.", "Stroom kost 30 cent per kilowattuur."),
        ("De winst is € 2,5 mln.", "De winst is 2,5 miljoen euro."),
        ("Er wonen 17 mln. mensen.", "Er wonen 17 miljoen mensen."),
        (
            "Voeg ½ tl zout en 2 el olie toe.",
            "Voeg een halve theelepel zout en 2 eetlepels olie toe.",
        ),
        ("Neem 1/2 liter water.", "Neem een halve liter water."),
        ("Het duurt 1 1/2 uur.", "Het duurt anderhalf uur."),
        (
            "Neem 1 ½ l melk en 2 ½ kg meel.",
            "Neem anderhalve liter melk en 2 en een half kilogram meel.",
        ),
        ("Neem ¾ l.", "Neem 3 kwart liter."),
        ("Dat is 1/22 van het geheel.", "Dat is een tweeëntwintigste van het geheel."),
        ("Bak 20–25 min op 180 °C.", "Bak 20 tot 25 minuten op 180 graden Celsius."),
        (
            "Open ma t/m vr, d.w.z. niet in het weekend.",
            "Open ma tot en met vr, dat wil zeggen niet in het weekend.",
        ),
        ("Zie nr. 5 op blz. 12.", "Zie nummer 5 op bladzijde 12."),
        ("Max. 3 st. per klant, excl. btw.", "Max. 3 stuks per klant, exclusief btw."),
        ("≤ 5 kg mag mee.", "hoogstens 5 kilogram mag mee."),
        ("- 500 g bloem\n- 2 eieren", "500 gram bloem. 2 eieren"),
    ],
)
def test_dutch_is_said_in_the_right_form(text: str, expected: str) -> None:
    assert speech(text, "nl") == expected
    assert speech(expected, "nl") == expected
