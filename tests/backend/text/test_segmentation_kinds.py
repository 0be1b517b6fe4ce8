"""Kinds of full stops that are easily taken for one another, and quotations in one piece or by their sentences."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given, settings, strategies as st
import pytest

from backend import languages
from backend.text.segmentation import IncrementalSegmenter, sentences, spans


def both(language: str, expected: list[str], *, whole_quotations: bool = False) -> None:
    """Assert that `expected` are the sentences of their text, whole and in pieces of any size."""
    text = " ".join(expected)
    assert sentences(text, language, whole_quotations=whole_quotations) == expected
    for size in (1, 2, 5, 13):
        segmenter = IncrementalSegmenter(language, whole_quotations=whole_quotations)
        found: list[str] = []
        for start in range(0, len(text), size):
            found += segmenter.feed(text[start : start + size])
        assert found + segmenter.finish() == expected


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["It is 10 mm.", "Peter cut it.", "It weighs 3 kg.", "Mary lifts it."]),
        ("de", ["Es wiegt 10 kg.", "Haus und Hof sind 3 km.", "Peter kommt."]),
        ("fr", ["Il mesure 10 mm.", "Le reste pèse 3 kg.", "Paul le porte."]),
        ("es", ["Mide 10 m.", "Pedro pesa 80 kg.", "Juan no."]),
        ("it", ["Misura 10 m.", "Paolo pesa 80 kg.", "Maria no."]),
        ("nl", ["Het is 10 cm.", "Jan komt.", "Het weegt 3 kg.", "Piet ook."]),
        ("pl", ["Waży 10 kg.", "Potem 10 km.", "Jan biegnie 5 m.", "Koniec jest blisko."]),
    ],
)
def test_a_symbol_is_no_short_form_and_its_full_stop_ends_the_sentence(
    language: str, expected: list[str]
) -> None:
    both(language, expected)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["He is ill.", "Peter has a mass.", "Mary was in Springfield, Ill. Tuesday."]),
        ("en", ["Do one more rep.", "Peter is what I am.", "Mary asked Rep. Smith."]),
        ("en", ["The answer is no.", "Peter sleeps.", "See No. 5."]),
        ("es", ["Vio el mar.", "Pedro vino el 3 mar. 2020.", "Juan no."]),
        ("fr", ["Ils étaient sept.", "Paul vint le 3 sept. 2020.", "Jean non."]),
        ("it", ["Vinse il set.", "Paolo venne il 3 set. 2020.", "Maria no."]),
        ("nl", ["Dit is Jan.", "Piet komt op 3 jan. 2020.", "Kees niet."]),
    ],
)
def test_a_short_form_that_is_also_a_word_is_told_by_its_capital_or_its_figure(
    language: str, expected: list[str]
) -> None:
    both(language, expected)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("de", ["Er wohnt in der Hauptstr. 5 in Köln.", "Siehe Tab. 4.", "Vgl. auch S. 12."]),
        ("de", ["Im 2. Stock ist es warm.", "Das steht in Art. 5.", "Peter las es am 3. Mai."]),
        ("de", ["Ludwig XIV. regierte lange.", "Er starb am 1. Sept. 1715 in Versailles."]),
        ("nl", ["Hij woont in de Kerkstr. 5 in Delft.", "Zie tab. 4.", "Piet las het."]),
        (
            "es",
            [
                "Vive en la Av. Libertad n.º 5.",
                "Llame al Tel. 555 12.",
                "Nació en 44 a.C. en Roma.",
            ],
        ),
        (
            "pl",
            ["To było w latach 90. XX wieku.", "Teraz jest inaczej.", "Zob. rys. 4.", "Jan wie."],
        ),
        ("it", ["Abita in via S. Giovanni.", "Morì nel 44 a.C. a Roma.", "Paolo no."]),
        (
            "en",
            ["See Fig. 3 and pp. 4-5.", "It came on Jan. 5.", "Nobody knew in Jan.", "Peter did."],
        ),
    ],
)
def test_short_forms_before_figures_and_numbers_of_things(
    language: str, expected: list[str]
) -> None:
    both(language, expected)


SPEECH = [
    ("en", ["“We have seen this before.", "Nobody wants it again,” said Clark.", "He left."]),
    ("nl", [",, Je moet je altijd bewijzen.", "Je blijft alleen '', zegt Clark.", "Hij ging."]),
    ("de", ["„Das haben wir schon gesehen.", "Niemand will es“, sagte Klaus.", "Er ging."]),
    ("fr", ["« Nous avons déjà vu cela.", "Personne ne le veut », dit Paul.", "Il partit."]),
    ("pl", ["„Nie wiemy jeszcze tego.", "Nikt tego nie chce”, powiedział Jan.", "Wyszedł."]),
]


@pytest.mark.parametrize(("language", "expected"), SPEECH)
def test_speech_of_several_sentences_is_several_and_for_a_speaker_one(
    language: str, expected: list[str]
) -> None:
    both(language, expected)
    first, second, rest = expected
    both(language, [f"{first} {second}", rest], whole_quotations=True)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["“Really? Well!” she said.", "He told her “Stop it! Go away!” and left."]),
        ("en", ["He moved (as planned for years. Slowly!) to Rome.", "She did not."]),
        ("ru", ["«К чему ты готовишься? – спросила мама. – Завтра ведь выходной».", "Да."]),
        ("fr", ["Il m'a demandé : « S'il vous plaît ! Où est la gare ? » et partit.", "Bien."]),
    ],
)
def test_exclamations_parentheses_and_words_quoted_within_a_sentence_are_of_it(
    language: str, expected: list[str]
) -> None:
    both(language, expected)
    both(language, expected, whole_quotations=True)


PLAIN = "The it Water is at Dr. No. 5 3.5 kg. min. e.g. etc. U.S. Jan. Ill. Hauptstr. Tab. 4. XX"
MARKS = "“We We” „Das “, « » ,, '' (so so) – - he. said. asked? Stop! … ... 。 「 」 水 1. 2) • #"
WORDS = st.sampled_from([*PLAIN.split(), *MARKS.split(), "\n", "\n\n"])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(WORDS, max_size=40),
    st.lists(st.integers(0, 300), max_size=30),
    st.sampled_from([*languages.SPOKEN, "zh", "ru"]),
    st.booleans(),
)
def test_whatever_the_pieces_the_sentences_are_those_of_the_whole_text(
    words: list[str], cuts: list[int], language: str, whole: bool
) -> None:
    text = " ".join(words)
    segmenter = IncrementalSegmenter(language, whole_quotations=whole)
    ends = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    found = [each for a, b in pairwise(ends) for each in segmenter.feed(text[a:b])]
    assert found + segmenter.finish() == sentences(text, language, whole_quotations=whole)


@given(st.lists(WORDS, max_size=40), st.sampled_from(languages.SPOKEN))
@example(["“We", "The", "The", "Dr.", "–"], "en")
def test_whole_quotations_only_join_sentences(words: list[str], language: str) -> None:
    text = " ".join(words)
    fine = {end for _, end in spans(text, language)}
    assert fine.issuperset(end for _, end in spans(text, language, whole_quotations=True))
