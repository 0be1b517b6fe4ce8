"""Money in a voice: signs, codes, hundredths, magnitudes, rates."""

from __future__ import annotations

import pytest

from backend.answer.speech import speech


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "It costs $20.5.", "It costs 20 dollars 50 cents."),
        ("en", "It costs $.01 or $.506.", "It costs 1 cent or 0.506 dollars."),
        ("en", "It costs €5-10.", "It costs 5 to 10 euros."),
        ("en", "It costs $250-$300.", "It costs 250 dollars to 300 dollars."),
        ("en", "It made $2.5k, then ¥30B.", "It made 2.5 thousand dollars, then 30 billion yen."),
        (
            "en",
            "It costs 5 USD, or US$76.3 trillion.",
            "It costs 5 US dollars, or 76.3 trillion US dollars.",
        ),
        ("en", "It costs 99¢ and Rs. 500.", "It costs 99 cents and 500 rupees."),
        ("en", "Power is 0.30 €/kWh.", "Power is 30 cents per kilowatt hour."),
        ("en", "Rent is $900/month.", "Rent is 900 dollars per month."),
        ("en", "Prices are in €.", "Prices are in euros."),
        ("en", "It follows ISO 9001 and PHP 8.", "It follows ISO 9001 and PHP 8."),
        (
            "de",
            "Er hat 1 Mio. € und 3,7 Mrd. $.",
            "Er hat 1 Million Euro und 3,7 Milliarden Dollar.",
        ),
        ("de", "Strom kostet 30 ct/kWh.", "Strom kostet 30 Cent pro Kilowattstunde."),
        ("de", "Am Fr. 5. Mai kostet es 5 Fr. mehr.", "Am Fr. 5. Mai kostet es 5 Franken mehr."),
        ("de", "Es kostet $2,000 mehr.", "Es kostet 2,000 Dollar mehr."),
        ("fr", "Il coûte 5 M€ ou 50 k€.", "Il coûte 5 millions d'euros ou 50 mille euros."),
        (
            "fr",
            "Il coûte 1,5 M€ et 5 USD.",
            "Il coûte 1,5 million d'euros et 5 dollars américains.",
        ),
        ("es", "Cuesta $0,1 o 1 hkd.", "Cuesta 10 centavos o 1 dólar de Hong Kong."),
        ("es", "Cuesta nio21 o mex$100.", "Cuesta 21 córdobas o 100 pesos mexicanos."),
        ("es", "Son pab 5,50 billones.", "Son 5,50 billones de balboas."),
        ("es", "Cuesta 1 kr, 2 rs o 7 ₧.", "Cuesta 1 corona, 2 rupias o 7 pesetas."),
        ("es", "Son ₡ 3, o 1 crc.", "Son 3 colones, o 1 colón costarricense."),
        ("it", "Costa 5 mln € e 2,01 ₽.", "Costa 5 milioni di euro e 2 rubli 1 copeca."),
    ],
)
def test_amounts_are_said_as_people_say_them(language: str, text: str, expected: str) -> None:
    assert speech(text, language) == expected
    assert speech(expected, language) == expected
