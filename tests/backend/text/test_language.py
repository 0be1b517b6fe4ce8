"""Which language a text is in."""

from __future__ import annotations

from hypothesis import given, strategies as st
import pytest

from backend import languages
from backend.text.language import contradicts, detect, primary

SENTENCES = {
    "en": "The boiler needs more water when the pressure is below the green mark of the gauge.",
    "de": "Der Kessel braucht mehr Wasser, wenn der Druck unter der grünen Marke des Manometers ist.",
    "fr": "La chaudière a besoin de plus d'eau quand la pression est sous le repère vert du manomètre.",
    "es": "La caldera necesita más agua cuando la presión está por debajo de la marca verde del manómetro.",
    "it": "La caldaia ha bisogno di più acqua quando la pressione è sotto il segno verde del manometro.",
    "nl": "De ketel heeft meer water nodig als de druk onder het groene streepje van de meter is.",
    "pl": "Kocioł potrzebuje więcej wody, gdy ciśnienie jest poniżej zielonej kreski na manometrze.",
    "ru": "Котлу нужно больше воды, когда давление ниже зелёной отметки.",
    "zh": "当压力低于绿色标记时，锅炉需要更多的水。",
    "ja": "圧力が緑の印より低いとき、ボイラーには水が必要です。",
    "ar": "تحتاج الغلاية إلى مزيد من الماء عندما يكون الضغط منخفضا.",
}


@pytest.mark.parametrize("code", SENTENCES)
def test_a_sentence_is_told_by_its_script_and_small_words(code: str) -> None:
    assert detect(SENTENCES[code]) == code


@pytest.mark.parametrize("code", languages.SPOKEN)
def test_a_sentence_of_another_language_contradicts(code: str) -> None:
    assert not contradicts(SENTENCES[code], code)
    for other, sentence in SENTENCES.items():
        assert contradicts(sentence, code) == (other != code), other


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42",
        "Paris",
        "E24: 1.5 bar!",
        "Johann Sebastian Bach",
        "The Dark Side of the Moon",
        "https://a.b",
        "😀",
        "...",
    ],
)
def test_names_numbers_and_short_texts_belong_to_every_language(text: str) -> None:
    assert not any(contradicts(text, code) for code in languages.SPOKEN)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "Press ON, then OFF."),
        ("de", "Drücke ON und dann START."),
        ("en", "10 Ω."),
        ("en", "北京。"),
        ("en", "Москва."),
        ("de", "Das Album heißt The Dark Side of the Moon."),
        ("fr", "Le film s'appelle La vita è bella."),
        ("es", "reproduce The Dark Side of the Moon álbum en Cocina"),
        ("en", "The restaurant is called Zum Goldenen Hirsch, and it is in the Rue de la Paix."),
        ("en", "It is at the Plaza de la Constitución in San Sebastián."),
        ("en", 'He said "ich bin ein Berliner" in 1963.'),
        ("de", "Auf Englisch sagt man „the boiler is blocked and it is off“."),
        ("en", "Crème brûlée, à la carte."),
        ("de", "Das ist ein Update des Software-Download-Managers für Smart Home und Light."),
        ("it", "Il backup del server è in corso."),
        ("nl", "De app is down."),
        ("pl", "Aplikacja Home Assistant nie działa."),
        ("fr", "Appuyez sur « Start » puis sur « Stop »."),
        ("en", "sensor.kitchen_temperature"),
        ("en", "Vincent van Gogh, Ludwig van Beethoven and Otto von Bismarck."),
        ("zh", "请使用 Home Assistant Companion App 打开它。"),
    ],
)
def test_names_quotations_codes_units_and_loan_words_contradict_no_language(
    code: str, text: str
) -> None:
    assert not contradicts(text, code)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("de", "The filter is blocked."),
        ("en", "Der Filter der Maschine ist verstopft."),
        ("en", "Le filtre est bouché."),
        ("en", "El filtro está obstruido."),
        ("it", "El filtro está obstruido, hay que limpiarlo."),
        ("nl", "Der Filter ist verstopft, er muss gereinigt werden."),
        ("pl", "The filter is blocked, rinse it."),
        ("de", "THE FILTER IS BLOCKED, RINSE IT."),
        ("en", "фильтр засорён"),
        ("de", "过滤器被堵住了"),
    ],
)
def test_a_short_sentence_contradicts_by_its_small_words_and_letters(code: str, text: str) -> None:
    assert contradicts(text, code)


@pytest.mark.parametrize("code", languages.SPOKEN)
def test_what_we_say_ourselves_never_contradicts_its_language(code: str) -> None:
    assert not any(contradicts(text, code) for text in languages.load(code).spoken.values())


def test_kindred_scripts_do_not_contradict() -> None:
    assert not contradicts(SENTENCES["ru"], "bg")
    assert not contradicts(SENTENCES["zh"], "ja")
    assert contradicts(SENTENCES["ru"], "ja")
    assert contradicts(SENTENCES["en"], "ru")
    assert not contradicts(SENTENCES["en"], "sv")


@pytest.mark.parametrize(
    ("tag", "expected"),
    [("de-DE", "de"), ("EN_us", "en"), ("pl", "pl"), (None, "en"), ("", "en"), (" nl ", "nl")],
)
def test_a_tag_has_a_primary_language(tag: str | None, expected: str) -> None:
    assert primary(tag) == expected


@given(st.text(max_size=200))
def test_any_text_has_a_language_or_none(text: str) -> None:
    found = detect(text)
    assert found is None or not contradicts(text, found)
