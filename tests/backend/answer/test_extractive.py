"""Quotes: the most relevant sentences of the evidence, or none."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, strategies as st
import pytest

from backend.answer.extractive import best_sentences
from backend.types import Passage, Question, Section
from tests.backend.answer.kitchen import HOUSE, KIWIX, TWO, question

TABLE = """The display shows a code and the machine beeps three times.

| Code | Meaning | Remedy |
|---|---|---|
| E22 | The filter is dirty | Clean the filter |
| E24 | The water does not drain away | Straighten the drain hose |
| E25 | The drain pump is blocked | Take the cover off |"""

ROWS = """E22: The filter is dirty.
E24: The water does not drain away; straighten the drain hose.
E25: The drain pump is blocked."""


def section(
    *texts: str,
    language: str | None = "en",
    tag: str = "house",
    title: str = "Manual",
    under: str | None = None,
) -> Section:
    passages = (Passage(tag, title, text, language=language, section=under) for text in texts)
    return Section(tag, tag, tuple(passages))


def quoted(text: str, *sections: Section, language: str = "en", count: int = 2) -> str:
    quote = best_sentences(question(text, language=language), sections, count)
    return quote.text if quote else ""


def test_the_sentence_that_holds_the_question_is_quoted_with_its_source() -> None:
    quote = best_sentences(question("what does error E24 mean"), TWO.sections)
    assert quote is not None
    assert quote.text.startswith("Error E24 means that the dishwasher can't pump out the water")
    assert quote.sources[0] == "house"
    assert quote.language == "en"
    assert quote.score > 0.5


@pytest.mark.parametrize("asked", ["what does E24 mean", "what does e 24 mean", "what is E-24"])
@pytest.mark.parametrize("text", [TABLE, ROWS])
def test_a_code_is_found_however_it_is_spoken_in_rows_that_can_be_said(
    asked: str, text: str
) -> None:
    quote = quoted(asked, section(text), count=1)
    assert quote.startswith("E24: The water does not drain away; ")
    assert quote.endswith("hose.")
    assert "|" not in quote


def test_a_code_that_stands_nowhere_is_not_answered_by_another() -> None:
    assert quoted("what does error E99 mean", section(TABLE, HOUSE)) == ""


def test_a_word_in_a_heading_places_a_sentence() -> None:
    pasta = section("Cook it for ten minutes in salted water.", title="Pasta")
    rice = section("Cook it for twenty minutes in salted water.", title="Rice")
    assert "twenty" in quoted("how long do I cook rice", pasta, rice, count=1)


def test_other_forms_and_compounds_of_a_word_count() -> None:
    german = section(
        "Der Wasserdruck liegt zwischen 1,2 und 1,5 bar. Der Kessel steht im Keller.", language="de"
    )
    assert "1,5 bar" in quoted("wie hoch ist der druck", german, language="de")
    english = section("Descaling takes an hour. The tank holds two litres.")
    assert "an hour" in quoted("how do I descale it", english)


def test_two_sentences_of_a_passage_keep_its_order() -> None:
    text = "Fill the tank with water. The pump of the fountain needs cleaning. Clean the pump of the fountain with vinegar."
    quote = quoted("how do I clean the pump of the fountain with vinegar", section(text))
    assert quote.index("needs cleaning") < quote.index("with vinegar")


def test_a_question_in_a_text_leads_to_its_answer_and_is_not_quoted() -> None:
    text = "Why does the dishwasher beep? The dishwasher beeps when the salt is used up. Ask a fitter for the rest."
    assert quoted("why does the dishwasher beep", section(text), count=1) == (
        "The dishwasher beeps when the salt is used up."
    )


def test_where_a_figure_is_asked_for_a_sentence_with_one_is_preferred() -> None:
    text = "Whisk the flour with the milk until the lumps are gone.\n\n- 250 g flour\n- 2 eggs"
    recipe = section(text, title="Pancakes")
    assert quoted("how much flour is in the pancakes", recipe, count=1) == "250 g flour."


def test_the_same_said_twice_is_quoted_once() -> None:
    same = "The boiler pressure is 1.5 bar."
    assert quoted("what is the boiler pressure", section(same), section(same, tag="kiwix")) == same


@pytest.mark.parametrize(
    "asked",
    [
        "who painted the ceiling of the Sistine Chapel",
        "what is the population of Peru",
        "?!",
        "the",
    ],
)
def test_off_topic_questions_are_refused(asked: str) -> None:
    assert quoted(asked, section(HOUSE), section(KIWIX, tag="kiwix")) == ""


def test_a_language_that_the_document_does_not_tell_is_found_out() -> None:
    text = "Der Fehler E24 bedeutet, dass das Wasser nicht abläuft und der Filter verstopft ist."
    quote = best_sentences(question("what does E24 mean"), [section(text, language=None)])
    assert quote is not None
    assert quote.language == "de"


def test_a_second_sentence_is_quoted_only_if_it_adds() -> None:
    text = """The boiler pressure is 1.5 bar. Look at the pressure once a month. The tank is green.

F75: The pressure does not change; bleed the boiler."""
    asked = "what does the boiler pressure say"
    assert quoted(asked, section(text)) == "The boiler pressure is 1.5 bar."
    beside = "Descale the kettle with vinegar. Let the vinegar stand in the kettle overnight."
    assert quoted("descaling a kettle with vinegar", section(beside)) == beside


STEPS = """The filter is cleaned when water of the tub smells of old filter.

1. Take out the basket.
2. Turn the cylinder.
3. Rinse it."""


@pytest.mark.parametrize(
    ("asked", "language", "heading"),
    [
        ("how do I clean the filter", "en", "Cleaning the filter"),
        ("what do we do to clean the filter", "en", "Cleaning the filter"),
        ("wie reinige ich den Filter", "de", "Filter reinigen"),
        ("comment nettoyer le filtre", "fr", "Nettoyer le filtre"),
        ("cómo limpiar el filtro", "es", "Limpiar el filtro"),
        ("come pulire il filtro", "it", "Pulire il filtro"),
        ("hoe reinig ik het filter", "nl", "Het filter reinigen"),
        ("jak wyczyścić filtr", "pl", "Wyczyścić filtr"),
    ],
)
def test_how_something_is_done_is_told_by_the_steps_under_its_heading(
    asked: str, language: str, heading: str
) -> None:
    steps = section(STEPS, under=heading, language=language)
    assert quoted(asked, steps, language=language) == "Take out the basket. Turn the cylinder."


def test_what_is_done_with_something_else_is_no_answer_to_how_it_is_done() -> None:
    recipe = section("Keep the finished ones warm in the oven at 80 °C.", title="Pancakes")
    assert quoted("how do I clean the oven", recipe) == ""
    assert quoted("how do I keep them warm in the oven", recipe) != ""


def test_a_heading_that_names_what_is_asked_leads_to_what_stands_under_it() -> None:
    alarm = section("Enter the code. Then call the control room.", under="False alarm")
    asked = "there was a false alarm, what do I do"
    assert quoted(asked, alarm) == "Enter the code. Then call the control room."


def test_titles_of_boxes_and_addresses_are_no_sentences() -> None:
    text = """CULTURE Origin of the Debian name

The name is made of Debra and Ian.

→ https://debian.example/name"""
    assert quoted("where does the name Debian come from", section(text)) == (
        "The name is made of Debra and Ian."
    )


@pytest.mark.parametrize(
    ("asked", "language", "text", "answer"),
    [
        (
            "what is Debian",
            "en",
            "Let us look at what the Debian project is. Debian (since 1993) is a distribution. Everybody likes it.",
            "Debian (since 1993) is a distribution.",
        ),
        (
            "was ist ein Siphon",
            "de",
            "Den Siphon reinigen wir im Mai. Ein Siphon ist ein Rohr mit einem Knick.",
            "Ein Siphon ist ein Rohr mit einem Knick.",
        ),
    ],
)
def test_what_a_thing_is_is_told_by_the_sentence_that_says_so(
    asked: str, language: str, text: str, answer: str
) -> None:
    assert quoted(asked, section(text, language=language), language=language) == answer


def test_when_is_told_by_a_time() -> None:
    text = "Zone 1 is the lawn, which is watered by 8 heads. In summer it runs at 4:30 am: the lawn is watered for long."
    assert "4:30" in quoted("when is the lawn watered", section(text), count=1)


def test_a_number_word_is_a_figure() -> None:
    text = "The contacts of the windows need a battery. There are nine contacts of windows."
    assert "nine" in quoted("how many contacts of windows are there", section(text), count=1)


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        ("may I smoke in the living room", "en"),
        ("are we allowed to smoke in the living room", "en"),
    ],
)
def test_what_may_be_done_outweighs_where(asked: str, language: str) -> None:
    alarm = section("There is a detector in the living room.", title="Alarm")
    rules = section("Please smoke on the terrace only.", title="Rules", under="Pets and smoking")
    assert quoted(asked, alarm, rules, language=language) == "Please smoke on the terrace only."


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        ("help", "en"),
        ("how are you", "en"),
        ("what is 12 times 13", "en"),
        ("wie geht es dir", "de"),
    ],
)
def test_what_names_nothing_is_answered_by_nothing(asked: str, language: str) -> None:
    text = "When nothing helps, press it 12 to 13 times. Es geht, wie es geht: Hilfe."
    assert quoted(asked, section(text, language=language), language=language) == ""


def test_a_short_word_is_found_in_its_other_forms_only() -> None:
    text = "The topic of the day is tea. It is topped up with water."
    assert quoted("how is it topped up", section(text), count=1) == "It is topped up with water."
    assert quoted("top", section("The topic of the day is tea.")) == ""


def test_a_script_without_spaces_is_searched_by_characters() -> None:
    chinese = section("洗碗机的过滤器每两周清洗一次。锅炉在地下室。", language="zh")
    assert "每两周" in quoted("洗碗机的过滤器清洗", chinese, language="zh", count=1)


@pytest.mark.parametrize(
    ("asked", "language", "text", "answer"),
    [
        (
            "X.25使用哪种网络类型",
            "zh",
            "锅炉在地下室。X.25协议套件使用数据报网络。",
            "X.25协议套件使用数据报网络。",
        ),
        (
            "Сколько университетов в Ньюкасле?",
            "ru",
            "Город стоит на реке. В Ньюкасле есть два университета.",
            "В Ньюкасле есть два университета.",
        ),
        (
            "ما اسم الشبكة في البيت؟",
            "ar",
            "الغسالة في المطبخ. شبكة البيت تسمى ليندنهوف.",
            "شبكة البيت تسمى ليندنهوف.",
        ),
    ],
)
def test_languages_that_are_only_read_are_quoted_too(
    asked: str, language: str, text: str, answer: str
) -> None:
    assert quoted(asked, section(text, language=language), language=language, count=1) == answer


def test_what_follows_the_sentence_on_the_topic_is_said_too() -> None:
    text = "The test of the pump began on Monday. First, the crew noticed an odd smell. Lunch was at noon."
    quote = quoted("what was the first problem in the test of the big pump", section(text))
    assert "odd smell" in quote
    assert "Lunch" not in quote


def test_a_sentence_of_another_document_is_not_said_for_one_word() -> None:
    rules = section("Please smoke on the terrace only.", title="House rules")
    room = section("The room is free from 3 pm.", title="Arriving")
    asked = "may guests smoke in the living room"
    assert quoted(asked, rules, room) == "Please smoke on the terrace only."


def test_of_two_halves_of_a_question_both_are_quoted() -> None:
    text = """The siren hangs above the garage. The panel hangs in the hall. The siren takes a battery of 12 V.
Nobody has seen the cat. The warranty of it ends in May."""
    quote = quoted(
        "what battery does the siren take, and when does the warranty end", section(text)
    )
    assert quote == "The siren takes a battery of 12 V. The warranty of it ends in May."


@pytest.mark.parametrize(
    ("asked", "language", "text"),
    [
        ("how do I turn off the alarm", "en", "Disarm: enter the code."),
        ("wie kann ich die Alarmanlage ausschalten", "de", "Abschalten: den Code eingeben."),
        ("comment éteindre l'alarme", "fr", "Désactiver : entrez le code."),
        ("cómo apagar la alarma", "es", "Desactivar: introduzca el código."),
        ("come spegnere l'allarme", "it", "Disattivare: inserire il codice."),
        ("hoe kan ik het alarm uitschakelen", "nl", "Uitzetten: voer de code in."),
        ("jak wyłączyć alarm", "pl", "Dezaktywować: wprowadź kod."),
    ],
)
def test_what_the_document_calls_otherwise_is_found(asked: str, language: str, text: str) -> None:
    titles = {"de": "Alarmanlage", "fr": "Alarme", "es": "Alarma", "it": "Allarme"}
    alarm = section(text, title=titles.get(language, "Alarm"), language=language)
    assert quoted(asked, alarm, language=language) == text


def test_a_name_weighs_more_than_the_words_around_it() -> None:
    text = "The mayor was elected in the town hall. It was Nixon who opened the bar."
    named = section(text)
    assert "Nixon" in quoted("who was elected by Nixon", named, count=1)
    assert "elected" in quoted("who was elected by nixon", named, count=1)
    assert "elected" in quoted("WHO WAS ELECTED BY NIXON", named, count=1)


def test_nothing_comes_of_nothing() -> None:
    assert best_sentences(question(), ()) is None
    assert best_sentences(question(), [section("")]) is None


@given(
    st.text(max_size=400), st.text(min_size=1, max_size=60), st.integers(1, 4), st.integers(20, 200)
)
def test_whatever_the_text_a_quote_keeps_its_cap_and_never_asks(
    text: str, asked: str, count: int, cap: int
) -> None:
    now = datetime.now(UTC)
    quote = best_sentences(
        Question(asked, "en", now, 0.0, 8.0), [section(text, f"{asked}. {text}")], count, cap
    )
    if quote is not None:
        assert 0 < len(quote.text) <= cap
        assert not quote.text.rstrip().endswith("?")
        assert quote.sources == ("house",)
