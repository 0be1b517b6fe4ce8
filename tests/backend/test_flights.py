"""Identical work at once is done once."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from backend.flights import Flights


class Work:
    """Counts its runs, and goes on when told."""

    def __init__(self) -> None:
        self.runs = 0
        self.cancelled = asyncio.Event()
        self.go = asyncio.Event()

    async def __call__(self) -> AsyncGenerator[int]:
        self.runs += 1
        yield 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        yield 2


async def test_ten_callers_at_once_get_every_item_of_one_run() -> None:
    work, flights = Work(), Flights[int]()

    async def look_on() -> list[int]:
        async with aclosing(flights.follow("key", work)) as items:
            return [item async for item in items]

    callers = [asyncio.create_task(look_on()) for _ in range(10)]
    await asyncio.sleep(0)
    work.go.set()
    assert await asyncio.gather(*callers) == [[1, 2]] * 10
    assert work.runs == 1


async def test_one_who_comes_late_sees_the_first_item_too() -> None:
    work, flights = Work(), Flights[int]()
    early = flights.follow("key", work)
    assert await anext(early) == 1
    late = flights.follow("key", work)
    assert await anext(late) == 1
    work.go.set()
    assert [item async for item in early] == [item async for item in late] == [2]
    assert work.runs == 1


async def test_the_work_goes_on_while_one_is_left_and_ends_with_the_last() -> None:
    work, flights = Work(), Flights[int]()
    first, second = flights.follow("key", work), flights.follow("key", work)
    assert (await anext(first), await anext(second)) == (1, 1)
    await first.aclose()
    assert not work.cancelled.is_set()
    await second.aclose()
    await work.cancelled.wait()


async def test_a_new_caller_after_the_last_left_starts_anew() -> None:
    work, flights = Work(), Flights[int]()
    first = flights.follow("key", work)
    await anext(first)
    await first.aclose()
    work.go.set()
    assert await flights.last("key", work) == 2
    assert work.runs == 2


async def test_every_caller_hears_of_a_failure_and_the_next_one_tries_again() -> None:
    flights = Flights[int]()
    runs = 0

    async def fail() -> AsyncGenerator[int]:
        nonlocal runs
        runs += 1
        await asyncio.sleep(0)
        raise ValueError("broken")
        yield 1

    results = await asyncio.gather(
        *(flights.last("key", fail) for _ in range(3)), return_exceptions=True
    )
    assert [str(result) for result in results] == ["broken"] * 3
    assert runs == 1
    with pytest.raises(ValueError, match="broken"):
        await flights.last("key", fail)
    assert runs == 2


@pytest.mark.parametrize("moments", range(8))
async def test_one_who_comes_at_the_very_end_is_not_left_waiting(moments: int) -> None:
    flights = Flights[int]()

    async def work() -> AsyncGenerator[int]:
        yield 1

    early = asyncio.create_task(flights.last("key", work))
    for _ in range(moments):
        await asyncio.sleep(0)
    assert await asyncio.wait_for(flights.last("key", work), 5) == 1
    assert await early == 1


async def test_other_keys_are_other_work() -> None:
    work, flights = Work(), Flights[int]()
    work.go.set()
    assert await asyncio.gather(flights.last("a", work), flights.last("b", work)) == [2, 2]
    assert work.runs == 2


async def test_while_the_key_is_held_a_flight_that_ended_is_still_followed() -> None:
    work, flights = Work(), Flights[int]()
    work.go.set()
    with flights.hold("key"):
        assert await flights.last("key", work) == 2
        with flights.hold("key"):
            assert await flights.last("key", work) == 2
        async with aclosing(flights.follow("key", work)) as items:
            assert [item async for item in items] == [1, 2]
        assert work.runs == 1
        assert await flights.last("other", work) == 2
        assert work.runs == 2
    assert await flights.last("key", work) == 2
    assert work.runs == 3


async def test_a_flight_that_failed_is_never_followed_again_though_the_key_is_held() -> None:
    flights = Flights[int]()
    runs = 0

    async def fail_once() -> AsyncGenerator[int]:
        nonlocal runs
        runs += 1
        yield runs
        if runs == 1:
            raise ValueError("broken")

    with flights.hold("key"):
        with pytest.raises(ValueError, match="broken"):
            await flights.last("key", fail_once)
        assert await flights.last("key", fail_once) == 2


async def test_a_flight_that_all_left_is_never_followed_again_though_the_key_is_held() -> None:
    work, flights = Work(), Flights[int]()
    with flights.hold("key"):
        first = flights.follow("key", work)
        await anext(first)
        await first.aclose()
        work.go.set()
        assert await flights.last("key", work) == 2
    assert work.runs == 2
