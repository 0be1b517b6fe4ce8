"""Answers cut to fit."""

from __future__ import annotations

from hypothesis import given, strategies as st
import pytest

from backend import languages
from backend.answer.cut import cut
from backend.text.segmentation import spans


@pytest.mark.parametrize(
    ("text", "cap", "expected"),
    [
        ("Set it to 1.5 bar. Then wait.", 20, "Set it to 1.5 bar."),
        ("Set it to 1.5 bar. Then wait.", 12, ""),
        ("Dr. Smith wrote it. He died.", 10, ""),
        ("It fits.", 8, "It fits."),
        ("It fits  \n", 20, "It fits"),
        ("Do it now. There are two ways:\n- One way.\n- Another way.", 32, "Do it now."),
        ("Do it now.\n## Details\nIt takes long, as everybody knows.", 24, "Do it now."),
        ("First this.\n1. Open it.\n2. Close it again.", 26, "First this.\n1. Open it."),
        ("He left. “I will be back. Wait for me.” So he said.", 30, "He left."),
        ("", 10, ""),
    ],
)
def test_an_answer_ends_at_a_sentence_within_its_cap(text: str, cap: int, expected: str) -> None:
    assert cut(text, cap, "en") == expected


@pytest.mark.parametrize(
    ("language", "first", "rest"),
    [
        ("de", "Eco ist leise.", "Dauer: 3 Std. 15 Min. bei 50 °C."),
        ("en", "Eco is quiet.", "It takes 3 hrs. 15 min. at 50 °C."),
        ("en", "He is tall.", "That is 6 ft. 3 in. or so."),
        ("fr", "Eco est calme.", "Durée : 3 h. 15 min. à 50 °C."),
        ("pl", "Eco jest cichy.", "Czas: 3 godz. 15 min. w 50 °C."),
    ],
)
def test_a_cut_leaves_no_half_of_a_value(language: str, first: str, rest: str) -> None:
    text = f"{first} {rest}"
    for cap in range(len(first), len(text)):
        assert cut(text, cap, language) == first
    assert cut(text, len(text), language) == text


WHOLE = [
    ("en", "It costs $1,299.99 in all."),
    ("en", "Set it to 1.5 bar and then to 3.25 bar."),
    ("en", "Ask Dr. J. Smith, e.g. on Jan. 5 at 6 p.m. or so."),
    ("en", "“We have seen it. Nobody wants it. We go,” said Clark."),
    ("de", "Das kostet ca. 1.299,99 €, d. h. z. B. am 3. Oktober weniger."),
    ("de", "„Das haben wir gesehen. Niemand will es“, sagte Dr. Klaus."),
    ("fr", "« Nous avons vu cela. Personne ne le veut », dit M. Paul."),
    ("es", "El Sr. López vive en la Av. Libertad n.º 5, aprox. a 1.5 km."),
    ("it", "Il dott. Rossi abita al n. 5, cioè a 1,5 km ca. da qui."),
    ("nl", ",, Je moet je bewijzen. Je blijft alleen '', zegt dhr. Clark."),
    ("pl", "To jest np. woda z ul. Długiej 5, czyli ok. 1,5 l na os. dziennie."),
]


@pytest.mark.parametrize(("language", "sentence"), WHOLE)
def test_a_cut_splits_no_decimal_no_short_form_and_no_quotation(
    language: str, sentence: str
) -> None:
    first, last = "Eco.", "Ende."
    text = f"{first} {sentence} {last}"
    for cap in range(len(text) + 1):
        expected = first if cap >= len(first) else ""
        if cap >= len(first) + 1 + len(sentence):
            expected = f"{first} {sentence}"
        assert cut(text, cap, language) == (text if cap == len(text) else expected)


PARTS = st.sampled_from(
    [
        "Open the valve.",
        "It takes 1.5 h.",
        "Ask Dr. Smith.",
        "“We saw it all before. Nobody wants it,” he said.",
        "# Details",
        "**Details**",
        "Details",
        "There are two ways:",
        "1. Open it.",
        "2. Close it",
        "- One way",
        "•",
        "3.",
    ]
)


@given(st.lists(PARTS, max_size=10), st.sampled_from(["\n", "\n\n"]), st.integers(0, 200))
def test_a_cut_never_ends_in_a_heading_or_a_list_mark_and_loses_nothing_that_fits(
    parts: list[str], gap: str, cap: int
) -> None:
    text = gap.join(parts)
    kept = cut(text, cap, "en")
    assert text.startswith(kept)
    assert len(kept) <= cap
    last = kept.rpartition("\n")[2]
    assert last not in ("# Details", "**Details**", "•", "3.")
    if kept != text.strip():
        assert last not in ("Details", "There are two ways:")
    if parts and parts[0] in ("Open the valve.", "Ask Dr. Smith.") and cap >= len(parts[0]):
        assert kept


@given(st.text(), st.integers(0, 200), st.sampled_from(languages.SPOKEN))
def test_a_cut_is_a_prefix_of_whole_sentences_within_the_cap(
    text: str, cap: int, code: str
) -> None:
    kept = cut(text, cap, code)
    assert text.startswith(kept)
    assert len(kept) <= cap
    assert not kept or len(kept) in {end for _, end in spans(text, code, whole_quotations=True)}
