"""RSS and Atom feeds as items of news.

Decides what of a feed is an item, when it was published, and which items are the same. A feed is written by others: it
is read as data, by feedparser, which resolves nothing and fetches nothing here. Where feeds come from, and which items
a question is about, is `news`'.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO
import re
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from backend.text import language as languages, markup
from backend.text.words import fold

_MOST_ITEMS: Final = 200
_MOST_MARKUP: Final = 100_000
_MOST_SUMMARY: Final = 1_200
_MOST_TITLE: Final = 300
_AHEAD: Final = timedelta(minutes=15)
"""Clocks differ by so much; what is dated later has a wrong date, which tells nothing."""
_MARKED: Final = re.compile(r"<\w|</|&#?\w+;")
_TRACKING: Final = re.compile(r"utm_\w+|fbclid|gclid|at_\w+|mc_[ce]id|cmpid|ref|partner")
_SAYS_ENOUGH: Final = 3
"""A title of fewer words ("Live", "Comment") may stand over different news."""


class NoFeed(Exception):
    """What was read is no feed."""


@dataclass(frozen=True, slots=True)
class NewsItem:
    """One piece of news; `published` is aware, UTC, None where the feed doesn't say or can't know."""

    title: str
    text: str
    url: str | None
    published: datetime | None
    language: str | None = None


def parse(body: bytes, now: datetime) -> list[NewsItem]:
    """Return the items of a feed, in its order; blocks. Raises NoFeed."""
    import feedparser

    # Handed over as a stream: bytes alone it would take for the name of a file first.
    feed = feedparser.parse(
        BytesIO(body), response_headers={}, resolve_relative_uris=False, sanitize_html=False
    )
    entries = feed.get("entries") or []
    if not entries and not feed.get("version"):
        raise NoFeed
    named = feed.feed.get("language")
    language = languages.primary(named) if isinstance(named, str) and named else None
    items = (_item(entry, language, now) for entry in entries[:_MOST_ITEMS])
    return [item for item in items if item is not None]


def _item(entry: Any, language: str | None, now: datetime) -> NewsItem | None:
    title = clean(_text(entry.get("title")))[:_MOST_TITLE].strip()
    contents = [_text(content.get("value")) for content in entry.get("content") or ()]
    text = clean(_text(entry.get("summary")) or next(filter(None, contents), ""))
    if not title:
        title, _, text = text.partition("\n")
    if not title:
        return None
    # By the plain `get`: feedparser's own answers for one date with the other, and warns of it.
    moments = (dict.get(entry, "published_parsed"), dict.get(entry, "updated_parsed"))
    return NewsItem(
        title[:_MOST_TITLE],
        shortened(text),
        web_address(_text(entry.get("link"))),
        next((at for at in map(_moment, moments) if at and at <= now + _AHEAD), None),
        language,
    )


def clean(source: str) -> str:
    """Return a text that may be HTML without its marks, paragraphs parted by blank lines."""
    source = source[:_MOST_MARKUP]
    if not _MARKED.search(source):
        return source.strip()
    page = markup.html(f"<body><div>{source}</div></body>")
    return "\n\n".join(filter(None, [page.title, *(part.text for part in page.parts)])).strip()


def shortened(text: str) -> str:
    """Return the paragraphs of a text that fit, or the words of the first one."""
    if len(text) <= _MOST_SUMMARY:
        return text
    at = text.rfind("\n\n", 0, _MOST_SUMMARY)
    if at <= 0:
        at = max(text.rfind(". ", 0, _MOST_SUMMARY) + 1, text.rfind(" ", 0, _MOST_SUMMARY) // 2)
    return text[: at if at > 0 else _MOST_SUMMARY].rstrip()


def web_address(link: str) -> str | None:
    """Return a link that a person can follow; None for any other, such as scripts and files."""
    try:
        parts = urlsplit(link.strip())
        if parts.scheme in ("http", "https") and parts.hostname and not re.search(r"\s", link):
            return link.strip()[:2_000]
    except ValueError:
        pass
    return None


def same_address(url: str) -> str:
    """Return what two addresses of one page have in common: no scheme, "www.", tracking, fragment or last slash."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    asked = [(key, value) for key, value in parse_qsl(parts.query) if not _TRACKING.fullmatch(key)]
    return urlunsplit(("", host, parts.path.rstrip("/"), urlencode(sorted(asked)), ""))


def distinct(items: Iterable[NewsItem]) -> list[NewsItem]:
    """Return items without those whose title or address was there before."""
    seen: set[str] = set()
    kept = []
    for item in items:
        title = fold(item.title)
        marks = {same_address(item.url)} if item.url else set()
        if len(title.split()) >= _SAYS_ENOUGH or not item.url:
            marks.add(title)
        if seen.isdisjoint(marks):
            kept.append(item)
        seen |= marks
    return kept


def newest_first(items: Iterable[NewsItem]) -> list[NewsItem]:
    """Return items by their date; those without one are last, in their own order."""
    return sorted(items, key=lambda item: -(item.published.timestamp() if item.published else 0.0))


def within(
    items: Sequence[NewsItem], since: datetime, until: datetime, now: datetime
) -> list[NewsItem]:
    """Return the items of a span of time; what has no date is as of now, when a feed still lists it."""
    return [
        item
        for item in items
        if (since <= item.published <= until + _AHEAD if item.published else until >= now)
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _moment(parsed: Any) -> datetime | None:
    """Return a date as feedparser gives it (UTC), None for none, or one that no calendar has."""
    try:
        return datetime.fromtimestamp(calendar.timegm(parsed), UTC) if parsed else None
    except (ValueError, OverflowError, OSError, TypeError):
        return None
