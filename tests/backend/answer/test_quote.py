"""What is said of the evidence without a model."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, strategies as st

from backend.answer.quote import quoted
from backend.types import Passage, Question, Section

FORECAST = Section(
    "forecast",
    "Weather forecast",
    (
        Passage("forecast", "Lyon", "Tomorrow in Lyon it rains. It gets 12 °C.", direct=True),
        Passage("forecast", "Lyon", "On Friday it is dry.", direct=True),
    ),
)
UPTIME = Section(
    "uptime", "Service status", (Passage("uptime", "", "All 7 services are up.", direct=True),)
)
HOUSE = Section(
    "house",
    "House documents",
    (Passage("house", "Boiler", "The boiler pressure should be 1.5 bar.", language="en"),),
)


def question(text: str, language: str = "en") -> Question:
    return Question(text, language, datetime.now(UTC), 0.0, 8.0)


def test_what_answers_by_itself_is_said_whole_whatever_its_words() -> None:
    quote = quoted(question("will I need an umbrella"), [FORECAST])
    assert quote is not None
    assert quote.text == "Tomorrow in Lyon it rains. It gets 12 °C. On Friday it is dry."
    assert (quote.sources, quote.language) == (("forecast",), "en")


def test_of_several_all_are_said() -> None:
    asked = question("is any service down and what is the boiler pressure")
    quote = quoted(asked, [HOUSE, UPTIME, FORECAST])
    assert quote is not None
    assert quote.sources == ("uptime", "forecast", "house")
    assert quote.text.startswith("All 7 services are up. Tomorrow in Lyon it rains.")
    assert quote.text.endswith("The boiler pressure should be 1.5 bar.")


def test_documents_in_another_language_are_not_mixed_into_it() -> None:
    quote = quoted(question("wie hoch ist der boiler pressure", "de"), [UPTIME, HOUSE])
    assert quote is not None
    assert quote.sources == ("uptime",)


@given(cap=st.integers(0, 120))
def test_whole_sentences_within_the_cap_are_said(cap: int) -> None:
    quote = quoted(question("what is the boiler pressure"), [FORECAST, UPTIME, HOUSE], cap=cap)
    if quote is not None:
        assert 0 < len(quote.text) <= cap
        assert quote.text.endswith(".")
