"""What an utterance asks, in how many parts and on what condition; rows of seven languages, as people speak."""

from __future__ import annotations

from pathlib import Path
import tomllib
from typing import Any

from hypothesis import given, strategies as st
import pytest

from backend.languages import SPOKEN
from backend.planning.reading import Reading, read
from backend.text.words import fold
from backend.types import Turn

ROWS = Path(__file__).parent / "rows"


def rows(name: str) -> list[Any]:
    with (ROWS / f"{name}.toml").open("rb") as file:
        found = tomllib.load(file)["row"]
    return [pytest.param(row, id=f"{row['language']}: {row['text']}") for row in found]


def asked(reading: Reading) -> list[str]:
    """Return the sources of all parts, "docs" for documents."""
    if reading.handback:
        return ["handback"]
    named = [part.sources[0] if part.sources else "docs" for part in reading.parts]
    named = ["docs" if source in ("house", "kiwix") else source for source in named]
    return sorted(named + ["order"] * reading.orders)


@pytest.mark.parametrize("row", rows("compound"))
def test_each_request_of_several_goes_to_its_own_source_and_none_is_dropped(
    row: dict[str, Any],
) -> None:
    reading = read(row["text"], row["language"])
    assert asked(reading) == sorted(row["asked"])
    if not reading.handback and not reading.orders:
        kept = {word for part in reading.parts for word in fold(part.query).split()}
        lost = set(fold(row["text"]).split()) - kept
        assert len(lost) <= 2  # what joins


@pytest.mark.parametrize("row", rows("conditions"))
def test_a_condition_is_told_from_what_depends_on_it(row: dict[str, Any]) -> None:
    reading = read(row["text"], row["language"])
    assert asked(reading) == [row["asked"]]
    condition = reading.condition
    if "condition" not in row:
        assert condition is None
        return
    assert condition is not None
    (part,) = condition.parts
    assert (part.text, part.source or "nobody", part.negated) == (
        row["condition"],
        row["by"],
        row["negated"],
    )


@pytest.mark.parametrize("row", rows("follow_ups"))
def test_what_is_short_means_what_the_turn_before_makes_of_it(row: dict[str, Any]) -> None:
    history = (Turn("user", row["earlier"]), Turn("assistant", "..."))
    reading = read(row["text"], row["language"], history)
    assert asked(reading) == [row["asked"]]
    words = fold(reading.parts[0].query).split()
    assert [word for word in row["words"] if fold(word) not in words] == []
    assert [word for word in row["without"] if fold(word) in words] == []


@pytest.mark.parametrize(
    ("language", "text", "topic"),
    [
        ("en", "everyone keeps talking about quantum computers", "quantum computers"),
        ("en", "What's all the fuss about Labubu?", "Labubu"),
        ("en", "i keep hearing about C++", "C++"),
        ("de", "alle reden nur noch über elektroautos", "elektroautos"),
        ("fr", "tout le monde parle de la grève", "grève"),
        ("es", "todo el mundo habla de la huelga", "huelga"),
        ("it", "tutti parlano di tesla", "tesla"),
        ("nl", "iedereen heeft het over de verkiezingen", "de verkiezingen"),
        ("pl", "wszyscy mówią o wyborach", "wyborach"),
    ],
)
def test_what_everyone_talks_about_is_looked_up_and_is_news(
    language: str, text: str, topic: str
) -> None:
    (part,) = read(text, language).parts
    assert (part.query, part.sources) == (topic, ("kiwix", "news"))


@given(
    st.lists(
        st.sampled_from(
            [
                "if",
                "unless",
                "the",
                "weather",
                "news",
                "and",
                "or",
                "is",
                "any",
                "service",
                "down",
                "what",
                ",",
                ".",
                "tell",
                "me",
                "?",
                "C++",
                "3.14",
            ]
        ),
        max_size=30,
    ).map(" ".join)
    | st.text(max_size=200),
    st.sampled_from([*SPOKEN, "xx"]),
    st.text(max_size=60),
)
def test_any_text_is_read(text: str, language: str, earlier: str) -> None:
    reading = read(text, language, (Turn("user", earlier),) if earlier.strip() else ())
    assert 1 <= len(reading.parts) <= 4


def test_a_question_of_endless_parts_is_a_few() -> None:
    text = "what's the weather and " * 80
    assert len(read(text, "en").parts) <= 4
