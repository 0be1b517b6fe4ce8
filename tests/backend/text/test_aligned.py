"""What is found in folded speech can be taken out of the text as it came."""

from __future__ import annotations

import unicodedata

from hypothesis import example, given, strategies as st

from backend.text.aligned import Aligned
from backend.text.words import fold


def test_words_come_back_as_they_were_written() -> None:
    aligned = Aligned("Who made C++, and why is the Straße in Łódź 50 % closed?")
    for word, written in [("c", "C++"), ("strasse", "Straße"), ("lodz", "Łódź"), ("50", "50")]:
        start = f" {aligned.folded} ".index(f" {word} ")
        assert aligned.taken(start, start + len(word)) == written


def test_a_span_of_words_keeps_what_stands_between_them() -> None:
    aligned = Aligned("If it's 3.14, tell me.")
    start = aligned.folded.index("3 14")
    assert aligned.taken(start, start + 4) == "3.14"
    assert [aligned.folded[at:] for at in aligned.commas()] == ["tell me"]


def test_signs_that_folding_makes_letters_of_part_no_words() -> None:
    for code in range(0x80, 0x3400):
        for text in (chr(code), f"a{chr(code)}b", f"a {chr(code)} b"):
            composed = unicodedata.normalize("NFC", text)
            assert Aligned(text).folded.split() == fold(composed).split(), hex(code)


@given(st.text(max_size=80))
@example("\u3196")
def test_its_words_are_those_of_folding(text: str) -> None:
    aligned = Aligned(text)
    composed = unicodedata.normalize("NFC", text)
    if not any(unicodedata.combining(sign) for sign in composed):
        assert aligned.folded.split() == fold(composed).split()


@given(st.text(max_size=80), st.data())
def test_any_span_of_words_can_be_taken(text: str, data: st.DataObject) -> None:
    aligned = Aligned(text)
    words = aligned.folded.split(" ")
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    start = sum(len(word) + 1 for word in words[:first])
    end = start + len(" ".join(words[first : last + 1]))
    taken = aligned.taken(start, end)
    assert taken in aligned.original
    if aligned.folded.isascii() and text.isascii():
        assert fold(taken) == aligned.folded[start:end]
