"""Retrieval by full text alone: is the paragraph that holds the answer among the first ten passages.

Through the store of the product and the ranking of its own documents (source `house`), before that leaves out what is
too weak to be quoted. Beside it the plain way: one FTS5 table of whole words, which finds next to nothing in a script
without spaces.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
import sqlite3
import statistics
import tempfile
import time
from typing import Any, Final

from backend.sources.house import ranked
from backend.store import Store
from backend.store.passages import Chunk, Document
from backend.text.parts import Part, passages
from backend.text.words import tokens, topic_words
from benchmarks.quality.figure import Figure
from benchmarks.quality.rows import read_rows

SET: Final = "4 retrieval"
TARGETS: Final = {
    "squad2-paragraphs-en": ("en", ">= 0.88"),
    "xquad-de": ("de", ">= 0.94"),
    "xquad-es": ("es", ">= 0.94"),
    "xquad-zh": ("zh", ">= 0.96"),
    "xquad-ru": ("ru", ">= 0.93"),
    "xquad-ar": ("ar", ">= 0.94"),
    "dbpedia-5k": ("en", ""),
}
MOST_MS: Final = "< 10 ms"
_FIRST: Final = 10

Search = Callable[[str], Awaitable[list[str]]]


@dataclass(frozen=True)
class Collection:
    """Documents by id, and questions by id with what each document is worth to them."""

    documents: Sequence[Mapping[str, Any]]
    questions: Mapping[str, str]
    worth: Mapping[str, Mapping[str, int]]


def measure(data: Path) -> list[Figure]:
    """Return nDCG@10 of each collection, and how long a question takes."""
    return [each for name in TARGETS for each in asyncio.run(_measured(data / "4_retrieval", name))]


async def _measured(folder: Path, name: str) -> list[Figure]:
    language, target = TARGETS[name]
    collection = _read(folder / name)
    with tempfile.TemporaryDirectory() as temporary:
        store = await Store.open(Path(temporary) / "passages.sqlite")
        try:
            await store.passages.put(
                [_document(document, language) for document in collection.documents]
            )

            async def ours(question: str) -> list[str]:
                matches = await store.passages.search(topic_words(question, language), language)
                return [hit.path for hit in ranked(matches, language)]

            gains, spans = await _asked(collection, ours)
        finally:
            await store.close()
    naive, _ = await _asked(collection, _whole_words(collection))
    halves = " and ".join(f"{statistics.fmean(gains[start::2]):.3f}" for start in (0, 1))
    return [
        Figure(
            SET,
            f"{name}, nDCG@10",
            len(gains),
            statistics.fmean(gains),
            target,
            naive=statistics.fmean(naive),
            note=f"by halves {halves}",
        ),
        Figure(SET, f"{name}, p50, ms a question", len(spans), statistics.median(spans), MOST_MS),
    ]


def _read(folder: Path) -> Collection:
    worth: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, document, score = line.split("\t")
        worth.setdefault(question, {})[document] = int(score)
    questions = {each["_id"]: each["text"] for each in read_rows(folder / "queries.jsonl")}
    return Collection(
        list(read_rows(folder / "corpus.jsonl")),
        {number: text for number, text in questions.items() if any(worth.get(number, {}).values())},
        worth,
    )


def _document(document: Mapping[str, Any], language: str) -> Document:
    """Return a paragraph as the library stores a document of its title and text."""
    chunks = passages([Part((), document["text"])])
    return Document(
        document["_id"],
        0,
        0,
        "",
        0,
        document["title"],
        language,
        chunks=tuple(Chunk(section, text) for section, text in chunks),
    )


async def _asked(collection: Collection, search: Search) -> tuple[list[float], list[float]]:
    """Return the nDCG@10 of each question, and its milliseconds."""
    gains, spans = [], []
    for number, question in collection.questions.items():
        began = time.perf_counter()
        found = await search(question)
        spans.append(1000 * (time.perf_counter() - began))
        gains.append(ndcg(list(dict.fromkeys(found)), collection.worth[number]))
    return gains, spans


def ndcg(found: Sequence[str], worth: Mapping[str, int]) -> float:
    """Return the gain of the first ten, discounted by their place, as a share of the best there could be."""
    best = sorted(worth.values(), reverse=True)
    return _gain([worth.get(path, 0) for path in found]) / _gain(best)


def _gain(worths: Sequence[int]) -> float:
    return sum((2.0**each - 1) / math.log2(place + 2) for place, each in enumerate(worths[:_FIRST]))


def _whole_words(collection: Collection) -> Search:
    """Return the plain way: FTS5 as it comes, any of the words, ranked by bm25."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE plain USING fts5(id UNINDEXED, title, text)")
    connection.executemany(
        "INSERT INTO plain VALUES (?, ?, ?)",
        [(each["_id"], each["title"], each["text"]) for each in collection.documents],
    )

    async def search(question: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in tokens(question))
        rows = connection.execute(
            "SELECT id FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT ?", (words, _FIRST)
        )
        return [path for (path,) in rows]

    return search
