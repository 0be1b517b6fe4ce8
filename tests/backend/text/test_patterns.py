"""Patterns made of words match those words as they are written."""

from __future__ import annotations

import re

from hypothesis import given, strategies as st

from backend.text.patterns import either


@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=8))
def test_every_word_is_matched_whole_whatever_is_in_it(words: list[str]) -> None:
    pattern = re.compile(either(words))
    for word in words:
        found = pattern.match(word)
        assert found is not None
        assert found[0] == word


def test_no_words_match_nothing() -> None:
    assert re.search(either(()), "anything, and nothing") is None
