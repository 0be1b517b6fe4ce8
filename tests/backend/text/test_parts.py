"""Cutting a text into passages loses none of it, and cuts where a reader would."""

from __future__ import annotations

import re

from hypothesis import given, strategies as st

from backend.text.parts import MOST, Part, passages, row_lines

WORDS = st.text(alphabet="abc äß東。.!?:-|\n\t ", max_size=4000)


def without_space(text: str) -> str:
    return re.sub(r"\s+", "", text)


@given(texts=st.lists(WORDS | st.text(max_size=600), max_size=4))
def test_no_text_is_lost_or_added(texts: list[str]) -> None:
    parts = [Part((str(number),), text) for number, text in enumerate(texts)]
    cut = list(passages(parts))
    for number, text in enumerate(texts):
        joined = "".join(piece for section, piece in cut if section == str(number))
        assert without_space(joined) == without_space(text)


@given(text=WORDS)
def test_passages_are_never_much_too_long_and_never_empty(text: str) -> None:
    for _, piece in passages([Part((), text)]):
        assert 0 < len(piece) <= MOST + 400
        assert piece == piece.strip()


def test_paragraphs_stay_together_while_they_fit() -> None:
    paragraph = "A sentence of some length that says very little. " * 8
    cut = [piece for _, piece in passages([Part(("Care",), "\n\n".join([paragraph] * 5))])]
    assert [piece.count("\n\n") for piece in cut] == [2, 1]


def test_a_table_that_fits_is_not_cut() -> None:
    before = "Words before it. " * 50
    table = "\n".join(f"E{number:02}: something is wrong." for number in range(20))
    cut = [piece for _, piece in passages([Part((), f"{before}\n\n{table}")])]
    assert cut[1] == table


def test_a_long_table_is_cut_between_its_rows() -> None:
    rows = [f"E{number:03}: something is wrong with this part of it." for number in range(100)]
    for _, piece in passages([Part((), "\n".join(rows))]):
        assert all(row in rows for row in piece.split("\n"))


def test_a_line_that_announces_a_list_stays_with_it() -> None:
    first = "Words before it. " * 40
    items = "\n".join(f"- step {number} of what has to be done here" for number in range(18))
    cut = [piece for _, piece in passages([Part((), f"{first}\n\nDo this:\n\n{items}")])]
    assert cut[1].startswith("Do this:\n\n- step 0")


def test_a_short_rest_is_not_left_alone() -> None:
    cut = [piece for _, piece in passages([Part((), f"{'word ' * 236}\n\nThe last words of it.")])]
    assert len(cut) == 1


def test_a_row_can_be_read_by_itself() -> None:
    assert row_lines(
        ["Program", "Temperature", "Duration"],
        [["Eco", "50 °C", "3 h 15 min"], ["Rinse", "cold", ""]],
    ) == ["Eco: Temperature: 50 °C; Duration: 3 h 15 min.", "Rinse: Temperature: cold."]
    assert row_lines(
        ["Code", "Meaning", "Remedy"],
        [["E22", "The filter is dirty.", "Clean the filter, then press Start."]],
    ) == ["E22: The filter is dirty; Clean the filter, then press Start."]
    assert row_lines(None, [["Printer", "192.168.178.30"]]) == ["Printer: 192.168.178.30."]
    assert row_lines(["A", "B"], [["", ""], []]) == []
