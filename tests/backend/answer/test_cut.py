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


@given(st.text(), st.integers(0, 200), st.sampled_from(languages.SPOKEN))
def test_a_cut_is_a_prefix_of_whole_sentences_within_the_cap(
    text: str, cap: int, code: str
) -> None:
    kept = cut(text, cap, code)
    assert text.startswith(kept)
    assert len(kept) <= cap
    assert not kept or len(kept) in {end for _, end in spans(text, code)}
