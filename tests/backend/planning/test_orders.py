"""What is Home Assistant's job is handed back, and what only sounds like it is not: rows of `rows/orders.toml`."""

from pathlib import Path
import tomllib

import pytest

from backend.planning import plan_rules

ROWS: dict[str, dict[str, list[str]]] = tomllib.loads(
    (Path(__file__).parent / "rows" / "orders.toml").read_text("utf-8")
)
DOCUMENTS = ("house", "kiwix")


def said(way: str) -> list[tuple[str, str]]:
    return [(language, text) for language, ways in ROWS.items() for text in ways[way]]


@pytest.mark.parametrize(("language", "text"), said("handback"))
def test_orders_and_what_the_house_keeps_are_handed_back(language: str, text: str) -> None:
    assert plan_rules(text, language).handback


@pytest.mark.parametrize(("language", "text"), said("states"))
def test_states_of_the_house_are_asked_of_the_house(language: str, text: str) -> None:
    plan = plan_rules(text, language)
    assert not plan.handback
    assert plan.steps[0].source == "ha"


@pytest.mark.parametrize(("language", "text"), said("documents"))
def test_what_only_sounds_like_an_order_or_a_source_of_now_is_knowledge(
    language: str, text: str
) -> None:
    plan = plan_rules(text, language)
    assert not plan.handback
    assert plan.steps[0].source in DOCUMENTS
