"""Words as they are compared."""

from __future__ import annotations

from hypothesis import given, strategies as st
import pytest

from backend import languages
from backend.text.words import content_words, fold, tokens, topic_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What's the Müller's ÉTÉ?", "what s the muller s ete"),
        ("Straße  — Łódź, Øl", "strasse lodz ol"),
        ("E24/1.5-bar_x", "e24 1 5 bar x"),
        ("気温は２５℃", "気温は25 c"),
        ("Привет, Ёлка", "привет елка"),
        ("", ""),
    ],
)
def test_case_accents_and_punctuation_make_no_difference(text: str, expected: str) -> None:
    assert fold(text) == expected
    assert tokens(text) == expected.split()


@given(st.text())
def test_folding_again_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Tell me what's the deal with the boiler pressure, please", ["boiler", "pressure"]),
        ("en", "who is it", ["who", "is", "it"]),
        ("de", "Sag mir bitte, was der Fehler E24 bedeutet", ["fehler", "e24"]),
        ("en", "what does error E 24 mean", ["error", "e24"]),
        ("en", "is a 24 hour clock right", ["24", "hour", "clock", "right"]),
        ("fr", "Dis-moi, qu'est-ce que la tour Eiffel ?", ["tour", "eiffel"]),
        ("pl", "Powiedz mi, jaka jest pogoda w Łodzi", ["pogoda", "lodzi"]),
        ("sv", "vad är felet", ["vad", "ar", "felet"]),
        ("en", "…", []),
    ],
)
def test_function_words_and_fillers_carry_no_meaning(
    language: str, text: str, expected: list[str]
) -> None:
    assert content_words(text, language) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "What do I do when it smells of gas?", ["smells", "gas"]),
        ("en", "How big is the cistern?", ["cistern"]),
        ("en", "where is the bus stop", ["bus", "stop"]),
        ("en", "Help!", []),
        ("en", "How are you?", []),
        ("en", "what is 12 times 13", []),
        ("en", "what does error 12 mean", ["error", "12"]),
        ("de", "Was tun bei Gasgeruch?", ["gasgeruch"]),
        ("de", "Was mache ich bei Gasgeruch?", ["gasgeruch"]),
        ("de", "Das Internet geht nicht", ["internet"]),
        ("de", "Wie geht es dir?", []),
        ("fr", "Que faire avec le four ?", ["four"]),
        ("es", "¿Qué hago con el horno?", ["horno"]),
        ("it", "Cosa devo fare con il forno?", ["forno"]),
        ("nl", "Wat moet ik doen met de oven?", ["oven"]),
        ("pl", "Co mam zrobić z piekarnikiem?", ["piekarnikiem"]),
        ("sv", "vad gör jag", ["vad", "gor", "jag"]),
    ],
)
def test_a_topic_is_what_could_be_looked_up(language: str, text: str, expected: list[str]) -> None:
    assert topic_words(text, language) == expected


@pytest.mark.parametrize("code", languages.SPOKEN)
def test_word_lists_are_folded(code: str) -> None:
    words = languages.load(code).words
    for word in (*words.function, *words.question, *words.fillers, *words.light, *words.alone):
        assert fold(word) == word
    for word in languages.load(code).table("number_words")["words"]:
        assert fold(word) == word
