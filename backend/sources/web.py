"""A search of the web, by a SearXNG of the owner's: https://docs.searxng.org/dev/search_api.html.

Decides what is searched for, which of the results' pages are read, and what of it all is told. Whether an address may be
fetched is `public`'s; what a page says on a question `books`'. What was found is data of others: it names no source and
no address that is asked without a look at it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
import logging
import re
import time
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from backend.languages import own_or_default
from backend.settings import Settings
from backend.sources import feeds
from backend.sources.base import SourceState, made_of
from backend.sources.books import Article, Topic
from backend.sources.http import UpstreamError, fetch_json
from backend.sources.public import Pages, allowed
from backend.text import language as languages
from backend.text.aligned import Aligned
from backend.text.pieces import coverage, edged
from backend.text.words import content_words, topic_words
from backend.types import Failed, Found, NotConfigured, Nothing, Outcome, Passage, Question, Step

_LOGGER = logging.getLogger(__name__)

SETTING: Final = "SEARXNG_URL"
_MOST_RESULTS: Final = 8
_MOST_PAGES: Final = 3
_MOST_TOLD: Final = 5
"""So many results are told of, and so many passages of a page that was read."""
_MOST_QUOTED: Final = 2
_MOST_WORDS: Final = 8
_MOST_ANSWERS: Final = 2
_SHORT_ANSWER: Final = 300
"""A longer one is about the question, as a summary is, and doesn't answer it by itself."""
_SHORT_ITEM: Final = 40
_MOST_TITLE: Final = 300
_MOST_ATTRIBUTES: Final = 20
_PAGE_SECONDS: Final = 3.0
_SHARE: Final = 0.4
"""Pages may take so much of the time that the search has left: who composes the answer needs some too."""
_RESERVE: Final = 0.5
"""Seconds of a deadline that are kept for telling what was found, or that nothing was."""
_PARTLY_SECONDS: Final = 300.0
"""What was found while a page took too long is kept no longer."""
_RANKED: Final = 0.5
_SUMMARY: Final = 0.8
"""What the search says of a page counts so much of what the page says."""
_COMMANDS: Final = re.compile(r"(?<!\S)[!:<?]+(?=\S)")
"""What SearXNG would take for a command at the beginning of a word: https://docs.searxng.org/user/search-syntax.html."""
_LABELLED: Final = re.compile(r"\A\[[a-z]{2}(?:-[A-Z]{2})?\]\s+")
"""The language that SearXNG puts before an answer which it made itself."""
_SINCE: Final = datetime(1990, 1, 1, tzinfo=UTC)
_AHEAD: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Result:
    """One result: what the search says of a page."""

    rank: int
    url: str
    title: str
    text: str
    published: datetime | None


@dataclass(frozen=True, slots=True)
class Reply:
    """What SearXNG found; `facts` are (title, text, address) of things, `silent` engines that didn't answer."""

    results: tuple[Result, ...]
    answers: tuple[str, ...]
    facts: tuple[tuple[str, str, str | None], ...]
    silent: tuple[str, ...]


class Web:
    """Asks the SearXNG at `url`, for `seconds` at most, and reads pages by `pages`, if given."""

    tag = "web"

    def __init__(
        self,
        session: aiohttp.ClientSession,
        url: str | None,
        *,
        seconds: float,
        pages: Pages | None,
        ttl: float,
    ) -> None:
        self._session = session
        self._url = url
        self._seconds = seconds
        self._pages = pages
        self._problem = ""
        self.ttl = ttl
        self.version = made_of(url, pages is not None)

    @classmethod
    def from_settings(cls, settings: Settings, session: aiohttp.ClientSession) -> Web:
        """Return the source as it is set up."""
        return cls(
            session,
            settings.searxng_url,
            seconds=settings.searxng_request_timeout_seconds,
            pages=Pages(settings.web_private_hosts) if settings.web_fetch_pages else None,
            ttl=settings.cache_ttl_web_seconds,
        )

    async def start(self) -> None:
        """Begin nothing: it is asked when it is needed."""

    async def close(self) -> None:
        """End the connections to pages."""
        if self._pages is not None:
            await self._pages.close()

    def state(self) -> SourceState:
        """Return whether it is set up, and what went wrong when it was last asked."""
        if self._url is None:
            return SourceState(False, SETTING)
        return SourceState(True, detail=self._problem)

    async def ask(self, step: Step, question: Question) -> Outcome:
        """Search the web for the words."""
        if self._url is None:
            return NotConfigured(SETTING)
        outcome = await self._asked(self._url, step, question)
        self._problem = f"{outcome.kind}: {outcome.detail}" if isinstance(outcome, Failed) else ""
        return outcome

    async def _asked(self, url: str, step: Step, question: Question) -> Outcome:
        query = searched(step.query, question.language)
        until = question.deadline - _RESERVE
        try:
            said = await fetch_json(
                self._session,
                f"{url}/search",
                until=min(until, time.monotonic() + self._seconds),
                params={"q": query, "format": "json", "language": question.language},
            )
        except UpstreamError as error:
            return _failed(error, url)
        reply = await asyncio.to_thread(read, said, question.now)
        if reply is None:
            return Failed("bad_reply", f"{_host(url)} doesn't answer as SearXNG does")
        if not (reply.results or reply.answers or reply.facts):
            if reply.silent:
                return Failed("unreachable", f"no search engine answers: {', '.join(reply.silent)}")
            return Nothing()
        words = topic_words(query, question.language) or content_words(query, question.language)
        topic = Topic.of(list(dict.fromkeys(words))[:_MOST_WORDS], None, question.language)
        articles, whole = await self._articles(reply.results, topic, question.language, until)
        passages = await asyncio.to_thread(_passages, reply, articles, topic, question.language)
        seconds = self.ttl if whole else min(self.ttl, _PARTLY_SECONDS)
        return Found(passages, datetime.now(UTC) + timedelta(seconds=seconds))

    async def _articles(
        self, results: Sequence[Result], topic: Topic, language: str, until: float
    ) -> tuple[Mapping[int, Article], bool]:
        """Return what the first pages say that came in time, by the rank of their result, and whether none is late."""
        pages = self._pages
        if pages is None:
            return {}, True
        now = time.monotonic()
        until = min(now + _PAGE_SECONDS, now + _SHARE * (until - now))
        fetched = [result for result in results if allowed(result.url, pages.hosts)][:_MOST_PAGES]

        async def article(result: Result) -> Article | None:
            async with asyncio.timeout(max(0.0, until - time.monotonic())):
                page = await pages.fetch(result.url, language=language, until=until)
                return await asyncio.to_thread(
                    lambda: topic.said(
                        page.page(), title=result.title, name=result.title, url=page.url
                    )
                )

        said = await asyncio.gather(*map(article, fetched), return_exceptions=True)
        articles: dict[int, Article] = {}
        whole = True
        for result, got in zip(fetched, said, strict=True):
            if isinstance(got, (UpstreamError, TimeoutError)):
                _LOGGER.debug("%s isn't read: %s", _host(result.url), got)
                late = not isinstance(got, UpstreamError) or got.failed.kind == "timeout"
                whole = whole and not late
            elif isinstance(got, BaseException):
                raise got
            elif got is not None:
                articles[result.rank] = got
        return articles, whole


def searched(query: str, language: str) -> str:
    """Return what is searched for: the words of a question without those that ask for a search at all."""
    aligned = Aligned(query)
    for pattern in own_or_default(language, "web").get("asking", ()):
        if (found := re.fullmatch(pattern, aligned.folded)) is not None:
            query = aligned.taken(*found.span("topic"))
            break
    return _COMMANDS.sub("", query).strip() or query


def read(said: Any, now: datetime) -> Reply | None:
    """Return what a reply holds, as far as it can be read; None if it isn't one of SearXNG's. It may block."""
    if not isinstance(said, dict) or not isinstance(said.get("results"), list):
        return None
    return Reply(
        tuple(_results(said["results"], now)),
        tuple(_answers(_list(said, "answers")))[:_MOST_ANSWERS],
        tuple(_facts(_list(said, "infoboxes"))),
        tuple(
            _line(each[0])
            for each in _list(said, "unresponsive_engines")
            if isinstance(each, list) and each and isinstance(each[0], str)
        ),
    )


def _results(entries: Sequence[Any], now: datetime) -> Iterator[Result]:
    seen: set[str] = set()
    for entry in entries:
        url = feeds.web_address(_text(entry, "url"))
        if url is None or (same := feeds.same_address(url)) in seen:
            continue
        seen.add(same)
        title, text = _line(_text(entry, "title")), _prose(_text(entry, "content"))
        if title or text:
            yield Result(len(seen) - 1, url, title, text, _moment(entry.get("publishedDate"), now))
        if len(seen) == _MOST_RESULTS:
            break


def _answers(entries: Sequence[Any]) -> Iterator[str]:
    """Yield what answers a question by itself; older SearXNG has it as it is, newer in an object."""
    for entry in entries:
        text = _prose(entry if isinstance(entry, str) else _text(entry, "answer"))
        if text := _LABELLED.sub("", text, count=1):
            yield text


def _facts(entries: Sequence[Any]) -> Iterator[tuple[str, str, str | None]]:
    for entry in entries:
        lines = [_prose(_text(entry, "content"))]
        if not isinstance(entry, dict):
            continue
        for each in _list(entry, "attributes")[:_MOST_ATTRIBUTES]:
            label, value = _line(_text(each, "label")), _line(_text(each, "value"))
            if label and value:
                lines.append(f"{label}: {value.rstrip('.')}.")
        text = "\n".join(filter(None, lines))
        address = feeds.web_address(_text(entry, "id")) or feeds.web_address(_text(entry, "url"))
        if text:
            yield _line(_text(entry, "infobox")), text, address


def _passages(
    reply: Reply, articles: Mapping[int, Article], topic: Topic, language: str
) -> tuple[Passage, ...]:
    """Return what is told of a reply, the best first; it may block."""
    told = [
        Passage(Web.tag, "", text, language=language, score=4.0 - at, direct=True)
        for at, text in enumerate(reply.answers)
        if len(text) <= _SHORT_ANSWER and languages.detect(text) in (None, language)
    ]
    found: list[Passage] = [
        _passage(title, text, address, None, _held(topic, title, text) + _RANKED)
        for title, text, address in (
            *reply.facts,
            *(("", text, None) for text in reply.answers if text not in {p.text for p in told}),
        )
    ]
    for result in sorted(
        reply.results, key=lambda result: (result.rank not in articles, result.rank)
    )[:_MOST_TOLD]:
        ranked = _RANKED / (1 + result.rank)
        article = articles.get(result.rank)
        if article is None:
            score = _SUMMARY * _held(topic, result.title, result.text) + ranked
            # A title alone says what there is to read, not what is in it.
            if result.text:
                found.append(
                    _passage(result.title, result.text, result.url, result.published, score)
                )
            continue
        for at, (section, text) in enumerate(_quoted(article)):
            found.append(
                _passage(
                    _line(article.title or result.title),
                    text,
                    article.url,
                    result.published,
                    (article.score + ranked) * _SUMMARY**at,
                    section=section or None,
                    language=article.language,
                )
            )
    return (*told, *sorted(found, key=lambda passage: -passage.score))


def _quoted(article: Article) -> Sequence[tuple[str, str]]:
    """Return the passages of a page that are told: the best ones but for menus above the first heading."""
    told = [
        (section, text)
        for section, text in article.passages
        if section or not _is_menu(text.splitlines())
    ]
    return (told or article.passages)[:_MOST_QUOTED]


def _is_menu(lines: Sequence[str]) -> bool:
    """Return whether most lines are items of a word or a few."""
    items = [line for line in lines if line.startswith("- ") and len(line) < _SHORT_ITEM]
    return 2 * len(items) > sum(map(bool, lines))


def _held(topic: Topic, title: str, text: str) -> float:
    """Return how much of a topic a title and a text hold, as `Article.score` has it."""
    return coverage(edged(f"{title}\n{text}"), topic.weights) + topic.named(title)


def _passage(
    title: str,
    text: str,
    url: str | None,
    published: datetime | None,
    score: float,
    *,
    section: str | None = None,
    language: str | None = None,
) -> Passage:
    # What a page says of its language is often what its template said.
    spoken = languages.detect(text) or language
    return Passage(Web.tag, title, text, url, published, section, spoken, score)


def _failed(error: UpstreamError, url: str) -> Failed:
    """Return how a search failed, with the remedy where there is a known one."""
    if error.status == HTTPStatus.FORBIDDEN:
        return Failed(
            "bad_reply",
            f"{_host(url)} refuses JSON: add json to formats under search in its settings.yml",
        )
    if error.status == HTTPStatus.TOO_MANY_REQUESTS:
        return Failed(
            "busy",
            f"the limiter of {_host(url)} refuses: switch limiter off under server in its settings.yml",
        )
    return error.failed


def _host(url: str) -> str:
    return urlsplit(url).hostname or "SearXNG"


def _list(entry: Mapping[str, Any], key: str) -> list[Any]:
    value = entry.get(key)
    return value if isinstance(value, list) else []


def _text(entry: Any, key: str) -> str:
    value = entry.get(key) if isinstance(entry, dict) else None
    return value if isinstance(value, str) else ""


def _line(text: str) -> str:
    return " ".join(feeds.clean(text).split())[:_MOST_TITLE]


def _prose(text: str) -> str:
    return feeds.shortened(feeds.clean(text))


def _moment(value: Any, now: datetime) -> datetime | None:
    """Return when a page was published (UTC); None where nobody says, or it can't be."""
    try:
        moment = datetime.fromisoformat(value)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment if _SINCE <= moment <= now + _AHEAD else None
