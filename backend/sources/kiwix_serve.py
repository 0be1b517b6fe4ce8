"""Books of a kiwix-serve: https://kiwix-tools.readthedocs.io/en/latest/kiwix-serve.html.

Decides which of its books a question is put to, what each is asked for, and which articles are fetched; what those say
on the question is `books`'. The catalogue is kept and looked at again in the background; all else is asked when someone
asks, at once where it can be, until one moment. Versions 3.3 to 3.7 and later are understood.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass
import hashlib
import html
import json
import logging
import re
import time
from typing import Any, Final
from urllib.parse import quote, urlsplit
import uuid

import aiohttp

from backend.flights import Flights
from backend.sources.books import MOST_BYTES, MOST_HITS, PROMISING, Article, Topic
from backend.sources.catalogue import Volume, choose, number, path_of, volumes
from backend.sources.http import Moved, UpstreamError, fetch
from backend.text import xml
from backend.types import Failed

_LOGGER = logging.getLogger(__name__)

_FRESH_SECONDS: Final = 300.0
_AWAY_SECONDS: Final = 30.0
"""How long a catalogue is kept; how soon one that couldn't be had is asked for again."""
_CATALOGUE_SECONDS: Final = 30.0
_PAGE: Final = 100
_MOST_PAGES: Final = 100
_SUGGESTED: Final = 3
_MOST_SUGGESTED: Final = 12
"""So many runs of the question's words are looked for in titles, where there are only titles to look in."""
_LOOSE_BACKSLASH: Final = re.compile(r'\\(?!["\\/bfnrtu])')
_GONE: Final = (400, 404)


class _Gone(UpstreamError):
    """The book isn't there any more."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found, and why that may not be all."""

    articles: list[Article]
    failed: Failed | None = None


_Hit = tuple[str, str]
"""What an index offers: the path of an article in its book, and a name of it."""


@dataclass(frozen=True, slots=True)
class _Page:
    """An article as HTML, and its own path."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class _Found:
    """How many articles hold all words of a search, and the best of them."""

    total: int
    hits: list[_Hit]


class KiwixServe:
    """Asks the kiwix-serve at `url`."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url
        self._host = urlsplit(url).hostname or "the server"
        self._volumes: tuple[Volume, ...] | None = None
        # One request on books at a time: 3.3 crashes where two open books at once.
        self._turn = asyncio.Lock()
        self._flights: Flights[tuple[Volume, ...]] = Flights()
        self._task: asyncio.Task[None] | None = None
        # Nothing that was kept before the first look may be taken for what the books say now.
        self.version = f"unread-{uuid.uuid4().hex[:8]}"
        self.problem = ""

    @property
    def documents(self) -> int:
        """How many books there are, as far as is known."""
        return len(self._volumes or ())

    async def start(self) -> None:
        """Begin to look at the catalogue; returns at once."""
        if self._task is None:
            self._task = asyncio.create_task(self._watch(), name="kiwix-serve")

    async def close(self) -> None:
        """Stop looking."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def look_up(self, words: Sequence[str], language: str, until: float) -> Looked:
        """Return the articles on the topic of `words` that the best books have, until a moment of the monotonic clock."""
        if not words:
            return Looked([])
        try:
            known = self._volumes if self._volumes is not None else await self._refreshed(until)
            asked = await asyncio.to_thread(choose, known, words, language)
            articles, errors = await self._all(asked, words, language, until)
            if any(isinstance(error, _Gone) for error in errors):
                now = await self._refreshed(until)
                best = await asyncio.to_thread(choose, now, words, language)
                others = [each for each in best if each not in asked]
                errors = [error for error in errors if not isinstance(error, _Gone)]
                more, later = await self._all(others, words, language, until)
                articles += more
                errors += later
        except UpstreamError as error:
            articles, errors = [], [error]
        self.problem = str(errors[0]) if errors else ""
        return Looked(articles, errors[0].failed if errors else None)

    def books(self) -> list[dict[str, Any]]:
        """Return every book of the catalogue as it is known."""
        return [
            {
                "name": volume.name,
                "language": volume.language,
                "articles": volume.articles,
                "from": "server",
                "problem": None,
            }
            for volume in self._volumes or ()
        ]

    async def refresh(self) -> None:
        """Read the catalogue now. Raises UpstreamError."""
        await self._refreshed(time.monotonic() + _CATALOGUE_SECONDS)

    async def _watch(self) -> None:
        while True:
            told = self.problem
            try:
                await self._refreshed(time.monotonic() + _CATALOGUE_SECONDS, "watch")
            except UpstreamError as error:
                self.problem = str(error)
                if self.problem != told:
                    _LOGGER.warning("kiwix-serve: %s", self.problem)
                await asyncio.sleep(_AWAY_SECONDS)
            else:
                self.problem = ""
                await asyncio.sleep(_FRESH_SECONDS)

    async def _refreshed(self, until: float, who: str = "question") -> tuple[Volume, ...]:
        """Return the catalogue as it is now; all questions that want it at once wait for one. Raises UpstreamError.

        They don't wait for the one that is fetched in the background: a server that hung then may answer now.
        """
        try:
            async with asyncio.timeout(max(0.0, until - time.monotonic())):
                return await self._flights.last(who, self._fetched)
        except TimeoutError:
            raise UpstreamError(Failed("timeout", f"no answer from {self._host}")) from None

    async def _fetched(self) -> AsyncGenerator[tuple[Volume, ...]]:
        # As long as the first who asks has: who joins later has no less time to wait.
        until = time.monotonic() + _CATALOGUE_SECONDS
        found: dict[str, Volume] = {}
        for page in range(_MOST_PAGES):
            start = page * _PAGE
            # Opens no book: it waits for nobody's turn.
            feed = await self._tree(
                await fetch(
                    self._session,
                    f"{self._url}/catalog/v2/entries",
                    until=until,
                    params={"start": str(start), "count": str(_PAGE)},
                )
            )
            held = feed.findall("entry")
            before = len(found)
            found |= {volume.name: volume for volume in volumes(held, self._url)}
            # However many it says that there are, a page with nothing new is the last.
            last = start + len(held) >= number(feed.findtext("totalResults"))
            if last or len(found) == before:
                break
        self._volumes = tuple(found.values())
        said = "\n".join(sorted(f"{each.id}\0{each.name}" for each in self._volumes))
        self.version = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]
        yield self._volumes

    async def _all(
        self, asked: Iterable[Volume], words: Sequence[str], language: str, until: float
    ) -> tuple[list[Article], list[UpstreamError]]:
        """Ask several books at once; return what they say, and what went wrong."""
        articles: list[Article] = []
        errors: list[UpstreamError] = []
        asking = (self._of(volume, words, language, until) for volume in asked)
        for one in _answers(await asyncio.gather(*asking, return_exceptions=True)):
            if isinstance(one, UpstreamError):
                errors.append(one)
            else:
                articles += one
        return articles, errors

    async def _of(
        self, volume: Volume, words: Sequence[str], language: str, until: float
    ) -> list[Article]:
        """Return the articles of a book that are on the topic. Raises UpstreamError."""
        topic = Topic.of(words, volume.language, language)
        pages: dict[str, _Page | UpstreamError] = {}
        runs = list(topic.phrases())[:_MOST_SUGGESTED]
        suggesting = (self._suggest(volume, run, until) for run in runs[:_SUGGESTED])
        searched, suggested = await asyncio.gather(
            asyncio.gather(self._search(volume, " ".join(words), until), return_exceptions=True),
            asyncio.gather(*suggesting, return_exceptions=True),
        )
        (full,), titles = _answers(searched), _answers(suggested)
        failed = [answer for answer in (full, *titles) if isinstance(answer, UpstreamError)]
        if len(failed) > len(titles):
            gone = all(error.status in _GONE for error in failed)
            raise _Gone(failed[0].failed) if gone else failed[0]
        named = _longest(titles)
        if isinstance(full, UpstreamError):
            if not named:
                others = (self._suggest(volume, run, until) for run in runs[_SUGGESTED:])
                named = _longest(await asyncio.gather(*others))
            articles = await self._read(volume, topic, [named], pages, until)
            # A book may have no index but that of its titles.
            if articles or full.status in _GONE:
                return articles
            raise full
        lists = [named, full.hits]
        if full.hits or _longest(titles[:1]):
            articles = await self._read(volume, topic, lists, pages, until)
            if articles:
                return articles
        if len(words) == 1:
            return []
        # No article has it all, or not in one place: which of the words can be done without?
        counts = await asyncio.gather(
            *(self._search(volume, word, until, count=1) for word in words)
        )
        counted = topic.counted(
            {word: each.total for word, each in zip(words, counts, strict=True)}, volume.articles
        )
        if counted.promise < PROMISING:
            return []
        searches = (self._search(volume, each, until) for each in counted.searches())
        lists += [each.hits for each in await asyncio.gather(*searches)]
        return await self._read(volume, counted, lists, pages, until)

    async def _search(
        self, volume: Volume, pattern: str, until: float, *, count: int = MOST_HITS
    ) -> _Found:
        """Return how many articles hold all words of `pattern`, and the best of them. Raises UpstreamError."""
        # Where a page starts is counted from 1 in 3.3, from 0 in 3.7.
        params = {
            "pattern": pattern,
            "books.name": volume.name,
            "format": "xml",
            "pageLength": str(count),
        }
        results = await self._tree(await self._fetch("search", until, params=params))
        channel = results.find("channel")
        if channel is None:
            raise UpstreamError(Failed("bad_reply", f"{self._host} sends no results"))
        hits = [
            (path, item.findtext("title", "").strip())
            for item in channel.findall("item")
            if (path := volume.path(item.findtext("link", "").strip())) is not None
        ]
        return _Found(number(channel.findtext("totalResults")), hits[:count])

    async def _suggest(self, volume: Volume, phrase: str, until: float) -> list[_Hit]:
        """Return the articles and other names of articles with `phrase` in their titles. Raises UpstreamError."""
        params = {"content": volume.name, "term": phrase, "count": str(MOST_HITS)}
        body = await self._fetch("suggest", until, params=params)
        # 3.3 writes a backslash of a title as it is.
        text = _LOOSE_BACKSLASH.sub(r"\\\\", body.decode("utf-8", "replace"))
        try:
            said: Any = json.loads(text, strict=False)
        except (ValueError, RecursionError) as error:
            raise UpstreamError(Failed("bad_reply", f"{self._host} sends no JSON")) from error
        hits = [
            (_plain(each["path"]), _plain(each.get("value", "")))
            for each in (said if isinstance(said, list) else ())
            if isinstance(each, dict) and each.get("kind") == "path" and each.get("path")
        ]
        return hits[:MOST_HITS]

    async def _read(
        self,
        volume: Volume,
        topic: Topic,
        lists: Iterable[Iterable[_Hit]],
        pages: dict[str, _Page | UpstreamError],
        until: float,
    ) -> list[Article]:
        """Return those of `lists` that are on the topic; `pages` are those that have been fetched, and get more.

        Raises UpstreamError where the server fails.
        """
        likely = topic.likely(lists)
        missing = [path for path, _ in likely if path not in pages]
        fetching = (self._page(volume, path, until) for path in missing)
        got = _answers(await asyncio.gather(*fetching, return_exceptions=True))
        pages.update(zip(missing, got, strict=True))
        fetched: dict[str, tuple[str, str]] = {}
        errors: list[UpstreamError] = []
        for at, name in likely:
            page = pages[at]
            if isinstance(page, UpstreamError):
                # A page that is gone, or is none, isn't read.
                errors += [page] if page.failed.kind != "bad_reply" else []
            else:
                # What leads to an article is another name of it; the better one is kept.
                fetched.setdefault(page.path, (name, page.content))
        if errors and not fetched:
            raise errors[0]

        def read() -> list[Article]:
            articles = (
                topic.read(content, title=name, name=name, url=volume.address(path))
                for path, (name, content) in fetched.items()
            )
            return [article for article in articles if article is not None]

        return await asyncio.to_thread(read)

    async def _page(self, volume: Volume, path: str, until: float) -> _Page:
        """Return an article; `path` may be another name that leads to it. Raises UpstreamError."""
        try:
            return _Page(path, await self._raw(volume, path, until))
        except Moved as moved:
            # Whatever server it names, this one is asked.
            target = volume.path(path_of(moved.location))
            if target is None:
                raise
            return _Page(target, await self._raw(volume, target, until))

    async def _raw(self, volume: Volume, path: str, until: float) -> str:
        """Return an article as it is in its book, without the frame that a browser is shown."""
        at = f"raw/{quote(volume.name, safe='')}/content/{quote(path)}"
        body = await self._fetch(at, until, kind="text/html", follow=False)
        return body[:MOST_BYTES].decode("utf-8", "replace")

    async def _tree(self, body: bytes) -> Any:
        """Return XML as a tree. Raises UpstreamError."""
        try:
            return await asyncio.to_thread(xml.tree, body)
        except ValueError as error:
            raise UpstreamError(Failed("bad_reply", f"{self._host}: {error}")) from error

    async def _fetch(self, path: str, until: float, **how: Any) -> bytes:
        """Return what is at `path`, which opens a book; `how` is what `http.fetch` takes. Raises UpstreamError."""
        try:
            async with asyncio.timeout(max(0.0, until - time.monotonic())):
                await self._turn.acquire()
        except TimeoutError:
            raise UpstreamError(Failed("timeout", f"no answer from {self._host}")) from None
        try:
            return await fetch(self._session, f"{self._url}/{path}", until=until, **how)
        finally:
            self._turn.release()


def _answers[T](results: Iterable[T | BaseException]) -> list[T | UpstreamError]:
    """Return what came back, and what the server couldn't answer; a fault of ours is raised."""
    answers: list[T | UpstreamError] = []
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, UpstreamError):
            raise result
        answers.append(result)
    return answers


def _plain(text: object) -> str:
    """Return a text of the suggestions, which is written as HTML is; halves of characters are none."""
    return html.unescape(str(text)).encode("utf-8", "replace").decode()


def _longest(titles: Iterable[list[_Hit] | UpstreamError]) -> list[_Hit]:
    """Return the hits of the longest run of words that there are titles of: it names the thing."""
    found = (hits for hits in titles if not isinstance(hits, UpstreamError) and hits)
    return list(next(found, ()))
