"""Years, days and opening hours are held by what the material says of the same day, month and year."""

from __future__ import annotations

import pytest

from backend.languages import SPOKEN, table
from backend.text.numbers import Material


def unsupported(material: str, sentence: str, language: str = "en") -> list[str]:
    return Material(material, language).unsupported(sentence)


@pytest.mark.parametrize(
    ("material", "sentence", "wrong"),
    [
        # Decades and centuries, however they are written.
        ("born July 3, 1973", "He was born in the 1970's.", []),
        ("born July 3, 1973", "He was born in the 1970s.", []),
        ("born July 3, 1973", "He was born in the 1980's.", ["1980's"]),
        ("founded on June 29, 1776", "It was founded in the 1700's.", []),
        ("founded on June 29, 1776", "It was founded in the 1800s.", ["1800s"]),
        ("a film of 1970", "1970's best film was this one.", []),
        # A year that bounds another.
        ("released on April 12, 2013", "It was released before 2014.", []),
        ("released on April 12, 2013", "It was released after 2012.", []),
        ("released on April 12, 2013", "It was released before 2012.", ["2012"]),
        ("released on April 12, 2013", "It was released after 2014.", ["2014"]),
        ("released on April 12, 2013", "It was released before 2050.", ["2050"]),
        ("released on April 12, 2013", "It was released in 2014.", ["2014"]),
        # A day is of its month, a year too where the month alone is named.
        ("She died on August 9, 1969.", "She died on August 9, 1969.", []),
        ("She died on August 9 , 1969 .", "She died on 9 August 1969.", []),
        ("She died on August 9, 1969.", "She died on July 9, 1969.", ["9"]),
        ("It joined on January 1, 2009.", "It joined in January 2009.", []),
        ("It joined on January 1, 2009.", "It joined in November 2009.", ["2009"]),
        ("It joined in 2009.", "It joined in November 2009.", []),
        ("Reviews: 2019-11-22: good.", "A review from November 22, 2019, praises it.", []),
        ("Reviews: 2019-11-22: good.", "A review from November 2019 praises it.", []),
        ("Reviews: 2019-11-22: good.", "A review from October 2019 praises it.", ["2019"]),
        ("On November 1 it began; the act is of March 22, 1765.", "It began November 1, 1765.", []),
        # Opening hours belong to their days.
        ("Monday: 9:00-17:00. Tuesday: 12:00-20:00.", "It is open on Monday from 9 to 5.", []),
        (
            "Monday: 9:00-17:00. Tuesday: 12:00-20:00.",
            "It is open on Tuesday from 9 am to 5 pm.",
            ["9 am", "5 pm"],
        ),
        (
            "Monday to Friday 8:00-18:00, Saturday 9:00-13:00.",
            "It is open from 8:00 to 18:00 on weekdays and from 9:00 to 13:00 on Saturday.",
            [],
        ),
        (
            "Monday to Friday 8:00-18:00, Saturday 9:00-13:00.",
            "On Saturday it is open from 8:00 to 18:00.",
            ["8:00", "18:00"],
        ),
        ("Open 10:00-22:00.", "It is open daily from 10 am to 10 pm.", []),
    ],
)
def test_a_moment_is_held_by_the_same_moment(
    material: str, sentence: str, wrong: list[str]
) -> None:
    assert unsupported(material, sentence) == wrong


@pytest.mark.parametrize(
    ("language", "material", "right", "wrong"),
    [
        ("de", "erschienen am 12. April 2013", "Es erschien vor 2014.", "Es erschien nach 2014."),
        ("fr", "sorti le 12 avril 2013", "Il est sorti avant 2014.", "Il est sorti après 2014."),
        ("es", "estrenada el 12 de abril de 2013", "Se estrenó antes de 2014.", "Fue tras 2014."),
        ("it", "uscito il 12 aprile 2013", "È uscito prima del 2014.", "È uscito dopo il 2014."),
        ("nl", "verschenen op 12 april 2013", "Het verscheen voor 2014.", "Het kwam na 2014."),
        ("pl", "wydany 12 kwietnia 2013", "Wydano go przed 2014.", "Wydano go po 2014."),
        ("de", "am 1. Januar 2009", "Es war im Januar 2009.", "Es war im November 2009."),
        ("fr", "le 1 janvier 2009", "C'était en janvier 2009.", "C'était en novembre 2009."),
        ("es", "el 1 de enero de 2009", "Fue en enero de 2009.", "Fue en noviembre 2009."),
        ("nl", "op 1 januari 2009", "Het was in januari 2009.", "Het was in november 2009."),
        (
            "de",
            "Montag: 9:00-17:00 Uhr. Dienstag: 12:00-20:00 Uhr.",
            "Am Dienstag ist von 12:00 bis 20:00 Uhr geöffnet.",
            "Am Dienstag ist von 9:00 bis 17:00 Uhr geöffnet.",
        ),
        (
            "fr",
            "Lundi : 9h00-17h00. Mardi : 12h00-20h00.",
            "Le mardi, c'est ouvert de 12h00 à 20h00.",
            "Le mardi, c'est ouvert de 9h00 à 17h00.",
        ),
    ],
)
def test_every_language_says_so_in_its_own_words(
    language: str, material: str, right: str, wrong: str
) -> None:
    assert unsupported(material, right, language) == []
    assert unsupported(material, wrong, language) != []


@pytest.mark.parametrize("code", SPOKEN)
def test_every_language_has_the_words_for_it(code: str) -> None:
    assert set(table(code, "hours")) == set(table("en", "hours"))
    assert len(table(code, "hours")["days"]) == 7
    assert table(code, "number_words")["earlier"]
    assert table(code, "number_words")["later"]
