"""Since when: the span that the words of a question name."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from hypothesis import given, strategies as st
import pytest

from backend.languages import SPOKEN, table
from backend.text.since import DEFAULT, MOST, window

BERLIN = ZoneInfo("Europe/Berlin")
# A Wednesday.
NOW = datetime(2026, 9, 16, 15, 30, tzinfo=BERLIN)


def at(day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(2026, 9, day, hour, minute, tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("language", "text", "since", "until"),
    [
        ("en", "what changed this morning", at(16, 6), NOW),
        ("en", "what happened last night", at(15, 18), at(16, 6)),
        ("en", "what has changed since last night", at(15, 18), NOW),
        ("en", "what changed yesterday", at(15), at(16)),
        ("en", "anything new since yesterday", at(15), NOW),
        ("en", "what changed in the last 3 hours", at(16, 12, 30), NOW),
        ("en", "what changed in the past two hours", at(16, 13, 30), NOW),
        ("en", "what changed in the last hour", at(16, 14, 30), NOW),
        ("en", "what changed in the last two days", at(14, 15, 30), NOW),
        ("en", "what happened while i was at work", at(16, 9), NOW),
        ("en", "what has changed since monday", at(14), NOW),
        ("en", "what changed on monday", at(14), at(15)),
        ("en", "what changed on wednesday", at(9, 15, 30), at(10)),
        ("en", "what changed today", at(16), NOW),
        ("en", "what changed this evening", at(15, 18), NOW),
        ("en", "what changed this week", NOW - MOST, NOW),
        ("en", "what changed in the last 30 days", NOW - MOST, NOW),
        ("en", "what changed", NOW - DEFAULT, NOW),
        ("de", "was hat sich heute früh geändert", at(16, 6), NOW),
        ("de", "was ist über Nacht passiert", at(15, 18), at(16, 6)),
        ("de", "was hat sich seit gestern geändert", at(15), NOW),
        ("de", "was war in den letzten zwei stunden", at(16, 13, 30), NOW),
        ("de", "was hat sich seit Dienstag verändert", at(15), NOW),
        ("fr", "qu'est-ce qui a changé ce matin", at(16, 6), NOW),
        ("fr", "quoi de neuf depuis hier", at(15), NOW),
        ("fr", "ce qui a changé ces trois heures", at(16, 12, 30), NOW),
        ("es", "qué ha cambiado esta mañana", at(16, 6), NOW),
        ("es", "qué pasó anoche", at(15, 18), at(16, 6)),
        ("es", "qué ha cambiado desde el martes", at(15), NOW),
        ("it", "cosa è cambiato stamattina", at(16, 6), NOW),
        ("it", "cosa è successo stanotte", at(15, 18), at(16, 6)),
        ("it", "cosa è cambiato nelle ultime due ore", at(16, 13, 30), NOW),
        ("nl", "wat is er vanochtend veranderd", at(16, 6), NOW),
        ("nl", "wat is er vannacht gebeurd", at(15, 18), at(16, 6)),
        ("nl", "wat is er sinds gisteren veranderd", at(15), NOW),
        ("pl", "co się zmieniło dzisiaj rano", at(16, 6), NOW),
        ("pl", "co się stało w nocy", at(15, 18), at(16, 6)),
        ("pl", "co się zmieniło od wczoraj", at(15), NOW),
        ("pl", "co się zmieniło w ciągu dwóch godzin", at(16, 13, 30), NOW),
    ],
)
def test_words_of_time_name_a_span(
    language: str, text: str, since: datetime, until: datetime
) -> None:
    assert window(text, language, NOW) == (since, until)


def test_a_morning_before_it_has_begun_is_yesterdays() -> None:
    early = at(16, 3)
    assert window("what changed this morning", "en", early) == (at(15, 6), early)


@pytest.mark.parametrize(
    ("now", "text", "since"),
    [
        # On 25 October 2026 the clocks go back at three: that day has 25 hours.
        ((2026, 10, 25, 8), "the last 8 hours", datetime(2026, 10, 24, 23, tzinfo=UTC)),
        ((2026, 10, 25, 8), "today", datetime(2026, 10, 24, 22, tzinfo=UTC)),
        ((2026, 10, 25, 8), "since yesterday", datetime(2026, 10, 23, 22, tzinfo=UTC)),
        # On 29 March 2026 they go forward at two: that day has 23.
        ((2026, 3, 29, 8), "the last 8 hours", datetime(2026, 3, 28, 22, tzinfo=UTC)),
        ((2026, 3, 29, 8), "this morning", datetime(2026, 3, 29, 4, tzinfo=UTC)),
    ],
)
def test_hours_are_hours_and_days_are_days_when_the_clocks_change(
    now: tuple[int, int, int, int], text: str, since: datetime
) -> None:
    begun, _ = window(f"what changed in {text}", "en", datetime(*now, tzinfo=BERLIN))
    assert begun.astimezone(UTC) == since


@pytest.mark.parametrize("code", SPOKEN)
def test_every_language_has_all_words(code: str) -> None:
    assert set(table(code, "since")) == set(table("en", "since"))
    assert set(table(code, "changes")) == set(table("en", "changes"))
    assert len(table(code, "since")["weekdays"]) == len(table(code, "changes")["days"]) == 7


@given(text=st.text(), language=st.sampled_from([*SPOKEN, "xx"]))
def test_whatever_is_said_names_a_span_of_at_most_a_week_before_now(
    text: str, language: str
) -> None:
    since, until = window(text, language, NOW)
    assert NOW - MOST <= since <= until <= NOW
