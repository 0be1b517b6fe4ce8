"""How many questions are answered: at once, and in a minute, of one caller and of all.

A caller is a key, or an address where no keys are set. Limits are off until they are set: a household asks seldom, and
what is asked at once is bounded anyway.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web
from aiolimiter import AsyncLimiter

from backend.server.auth import CALLER
from backend.server.errors import Busy
from backend.server.parts import SEARCHES

_MINUTE: Final = 60.0
_MOST_CALLERS: Final = 1_000
"""So many are remembered, those seen last."""


class Rates:
    """The buckets of all callers; None is no limit."""

    def __init__(self, each: int | None, total: int | None) -> None:
        self._each = each
        self._total = None if total is None else AsyncLimiter(total, _MINUTE)
        self._callers: OrderedDict[str, AsyncLimiter] = OrderedDict()

    async def admit(self, request: web.Request) -> None:
        """Count a question. Raises Busy where there is no room for it."""
        buckets = [self._bucket(request[CALLER], self._each)] if self._each is not None else []
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


@asynccontextmanager
async def room_for_a_question(request: web.Request) -> AsyncIterator[None]:
    """Count a question, and hold its place among those at once. Raises Busy where there is no room for it."""
    searches = request.app[SEARCHES]
    if searches.locked():
        raise Busy("Too many questions at once; try again in a second.")
    await request.app[RATES].admit(request)
    async with searches:
        yield


RATES: Final = web.AppKey("rates", Rates)
