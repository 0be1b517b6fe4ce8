"""Passages of documents, and full text over them.

Decides how text of each language becomes index terms and how FTS5 is asked; which hits are good enough, and how
they become an answer, is the source's. Words of a question are data: nothing in them is FTS5's query syntax.

There are two indexes. English has Porter's stems. All other languages have pieces: four letters of a word with its
edges, two characters of a script that has no spaces. They need no stemmer and find a word inside a compound. Each
question asks both, so that a name or a code is found whatever language its document has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
import math
import sqlite3
from typing import Final

from backend.store.database import Database
from backend.text.pieces import edged, pieces, spelled
from backend.text.words import compared, fold

_WEIGHTS: Final = (2.0, 2.0, 1.0)
"""What a term counts in a title, a heading, the text."""
_MOST_WORDS: Final = 32
_MOST_WEIGHED: Final = 20_000
"""So many times, about, a passage is weighed for a term in one look-up; each costs a microsecond."""
_LEAST_TERMS: Final = 4
_AT_ONCE: Final = 48
"""So many passages are written in one go, some tens of milliseconds: whoever wants to keep an answer waits for it."""


@dataclass(frozen=True, slots=True)
class _Index:
    """One FTS5 table: how a text goes in, and which terms a word of a question has."""

    table: str
    tokenize: str
    encode: Callable[[str], str]
    terms: Callable[[str], list[str]]


_STEMS: Final = _Index(
    "passages_stems", "porter unicode61", spelled, lambda word: fold(word).split()
)
_PIECES: Final = _Index(
    "passages_pieces",
    "unicode61 tokenchars '_'",
    lambda text: " ".join(pieces(text)),
    pieces,
)
_INDEXES: Final = (_STEMS, _PIECES)
_UNFINISHED: Final = "not read to the end"


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of documents, passages and their indexes."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS documents (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE,"
        " modified_ns INTEGER NOT NULL, size INTEGER NOT NULL, hash TEXT NOT NULL, format INTEGER NOT NULL,"
        " title TEXT NOT NULL, language TEXT, published TEXT, unreadable TEXT)"
    )
    connection.execute(
        "CREATE TABLE IF NOT EXISTS passages (id INTEGER PRIMARY KEY, document INTEGER NOT NULL,"
        " position INTEGER NOT NULL, section TEXT NOT NULL, text TEXT NOT NULL, edged TEXT NOT NULL)"
    )
    connection.execute(
        "CREATE INDEX IF NOT EXISTS passages_document ON passages (document, position)"
    )
    for index in _INDEXES:
        tokenize = index.tokenize.replace("'", "''")
        # Contentless: the text is in `passages`; a second copy in pieces would be five times as long.
        # https://www.sqlite.org/fts5.html#contentless_tables
        connection.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {index.table} USING fts5(title, section, text,"
            f" tokenize = '{tokenize}', content = '')"
        )


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage before it is stored: its heading path ("" at the top) and its text."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A file of the library and what could be read of it; `path` is relative to the library, with slashes.

    `format` is the version of the reader. `unreadable` says why nothing could be read.
    """

    path: str
    modified_ns: int
    size: int
    hash: str
    format: int
    title: str = ""
    language: str | None = None
    published: datetime | None = None
    unreadable: str | None = None
    chunks: tuple[Chunk, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that holds some of the words; `score` is 0 to about 1 and comparable between indexes.

    `edged` is its title, section and text in the form that pieces of words are substrings of.
    """

    path: str
    title: str
    section: str
    text: str
    edged: str
    position: int
    language: str | None
    published: datetime | None
    score: float


@dataclass(frozen=True, slots=True)
class Matches:
    """Hits, best first, and the words asked for.

    `rarity` tells how rare a word is: 0 for one in all passages, the more the fewer hold it. `unknown` are those
    that no passage holds.
    """

    hits: tuple[Hit, ...]
    rarity: Mapping[str, float]
    unknown: frozenset[str]


class Passages:
    """The documents of the library in the store. All methods raise StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def documents(self) -> list[Document]:
        """Return all documents, without their chunks."""
        return await self._database.read(_documents)

    async def put(self, documents: Sequence[Document]) -> None:
        """Store `documents` in the place of what is there under their paths.

        A long one is written piece by piece, so that others get to write in between. Until its last piece is, it
        counts as never read: its hash and time are those of no file.
        """
        small: list[Document] = []
        for document in documents:
            if len(document.chunks) > _AT_ONCE:
                await self._put_long(document)
            else:
                small.append(document)
            if sum(len(each.chunks) for each in small) > _AT_ONCE:
                await self._put_short(small)
                small = []
        if small:
            await self._put_short(small)

    async def _put_short(self, documents: Sequence[Document]) -> None:
        await self._shorten([document.path for document in documents])

        def work(connection: sqlite3.Connection) -> None:
            for document in documents:
                _delete(connection, document.path)
                _insert(connection, document, _begin(connection, document), 0, document.chunks)

        await self._database.write(work)

    async def _put_long(self, document: Document) -> None:
        await self._shorten([document.path])
        unfinished = replace(document, modified_ns=0, hash="", unreadable=_UNFINISHED)

        def begin(connection: sqlite3.Connection) -> int:
            _delete(connection, document.path)
            return _begin(connection, unfinished)

        number = await self._database.write(begin)
        for start in range(0, len(document.chunks), _AT_ONCE):
            await self._database.write(
                partial(
                    _insert,
                    document=document,
                    number=number,
                    position=start,
                    chunks=document.chunks[start : start + _AT_ONCE],
                )
            )
        await self._database.write(
            lambda connection: (
                connection.execute(
                    "UPDATE documents SET modified_ns = ?, hash = ?, unreadable = ? WHERE id = ?",
                    (document.modified_ns, document.hash, document.unreadable, number),
                ).rowcount
            )
        )

    async def _shorten(self, paths: Iterable[str]) -> None:
        """Take the last passages of long documents away until they are as short as others."""
        for path in paths:
            while await self._database.write(partial(_shorten, path=path)):
                pass

    async def touch(self, documents: Sequence[Document]) -> None:
        """Store the times of `documents` whose content is as it was."""
        await self._database.write(
            lambda connection: (
                connection.executemany(
                    "UPDATE documents SET modified_ns = ?, size = ? WHERE path = ?",
                    [
                        (document.modified_ns, document.size, document.path)
                        for document in documents
                    ],
                ).rowcount
            )
        )

    async def delete(self, paths: Iterable[str]) -> None:
        """Forget the documents at `paths`."""
        gone = list(paths)
        await self._shorten(gone)
        for start in range(0, len(gone), _AT_ONCE):
            some = gone[start : start + _AT_ONCE]

            def work(connection: sqlite3.Connection, some: Sequence[str] = some) -> None:
                for path in some:
                    _delete(connection, path)

            await self._database.write(work)

    async def search(self, words: Sequence[str], language: str | None, limit: int = 20) -> Matches:
        """Return the passages that hold most of `words`, whatever their language.

        Of two as good, one in `language` comes first.
        """
        wanted = list(dict.fromkeys(compared(words)))[:_MOST_WORDS]
        return await self._database.read(
            lambda connection: _search(connection, wanted, language, limit)
        )

    async def section(self, path: str, section: str) -> list[Hit]:
        """Return the passages of one section of a document, in order."""
        return await self._database.read(
            lambda connection: [
                _hit(row, 0.0)
                for row in connection.execute(
                    f"SELECT {_HIT} FROM passages JOIN documents ON documents.id = passages.document"
                    " WHERE path = ? AND section = ? ORDER BY position",
                    (path, section),
                )
            ]
        )


_HIT: Final = "path, title, section, text, edged, position, language, published"


def _hit(row: tuple[str, str, str, str, str, int, str | None, str | None], score: float) -> Hit:
    path, title, section, text, edges, position, language, published = row
    return Hit(path, title, section, text, edges, position, language, _moment(published), score)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _documents(connection: sqlite3.Connection) -> list[Document]:
    return [
        Document(
            path, modified, size, digest, version, title, language, _moment(published), unreadable
        )
        for path, modified, size, digest, version, title, language, published, unreadable in (
            connection.execute(
                "SELECT path, modified_ns, size, hash, format, title, language, published, unreadable"
                " FROM documents ORDER BY path"
            )
        )
    ]


def _index_of(language: str | None) -> _Index:
    return _STEMS if language == "en" else _PIECES


def _begin(connection: sqlite3.Connection, document: Document) -> int:
    """Store a document without its passages; return its number."""
    published = document.published
    added = connection.execute(
        "INSERT INTO documents (path, modified_ns, size, hash, format, title, language, published,"
        " unreadable) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document.path,
            document.modified_ns,
            document.size,
            document.hash,
            document.format,
            document.title,
            document.language,
            None if published is None else published.astimezone(UTC).isoformat(),
            document.unreadable,
        ),
    )
    assert added.lastrowid is not None
    return added.lastrowid


def _insert(
    connection: sqlite3.Connection,
    document: Document,
    number: int,
    position: int,
    chunks: Sequence[Chunk],
) -> None:
    """Store passages of the document that has `number`, the first of them at `position`."""
    index = _index_of(document.language)
    for at, chunk in enumerate(chunks, position):
        passage = connection.execute(
            "INSERT INTO passages (document, position, section, text, edged) VALUES (?, ?, ?, ?, ?)",
            (
                number,
                at,
                chunk.section,
                chunk.text,
                edged(f"{document.title}\n{chunk.section}\n{chunk.text}"),
            ),
        )
        connection.execute(
            f"INSERT INTO {index.table} (rowid, title, section, text) VALUES (?, ?, ?, ?)",
            (
                passage.lastrowid,
                index.encode(document.title),
                index.encode(chunk.section),
                index.encode(chunk.text),
            ),
        )


def _delete(connection: sqlite3.Connection, path: str) -> None:
    if (number := _forget(connection, path, -1)) is not None:
        connection.execute("DELETE FROM documents WHERE id = ?", (number,))


def _shorten(connection: sqlite3.Connection, path: str) -> bool:
    """Take the last passages of a document away if it has too many for one go; return whether it had."""
    (count,) = connection.execute(
        "SELECT count(*) FROM passages JOIN documents ON documents.id = passages.document"
        " WHERE path = ?",
        (path,),
    ).fetchone()
    if count <= _AT_ONCE:
        return False
    number = _forget(connection, path, _AT_ONCE)
    connection.execute(
        "UPDATE documents SET modified_ns = 0, hash = '', unreadable = ? WHERE id = ?",
        (_UNFINISHED, number),
    )
    return True


def _forget(connection: sqlite3.Connection, path: str, most: int) -> int | None:
    """Take the last `most` passages of a document away, all for -1; return its number, None if there is none."""
    document = connection.execute(
        "SELECT id, title, language FROM documents WHERE path = ?", (path,)
    ).fetchone()
    if document is None:
        return None
    number, title, language = document
    index = _index_of(language)
    for rowid, section, text in connection.execute(
        "SELECT id, section, text FROM passages WHERE document = ? ORDER BY position DESC LIMIT ?",
        (number, most),
    ).fetchall():
        # A contentless table forgets a row when it is told once more what was in it.
        connection.execute(
            f"INSERT INTO {index.table} ({index.table}, rowid, title, section, text)"
            " VALUES ('delete', ?, ?, ?, ?)",
            (rowid, index.encode(title), index.encode(section), index.encode(text)),
        )
        connection.execute("DELETE FROM passages WHERE id = ?", (rowid,))
    return int(number)


def quoted(term: str) -> str:
    """Return `term` as a string of FTS5's query language: nothing in it is an operator."""
    return '"' + term.replace("\x00", "").replace('"', '""') + '"'


def _search(
    connection: sqlite3.Connection, words: Sequence[str], language: str | None, limit: int
) -> Matches:
    (total,) = connection.execute("SELECT count(*) FROM passages").fetchone()
    found: list[Hit] = []
    seen = dict.fromkeys(words, 0)
    for index in _INDEXES:
        terms = {word: index.terms(word) for word in words}
        holders = {
            term: _holders(connection, index, term)
            for term in dict.fromkeys(term for some in terms.values() for term in some)
        }
        for word, some in terms.items():
            # Where its rarest piece is, the word nearly always is.
            seen[word] += min((holders[term] for term in some), default=0)
        found += _ask(connection, index, _telling(holders), len(holders), limit)
    found.sort(key=lambda hit: (-hit.score, hit.language != language, hit.path, hit.position))
    return Matches(
        tuple(found[:limit]),
        {word: max(0.0, math.log((total + 1) / (count + 0.5))) for word, count in seen.items()},
        frozenset(word for word, count in seen.items() if not count),
    )


def _holders(connection: sqlite3.Connection, index: _Index, term: str) -> int:
    """Return how many passages hold `term`."""
    count: int
    (count,) = connection.execute(
        f"SELECT count(*) FROM {index.table} WHERE {index.table} MATCH ?", (quoted(term),)
    ).fetchone()
    return count


def _telling(holders: Mapping[str, int]) -> list[str]:
    """Return the rarest terms: common ones cost the most time and tell the least."""
    telling: list[str] = []
    cost = 0
    for count, term in sorted((count, term) for term, count in holders.items() if count):
        cost += count
        if len(telling) >= _LEAST_TERMS and cost > _MOST_WEIGHED:
            break
        telling.append(term)
    return telling


def _ask(
    connection: sqlite3.Connection, index: _Index, terms: Sequence[str], asked: int, limit: int
) -> list[Hit]:
    """Return the passages that hold some of `terms`, which are those of `asked` terms that tell most."""
    if not terms:
        return []
    (size,) = connection.execute(f"SELECT count(*) FROM {index.table}_docsize").fetchone()
    rows = connection.execute(
        f"SELECT -score, {_HIT} FROM (SELECT rowid, bm25({index.table}, ?, ?, ?) AS score"
        f" FROM {index.table} WHERE {index.table} MATCH ? ORDER BY score LIMIT ?) AS hits"
        " JOIN passages ON passages.id = hits.rowid JOIN documents ON documents.id = passages.document",
        (*_WEIGHTS, " OR ".join(map(quoted, terms)), limit),
    ).fetchall()
    # bm25 sums over terms, of which a word has one here and many there, and grows with the table.
    most = asked * math.log(size + 1) * 2
    return [_hit(row[1:], row[0] / most) for row in rows]
