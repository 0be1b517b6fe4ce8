"""What is kept comes back as it was, for as long as it may, and no more than there is room for."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
import threading
import time

from hypothesis import HealthCheck, given, settings, strategies as st
import pytest

from backend.store import Store
from backend.types import Answer, AnswerStatus, Event, Found, Passage

SOON = datetime.now(UTC) + timedelta(hours=1)
PAST = datetime.now(UTC) - timedelta(seconds=1)


def found(text: str = "E24 means that the water does not drain.") -> Found:
    """Return a result with one passage that uses every field."""
    passage = Passage(
        "house",
        "Dishwasher manual",
        text,
        url="house://dishwasher.md",
        published=datetime(2026, 10, 5, 12, tzinfo=timezone(timedelta(hours=2))),
        section="Error codes › E24",
        language="en",
        score=0.5,
    )
    return Found((passage, Passage("kiwix", "Other", "Text")), SOON)


async def test_a_result_comes_back_as_it_was_put(store: Store) -> None:
    await store.results.put("key", found(), SOON)
    kept = await store.results.get("key")
    assert kept is not None
    assert kept.value == found()
    assert kept.fresh_until == SOON
    assert 0 <= kept.age_s < 60


async def test_an_unknown_key_is_a_miss(store: Store) -> None:
    assert await store.results.get("nobody asked") is None


async def test_a_result_over_its_time_is_a_miss_and_is_not_counted(store: Store) -> None:
    await store.results.put("late", found(), PAST)
    await store.results.put("fresh", found(), SOON)
    assert await store.results.get("late") is None
    assert await store.results.count() == 1


async def test_nobody_waits_for_a_store_that_is_busy_with_something_larger(store: Store) -> None:
    go = threading.Event()
    busy = asyncio.create_task(store.passages._database.write(lambda connection: go.wait(10)))
    await asyncio.sleep(0)
    await store.results.put("key", found(), SOON)
    assert not busy.done()
    assert store.results.peek("key") is not None
    store.results.forget()
    go.set()
    await busy
    assert await store.results.get("key") is None
    await store.results.put("key", found(), SOON)
    assert await store.results.get("key") is not None


async def test_what_was_stored_while_the_clock_was_wrong_is_a_miss_and_goes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda real=time.time: real() + 86_400 * 365 * 30)
        later = datetime.now(UTC) + timedelta(days=365 * 40)
        await store.results.put("key", found("of tomorrow"), later)
        assert await store.results.get("key") is not None
    assert await store.results.get("key") is None
    await store.results.put("other", found(), SOON)
    rows = await store._database.read(lambda c: c.execute("SELECT key FROM results").fetchall())
    assert rows == [("other",)]


async def test_the_one_not_used_for_longest_goes_first(store: Store) -> None:
    for key in ("a", "b", "c"):
        await store.results.put(key, found(key), SOON)
    await store.results.get("a")
    await store.results.put("d", found("d"), SOON)
    assert await store.results.get("b") is None
    assert [key for key in "acd" if await store.results.get(key)] == ["a", "c", "d"]
    assert await store.results.count() == 3


async def test_results_and_answers_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "mnemolis.sqlite"
    answer = Answer(AnswerStatus.SERVED, "It drains. No more.", ("house",), "It drains.", "en")
    first = await Store.open(path)
    await first.results.put("key", found(), SOON)
    await first.answers.put("signature", answer, SOON)
    await first.close()
    second = await Store.open(path)
    result, kept = await second.results.get("key"), await second.answers.get("signature")
    await second.close()
    assert result is not None
    assert result.value == found()
    assert kept is not None
    assert kept.value == answer


async def test_the_events_of_the_question_that_made_an_answer_are_not_kept(store: Store) -> None:
    made = Answer(AnswerStatus.SERVED, "Text.", events=(Event.now("synthesis_invoked", model="m"),))
    await store.answers.put("signature", made, SOON)
    kept = await store.answers.get("signature")
    assert kept is not None
    assert kept.value.events == ()


async def test_clearing_results_clears_the_answers_that_stand_on_them(store: Store) -> None:
    await store.results.put("a", found(), SOON)
    await store.results.put("b", found(), SOON)
    await store.answers.put("signature", Answer(AnswerStatus.SERVED, "Text."), SOON)
    assert await store.results.clear() == 2
    assert await store.results.get("a") is None
    assert await store.answers.count() == 0
    assert await store.results.clear() == 0


async def test_a_store_without_room_keeps_nothing(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "mnemolis.sqlite", size=0)
    await store.results.put("key", found(), SOON)
    kept = await store.results.get("key")
    await store.close()
    assert kept is None


async def test_a_value_of_another_version_is_a_miss_that_the_next_put_replaces(
    store: Store, tmp_path: Path
) -> None:
    await store.results.put("key", found(), SOON)
    await store._database.write(
        lambda connection: connection.execute("""UPDATE results SET value = '{"old": true}'""")
    )
    store.results.forget()
    assert await store.results.get("key") is None
    await store.results.put("key", found("new"), SOON)
    kept = await store.results.get("key")
    assert kept is not None
    assert kept.value.passages[0].text == "new"


async def test_what_was_used_last_is_in_memory_and_no_more_than_there_is_room_for(
    store: Store,
) -> None:
    for number in range(5):
        await store.results.put(str(number), found(), SOON)
    assert [key for key in map(str, range(5)) if store.results.peek(key)] == ["2", "3", "4"]
    store.results.forget()
    assert store.results.peek("4") is None
    first = await store.results.get("4")
    assert first is not None
    assert store.results.peek("4") is first


async def test_what_is_in_memory_is_a_miss_once_its_time_is_over(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.results.put("key", found(), SOON)
    later = time.time() + 7_200
    monkeypatch.setattr(time, "time", lambda: later)
    assert store.results.peek("key") is None


async def test_clearing_forgets_what_is_in_memory_and_what_is_being_read(store: Store) -> None:
    answer = Answer(AnswerStatus.SERVED, text="It is blocked.", sources=("house",))
    await store.results.put("key", found(), SOON)
    await store.answers.put("key", answer, SOON)
    store.results.forget()
    reading = asyncio.create_task(store.results.get("key"))
    await asyncio.sleep(0)
    await store.results.clear()
    await reading
    assert store.results.peek("key") is None
    assert store.answers.peek("key") is None
    assert await store.results.get("key") is None


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=st.text(), key=st.text(min_size=1))
async def test_any_text_is_kept_or_missed_but_never_changed(
    store: Store, text: str, key: str
) -> None:
    await store.results.put(key, found(text), SOON)
    kept = await store.results.get(key)
    assert kept is None or kept.value == found(text)
    assert store.error is None
