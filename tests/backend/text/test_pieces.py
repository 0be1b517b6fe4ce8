"""How much of some words a text holds, and how close together."""

from __future__ import annotations

from hypothesis import given, strategies as st
import pytest

from backend.text.pieces import closeness, coverage, edged

WORDS = st.dictionaries(
    st.sampled_from(["boiler", "pressure", "druck", "hole", "电影", "e24"]),
    st.floats(0.1, 9),
    min_size=1,
)
FILLER = "and so it goes on for a while, as texts do. " * 12


@given(st.lists(st.sampled_from(["boiler", "Wasserdruck", "whole", "电影院", FILLER])), WORDS)
def test_a_stretch_holds_no_more_than_the_whole(
    parts: list[str], weights: dict[str, float]
) -> None:
    there = edged(" ".join(parts))
    covered, close = closeness(there, weights)
    assert covered == pytest.approx(coverage(there, weights))
    assert 0 <= close <= covered + 1e-9
    assert covered <= 1 + 1e-9


def test_words_that_stand_together_are_closer_than_the_same_far_apart() -> None:
    weights = {"boiler": 1.0, "pressure": 1.0}
    together = edged(f"{FILLER} The pressure of the boiler. {FILLER}")
    apart = edged(f"The boiler. {FILLER} The pressure.")
    assert closeness(together, weights) == (1.0, 1.0)
    assert closeness(apart, weights) == (1.0, 0.5)
    assert closeness(edged(""), weights) == (0.0, 0.0)
    assert closeness(together, {}) == (0.0, 0.0)
