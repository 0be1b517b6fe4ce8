"""The library: a folder of documents, looked through again and again, and kept as passages in the store.

Decides which files are documents, when one is read again, and when it is gone. Looking is by time and hash: network
mounts tell nobody of changes. What a file says is the readers' business, finding in it the store's and `sources.house`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
import hashlib
import logging
import os
from pathlib import Path, PurePosixPath
import time
from typing import Final
import uuid

from backend.house_wiki import Unreadable, readers
from backend.house_wiki.child import Child
from backend.sources.base import SourceState
from backend.store import StoreError
from backend.store.passages import Chunk, Document, Passages

_LOGGER = logging.getLogger(__name__)

SETTING: Final = "LIBRARY_DIR"
_BATCH: Final = 32
_BATCH_CHARS: Final = 500_000
"""So much is read before it is stored, a document more or less."""
_SETTLED_NS: Final = 2_000_000_000
"""A file changed less than this before it was read may change again within the same tick of its file system."""
_NOT_DOCUMENTS: Final = frozenset(("readme", "license", "licence", "copying"))
"""Files of these names, at the top of the library, are about the library."""


@dataclass(slots=True)
class _Listing:
    """What is in the folder: (modified_ns, size) of each document, and what was refused or couldn't be looked into."""

    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)


class Library:
    """Keeps `passages` what the documents under `folder` say; looks every `rescan_seconds`."""

    def __init__(self, folder: Path, passages: Passages, *, rescan_seconds: float = 60.0) -> None:
        self.folder = folder
        self._passages = passages
        self._rescan_seconds = rescan_seconds
        self._lock = asyncio.Lock()
        self._first = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._child = Child()
        self._missing = ""
        self._documents = 0
        self._unreadable: dict[str, str] = {}
        self._told: dict[str, str] = {}
        self._problem = ""
        # Nothing that was kept before the first look may be taken for what the library says now.
        self._version = f"unread-{uuid.uuid4().hex[:8]}"

    @property
    def version(self) -> str:
        """A word that changes whenever a document does."""
        return self._version

    @property
    def there(self) -> bool:
        """Whether the folder was there at the last look."""
        return not self._missing

    @property
    def problem(self) -> str:
        """Why the last look came to no end, so that documents may be missing; "" if it did."""
        return self._problem

    async def start(self) -> None:
        """Begin to look; returns at once."""
        if self._task is None:
            self._task = asyncio.create_task(self._watch(), name="library")

    async def close(self) -> None:
        """Stop looking, after the batch at hand."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await asyncio.to_thread(self._child.end)

    async def ready(self) -> None:
        """Wait until the library has been looked through once."""
        await self.start()
        await self._first.wait()

    def state(self) -> SourceState:
        """Return how many documents there are, and which couldn't be read, and why."""
        if self._missing:
            return SourceState(False, SETTING, f"{self.folder} {self._missing}")
        told = [self._problem] if self._problem else []
        if not self._first.is_set():
            told.append("still being read")
        told += [f"{path}: {reason}" for path, reason in sorted(self._unreadable.items())]
        return SourceState(True, detail="; ".join(told), documents=self._documents)

    async def scan(self) -> None:
        """Look through the folder now; StoreError and OSError become the state."""
        async with self._lock:
            try:
                await self._scan()
                self._problem = ""
            except StoreError as error:
                self._problem = str(error)
            except OSError as error:
                self._tell("", f"can't be looked through ({error.strerror or error})")
                self._problem = f"{self.folder} can't be looked through ({error.strerror or error})"
            self._first.set()

    async def _watch(self) -> None:
        while True:
            try:
                await self.scan()
            except Exception:
                # A fault of ours in one look; the next one may find the folder as it should be.
                _LOGGER.exception("Looking through %s failed", self.folder)
                self._first.set()
            await asyncio.sleep(self._rescan_seconds)

    async def _scan(self) -> None:
        self._missing = await asyncio.to_thread(_missing, self.folder)
        if self._missing:
            # A network mount that is away comes back with the same documents.
            self._tell("", f"{self._missing}; let {SETTING} name the folder of the documents")
            return
        self._told.pop("", None)
        known = {document.path: document for document in await self._passages.documents()}
        listing = await asyncio.to_thread(_list, self.folder)
        changed = [
            path for path, stamp in listing.files.items() if _changed(known.get(path), stamp)
        ]
        try:
            while changed:
                del changed[: await self._take(changed[:_BATCH], listing, known)]
        finally:
            await asyncio.to_thread(self._child.rest)
        gone = [
            path
            for path in known
            if path not in listing.files
            and not any(path.startswith(f"{folder}/") for folder in listing.closed)
        ]
        if gone:
            await self._passages.delete(gone)
        for path in gone:
            del known[path]
        self._unreadable = listing.refused | {
            path: document.unreadable for path, document in known.items() if document.unreadable
        }
        self._documents = sum(not document.unreadable for document in known.values())
        for path, reason in self._unreadable.items():
            self._tell(path, reason)
        said = "\n".join(f"{path}\0{document.hash}" for path, document in sorted(known.items()))
        self._version = hashlib.sha256(f"{readers.FORMAT}\n{said}".encode()).hexdigest()[:16]

    async def _take(
        self,
        paths: Sequence[str],
        listing: _Listing,
        known: dict[str, Document],
    ) -> int:
        """Read the first files at `paths`, store those that aren't as they were, return how many there are."""
        read = await asyncio.to_thread(_documents, self.folder, paths, listing, known, self._child)
        await self._passages.put([document for document, new in read if new])
        await self._passages.touch([document for document, new in read if not new])
        for document, _ in read:
            known[document.path] = replace(document, chunks=())
        return len(read)

    def _tell(self, path: str, reason: str) -> None:
        """Log what is wrong with a file, once."""
        if self._told.get(path) != reason:
            self._told[path] = reason
            _LOGGER.warning("%s: %s", self.folder / path if path else self.folder, reason)


def _missing(folder: Path) -> str:
    """Return why `folder` is none that can be looked through; "" if it is one."""
    try:
        if folder.is_dir():
            return ""
        return "is no folder" if folder.exists() else "isn't there"
    except OSError as error:
        return f"can't be looked into ({error.strerror or error})"


def _changed(known: Document | None, stamp: tuple[int, int]) -> bool:
    return (
        known is None or (known.modified_ns, known.size) != stamp or known.format != readers.FORMAT
    )


def _list(folder: Path) -> _Listing:
    """Return what is under `folder`. Links are not followed: they may lead out of it, or in a circle."""
    listing = _Listing()
    # `Path.resolve` raises on a circle of links before Python 3.13.
    root = Path(os.path.realpath(folder))
    open_folders = [root]
    while open_folders:
        current = open_folders.pop()
        inside = current.relative_to(root).as_posix()
        try:
            with os.scandir(current) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            if current == root:
                raise
            listing.closed.append(inside)
            listing.refused[inside] = "a folder that can't be looked into"
            continue
        for entry in found:
            path = entry.name if current == root else f"{inside}/{entry.name}"
            if entry.name.startswith((".", "~$")):
                continue
            if entry.is_symlink():
                target = Path(os.path.realpath(entry.path))
                if not target.is_relative_to(root) and (_is_document(path) or target.is_dir()):
                    listing.refused[_sound(path)] = "a link out of the library"
                continue
            if entry.is_dir(follow_symlinks=False):
                open_folders.append(Path(entry.path))
            elif _is_document(path) and entry.is_file(follow_symlinks=False):
                if path != _sound(path):
                    listing.refused[_sound(path)] = "its name is not valid Unicode"
                    continue
                try:
                    stat = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                listing.files[path] = (stat.st_mtime_ns, stat.st_size)
    return listing


def _sound(path: str) -> str:
    return path.encode("utf-8", "replace").decode()


def _is_document(path: str) -> bool:
    pure = PurePosixPath(path)
    if len(pure.parts) == 1 and pure.stem.lower() in _NOT_DOCUMENTS:
        return False
    return pure.suffix.lower() in readers.SUFFIXES


def _documents(
    folder: Path,
    paths: Sequence[str],
    listing: _Listing,
    known: Mapping[str, Document],
    child: Child,
) -> list[tuple[Document, bool]]:
    """Return the first documents at `paths`, and for each whether it is to be stored anew; blocks."""
    read: list[tuple[Document, bool]] = []
    length = 0
    for path in paths:
        read.append(_document(folder, path, listing.files[path], known.get(path), child))
        length += sum(len(chunk.text) for chunk in read[-1][0].chunks)
        if length > _BATCH_CHARS:
            break
    return read


def _document(
    folder: Path, path: str, stamp: tuple[int, int], known: Document | None, child: Child
) -> tuple[Document, bool]:
    """Return the document at `path`, and whether it is to be stored anew; blocks."""
    modified, size = stamp
    if time.time_ns() - modified < _SETTLED_NS:
        modified = 0
    empty = Document(path, modified, size, "", readers.FORMAT)
    if size > readers.MOST_BYTES:
        return replace(empty, unreadable=f"larger than {readers.MOST_BYTES >> 20} MB"), True
    try:
        content = (folder / path).read_bytes()
    except OSError as error:
        return replace(empty, modified_ns=0, unreadable=error.strerror or str(error)), True
    digest = hashlib.sha256(content).hexdigest()
    if known is not None and known.hash == digest and known.format == readers.FORMAT:
        return replace(known, modified_ns=modified, size=size), False
    try:
        document = child.read(PurePosixPath(path), content)
    except Unreadable as error:
        return replace(empty, hash=digest, unreadable=str(error)), True
    return (
        replace(
            empty,
            hash=digest,
            title=document.title,
            language=document.language,
            published=document.published,
            chunks=tuple(Chunk(section, text) for section, text in document.passages),
        ),
        True,
    )
