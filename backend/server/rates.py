"""How many questions are answered: at once, and in a minute, of one caller and of all.

A caller is a key, or an address where no keys are set. Limits are off until they are set: a household asks seldom, and
what is asked at once is bounded anyway.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from aiohttp import web
from aiolimiter import AsyncLimiter

from backend.server.auth import caller
from backend.server.errors import Busy

_MINUTE: Final = 60.0
_MOST_CALLERS: Final = 1_000
"""So many are remembered, those seen last."""


class Rates:
    """The buckets of all callers; None is no limit."""

    def __init__(self, each: int | None, total: int | None) -> None:
        self.limited = each is not None or total is not None
        self._each = each
        self._total = None if total is None else AsyncLimiter(total, _MINUTE)
        self._callers: OrderedDict[str, AsyncLimiter] = OrderedDict()

    async def admit(self, request: web.Request) -> None:
        """Count a question. Raises Busy where there is no room for it."""
        buckets = [self._bucket(caller(request), self._each)] if self._each is not None else []
        if self._total is not None:
            buckets.append(self._total)
        if not all(bucket.has_capacity() for bucket in buckets):
            raise Busy("Too many questions in a minute; try again in a few seconds.")
        for bucket in buckets:
            # There is room: nobody waits.
            await bucket.acquire()

    def _bucket(self, caller: str, rate: int) -> AsyncLimiter:
        bucket = self._callers.pop(caller, None) or AsyncLimiter(rate, _MINUTE)
        self._callers[caller] = bucket
        while len(self._callers) > _MOST_CALLERS:
            self._callers.popitem(last=False)
        return bucket


class Places:
    """The places of questions at once, `free` of them; with one is who was given it by `room_for_a_question`."""

    def __init__(self, free: int) -> None:
        self.free = free

    def __enter__(self) -> None:
        self.free -= 1

    def __exit__(self, *error: object) -> None:
        self.free += 1


async def room_for_a_question(app: web.Application, request: web.Request) -> Places:
    """Count a question; return what is to hold its place at once. Raises Busy where there is no room for it."""
    places = app[PLACES]
    if places.free <= 0:
        raise Busy("Too many questions at once; try again in a second.")
    rates = app[RATES]
    if rates.limited:
        await rates.admit(request)
    return places


RATES: Final = web.AppKey("rates", Rates)
PLACES: Final = web.AppKey("places", Places)
