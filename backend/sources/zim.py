"""Books in ZIM files, read in this process: https://wiki.openzim.org/wiki/ZIM_file_format.

Decides which books hold most of a question's words, and which of their articles are read; what those say on it is
`books`'. All of it blocks, in a thread of the caller's, and stops by itself when the question's time is over.
A book is opened when a question first needs it, and libzim with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
import logging
from pathlib import Path
import struct
import threading
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from backend.sources.books import (
    MOST_BOOKS,
    MOST_BYTES,
    MOST_HITS,
    PROMISING,
    Article,
    Topic,
    languages_of,
)

if TYPE_CHECKING:
    from libzim.reader import Archive, Item
    from libzim.search import Search as Hits, Searcher
    from libzim.suggestion import SuggestionSearcher

_LOGGER = logging.getLogger(__name__)

_MAGIC: Final = b"ZIM\x04"
_HEADER: Final = struct.Struct("<72xQ")
_CHECKSUM_BYTES: Final = 16


class Late(Exception):
    """The question's time is over."""


@dataclass(slots=True)
class Book:
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


def look_up(
    books: Iterable[Book], words: Sequence[str], language: str, deadline: float
) -> list[Article]:
    """Return the articles on the topic of `words`; blocks, raises Late."""
    searches: list[_Search] = []
    for book in books:
        with _held(book, deadline), book.trusted():
            if book.open():
                searches.append(_Search.of(book, words, language))
    searches.sort(key=lambda search: -search.topic.promise)
    articles: list[Article] = []
    for search in searches[:MOST_BOOKS]:
        if search.topic.promise >= PROMISING:
            with _held(search.book, deadline), search.book.trusted():
                articles += search.articles(deadline)
    return articles


@dataclass(frozen=True, slots=True)
class _Search:
    """The words of a question in one book: weighed alike, and by how rare they are in it."""

    book: Book
    alike: Topic
    topic: Topic
    entitled: bool

    @classmethod
    def of(cls, book: Book, words: Sequence[str], language: str) -> _Search:
        """Ask a book how rare the words are in it, and whether a title has them all: other names are in titles only."""
        assert book.archive is not None
        alike = topic = Topic.of(words, book.language, language)
        entitled = (
            book.suggester is not None
            and book.suggester.suggest(" ".join(words)).getEstimatedMatches() > 0
        )
        if book.searcher is not None:
            counts = {word: _found(book.searcher, word).getEstimatedMatches() for word in words}
            topic = alike.counted(counts, book.archive.article_count)
            if entitled:
                topic = replace(topic, known=alike.known)
        return cls(book, alike, topic, entitled)

    def articles(self, deadline: float) -> list[Article]:
        """Return the articles that are on the topic, of those that the book's own indexes offer."""
        lists = [self._titled(deadline)]
        if self.book.searcher is None:
            return list(self._read(self.alike, lists, deadline))
        full = self._searched(self.book.searcher, " ".join(self.alike.weights), deadline)
        lists.append(full)
        if full or self.entitled:
            articles = list(self._read(self.alike, lists, deadline))
            if articles:
                return articles
        more = 0
        for words in self.topic.searches():
            lists.append(self._searched(self.book.searcher, words, deadline))
            more += len(lists[-1])
            if more >= MOST_HITS:
                break
        return list(self._read(self.topic, lists, deadline))

    def _titled(self, deadline: float) -> list[str]:
        """Return the paths of articles by their titles: the longest run of words that there are titles of names it."""
        if self.book.suggester is not None:
            for phrase in self.alike.phrases():
                _in_time(deadline)
                if paths := list(self.book.suggester.suggest(phrase).getResults(0, MOST_HITS)):
                    return paths
        return []

    def _searched(self, searcher: Searcher, words: str, deadline: float) -> list[str]:
        """Return the paths of articles that hold all words."""
        _in_time(deadline)
        return list(_found(searcher, words).getResults(0, MOST_HITS))

    def _read(
        self, topic: Topic, lists: Iterable[Iterable[str]], deadline: float
    ) -> Iterator[Article]:
        """Yield those of the likeliest articles that are on the topic."""
        items: dict[str, Item] = {}
        offered = [list(self._items(paths, items)) for paths in lists]
        for path, name in topic.likely(offered):
            _in_time(deadline)
            item = items[path]
            try:
                content = bytes(item.content[:MOST_BYTES]).decode("utf-8", "replace")
                url = f"zim://{quote(self.book.path.stem)}/{quote(path)}"
                article = topic.read(content, title=item.title, name=name, url=url)
            except RuntimeError as error:
                # A large book has other pages than the damaged one.
                _LOGGER.warning("%s: %s: %s", self.book.path, path, _line(error))
                continue
            if article is not None:
                yield article

    def _items(self, paths: Iterable[str], items: dict[str, Item]) -> Iterator[tuple[str, str]]:
        """Yield (path, name) of the articles at `paths`, and put them into `items`."""
        for path in paths:
            try:
                entry = self._archive.get_entry_by_path(path)
                # A redirection leads to its article, and is another name of it.
                item = entry.get_item()
            except (KeyError, RuntimeError):
                continue
            if item.mimetype.startswith("text/html"):
                items[item.path] = item
                yield item.path, max((item.title, entry.title), key=self.alike.named)

    @property
    def _archive(self) -> Archive:
        assert self.book.archive is not None
        return self.book.archive


def _found(searcher: Searcher, words: str) -> Hits:
    from libzim.search import Query

    return searcher.search(Query().set_query(words))


@contextmanager
def _held(book: Book, deadline: float) -> Iterator[None]:
    """Have a book to oneself; raises Late."""
    if not book.lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
        raise Late
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
        raise Late


def _language(archive: Archive) -> str | None:
    """Return the language of a book, None if it is in several or doesn't say."""
    if "Language" not in archive.metadata_keys:
        return None
    named = languages_of(archive.get_metadata("Language").decode("utf-8", "replace"))
    return named[0] if len(named) == 1 else None


def listed(folder: Path) -> dict[Path, tuple[int, int]]:
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


def check(path: Path) -> str:
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
