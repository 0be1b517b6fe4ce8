"""News from feeds, and from a feed reader that knows them.

Decides which items a question is about: the newest of all, or those on its topic, in the time that it names. How a
feed is fetched is `feed_fetch`'s, what it says `feeds`', the reader's API is `greader`'s. All are asked at once, each
with a limit of its own; what came by then is what there is. Addresses of feeds may hold keys: they are never told, but
for the host.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta
import hashlib
import math
import time
from typing import Final, Protocol
from urllib.parse import urlsplit

import aiohttp

from backend.flights import Flights
from backend.languages import table
from backend.settings import Settings
from backend.sources import feeds
from backend.sources.base import SourceState, made_of
from backend.sources.feed_fetch import MOST_BYTES, Elsewhere, Feed
from backend.sources.feeds import NewsItem
from backend.sources.greader import Reader
from backend.sources.http import UpstreamError
from backend.store.snapshots import Item
from backend.text import since
from backend.text.pieces import coverage, edged
from backend.text.since import Hours
from backend.text.words import topic_words
from backend.types import Failed, Found, NotConfigured, Nothing, Outcome, Passage, Question, Step

SETTING: Final = "NEWS_FEEDS"
_SECONDS: Final = 4.0
"""So long one feed is waited for; the others don't wait longer for it."""
_RESERVE: Final = 0.6
_FRESH_SECONDS: Final = 300.0
"""A feed is fetched again after this; two questions in a row are answered from one look."""
_MOST_TOLD: Final = 5
_MOST_FOUND: Final = 5
_COVERED: Final = 0.6
"""So much of what its words weigh an item must hold to be on a question's topic."""
_NEAR_BEST: Final = 0.7
_SUMMARY_COUNTS: Final = 0.85
"""What stands in the summary alone counts so much of what stands in the title."""
_MOST_LOOKED_AT: Final = 40


class _Origin(Protocol):
    """Where items come from; `name` may be told to anyone."""

    name: str

    async def items(self, until: float) -> list[NewsItem]:
        """Return the items by `until` (monotonic). Raises UpstreamError."""


class News:
    """Answers from `origins`; an outcome may be kept for `ttl` seconds. `missing`: settings that a reader lacks."""

    tag = "news"
    every = 3600.0
    lasting = False

    def __init__(
        self,
        origins: Sequence[_Origin],
        *,
        ttl: float,
        hours: Hours,
        missing: Sequence[str] = (),
        elsewhere: Elsewhere | None = None,
        version: str = "1",
    ) -> None:
        self._origins = origins
        self._missing = missing
        self._elsewhere = elsewhere
        self._hours = hours
        self._flights: Flights[list[NewsItem]] = Flights()
        self._kept: dict[int, tuple[float, list[NewsItem]]] = {}
        self._problems: dict[int, str] = {}
        self.ttl = ttl
        self.version = version

    @classmethod
    def from_settings(cls, settings: Settings, session: aiohttp.ClientSession) -> News:
        """Return the source over the feeds and the reader that are set."""
        named = settings.news_feeds
        elsewhere = Elsewhere({(urlsplit(each).hostname or "").rstrip(".") for each in named})
        origins: list[_Origin] = [Feed(session, each, elsewhere) for each in named]
        url, user = settings.freshrss_url, settings.freshrss_user
        password = settings.freshrss_api_password
        secret = password.get_secret_value() if password else ""
        if url and user and secret:
            origins.append(Reader(session, url, user, secret, MOST_BYTES))
        reader = {"FRESHRSS_URL": url, "FRESHRSS_USER": user, "FRESHRSS_API_PASSWORD": secret}
        missing = [name for name, value in reader.items() if not value]
        # What was kept of other feeds is stale. The addresses themselves stay out of the cache: they may hold keys.
        version = made_of(settings.news_feeds, url, user)
        return cls(
            origins,
            ttl=settings.cache_ttl_news_seconds,
            hours=settings.hours,
            # Without any of them nobody means to have a reader.
            missing=missing if len(missing) < len(reader) else (),
            elsewhere=elsewhere,
            version=version,
        )

    async def start(self) -> None:
        """Do nothing: feeds are fetched when someone asks."""

    async def close(self) -> None:
        """Forget what was fetched, and end the connections to where feeds led."""
        self._kept.clear()
        if self._elsewhere is not None:
            await self._elsewhere.close()

    def state(self) -> SourceState:
        """Return how many feeds and readers there are, and which failed last, by their hosts."""
        lacking = f"the feed reader lacks {' and '.join(self._missing)}" if self._missing else ""
        if not self._origins:
            return SourceState(False, self._setting, lacking or "no feed, and no feed reader")
        problems = sorted({*self._problems.values(), *([lacking] if lacking else ())})
        return SourceState(True, detail="; ".join(problems))

    @property
    def _setting(self) -> str:
        return self._missing[0] if self._missing else SETTING

    async def ask(self, step: Step, question: Question) -> Outcome:
        """Tell the newest items, or those on the topic of the words."""
        if not self._origins:
            return NotConfigured(self._setting)
        try:
            items = await self._all(time.monotonic() + min(_SECONDS, question.left - _RESERVE))
        except UpstreamError as error:
            return error.failed
        passages = await asyncio.to_thread(_passages, items, step.query, question, self._hours)
        if not passages:
            return Nothing()
        return Found(passages, datetime.now(UTC) + timedelta(seconds=self.ttl))

    async def look(self, until: float) -> tuple[Item, ...]:
        """Return the newest items, for what has changed. Raises UpstreamError."""
        items = await self._all(until)
        return tuple(
            Item(hashlib.sha256(_known_by(item).encode()).hexdigest()[:24], item.title, "")
            for item in items[:_MOST_LOOKED_AT]
        )

    def said(self, state: str, language: str) -> str:
        """Return "": the headline says it all."""
        return ""

    async def _all(self, until: float) -> list[NewsItem]:
        """Return the items of all that answer by `until`, newest first. Raises UpstreamError where none does."""
        got = await asyncio.gather(
            *(self._of(at, until) for at in range(len(self._origins))), return_exceptions=True
        )
        items: list[NewsItem] = []
        failed: list[UpstreamError] = []
        for at, one in enumerate(got):
            if isinstance(one, UpstreamError):
                failed.append(one)
                self._problems[at] = str(one)
            elif isinstance(one, BaseException):
                raise one
            else:
                items += one
                self._problems.pop(at, None)
        if len(failed) == len(got):
            raise failed[0]
        return feeds.distinct(feeds.newest_first(feeds.known_dates(items, datetime.now(UTC))))

    async def _of(self, at: int, until: float) -> list[NewsItem]:
        kept = self._kept.get(at)
        if kept is not None and time.monotonic() - kept[0] < _FRESH_SECONDS:
            return kept[1]
        origin = self._origins[at]

        async def fly() -> AsyncGenerator[list[NewsItem]]:
            # As long as the first who asks has: who joins later has no less time to wait.
            items = await origin.items(time.monotonic() + _SECONDS)
            self._kept[at] = time.monotonic(), items
            yield items

        try:
            async with asyncio.timeout(max(0.0, until - time.monotonic())):
                return await self._flights.last(at, fly)
        except TimeoutError:
            raise UpstreamError(Failed("timeout", f"no answer from {origin.name}")) from None


def _passages(
    items: Sequence[NewsItem], query: str, question: Question, hours: Hours
) -> tuple[Passage, ...]:
    """Return what there is to tell of `items`, which are newest first; blocks."""
    span = since.named(query, question.language, question.now, hours)
    if span is not None:
        items = feeds.within(items, *span, question.now)
    words = _topic(query, question.language)
    if words:
        return tuple(
            _passage(item, item.text or _sentence(item.title), 1 / (1 + rank))
            for rank, item in enumerate(_on_topic(items, words))
        )
    # One voice speaks one language: the asker's, if there are news in it.
    known = {item.language for item in items} & {None, question.language}
    told = [i for i in items if i.language in (known or {items[0].language})][:_MOST_TOLD]
    # The headlines answer by themselves; what is behind them is for who composes.
    headlines = [
        _passage(item, _sentence(item.title), 1.0 + 1 / (1 + rank), direct=True)
        for rank, item in enumerate(told)
    ]
    behind = [
        _passage(item, item.text, 1 / (1 + rank)) for rank, item in enumerate(told) if item.text
    ]
    return (*headlines, *behind)


def _topic(query: str, language: str) -> list[str]:
    """Return the words of a question that aren't about time, or news as such, or being told."""
    data = table(language, "news")
    asking, first, last = (
        frozenset(data.get(name, ())) for name in ("names_no_topic", "asks_first", "asks_last")
    )
    left = since.without(query, language).split()
    while left and left[-1] in last:
        left.pop()
    begun = next((at for at, word in enumerate(left) if word in asking), 1)
    left = [word for at, word in enumerate(left) if at >= begun or word not in first | last]
    words = topic_words(" ".join(word for word in left if word not in asking), language)
    return list(dict.fromkeys(words))


def _on_topic(items: Sequence[NewsItem], words: Sequence[str]) -> list[NewsItem]:
    """Return the items that hold most of the words, the rare ones first of all; newest first, as they came."""
    titles = [edged(item.title) for item in items]
    texts = [edged(f"{item.title}\n{item.text}") for item in items]
    weights = {
        word: math.log((len(items) + 1) / (sum(coverage(t, {word: 1.0}) > 0 for t in texts) + 0.5))
        for word in words
    }
    weights = {word: max(0.1, weight) for word, weight in weights.items()}
    scores = [
        max(coverage(title, weights), _SUMMARY_COUNTS * coverage(text, weights))
        for title, text in zip(titles, texts, strict=True)
    ]
    least = max(_COVERED * _SUMMARY_COUNTS, _NEAR_BEST * max(scores, default=0.0))
    chosen = [item for item, score in zip(items, scores, strict=True) if score >= least]
    return chosen[:_MOST_FOUND]


def _passage(item: NewsItem, text: str, score: float, *, direct: bool = False) -> Passage:
    return Passage(
        source=News.tag,
        title=item.title,
        text=text,
        url=item.url,
        published=item.published,
        language=item.language,
        score=score,
        direct=direct,
    )


def _known_by(item: NewsItem) -> str:
    return feeds.same_address(item.url) if item.url else item.title


def _sentence(title: str) -> str:
    return title if title.endswith((".", "!", "?", "…", "。")) else f"{title}."
