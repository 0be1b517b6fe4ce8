"""Books in ZIM files, read in this process: https://wiki.openzim.org/wiki/ZIM_file_format.

Decides which books hold most of a question's words, which of their articles are on its topic, and which passages of
those say most. All of it blocks, in a thread of the caller's, and stops by itself when the question's time is over.
A book is opened when a question first needs it, and libzim with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
import itertools
import logging
import math
from pathlib import Path
import re
import struct
import threading
import time
from typing import TYPE_CHECKING, Final

from backend.languages import DEFAULT
from backend.text import language as languages, markup, parts
from backend.text.pieces import PART_OF_WORD, coverage, edged, is_code
from backend.text.words import content_words, tokens

if TYPE_CHECKING:
    from libzim.reader import Archive, Item
    from libzim.search import Search as Hits, Searcher
    from libzim.suggestion import SuggestionSearcher

_LOGGER = logging.getLogger(__name__)

_MOST_BOOKS: Final = 2
_MOST_HITS: Final = 8
"""So many articles of a search are looked at by their titles, and `_MOST_READ` of them are read."""
_MOST_READ: Final = 3
_MOST_ARTICLES: Final = 2
MOST_QUOTED: Final = 3
_MOST_BYTES: Final = 1_000_000
"""An article is read up to here; what is longer is a list or a log."""
_MOST_PASSAGES: Final = 400
_MOST_WEIGHED: Final = 24
_SAME_WORD: Final = 0.75
"""A title names a thing by words that share this much with those of the question."""
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


@dataclass(frozen=True, slots=True)
class Article:
    """What an article has to say on a question."""

    book: Book
    path: str
    title: str
    language: str | None
    passages: tuple[tuple[str, str], ...]
    score: float


def look_up(
    books: Iterable[Book], words: Sequence[str], language: str, deadline: float
) -> list[Article]:
    """Return the articles on the topic of `words`, best first; blocks, raises Late."""
    searches: list[_Search] = []
    for book in books:
        with _held(book, deadline), book.trusted():
            if book.open():
                searches.append(_Search.of(book, words, language))
    searches.sort(key=lambda search: -search.promise)
    articles: list[Article] = []
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

    book: Book
    weights: Mapping[str, float]
    known: tuple[str, ...]
    foreign: bool

    @classmethod
    def of(cls, book: Book, words: Sequence[str], language: str) -> _Search:
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

    def articles(self, deadline: float) -> Iterator[Article]:
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

    def _article(self, item: Item, name: str) -> Article | None:
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
        best = [-at for _, at, _ in rated[:MOST_QUOTED]]
        score = covered + max(self._named(title), self._named(name))
        if _is_list(cut):
            score *= _LIST
        if self.foreign:
            score *= _FOREIGN
        language = languages.primary(page.language) if page.language else self.book.language
        return Article(self.book, item.path, title, language, tuple(cut[at] for at in best), score)

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
    code = archive.get_metadata("Language").decode("utf-8", "replace").strip().lower()
    if not code or "," in code or code == "mul":
        return None
    return _CODES.get(code) or languages.primary(code)[:2]


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
