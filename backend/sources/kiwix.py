"""Encyclopedias and manuals in ZIM files.

Decides where the books are, when they are looked for again, and how much of what they say is passed on. What is in a
book is `zim`'s, whose work is done in a few threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
import hashlib
import logging
from pathlib import Path
from typing import Final
from urllib.parse import quote
import uuid

from backend.sources import zim
from backend.sources.base import SourceState
from backend.text.words import topic_words
from backend.types import Failed, Found, NotConfigured, Nothing, Outcome, Passage, Question, Step

_LOGGER = logging.getLogger(__name__)

SETTING: Final = "ZIM_DIR"
_THREADS: Final = 2
_MOST_WORDS: Final = 8
_MOST_CHARACTERS: Final = 3_000


class Kiwix:
    """Answers from the ZIM files in `folder`, looked for every `rescan_seconds`."""

    tag = "kiwix"

    def __init__(self, folder: Path, *, rescan_seconds: float, ttl: float) -> None:
        self._folder = folder
        self._rescan_seconds = rescan_seconds
        self.ttl = ttl
        self._books: dict[Path, zim.Book] = {}
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
                    zim.look_up,
                    list(self._books.values()),
                    words[:_MOST_WORDS],
                    question.language,
                    question.deadline,
                )
        except (TimeoutError, zim.Late):
            return Failed("timeout", "the books took too long")
        if all(book.problem for book in self._books.values()):
            return Failed("unreadable", self.state().detail)
        passages = tuple(_passages(articles))
        if not passages:
            return Nothing()
        return Found(passages, datetime.now(UTC) + timedelta(seconds=self.ttl))

    async def scan(self) -> None:
        """Look for files now."""
        found = await asyncio.to_thread(zim.listed, self._folder)
        for path, stamp in found.items():
            book = self._books.get(path)
            if book is None or book.stamp != stamp:
                book = zim.Book(path, stamp, problem=await asyncio.to_thread(zim.check, path))
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


def _passages(articles: Sequence[zim.Article]) -> Iterator[Passage]:
    """Yield the best passages of each article in turn, as long as there is room."""
    left = _MOST_CHARACTERS
    for turn in range(zim.MOST_QUOTED):
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
