"""Encyclopedias and manuals: in ZIM files, and on a kiwix-serve.

Decides where the files are and when they are looked for again, that files and server are asked at once, and how much
of what they say is passed on. What is in a file is `zim`'s, whose work is done in a few threads; what is on a server is
`kiwix_serve`'s; what an article says on a question `books`'.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
import hashlib
import logging
from pathlib import Path
import time
from typing import Any, Final
import uuid

from backend.sources import books, zim
from backend.sources.base import SourceState
from backend.sources.kiwix_serve import KiwixServe, Looked
from backend.text.words import topic_words
from backend.types import Failed, Found, NotConfigured, Nothing, Outcome, Passage, Question, Step

_LOGGER = logging.getLogger(__name__)

SETTING: Final = "ZIM_DIR"
_THREADS: Final = 2
_MOST_WORDS: Final = 8
_MOST_CHARACTERS: Final = 3_000
_SHARE: Final = 0.6
"""A server may take so much of a question's time: who composes the answer needs some too."""
_GRACE_SECONDS: Final = 1.5
"""A server has so much longer than the files, where they have something to say."""
_PARTLY_SECONDS: Final = 60.0
"""What was found while a server was away is kept no longer."""


class Kiwix:
    """Answers from the ZIM files in `folder`, looked for every `rescan_seconds`, and from the books of `server`."""

    tag = "kiwix"

    def __init__(
        self, folder: Path, *, rescan_seconds: float, ttl: float, server: KiwixServe | None = None
    ) -> None:
        self._folder = folder
        self._server = server
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
        """A word that changes with the books."""
        return self._version if self._server is None else f"{self._version}-{self._server.version}"

    async def start(self) -> None:
        """Begin to look for books; returns at once."""
        if self._task is None:
            self._task = asyncio.create_task(self._watch(), name="zim")
            if self._server is not None:
                await self._server.start()

    async def close(self) -> None:
        """Stop looking, and let go of the files once nobody reads in them."""
        if self._server is not None:
            await self._server.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)
        self._books.clear()

    def state(self) -> SourceState:
        """Return how many books there are, and which can't be read, and why."""
        if self._server is None and self._listed.is_set() and not self._books:
            return SourceState(False, SETTING, f"no ZIM file in {self._folder}")
        files = sorted(self._books.values(), key=lambda book: book.name)
        problems = [f"{book.name} {book.problem}" for book in files if book.problem]
        count = len(files) - len(problems)
        if self._server is not None:
            count += self._server.documents
            problems += [self._server.problem] if self._server.problem else []
        return SourceState(True, detail="; ".join(problems), documents=count)

    async def ask(self, step: Step, question: Question) -> Outcome:
        """Look the words up in the best books."""
        words = list(dict.fromkeys(topic_words(step.query, question.language)))[:_MOST_WORDS]
        if self._server is None:
            looked = [await self._in_files(words, question, question.deadline)]
        else:
            looked = await self._in_both(self._server, words, question)
        asked = [each for each in looked if each is not None]
        if not asked:
            return NotConfigured(SETTING)
        articles = books.best(article for each in asked for article in each.articles)
        failed = next((each.failed for each in asked if each.failed is not None), None)
        passages = tuple(_passages(articles))
        if not passages:
            return failed or Nothing()
        # What a file can't tell now it can't tell later.
        whole = failed is None or failed.kind == "unreadable"
        seconds = self.ttl if whole else min(self.ttl, _PARTLY_SECONDS)
        return Found(passages, datetime.now(UTC) + timedelta(seconds=seconds))

    async def _in_both(
        self, server: KiwixServe, words: Sequence[str], question: Question
    ) -> list[Looked | None]:
        """Ask files and server at once; who is slow doesn't keep the other back for long."""
        until = time.monotonic() + _SHARE * question.left
        served = asyncio.create_task(server.look_up(words, question.language, until))
        try:
            files = await self._in_files(words, question, until)
            patience = _GRACE_SECONDS if files is not None and files.articles else None
            await asyncio.wait((served,), timeout=patience)
            late = Looked([], Failed("timeout", "kiwix-serve took too long"))
            return [files, served.result() if served.done() else late]
        finally:
            served.cancel()
            await asyncio.gather(served, return_exceptions=True)

    async def _in_files(
        self, words: Sequence[str], question: Question, until: float
    ) -> Looked | None:
        """Return what the files say; None if there are none."""
        try:
            async with asyncio.timeout(max(0.0, until - time.monotonic())):
                await self.start()
                await self._listed.wait()
                if not self._books:
                    return None
                articles = await asyncio.get_running_loop().run_in_executor(
                    self._threads,
                    zim.look_up,
                    list(self._books.values()),
                    words,
                    question.language,
                    until,
                )
        except (TimeoutError, zim.Late):
            return Looked([], Failed("timeout", "the books took too long"))
        problems = [f"{book.name} {book.problem}" for book in self._books.values() if book.problem]
        if len(problems) == len(self._books):
            return Looked([], Failed("unreadable", "; ".join(sorted(problems))))
        return Looked(articles)

    def books(self) -> list[dict[str, Any]]:
        """Return every book, the files first."""
        files = [
            {
                "name": book.name,
                "language": book.language,
                "articles": None,
                "from": "file",
                "problem": book.problem or None,
            }
            for book in sorted(self._books.values(), key=lambda book: book.name)
        ]
        return files + (self._server.books() if self._server is not None else [])

    async def refresh(self) -> None:
        """Look for files and for the books of the server now. Raises UpstreamError."""
        await self.scan()
        if self._server is not None:
            await self._server.refresh()

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


def _passages(articles: Sequence[books.Article]) -> Iterator[Passage]:
    """Yield the best passages of each article in turn, as long as there is room."""
    left = _MOST_CHARACTERS
    for turn in range(books.MOST_QUOTED):
        for article in articles:
            if turn < len(article.passages) and len(article.passages[turn][1]) <= left:
                section, text = article.passages[turn]
                left -= len(text)
                yield Passage(
                    source=Kiwix.tag,
                    title=article.title,
                    text=text,
                    url=article.url,
                    section=section or None,
                    language=article.language,
                    score=article.score / (1 + turn),
                )
