"""The number gate: what a sentence may say of the numbers of its material."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import assume, given, settings, strategies as st
import pytest

from backend import languages
from backend.text import numbers
from backend.text.figures import Figure, figures
from backend.text.numbers import Material

NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "material", "sentence"),
    [
        ("en", "It holds 1,500 litres.", "It holds 1500 litres."),
        ("en", "It holds 1,500 litres.", "It holds fifteen hundred litres."),
        ("en", "It holds 1,500 litres.", "It holds one thousand five hundred litres."),
        ("de", "Er fasst 1.500 Liter.", "Er fasst 1500 Liter, also eintausendfünfhundert."),
        ("de", "Es sind 25 Grad.", "Es sind fünfundzwanzig Grad."),
        ("de", "Es kostet 3,7 Mio. Euro.", "Es kostet 3.700.000 Euro."),
        ("fr", "Il pèse 1 083 kg.", "Il pèse 1083 kg."),
        ("fr", "Il a 97 ans.", "Il a quatre-vingt-dix-sept ans."),
        ("fr", "Il ouvre à 17h30.", "Il ouvre à 17 h 30."),
        ("es", "Son 1.500 litros.", "Son mil quinientos litros."),
        ("it", "Sono 250 litri.", "Sono duecentocinquanta litri."),
        ("nl", "Het is 25 graden.", "Het is vijfentwintig graden."),
        ("nl", "Er passen 1.500 liter in.", "Er passen vijftienhonderd liter in."),
        ("pl", "Ma 1500 litrów.", "Ma tysiąc pięćset litrów."),
        ("en", "The temperature is 72.0 degrees.", "It is 72 degrees."),
        ("en", "Open from 9:00 to 17:30.", "It is open from 9 am to 5:30 pm."),
        ("en", "Open 17:00.", "It opens at 5 p.m."),
        ("en", "He paid 1,482,000 dollars.", "He paid about 1.5 million dollars."),
        ("en", "It was built in 1994.", "It was built in the 1990s."),
        ("en", "It was in the nineteen nineties, in nineteen ninety-four.", "That was 1994."),
        ("en", "It happened on March 5, 2024.", "It happened on 2024-03-05."),
        ("en", "It happened on 2024-03-05.", "It happened on 5 March 2024."),
        ("en", "Python 3.14.2 is out.", "Python 3.14 is out, 3.14.2 to be exact."),
        ("en", "Error E24: blocked.", "Error E24 means it is blocked, so does E-24."),
        ("en", "Half of them and 2 ½ cups.", "50 % of them and 2 1/2 cups."),
        ("en", "Add ¾ cup.", "Add 3/4 cup."),
        ("en", "It is 58 °F.", "It is 58 °F (14 °C)."),
        ("en", "They came in pairs.", "1. They came.\n2. In pairs."),
        ("en", "They came in pairs.", "It is open seven days a week."),
        ("en", "It got 4 stars.", "It got 4 out of 5 stars."),
        ("en", "It rained.", "It rained in 2026, says passage 3 [2]."),
        ("en", "It rained.", "Here is a summary in 50 words: it rained."),
        ("en", "It takes 5-7 minutes.", "It takes 5 to 7 minutes."),
        ("en", "-5 °C at night", "It gets minus 5 degrees."),
        ("en", "$1,299.99", "It costs 1299.99 dollars."),
        ("en", "the COVID pandemic", "the COVID-19 pandemic"),
    ],
)
def test_the_same_value_in_another_spelling_is_grounded(
    language: str, material: str, sentence: str
) -> None:
    assert Material(material, language, now=NOW).unsupported(sentence) == []


@pytest.mark.parametrize(
    ("language", "material", "sentence", "expected"),
    [
        ("en", "It holds 1,500 litres.", "It holds 5 litres.", ["5"]),
        ("en", "It holds 1,500 litres.", "It holds 150 litres, not 1,500.", ["150"]),
        ("en", "Set it to 1.5 bar.", "Set it to 1.5 litres.", ["1.5"]),
        ("en", "It takes 5 minutes.", "It takes 5 hours.", ["5"]),
        ("en", "It had 7 seasons and 9 hosts.", "It had 9 seasons.", ["9"]),
        ("en", "Error E24: blocked.", "Error E2 means it is blocked.", ["E2"]),
        ("en", "Error E24: blocked.", "Error 24 means it is blocked.", ["24"]),
        ("en", "It is -5 °C.", "It is 5 °C.", ["5"]),
        ("en", "It happened on March 5, 2024.", "It happened on March 6, 2024.", ["6"]),
        ("en", "He paid 1,482,000 dollars.", "He paid about 1.6 million dollars.", ["1.6 million"]),
        ("en", "It is 21.3 °C.", "It is 21 °C.", ["21"]),
        ("en", "Open from 9:00 to 17:00.", "It closes at 6 pm.", ["6 pm"]),
        ("en", "It was built in 1994.", "It was built in the 1980s.", ["1980s"]),
        ("en", "Python 3.14.2 is out.", "Python 3.14.3 is out.", ["3.14.3"]),
        ("en", "Add ¾ cup.", "Add 1/4 cup.", ["1/4"]),
        ("en", "It rained.", "2026 people came.", ["2026"]),
        ("en", "It is 58 °F.", "It is 58 °F (20 °C).", ["20"]),
        ("de", "Er fasst 1.500 Liter.", "Er fasst 1,5 Liter.", ["1,5"]),
        ("de", "Es sind 25 Grad.", "Es sind sechsundzwanzig Grad.", ["sechsundzwanzig"]),
        ("pl", "Ma 1500 litrów.", "Ma tysiąc sześćset litrów.", ["tysiąc sześćset"]),
    ],
)
def test_a_number_that_is_not_there_or_is_another_things_is_found(
    language: str, material: str, sentence: str, expected: list[str]
) -> None:
    assert Material(material, language, now=NOW).unsupported(sentence) == expected


ONE_VALUE = [
    ("de", "Eco: 50 °C; Dauer: 3 Std. 15 Min.; Wasser", "Es dauert 3 Stunden 15 Minuten."),
    ("de", "Dauer: 3 Std. 15 Min.", "Es dauert 3 Stunden und 15 Minuten."),
    ("de", "Dauer: 3 Std. 15 Min.", "Es dauert 195 Minuten, also 3,25 Stunden."),
    ("de", "Dauer: 3 Std. 15 Min.", "Es dauert dreieinviertel Stunden."),
    ("de", "Dauer: 3 Std. 15 Min.", "Es dauert drei Stunden und fünfzehn Minuten."),
    ("en", "3 h 15 min", "It takes about three hours."),
    ("en", "3 h 15 min", "It takes three and a quarter hours."),
    ("en", "3 h 15 min", "It takes 3 hours, 15 minutes."),
    ("en", "3h15", "It takes 3 hours and 15 minutes."),
    ("en", "195 minutes", "It takes 3 hours and 15 minutes."),
    ("en", "3 h 15 min", "It takes 3h15min, or 3:15 hours."),
    ("en", "He is 5'3\" tall.", "He is 5 feet 3 inches tall."),
    ("en", "He is 5 ft 3.", "He is 5 ft. 3 in. tall, which is 63 inches or 160 cm."),
    ("en", "6 lbs. 3 oz.", "It weighs 6 pounds and 3 ounces."),
    ("fr", "Durée : 3 h 15 min.", "Il dure 3h15."),
    ("fr", "Durée : 3 h 30.", "Il dure trois heures et demie."),
    ("en", "Bake 1 hour. 15 minutes more.", "Bake 1 hour and 15 minutes."),
    ("en", "€5.50", "It costs 5 euros 50 cents."),
    ("de", "Kosten: 5,50 €", "Es kostet 5 Euro 50 Cent."),
    ("en", "100 minutes", "1.67 hours"),
    ("en", "2 to 3 hrs. 15 min", "It takes 2 to 3 hours 15 minutes"),
    ("es", "3 h 30 min", "tres horas y media"),
    ("it", "3 h 30 min", "tre ore e mezza"),
    ("pl", "3 godz. 30 min.", "trzy i pół godziny"),
    ("nl", "3 u. 30 min.", "drieënhalf uur"),
    ("pl", "3 godz. 15 min.", "3 godziny i 15 minut"),
    ("en", "1.5 million people", "one and a half million people"),
    ("en", "1 hour 30 minutes", "one and a half hours"),
    ("en", "It takes 1 year and 6 months", "18 months"),
    ("en", "Open 8:00 to 17:30 and it took 2 hours.", "Open until 5:30 pm."),
    ("de", "Um 3.15 Uhr", "Um 3:15 Uhr"),
]
HALF_OF_IT = [
    ("de", "Stufe 3. Dauer: 3 Std. 15 Min.", "Es dauert 3 Stunden."),
    ("de", "Dosierung 3. Dauer: 3 Std. 15 Min.", "Es dauert 3 Std."),
    ("de", "Dauer: 3 Std. 15 Min. Dosierung 15.", "Es dauert 15 Minuten."),
    ("en", "It takes 3 hours and 15 minutes. Set it to 3.", "It takes 3 hours."),
    ("en", "3 h 15 min", "It takes 3 hours."),
    ("en", "3 h 15 min", "It takes 3 hours and 20 minutes."),
    ("en", "5 ft 3", "It is 5 feet."),
    ("en", "5'3\"", "It is 5 ft."),
    ("en", "6 lb 3 oz", "It weighs 6 pounds."),
    ("en", "3 h 15 min", "It takes 3.2 hours."),
    ("en", "90 minutes", "It takes 2 hours."),
    ("en", "three and a half hours", "It takes three hours."),
    ("fr", "3 h 15 min", "Il dure 3 heures."),
    ("pl", "3 godz. 15 min.", "Trwa 3 godziny."),
    ("nl", "3 u. 15 min.", "Het duurt 3 uur."),
    ("it", "3 h 15 min", "Dura 3 ore."),
    ("es", "3 h 15 min", "Dura 3 horas."),
    ("en", "3h15", "It takes 3 hours."),
    ("de", "3 Std. 15", "Es dauert 3 Stunden."),
    ("de", "Es kostet 5 Euro 50 Cent.", "Es kostet 5 Euro."),
]


@pytest.mark.parametrize(("language", "material", "sentence"), ONE_VALUE)
def test_a_value_in_several_units_is_one_value(language: str, material: str, sentence: str) -> None:
    assert Material(material, language).unsupported(sentence) == []


@pytest.mark.parametrize(("language", "material", "sentence"), HALF_OF_IT)
def test_half_of_a_value_is_not_that_value(language: str, material: str, sentence: str) -> None:
    assert len(Material(material, language).unsupported(sentence)) == 1


@given(st.integers(1, 23), st.integers(1, 58), st.sampled_from(languages.SPOKEN))
def test_a_duration_is_held_in_minutes_and_not_by_its_hours(
    hours: int, minutes: int, code: str
) -> None:
    material = Material(f"X: {hours} h {minutes} min.", code)
    assert material.unsupported(f"X {hours * 60 + minutes} min") == []
    assert material.unsupported(f"X {hours} h. {minutes} min.") == []
    assert material.unsupported(f"X {hours} h") == [str(hours)]
    assert len(material.unsupported(f"X {hours} h {minutes + 1} min")) == 1


def test_numbers_of_the_question_are_no_evidence_but_may_name_the_topic() -> None:
    material = "The Chevy needs new spark plugs every 60,000 miles."
    chevy = Material(material, "en", "how often does a 2006 Chevy need spark plugs in 10000 miles")
    assert chevy.unsupported("The 2006 Chevy needs them every 60,000 miles.") == []
    assert chevy.unsupported("It needs them every 10000 miles.") == ["10000"]
    error = Material("Error 24 means that the drain is blocked.", "en", "what does error 26 mean")
    assert error.unsupported("Error 26 means that the drain is blocked.") == ["26"]


@pytest.mark.parametrize(
    ("language", "material", "question", "sentence", "number"),
    [
        ("en", "Rinse the filter.", "must I rinse it 37 times", "Rinse it 37 times.", "37"),
        ("en", "Bake it.", "is it baked for 90 minutes", "It is baked for 90 minutes.", "90"),
        ("de", "Den Filter spülen.", "muss ich ihn 37 Mal spülen", "Ihn 37 Mal spülen.", "37"),
        ("fr", "Rincez le filtre.", "faut-il 37 rinçages", "Il faut 37 rinçages.", "37"),
    ],
)
def test_a_number_that_only_the_question_says_is_not_confirmed(
    language: str, material: str, question: str, sentence: str, number: str
) -> None:
    assert Material(material, language, question).unsupported(sentence) == [number]


def test_an_answer_may_speak_another_language_than_its_material() -> None:
    material = Material("The tank of the boiler holds 1,500 litres, as it is so big.", "de")
    assert material.unsupported("Der Tank fasst 1.500 Liter.") == []
    assert material.unsupported("Der Tank fasst 1,5 Liter.") == ["1,5"]
    german = Material("Der Tank fasst 1.500 Liter, und das ist viel für ihn.", "en")
    assert german.unsupported("The tank holds 1,500 litres.") == []


def test_a_text_without_numbers_claims_none() -> None:
    assert Material("", "en").unsupported("") == []
    assert Material("5", "en").unsupported("Nobody knows one thing or two, at first.") == []
    assert Material("", "xx").unsupported("Det kostar 5 kronor.") == ["5"]


def spellings(value: int) -> st.SearchStrategy[tuple[str, str]]:
    """Return (language, spelling) of a whole number."""
    plain = str(value)
    english, german = f"{value:,}", f"{value:,}".replace(",", ".")
    return st.sampled_from(
        [
            ("en", plain),
            ("en", english),
            ("en", f"{plain}.0"),
            ("de", plain),
            ("de", german),
            ("de", f"{plain},0"),
            ("fr", f"{value:,}".replace(",", "\u202f")),
            ("pl", f"{value:,}".replace(",", " ")),
            ("it", german),
            ("nl", german),
            ("es", german),
            ("en", english.replace(",", "'")),
        ]
    )


@settings(deadline=None)
@given(st.data(), st.integers(11, 9_999_999))
def test_a_number_copied_in_another_spelling_is_accepted_and_the_next_one_is_not(
    data: st.DataObject, value: int
) -> None:
    assume(2026 not in (value, value + 1))
    there, written = data.draw(spellings(value))
    here, said = data.draw(spellings(value))
    _, next_one = data.draw(spellings(value + 1).filter(lambda each: each[0] == here))
    material = Material(f"X {written} Y.", there, question=f"Z {value} ?", now=NOW)
    assert material.unsupported(f"X {said} Y.", here) == []
    assert material.unsupported(f"X {next_one} Y.", here) != []


@settings(deadline=None)
@given(st.text(max_size=120), st.text(max_size=60), st.sampled_from(["en", "de", "fr", "pl"]))
def test_any_text_can_be_read(material: str, sentence: str, language: str) -> None:
    found = Material(material, language, question=sentence, now=NOW).unsupported(sentence)
    assert all(each in sentence for each in found)


@settings(deadline=None)
@given(st.text(alphabet="0123456789.,:/-–% €$°Ch½eEamp\nth", max_size=60))
def test_what_stands_in_the_material_word_for_word_can_be_read(text: str) -> None:
    assert isinstance(Material(text, "en").unsupported(text), list)


def test_a_material_is_read_once_whatever_is_asked_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "The boiler holds 1,500 litres at 1.5 bar, since March 5, 2024, from 9 am to 17:30. " * 9
    read: list[str] = []

    def counted(text: str, language: str) -> list[Figure]:
        read.append(text)
        return figures(text, language)

    monkeypatch.setattr(numbers, "figures", counted)
    material = Material(text, "en")
    for _ in range(3):
        assert material.unsupported("It holds 1500 litres at 1.5 bar from 9 am to 5:30 pm.") == []
        assert material.unsupported("It holds 1600 litres.") == ["1600"]
    assert read.count(text) == 1
