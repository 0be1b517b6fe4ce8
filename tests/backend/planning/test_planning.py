"""Which source a question goes to, and which utterances are Home Assistant's."""

from collections.abc import Mapping
from datetime import UTC, datetime
import time
from typing import Any

from hypothesis import given, strategies as st
import pytest

from backend.planning import Planner, plan_rules
from backend.planning.reading import read
from backend.sources.base import Source, SourceState
from backend.types import Nothing, Outcome, Question, Step, Turn


class Shelf:
    """A source that is configured or not, and holds nothing."""

    ttl = 0.0
    version = ""

    def __init__(self, tag: str, *, configured: bool = True) -> None:
        self.tag = tag
        self._state = SourceState(configured, "A_SETTING")

    async def ask(self, step: Step, question: Question) -> Outcome:
        return Nothing()

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    def state(self) -> SourceState:
        return self._state


def sources(**configured: bool) -> Mapping[str, Source]:
    return {tag: Shelf(tag, configured=there) for tag, there in configured.items()}


def question(text: str, **fields: Any) -> Question:
    now = time.monotonic()
    return Question(text, fields.pop("language", "en"), datetime.now(UTC), now, now + 8, **fields)


def chain(plan_steps: tuple[Step, ...]) -> list[tuple[str, ...]]:
    return [(step.source, *step.fallbacks) for step in plan_steps]


@pytest.mark.parametrize(
    ("language", "utterance"),
    [
        ("en", "turn on the kitchen light"),
        ("en", "Could you please dim the lamps to 20 percent?"),
        ("en", "set a timer for 5 minutes"),
        ("en", "add milk to the shopping list"),
        ("en", "play some jazz in the kitchen"),
        ("en", "what time is it"),
        ("en", "what's on my calendar tomorrow"),
        ("en", "announce dinner is ready"),
        ("de", "schalte das Licht in der Küche ein"),
        ("de", "die Gardinen schließen"),
        ("de", "stell einen Timer auf fünf Minuten"),
        ("de", "wie spät ist es"),
        ("de", "setz Milch auf die Einkaufsliste"),
    ],
)
def test_orders_timers_lists_media_and_the_time_are_handed_back(
    language: str, utterance: str
) -> None:
    assert plan_rules(utterance, language).handback


@pytest.mark.parametrize(
    ("language", "utterance"),
    [
        ("en", "what does error E24 on the dishwasher mean"),
        ("en", "how do I turn on the dishwasher"),
        ("en", "who is marie curie"),
        ("en", "what time is it in tokyo"),
        ("en", "tell me about the history of the timer"),
        ("en", "how long do I boil eggs"),
        ("en", "add 5 and 7"),
        ("de", "was bedeutet fehler E24"),
        ("de", "wie kann ich die Spülmaschine entkalken und wann muss ich Salz nachfüllen"),
        ("de", "wie spät ist es in tokio"),
        ("de", "wer hat das Telefon erfunden"),
    ],
)
def test_knowledge_is_not_handed_back(language: str, utterance: str) -> None:
    assert not plan_rules(utterance, language).handback


@pytest.mark.parametrize(
    "utterance",
    ["What does error E24 mean?", "WHAT DOES ERROR E24 MEAN", "what does error e24 mean"],
)
def test_case_and_punctuation_change_nothing(utterance: str) -> None:
    assert [step.source for step in plan_rules(utterance, "en").steps] == ["house"]


def test_words_of_a_rule_are_whole_words() -> None:
    assert plan_rules("what is a masterpiece", "en").by == "default"
    assert plan_rules("what is a ruler", "en").by == "default"


async def test_a_rule_names_a_source_and_the_documents_stand_behind_it() -> None:
    planner = Planner(sources(house=True, kiwix=True), max_steps=4)
    plan = await planner.plan(question("look in wikipedia for marie curie"))
    assert (plan.by, chain(plan.steps)) == ("rule", [("kiwix", "house")])


async def test_without_a_rule_all_documents_are_asked_at_once() -> None:
    planner = Planner(sources(house=True, kiwix=True), max_steps=4)
    plan = await planner.plan(question("how do bees find their way"))
    assert (plan.by, chain(plan.steps)) == ("default", [("house",), ("kiwix",)])


@pytest.mark.parametrize(
    ("language", "text"),
    [("en", "where is the fire extinguisher"), ("de", "wer repariert die Klingel")],
)
async def test_who_and_where_may_be_of_the_house_or_of_the_world(language: str, text: str) -> None:
    planner = Planner(sources(house=True, kiwix=True), max_steps=4)
    plan = await planner.plan(question(text, language=language))
    assert chain(plan.steps) == [("house",), ("kiwix",)]


async def test_what_isnt_configured_isnt_asked_by_default() -> None:
    planner = Planner(sources(house=True, kiwix=False), max_steps=4)
    assert chain((await planner.plan(question("how do bees find their way"))).steps) == [("house",)]


async def test_a_source_that_a_rule_names_is_asked_also_when_it_isnt_configured() -> None:
    """So that its missing setting can be named when the fallback finds nothing either."""
    planner = Planner(sources(house=True, kiwix=False), max_steps=4)
    assert chain((await planner.plan(question("look in wikipedia for bees"))).steps) == [
        ("kiwix", "house")
    ]


async def test_nothing_configured_leaves_the_sample_library() -> None:
    planner = Planner(sources(house=False, kiwix=False), max_steps=4)
    assert chain((await planner.plan(question("how do bees find their way"))).steps) == [("house",)]


async def test_a_source_that_is_not_built_in_gives_way_to_the_documents() -> None:
    for house in (True, False):
        planner = Planner(sources(house=house, kiwix=False), max_steps=4)
        assert chain((await planner.plan(question("will it rain tomorrow"))).steps) == [("house",)]


async def test_only_who_accepts_a_handback_gets_one() -> None:
    planner = Planner(sources(house=True), max_steps=4)
    order = "turn on the kitchen light"
    assert (await planner.plan(question(order, accepts_handback=True))).handback
    assert not (await planner.plan(question(order))).handback
    assert not (await planner.plan(question(order, accepts_handback=True, source="house"))).handback


async def test_an_explicit_source_is_asked_alone() -> None:
    planner = Planner(sources(house=True, kiwix=True), max_steps=4)
    plan = await planner.plan(question("who is marie curie", source="house"))
    assert (plan.by, chain(plan.steps)) == ("rule", [("house",)])


async def test_fusion_asks_the_sources_named_once_each_else_all_that_are_configured() -> None:
    planner = Planner(sources(house=True, kiwix=True), max_steps=4)
    named = question("boilers", source="fusion", fusion_sources=("kiwix", "kiwix"))
    assert chain((await planner.plan(named)).steps) == [("kiwix",)]
    assert chain((await planner.plan(question("boilers", source="fusion"))).steps) == [
        ("house",),
        ("kiwix",),
    ]


async def test_fusion_of_nothing_leaves_the_sample_library() -> None:
    planner = Planner(sources(house=False, kiwix=False), max_steps=4)
    assert chain((await planner.plan(question("boilers", source="fusion"))).steps) == [("house",)]


def test_a_follow_up_takes_the_topic_of_the_turn_before() -> None:
    history = (Turn("user", "how tall is the eiffel tower"), Turn("assistant", "330 metres."))
    (part,) = read("and when was it built", "en", history).parts
    assert "eiffel" in part.query
    assert "built" in part.query
    assert read("who is marie curie", "en", history).parts[0].query == "who is marie curie"


async def test_the_route_is_explained() -> None:
    planner = Planner(sources(house=True), max_steps=4)
    (event,) = (await planner.plan(question("what does error E24 mean"))).events
    assert event.event == "route"
    assert event.fields["by"] == "rule"
    assert event.fields["steps"] == [{"source": "house", "query": "what does error E24 mean"}]


@given(st.text(max_size=300), st.sampled_from(["en", "de", "fr", "pl", "xx"]))
def test_any_text_has_a_plan(utterance: str, language: str) -> None:
    plan = plan_rules(utterance, language)
    assert plan.handback or plan.steps


@pytest.mark.parametrize(
    ("language", "utterance"),
    [
        ("en", "search the web for heat pump efficiency"),
        ("en", "please look on the internet for the boiler pressure"),
        ("en", "google my dishwasher error e24"),
        ("en", "search the web for the weather in lyon"),
        ("en", "look up news about lyon on the web"),
        ("de", "kannst du im internet nach wärmepumpen suchen"),
    ],
)
def test_a_search_of_the_web_is_one_whatever_it_is_for(language: str, utterance: str) -> None:
    plan = plan_rules(utterance, language)
    assert (plan.named, plan.handback) == ("web", False)
