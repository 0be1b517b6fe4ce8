"""Encyclopedias and manuals in ZIM files, read in this process.

Decides which books are asked, which of their articles are on the topic, and which passages of those are passed on.
Files are looked for again and again; a book is opened when a question first needs one, and libzim with it. All of it
happens in a few threads, each of which stops by itself when the question's time is over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
import hashlib
import itertools
import logging
import math
from pathlib import Path
import re
import struct
import threading
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import quote
import uuid

from backend.languages import DEFAULT
from backend.sources.base import SourceState
from backend.text import language as languages, markup, parts
from backend.text.pieces import PART_OF_WORD, coverage, edged, is_code
from backend.text.words import content_words, tokens, topic_words
from backend.types import Failed, Found, NotConfigured, Nothing, Outcome, Passage, Question, Step

if TYPE_CHECKING:
    from libzim.reader import Archive, Item
    from libzim.search import Search, Searcher
    from libzim.suggestion import SuggestionSearcher

_LOGGER = logging.getLogger(__name__)

SETTING: Final = "ZIM_DIR"
_THREADS: Final = 2
_MOST_BOOKS: Final = 2
_MOST_HITS: Final = 8
"""So many articles of a search are looked at by their titles, and `_MOST_READ` of them are read."""
_MOST_READ: Final = 3
_MOST_ARTICLES: Final = 2
_MOST_QUOTED: Final = 3
_MOST_CHARACTERS: Final = 3_000
_MOST_BYTES: Final = 1_000_000
"""An article is read up to here; what is longer is a list or a log."""
_MOST_PASSAGES: Final = 400
_MOST_WEIGHED: Final = 24
_SAME_WORD: Final = 0.75
"""A title names a thing by words that share this much with those of the question."""
_MOST_WORDS: Final = 8
_COVERED: Final = 0.6
"""So much of what the words weigh an article must hold to be on the question's topic."""
_NEAR_BEST: Final = 0.7
_PROMISING: Final = 0.4
"""A book that can hold less of the question isn't searched further."""
_FOREIGN: Final = 0.7
"""What is in another language than the question counts so much of what is in the same."""
_LISTED: Final = 0.6
_LIST: Final = 0.5
"""A page of which more than the share `_LISTED` stands in lists is a list, and counts so much."""
_CODE_WEIGHT: Final = 3.0
_FIRST: Final = 0.2
"""What the first passage of an article is given before others: there it says what the thing is."""
_NUMBERING: Final = re.compile(r"^\s*(?:[A-Z0-9]+\.)+[0-9]*\s+")
"""The number before the heading of a chapter."""
_MAGIC: Final = b"ZIM\x04"
_HEADER: Final = struct.Struct("<72xQ")
_CHECKSUM_BYTES: Final = 16
# ISO 639-3 and 639-2, as books name their language, where it isn't the first two letters of a code.
_CODES: Final = {
    "deu": "de", "ger": "de", "spa": "es", "nld": "nl", "dut": "nl", "pol": "pl", "por": "pt", "zho": "zh",
    "chi": "zh", "swe": "sv", "ces": "cs", "cze": "cs", "tur": "tr", "ukr": "uk", "ell": "el", "gre": "el",
    "dan": "da", "ind": "id", "kor": "ko", "jpn": "ja", "ara": "ar", "hye": "hy", "kat": "ka", "slk": "sk",
    "est": "et", "gle": "ga", "fas": "fa", "per": "fa", "mal": "ml", "bul": "bg", "srp": "sr", "hrv": "hr",
}  # fmt: skip


class _Late(Exception):
    """The question's time is over."""


@dataclass(slots=True)
class _Book:
    """A ZIM file. What libzim holds of it belongs to one thread at a time."""

    path: Path
    stamp: tuple[int, int]
    lock: threading.Lock = field(default_factory=threading.Lock)
    archive: Archive | None = None
    searcher: Searcher | None = None
    suggester: SuggestionSearcher | None = None
    language: str | None = None
    problem: str = ""

    @property
    def name(self) -> str:
        """The file's name, as it stands in addresses and in what the owner is told."""
        return self.path.name

    def open(self) -> bool:
        """Open the file, if it isn't yet; return whether it can be searched."""
        if self.archive is None and not self.problem:
            from libzim.reader import Archive
            from libzim.search import Searcher
            from libzim.suggestion import SuggestionSearcher

            try:
                archive = Archive(self.path)
                if archive.has_fulltext_index:
                    self.searcher = Searcher(archive)
                if archive.has_title_index:
                    self.suggester = SuggestionSearcher(archive)
                self.language = _language(archive)
            except (RuntimeError, OSError, ValueError) as error:
                self.problem = f"can't be read ({_line(error)})"
            else:
                self.archive = archive
                if self.searcher is None and self.suggester is None:
                    self.problem = "has no index, so it can't be searched"
            if self.problem:
                _LOGGER.warning("%s %s", self.path, self.problem)
        return not self.problem

    @contextmanager
    def trusted(self) -> Iterator[None]:
        """Close the book where it turns out to be damaged, or is written over while it is open; the others go on."""
        try:
            yield
        except (RuntimeError, OSError, ValueError, KeyError) as error:
            self.problem = f"can't be read any more ({_line(error)})"
            self.archive = self.searcher = self.suggester = None
            _LOGGER.warning("%s %s", self.path, self.problem)


@dataclass(frozen=True, slots=True)
class _Article:
    """What an article has to say on a question."""

    book: _Book
    path: str
    title: str
    language: str | None
    passages: tuple[tuple[str, str], ...]
    score: float


class Kiwix:
    """Answers from the ZIM files in `folder`, looked for every `rescan_seconds`."""

    tag = "kiwix"

    def __init__(self, folder: Path, *, rescan_seconds: float, ttl: float) -> None:
        self._folder = folder
        self._rescan_seconds = rescan_seconds
        self.ttl = ttl
        self._books: dict[Path, _Book] = {}
        self._threads = ThreadPoolExecutor(_THREADS, "zim")
        self._listed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        # Nothing that was kept before the first look may be taken for what the books say now.
        self._version = f"unread-{uuid.uuid4().hex[:8]}"

    @property
    def version(self) -> str:
        """A word that changes with the files."""
        return self._version

    async def start(self) -> None:
        """Begin to look for files; returns at once."""
        if self._task is None:
            self._task = asyncio.create_task(self._watch(), name="zim")

    async def close(self) -> None:
        """Stop looking, and let go of the files once nobody reads in them."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)
        self._books.clear()

    def state(self) -> SourceState:
        """Return how many books there are, and which can't be read, and why."""
        if self._listed.is_set() and not self._books:
            return SourceState(False, SETTING, f"no ZIM file in {self._folder}")
        books = sorted(self._books.values(), key=lambda book: book.name)
        problems = [f"{book.name} {book.problem}" for book in books if book.problem]
        return SourceState(True, detail="; ".join(problems), documents=len(books) - len(problems))

    async def ask(self, step: Step, question: Question) -> Outcome:
        """Look the words up in the best books."""
        try:
            async with asyncio.timeout(max(0.0, question.left)):
                await self.start()
                await self._listed.wait()
                if not self._books:
                    return NotConfigured(SETTING)
                words = list(dict.fromkeys(topic_words(step.query, question.language)))
                articles = await asyncio.get_running_loop().run_in_executor(
                    self._threads,
                    self._look_up,
                    words[:_MOST_WORDS],
                    question.language,
                    question.deadline,
                )
        except (TimeoutError, _Late):
            return Failed("timeout", "the books took too long")
        if all(book.problem for book in self._books.values()):
            return Failed("unreadable", self.state().detail)
        passages = tuple(_passages(articles))
        if not passages:
            return Nothing()
        return Found(passages, datetime.now(UTC) + timedelta(seconds=self.ttl))

    async def scan(self) -> None:
        """Look for files now."""
        found = await asyncio.to_thread(_list, self._folder)
        for path, stamp in found.items():
            book = self._books.get(path)
            if book is None or book.stamp != stamp:
                book = _Book(path, stamp, problem=await asyncio.to_thread(_check, path))
                if book.problem:
                    _LOGGER.warning("%s %s", path, book.problem)
                self._books[path] = book
        for path in self._books.keys() - found.keys():
            del self._books[path]
        said = "\n".join(f"{path.name}\0{stamp}" for path, stamp in sorted(found.items()))
        self._version = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]
        self._listed.set()

    async def _watch(self) -> None:
        while True:
            try:
                await self.scan()
            except OSError as error:
                _LOGGER.warning("%s can't be looked through (%s)", self._folder, error.strerror)
                self._listed.set()
            await asyncio.sleep(self._rescan_seconds)

    def _look_up(self, words: Sequence[str], language: str, deadline: float) -> list[_Article]:
        """Return the articles on the topic of `words`, best first; blocks, raises _Late."""
        searches: list[_Search] = []
        for book in list(self._books.values()):
            with _held(book, deadline), book.trusted():
                if book.open():
                    searches.append(_Search.of(book, words, language))
        searches.sort(key=lambda search: -search.promise)
        articles: list[_Article] = []
        for search in searches[:_MOST_BOOKS]:
            if search.promise >= _PROMISING:
                with _held(search.book, deadline), search.book.trusted():
                    articles += search.articles(deadline)
        articles.sort(key=lambda article: -article.score)
        return [
            article
            for article in articles[:_MOST_ARTICLES]
            if article.score >= _NEAR_BEST * articles[0].score
        ]


@dataclass(frozen=True, slots=True)
class _Search:
    """The words of a question in one book, each with its weight; `known` are those that the book holds."""

    book: _Book
    weights: Mapping[str, float]
    known: tuple[str, ...]
    foreign: bool

    @classmethod
    def of(cls, book: _Book, words: Sequence[str], language: str) -> _Search:
        """Ask a book how rare the words are in it."""
        assert book.archive is not None
        foreign = book.language not in (None, language)
        if book.searcher is None:
            return cls(book, dict.fromkeys(words, 1.0), tuple(words), foreign)
        total = book.archive.article_count
        counts = {word: _found(book.searcher, word).getEstimatedMatches() for word in words}
        weights = {
            word: max(0.1, math.log((total + 1) / (count + 0.5)))
            * (_CODE_WEIGHT if is_code(word) else 1.0)
            for word, count in counts.items()
        }
        known = tuple(word for word in words if counts[word])
        # Other names of a thing are in titles only, those of redirections.
        if (
            len(known) < len(words)
            and book.suggester is not None
            and book.suggester.suggest(" ".join(words)).getEstimatedMatches()
        ):
            known = tuple(words)
        return cls(book, weights, known, foreign)

    @property
    def promise(self) -> float:
        """How much of the question the book could hold at most, 0 to 1; less for another language."""
        total = sum(self.weights.values())
        held = sum(self.weights[word] for word in self.known)
        return held / total * (_FOREIGN if self.foreign else 1.0) if total else 0.0

    def articles(self, deadline: float) -> Iterator[_Article]:
        """Yield the articles that are on the topic, of those that the book's own indexes offer."""
        offered: dict[str, tuple[float, str, Item]] = {}
        for rank, path in enumerate(self._offered(deadline)):
            try:
                entry = self._archive.get_entry_by_path(path)
                # A redirection leads to its article, and is another name of it.
                item = entry.get_item()
            except (KeyError, RuntimeError):
                continue
            if item.path in offered or not item.mimetype.startswith("text/html"):
                continue
            name = max((item.title, entry.title), key=self._named)
            offered[item.path] = (self._named(name) + 0.5 / (1 + rank), name, item)
        best = sorted(offered.values(), key=lambda one: -one[0])[:_MOST_READ]
        for _, name, item in best:
            _in_time(deadline)
            try:
                article = self._article(item, name)
            except RuntimeError as error:
                # A large book has other pages than the damaged one.
                _LOGGER.warning("%s: %s: %s", self.book.path, item.path, _line(error))
                continue
            if article is not None:
                yield article

    @property
    def _archive(self) -> Archive:
        assert self.book.archive is not None
        return self.book.archive

    def _offered(self, deadline: float) -> Iterator[str]:
        """Yield paths of articles: first by their titles, then by what they say."""
        if self.book.suggester is not None:
            for phrase in _phrases(tuple(self.weights)):
                _in_time(deadline)
                suggestion = self.book.suggester.suggest(phrase)
                if paths := list(suggestion.getResults(0, _MOST_HITS)):
                    yield from paths
                    break
        if self.book.searcher is None:
            return
        # The index holds that all words must be there: one after the other is left out, the commonest first.
        rarest = sorted(self.known, key=lambda word: -self.weights[word])
        seen = 0
        for count in range(len(rarest), len(rarest) // 2, -1):
            _in_time(deadline)
            paths = list(
                _found(self.book.searcher, " ".join(rarest[:count])).getResults(0, _MOST_HITS)
            )
            yield from paths
            seen += len(paths)
            if seen >= _MOST_HITS:
                break

    def _named(self, title: str) -> float:
        """Return how much the words and a title name the same thing, 0 to 1."""
        # "1.1. What Is Debian?" is about Debian.
        bare = _NUMBERING.sub("", title)
        own = content_words(bare, self.book.language or DEFAULT) or tokens(bare)
        if not own:
            return 0.0
        asked = edged(" ".join(self.weights))
        return coverage(edged(title), self.weights, _SAME_WORD) * coverage(
            asked, dict.fromkeys(own, 1.0), _SAME_WORD
        )

    def _article(self, item: Item, name: str) -> _Article | None:
        """Return the article, which is also called `name`; None if it isn't on the topic."""
        content = bytes(item.content[:_MOST_BYTES]).decode("utf-8", "replace")
        page = markup.html(content)
        title = page.title or item.title
        cut = list(itertools.islice(parts.passages(page.parts), _MOST_PASSAGES))
        named = edged(f"{title}\n{name}")
        # A part of a word means nothing in another language.
        least = 1.0 if self.foreign else PART_OF_WORD
        rated = []
        for at in self._likely(cut):
            there = edged("\n".join(cut[at]))
            rated.append(
                (
                    coverage(there, self.weights, least) + (_FIRST if at == 0 else 0.0),
                    -at,
                    coverage(named + there, self.weights, least),
                )
            )
        rated.sort(reverse=True)
        # In one passage: the words of a question are somewhere in any long article.
        covered = max((whole for _, _, whole in rated), default=0.0)
        if covered < _COVERED:
            return None
        best = [-at for _, at, _ in rated[:_MOST_QUOTED]]
        score = covered + max(self._named(title), self._named(name))
        if _is_list(cut):
            score *= _LIST
        if self.foreign:
            score *= _FOREIGN
        language = languages.primary(page.language) if page.language else self.book.language
        return _Article(self.book, item.path, title, language, tuple(cut[at] for at in best), score)

    def _likely(self, cut: Sequence[tuple[str, str]]) -> list[int]:
        """Return the places of the passages worth a closer look: a quick one at how their words begin."""
        if len(cut) <= _MOST_WEIGHED:
            return list(range(len(cut)))
        starts = [word[: max(4, len(word) - 2)] for word in self.known]
        count = {
            at: sum(start in text for start in starts)
            for at, text in enumerate(text.casefold() for _, text in cut)
        }
        return [0, *sorted(range(1, len(cut)), key=lambda at: -count[at])[: _MOST_WEIGHED - 1]]


def _passages(articles: Sequence[_Article]) -> Iterator[Passage]:
    """Yield the best passages of each article in turn, as long as there is room."""
    left = _MOST_CHARACTERS
    for turn in range(_MOST_QUOTED):
        for article in articles:
            if turn < len(article.passages) and len(article.passages[turn][1]) <= left:
                section, text = article.passages[turn]
                left -= len(text)
                yield Passage(
                    source=Kiwix.tag,
                    title=article.title,
                    text=text,
                    url=f"zim://{quote(article.book.path.stem)}/{quote(article.path)}",
                    section=section or None,
                    language=article.language,
                    score=article.score / (1 + turn),
                )


def _phrases(words: Sequence[str]) -> Iterator[str]:
    """Yield runs of `words`, the longest first: the name of the thing is one of them."""
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])


def _is_list(cut: Iterable[tuple[str, str]]) -> bool:
    """Return whether a page mostly lists other things, as disambiguations do."""
    total = listed = 0
    for _, text in cut:
        for line in text.split("\n"):
            total += len(line)
            listed += len(line) if line.startswith("- ") else 0
    return listed > _LISTED * total


def _found(searcher: Searcher, words: str) -> Search:
    from libzim.search import Query

    return searcher.search(Query().set_query(words))


@contextmanager
def _held(book: _Book, deadline: float) -> Iterator[None]:
    """Have a book to oneself; raises _Late."""
    if not book.lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
        raise _Late
    try:
        _in_time(deadline)
        yield
    finally:
        book.lock.release()


def _line(error: Exception) -> str:
    """Return what libzim says in a line; of a damaged table it tells every entry."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(": ")


def _in_time(deadline: float) -> None:
    if time.monotonic() >= deadline:
        raise _Late


def _language(archive: Archive) -> str | None:
    """Return the language of a book, None if it is in several or doesn't say."""
    if "Language" not in archive.metadata_keys:
        return None
    code = archive.get_metadata("Language").decode("utf-8", "replace").strip().lower()
    if not code or "," in code or code == "mul":
        return None
    return _CODES.get(code) or languages.primary(code)[:2]


def _list(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return the ZIM files in `folder` with time and size; none where there is no folder."""
    found = {}
    for path in sorted(folder.glob("*.zim")):
        try:
            stat = path.stat()
        except OSError:
            continue
        if path.is_file():
            found[path] = (stat.st_mtime_ns, stat.st_size)
    return found


def _check(path: Path) -> str:
    """Return what is wrong with a file, as far as its head tells: libzim isn't loaded for it.

    https://wiki.openzim.org/wiki/ZIM_file_format: the checksum is the last thing in a file.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
        size = path.stat().st_size
    except OSError as error:
        return f"can't be read ({error.strerror or error})"
    if not head.startswith(_MAGIC) or len(head) < _HEADER.size:
        return "is no ZIM file"
    (checksum,) = _HEADER.unpack(head)
    if checksum + _CHECKSUM_BYTES > size:
        return "is not complete; copy or download it again"
    return ""
