"""RSS and Atom feeds as items of news.

Decides what of a feed is an item, when it was published, and which items are the same. A feed is written by others: it
is read as data, by feedparser, which resolves nothing and fetches nothing here. How much of it is read is
`feed_text`'s; where feeds come from, and which items a question is about, is `news`'.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from io import BytesIO
import re
from typing import Any, Final
from urllib.parse import urlsplit

from backend.sources.feed_text import MOST_ITEMS, NoFeed, bounded, decoded
from backend.text import language as languages, markup
from backend.text.words import fold

_MOST_MARKUP: Final = 100_000
_MOST_SUMMARY: Final = 1_200
_MOST_TITLE: Final = 300
_LANGUAGE_SHOWS: Final = 4_000
_MOST_ADDRESS: Final = 2_000
_AHEAD: Final = timedelta(minutes=15)
"""Clocks differ by so much; what is dated later has a wrong date, which tells nothing."""
_SINCE: Final = datetime(1990, 1, 1, tzinfo=UTC)
"""There was no feed before; such a date is the zero of somebody's clock."""
_MARKED: Final = re.compile(r"<\w|</|&#?\w+;")
_SENTENCE_ENDS: Final = re.compile(r"[.!?…][\"'”’»)]{0,2}(?=\s)|[。！？]")
_TRACKING: Final = re.compile(
    r"(?:utm_\w+|at_(?:medium|campaign|custom\d|link_\w+|format|creation|variant|bbc_team|ptr_name)|wt_\w+|"
    r"fbclid|[gdy]clid|msclkid|igshid|mc_[ce]id|cmpid|cmp|ocid|ftag|xtor)=.*|"
    r"(?:ref|partner|emc|src|source|from|maca)=[\w.-]*(?:rss|feed)[\w.-]*",
    re.IGNORECASE,
)
"""What tells an address's owner where a reader comes from; "ref" and the like may name the page as well."""
_PORTS: Final = {"http": 80, "https": 443}
_SAYS_ENOUGH: Final = 3
"""A title of fewer words ("Live", "Comment") may stand over different news."""


@dataclass(frozen=True, slots=True)
class NewsItem:
    """One piece of news; `published` is aware, UTC, None where the feed doesn't say."""

    title: str
    text: str
    url: str | None
    published: datetime | None
    language: str | None = None


def parse(body: bytes) -> list[NewsItem]:
    """Return the items of a feed, in its order, the newest ones if they are many; blocks. Raises NoFeed."""
    import feedparser

    text = f'<?xml version="1.0" encoding="utf-8"?>\n{bounded(decoded(body))}'
    # Handed over as a stream: bytes alone it would take for the name of a file first.
    feed = feedparser.parse(
        BytesIO(text.encode()),
        response_headers={},
        resolve_relative_uris=False,
        sanitize_html=False,
    )
    entries = feed.get("entries") or []
    if not entries and not feed.get("version"):
        raise NoFeed
    named = feed.feed.get("language")
    language = languages.primary(named) if isinstance(named, str) and named else None
    items = [item for entry in entries if (item := _item(entry)) is not None]
    items = in_language(items, language)
    newest = {id(item) for item in newest_first(items)[:MOST_ITEMS]}
    return [item for item in items if id(item) in newest]


def in_language(items: Sequence[NewsItem], named: str | None = None) -> list[NewsItem]:
    """Return items of one feed in the language that they are written in, `named` where that can't be told.

    Many feeds name the language of the software that makes them.
    """
    text = "\n".join(f"{item.title}\n{item.text}" for item in items)
    language = languages.detect(text[:_LANGUAGE_SHOWS]) or named
    return [replace(item, language=language) for item in items]


def _item(entry: Any) -> NewsItem | None:
    title = clean(_text(entry.get("title")))[:_MOST_TITLE].strip()
    contents = [_text(content.get("value")) for content in entry.get("content") or ()]
    text = clean(_text(entry.get("summary")) or next(filter(None, contents), ""))
    if not title:
        title, _, text = text.partition("\n")
    if not title:
        return None
    moments = (_moment(entry, "published"), _moment(entry, "updated"))
    return NewsItem(
        title[:_MOST_TITLE],
        shortened(text),
        web_address(_text(entry.get("link"))),
        min(filter(None, moments), default=None),
    )


def clean(source: str) -> str:
    """Return a text that may be HTML without its marks, paragraphs parted by blank lines."""
    source = source[:_MOST_MARKUP]
    if not _MARKED.search(source):
        return source.strip()
    page = markup.html(f"<body><div>{source}</div></body>")
    return "\n\n".join(filter(None, [page.title, *(part.text for part in page.parts)])).strip()


def shortened(text: str) -> str:
    """Return the paragraphs of a text that fit; where that leaves most of the room, its sentences, or else its words."""
    if len(text) <= _MOST_SUMMARY:
        return text
    ends = (
        text.rfind("\n\n", 0, _MOST_SUMMARY),
        max((found.end() for found in _SENTENCE_ENDS.finditer(text, 0, _MOST_SUMMARY)), default=-1),
        text.rfind(" ", 0, _MOST_SUMMARY),
    )
    return text[: next((at for at in ends if at >= _MOST_SUMMARY // 2), _MOST_SUMMARY)].rstrip()


def web_address(link: str) -> str | None:
    """Return a link that a person can follow; None for any other, such as scripts and files."""
    try:
        parts = urlsplit(link.strip())
        web = parts.scheme in _PORTS and parts.hostname and parts.port != 0
        if web and len(link) <= _MOST_ADDRESS and not re.search(r"\s", link.strip()):
            return link.strip()
    except ValueError:
        pass
    return None


def same_address(url: str) -> str:
    """Return what two web addresses of one page have in common: no scheme, "www.", tracking, fragment or last slash.

    Whatever else differs may tell one page from another.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    port = "" if parts.port in (None, _PORTS.get(parts.scheme)) else f":{parts.port}"
    asked = sorted(one for one in parts.query.split("&") if one and not _TRACKING.fullmatch(one))
    # Some sites have their pages behind the mark: "/#!/news/1".
    page = parts.fragment if parts.fragment.startswith(("!", "/")) else ""
    return f"{host}{port}{parts.path.rstrip('/')}?{'&'.join(asked)}#{page}"


def distinct(items: Iterable[NewsItem]) -> list[NewsItem]:
    """Return items without those whose title or address was there before; one of them with a text lends it."""
    kept: list[NewsItem] = []
    seen: dict[str, int] = {}
    for item in items:
        title = fold(item.title)
        marks = [same_address(item.url)] if item.url else []
        if len(title.split()) >= _SAYS_ENOUGH or not item.url:
            marks.append(title)
        at = next((seen[mark] for mark in marks if mark in seen), len(kept))
        if at == len(kept):
            kept.append(item)
        elif not kept[at].text:
            kept[at] = replace(kept[at], text=item.text)
        for mark in marks:
            seen.setdefault(mark, at)
    return kept


def known_dates(items: Iterable[NewsItem], now: datetime) -> list[NewsItem]:
    """Return items whose dates can be right as of `now`: one that is still to come tells nothing."""
    return [
        replace(item, published=None)
        if item.published and not _SINCE <= item.published <= now + _AHEAD
        else item
        for item in items
    ]


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


def _moment(entry: Any, name: str) -> datetime | None:
    """Return a date, in UTC where it names no zone; None for none, or one that no calendar has."""
    # By the plain `get`: feedparser's own answers for one date with the other, and warns of it.
    parsed, written = dict.get(entry, f"{name}_parsed"), _text(dict.get(entry, name))
    try:
        if parsed:
            return datetime.fromtimestamp(calendar.timegm(parsed), UTC)
        # Without a zone feedparser makes nothing of a date in the manner of mails.
        at = parsedate_to_datetime(written)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError, OSError, TypeError):
        return None
