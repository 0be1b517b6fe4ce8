"""Thoughts are taken out of a reply however it is split."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, strategies as st
import pytest

from backend.llm.thoughts import Thoughts, after_thoughts


def said(pieces: list[str]) -> str:
    thoughts = Thoughts()
    return "".join([thoughts.feed(piece) for piece in pieces]) + thoughts.finish()


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("<think>hm</think>Yes.", "Yes."),
        ("<think>\nhm\n</think>\n\nYes.", "\n\nYes."),
        ("<THINK>hm</Think>Yes.", "Yes."),
        ("<thinking>hm</thinking>Yes.", "Yes."),
        ('<thought depth="2">hm</thought>Yes.', "Yes."),
        ("<seed:think>hm</seed:think>Yes.", "Yes."),
        ("[THINK]hm[/THINK]Yes.", "Yes."),
        ("◁think▷hm◁/think▷Yes.", "Yes."),
        ("<|channel|>analysis<|message|>hm<|end|>Yes.", "Yes."),
        ("<|begin_of_thought|>hm<|end_of_thought|>Yes.", "Yes."),
        ("Yes.<think>was that right", "Yes."),
        ("<think>never closed", ""),
        ("a < b and [1] stay", "a < b and [1] stay"),
        ('{"sources": ["house"], "text": "x <3"}', '{"sources": ["house"], "text": "x <3"}'),
        ("<b>not a thought</b>", "<b>not a thought</b>"),
        ("ends with <", "ends with <"),
        ("ends with <thi", "ends with <thi"),
    ],
)
@given(data=st.data())
def test_each_spelling_goes_in_any_split(reply: str, left: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=12)))
    ends = [0, *cuts, len(reply)]
    assert said([reply[a:b] for a, b in pairwise(ends)]) == left


@given(st.text(alphabet="abc <>[]|/thinkTHINK", max_size=60), st.integers(1, 5))
def test_the_split_makes_no_difference(reply: str, size: int) -> None:
    assert said([reply[i : i + size] for i in range(0, len(reply), size)]) == said([reply])


def test_a_close_without_an_opening_is_left_to_those_who_hold_the_whole() -> None:
    reply = said(["I was told to. </th", "ink>Yes."])
    assert reply == "I was told to. </think>Yes."
    assert after_thoughts(reply) == "Yes."
    assert after_thoughts("Yes.") == "Yes."
