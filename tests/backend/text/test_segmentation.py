"""Sentences of whole texts, and of texts that come in pieces."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given, settings, strategies as st
import pytest

from backend import languages
from backend.text.segmentation import IncrementalSegmenter, sentences, spans


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["Dr. Smith set it to 1.5 bar.", "Then he left at 6 p.m. with Mr. Jones."]),
        ("en", ["It costs $100.00.", "“Really?” she asked.", "He works for Acme Inc. and sleeps."]),
        ("en", ["There were 500 cases in the U.S.", "The U.S. Commission met on Jan. 20."]),
        ("en", ["It is version 3.14.2 of No. 5.", "No.", "That is all."]),
        ("en", ["Its use is well documented.[7][8]", "It was built here.12", "Nobody knows why."]),
        ("de", ["Am 3. Oktober kostete es ca. 1.299,99 €.", "Das gilt z. B. für Wasser."]),
        (
            "de",
            [
                "„Ich habe heute keine Zeit“, sagte sie.",
                "„Und auch keine Lust.“",
                "Im 2. Stock ist es warm.",
            ],
        ),
        ("de", ["Der Dr.-Ing. kam um 8 Uhr.", "Das war 1990.", "Seitdem ist usw. üblich."]),
        ("fr", ["M. Dupont habite au n° 5.", "« C'est vrai ! » dit-il.", "Il mesure env. 330 m."]),
        ("es", ["¡Hola Srta. Ledesma!", "¿Cómo está hoy?", "Pesa aprox. 12.5 kg."]),
        ("it", ["Il sig. Rossi abita al n. 5.", "Costa 3,50 €, ecc.", "Va bene."]),
        ("nl", ["Het kost o.a. 5 euro.", "Dhr. de Vries woont op nr. 12.", "Dat is d.w.z. alles."]),
        (
            "pl",
            [
                "Temperatura wynosi ok. 21 stopni.",
                "To jest np. woda.",
                "Urodził się w 1920 r.",
                "Potem wyjechał.",
            ],
        ),
        ("ru", ["Башня высотой 330 метров.", "Она стоит в Париже."]),
    ],
)
def test_abbreviations_decimals_and_quotations_end_no_sentence(
    language: str, expected: list[str]
) -> None:
    assert sentences(" ".join(expected), language) == expected


VALUES = [
    ("en", ["It takes 3 hrs. 15 min. at most.", "Wait 5 min.", "Press start."]),
    ("en", ["He is 5 ft. 3 in. tall.", "It weighs 6 lbs. 3 oz.", "That is approx. 3 h. 15 min."]),
    ("en", ["Order min. 5 pcs. 3 of them work.", "It is 20 cm.", "5 people came."]),
    ("de", ["Eco: 50 °C; Dauer: 3 Std. 15 Min.; Wasser: 9,5 Liter.", "Danach trocknet er."]),
    ("de", ["Dauer: 2 Std. 20 Min; Eco: ca. 2-3 Std. 15 Min.", "Das ist lang."]),
    (
        "de",
        ["Es dauert 3 Std.", "Danach 15 Min. Backzeit im 10 Min.-Takt.", "Tel. 0800 555 anrufen."],
    ),
    (
        "de",
        [
            "Man nehme 6 Stck. 3 Pkg. reichen.",
            "Es sind max. 4 Std. 30 Min. 10 Sek.",
            "Danach ist es gut.",
        ],
    ),
    ("fr", ["Durée : 3 h. 15 min. 30 sec.", "Ensuite il sèche.", "Tél. 0800 555 0142."]),
    ("es", ["Duración: 3 h. 15 min. 30 seg.", "Luego seca.", "Pesa máx. 5 kg."]),
    ("it", ["Durata: 3 h. 15 min. 30 sec.", "Poi asciuga.", "Sono min. 5 pz. 3 bastano."]),
    ("nl", ["Duur: 3 u. 15 min. 30 sec.", "Daarna droogt hij.", "Tel. 0800 555."]),
    ("pl", ["Czas: 3 godz. 15 min. 30 sek.", "Potem suszy.", "To 6 szt. 5 zł każda."]),
]


@pytest.mark.parametrize(("language", "expected"), VALUES)
def test_a_value_in_several_short_units_is_in_one_sentence(
    language: str, expected: list[str]
) -> None:
    text = " ".join(expected)
    assert sentences(text, language) == expected
    for size in (1, 2, 3, 5, 8):
        segmenter = IncrementalSegmenter(language)
        found: list[str] = []
        for start in range(0, len(text), size):
            found += segmenter.feed(text[start : start + size])
        assert found + segmenter.finish() == expected


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("zh", ["我们明天一起去看《摔跤吧！爸爸》好吗？", "好！"]),
        ("ja", ["気温は25℃です。", "「はい。」と言った。", "３．２９％です。"]),
    ],
)
def test_chinese_and_japanese_need_no_space(language: str, expected: list[str]) -> None:
    assert sentences("".join(expected), language) == expected


def test_lists_and_headings_are_sentences_of_their_own() -> None:
    text = "# Filling the tank\nDo this:\n1. Open the\n   valve.\n2. Wait 5 minutes.\n- Close it\n• Done"
    assert sentences(text, "en") == [
        "# Filling the tank",
        "Do this:",
        "1. Open the valve.",
        "2. Wait 5 minutes.",
        "- Close it",
        "• Done",
    ]
    inline = ["1) The first item", "2) The second item"]
    assert sentences(" ".join(inline), "en") == inline
    numbered = ["1. The first item", "2. The second item", "3. The third"]
    assert sentences(" ".join(numbered), "en") == numbered


def test_a_line_that_was_broken_for_lack_of_room_goes_on() -> None:
    text = (
        "The pressure of the boiler has to be between one and two\nbar; press the red button of the Siemens\n"
        "heater, which stands in the cellar, for as long as it needs.\n\nAfter that it starts."
    )
    assert len(sentences(text, "en")) == 2


def test_a_stream_holds_back_what_may_go_on() -> None:
    segmenter = IncrementalSegmenter("en")
    assert segmenter.feed("The pressure is 1.") == []
    assert segmenter.feed("5 bar.") == []
    assert segmenter.feed(" It ") == ["The pressure is 1.5 bar."]
    assert segmenter.finish() == ["It"]
    german = IncrementalSegmenter("de")
    assert german.feed("Das ist z.") == []
    assert german.feed(" B. Wasser. Gut") == []
    assert german.feed(" so.") == ["Das ist z. B. Wasser."]
    assert german.finish() == ["Gut so."]


PIECES = st.lists(
    st.sampled_from(
        [
            ".",
            " ",
            "!",
            "?",
            "…",
            "\n",
            "\n\n",
            '"',
            "“",
            "”",
            "„",
            "«",
            "»",
            "(",
            ")",
            "'",
            "1",
            "12",
            "2.",
            "a",
            "b)",
            "A",
            "The",
            "the",
            "z.",
            "B.",
            "Dr.",
            "etc.",
            "No.",
            "- ",
            "• ",
            "# ",
            "。",
            "「",
            "」",
            "水",
            "か",
            ",",
            ":",
            ";",
            "Word",
            "word",
            "3.14",
            "[1]",
            "p.m.",
            "I.",
            "U.S.",
            "Std.",
            "5 Min.",
            "3h.",
            "min",
            "́",
            "\u00a0",
            "\r\n",
            "\t",
        ]
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(PIECES, st.data(), st.sampled_from([*languages.SPOKEN, "ja", "ru"]))
def test_a_stream_gives_the_sentences_of_the_whole_text_however_it_is_cut(
    pieces: list[str], data: st.DataObject, language: str
) -> None:
    text = "".join(pieces)
    segmenter = IncrementalSegmenter(language)
    found: list[str] = []
    rest = text
    while rest:
        size = data.draw(st.integers(1, 12))
        found += segmenter.feed(rest[:size])
        rest = rest[size:]
    assert found + segmenter.finish() == sentences(text, language)


@given(st.text(), st.sampled_from(languages.SPOKEN))
@example("…", "en")
def test_sentences_hold_all_of_the_text_and_nothing_twice(text: str, language: str) -> None:
    places = spans(text, language)
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in places)
    assert all(one[1] <= other[0] for one, other in pairwise(places))
    joined = "".join(text[start:end] for start, end in places)
    assert "".join(joined.split()) == "".join(text.split())
