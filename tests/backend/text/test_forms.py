"""Forms of words, in languages with endings, compounds, and prefixes."""

from __future__ import annotations

from hypothesis import given, strategies as st
import pytest

from backend.text.forms import Vocabulary


@pytest.mark.parametrize(
    ("language", "word", "there"),
    [
        ("en", "smoke", "smoking"),
        ("en", "top", "topped"),
        ("en", "colonies", "colony"),
        ("de", "druck", "wasserdruck"),
        ("de", "reinige", "reinigen"),
        ("es", "limpiar", "limpia"),
        ("ru", "книга", "книгу"),
        ("ru", "университетов", "университета"),
        ("ar", "الشبكه", "للشبكه"),
        ("ar", "الجامعات", "جامعه"),
        ("ar", "والشرقيه", "الشرقيه"),
    ],
)
def test_a_word_is_found_in_another_form(language: str, word: str, there: str) -> None:
    assert Vocabulary({there, "zebra"}, language).forms(word) == {there}


@pytest.mark.parametrize(
    ("language", "word", "there"),
    [
        ("en", "clean", "clear"),
        ("en", "top", "topic"),
        ("de", "rad", "radio"),
        ("ru", "город", "горох"),
        ("ar", "قط", "قطار"),
        ("en", "e24", "e25"),
    ],
)
def test_another_word_is_no_form(language: str, word: str, there: str) -> None:
    assert Vocabulary({there}, language).forms(word) == set()


@given(
    st.sets(st.text(alphabet="abcdeобгاولته", min_size=1, max_size=8), min_size=1),
    st.sampled_from(["en", "de", "ru", "ar", "xx"]),
)
def test_each_word_is_a_form_of_itself_and_all_forms_are_there(
    words: set[str], language: str
) -> None:
    vocabulary = Vocabulary(words, language)
    for word in words:
        assert word in vocabulary.forms(word)
        assert vocabulary.forms(word) <= words
