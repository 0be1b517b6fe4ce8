"""Words as they are compared."""

from __future__ import annotations

from hypothesis import given, strategies as st
import pytest

from backend import languages
from backend.text.words import compared, content_words, fold, other_words, tokens, topic_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What's the Müller's ÉTÉ?", "what s the muller s ete"),
        ("Straße  — Łódź, Øl", "strasse lodz ol"),
        ("E24/1.5-bar_x", "e24 1 5 bar x"),
        ("気温は２５℃", "気温は25 c"),
        ("Привет, Ёлка", "привет елка"),
        ("مُحَمَّد أُمّـــة إلى", "محمد امه الي"),
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
        ("ru", "В каком году был построен Кремль?", ["году", "построен", "кремль"]),
        ("ar", "متى تم بناء برج إيفل؟", ["بناء", "برج", "ايفل"]),
        ("zh", "谁设计了埃菲尔铁塔", ["设计", "埃菲尔铁塔"]),
        ("zh", "这个洗碗机的过滤器怎么清洗", ["洗碗机", "过滤器", "清洗"]),
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


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["boiler", "e24"], ["boiler", "e24"]),
        (["洗碗机"], ["洗碗", "碗机"]),
        (["25使用类型"], ["25", "使用", "用类", "类型"]),
        (["在", "月球"], ["月球"]),
        (["在"], ["在"]),
        ([], []),
    ],
)
def test_what_has_no_spaces_is_compared_in_pairs(words: list[str], expected: list[str]) -> None:
    assert compared(words) == expected


@pytest.mark.parametrize(
    ("language", "text", "word", "other"),
    [
        ("en", "How do I turn off the alarm?", "turn", ("disarm",)),
        ("en", "how do I disarm the alarm", "disarm", ("turn", "off")),
        ("en", "when is the trash collected", "trash", ("garbage",)),
        ("de", "Wie kann ich den Alarm ausschalten?", "ausschalten", ("abschalten",)),
        ("fr", "comment éteindre l'alarme", "eteindre", ("desactiver",)),
        ("es", "cómo apagar la alarma", "apagar", ("desactivar",)),
        ("it", "come spegnere l'allarme", "spegnere", ("disattivare",)),
        ("nl", "hoe kan ik het alarm uitschakelen", "uitschakelen", ("uitzetten",)),
        ("pl", "jak wyłączyć alarm", "wylaczyc", ("dezaktywowac",)),
    ],
)
def test_a_word_is_known_by_others_for_the_same(
    language: str, text: str, word: str, other: tuple[str, ...]
) -> None:
    others = other_words(text, topic_words(text, language), language)
    assert other in others[word]


def test_half_of_a_phrase_has_no_other_words() -> None:
    assert other_words("turn the cylinder to the left", ["turn", "cylinder"], "en") == {}
    assert other_words("slå av larmet", ["sla", "larmet"], "sv") == {}


@pytest.mark.parametrize("code", sorted(languages.READ))
def test_word_lists_are_folded(code: str) -> None:
    lexicon = languages.load(code)
    words, answers = lexicon.words, lexicon.table("answers")
    listed = [*words.function, *words.question, *words.fillers, *words.light, *words.alone]
    for name in ("moments", "endings", "prefixes", "copula", "numbers"):
        listed += answers.get(name, "").split()
    listed += [way for group in answers.get("same", ()) for way in group.split("/")]
    listed += [*answers["figures"], *lexicon.table("number_words").get("words", ())]
    for word in listed:
        assert fold(word) == word
