"""What we say by ourselves, in every language."""

from __future__ import annotations

from string import Formatter

import pytest

from backend import languages

KEYS = {
    "nothing_found",
    "source_failed",
    "timeout",
    "model_free_error",
    "not_configured",
    "honest_miss",
    "no_states",
    "quoted_from",
    "busy",
    "undecidable",
    "orders_apart",
}
OTHERS = [code for code in languages.SPOKEN if code != languages.DEFAULT]


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_seven_languages_are_spoken() -> None:
    assert set(languages.SPOKEN) == {"en", "de", "fr", "es", "it", "nl", "pl"}
    assert languages.SPOKEN[0] == languages.DEFAULT


@pytest.mark.parametrize("code", languages.SPOKEN)
def test_every_text_is_there_with_its_fields_and_asks_nothing(code: str) -> None:
    english = languages.load(languages.DEFAULT).spoken
    own = languages.load(code).spoken
    assert set(own) >= KEYS
    assert set(own) == set(english)
    for key, text in own.items():
        assert fields(text) == fields(english[key]), key
        assert text.strip() == text != ""
        assert not text.rstrip(".!: ").endswith("?")
        assert "?" not in text


@pytest.mark.parametrize("code", OTHERS)
def test_no_text_was_left_in_english(code: str) -> None:
    english = languages.load(languages.DEFAULT).spoken
    assert all(text != english[key] for key, text in languages.load(code).spoken.items())


@pytest.mark.parametrize(
    "name", ["words", "segmentation", "number_words", "units", "speech", "fractions"]
)
def test_every_language_has_the_same_tables(name: str) -> None:
    english = languages.load(languages.DEFAULT).table(name)
    for code in languages.SPOKEN:
        table = languages.load(code).table(name)
        assert table, code
        if name in ("words", "number_words", "fractions"):
            assert set(table) == set(english), code
        if name == "number_words":
            assert len(table["months"]) == 12
        if name == "speech":
            optional = {"of_vowel", "codes"}
            assert set(table) - optional == set(english) - optional, code
        if name == "words":
            assert set(table["languages"]) == set(english["languages"]), code


def test_a_quotation_names_the_language_of_its_document() -> None:
    assert languages.spoken("en", "quoted_from", language="de") == "From a document in German:"
    assert (
        languages.spoken("pl", "quoted_from", language="en") == "Z dokumentu w języku angielskim:"
    )
    assert (
        languages.spoken("de", "quoted_from", language="xx")
        == "Aus einem Dokument in einer anderen Sprache:"
    )


def test_an_unknown_language_is_answered_in_english() -> None:
    assert languages.spoken("sv", "busy") == languages.spoken("en", "busy")
    assert "LIBRARY_DIR" in languages.spoken("fr", "not_configured", setting="LIBRARY_DIR")
    assert languages.load("../en").spoken == languages.load("en").spoken
    with pytest.raises(KeyError):
        languages.spoken("en", "no_such_key")
