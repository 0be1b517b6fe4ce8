"""The library is what the folder holds, however it changes and whatever lies in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
import os
from pathlib import Path
import subprocess
import threading

import pytest

from backend.house_wiki import child as children, readers
from backend.house_wiki.child import Child
from backend.house_wiki.watch import Library
from backend.store import Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Store]:
    store = await Store.open(tmp_path / "mnemolis.sqlite")
    yield store
    await store.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    (folder / "kitchen").mkdir(parents=True)
    (folder / "kitchen" / "oven.md").write_text("# Oven\n\nThe oven reaches 250 degrees.\n")
    (folder / "boiler.txt").write_text("Boiler\n\nThe pressure is 1.5 bar.\n")
    return folder


@pytest.fixture
async def library(folder: Path, store: Store) -> AsyncGenerator[Library]:
    library = Library(folder, store.passages, rescan_seconds=3600)
    yield library
    await library.close()


async def held(store: Store) -> list[str]:
    return [document.path for document in await store.passages.documents()]


async def found(store: Store, word: str) -> list[str]:
    return [hit.path for hit in (await store.passages.search([word], "en")).hits]


async def test_the_first_look_finds_every_document(library: Library, store: Store) -> None:
    await library.start()
    await library.ready()
    assert await held(store) == ["boiler.txt", "kitchen/oven.md"]
    assert library.state().as_dict() == {"configured": True, "detail": "", "documents": 2}


async def test_before_the_first_look_nothing_kept_earlier_can_match(
    folder: Path, store: Store
) -> None:
    first, second = (Library(folder, store.passages) for _ in range(2))
    assert first.version != second.version
    await first.scan()
    await second.scan()
    assert first.version == second.version


async def test_a_changed_document_is_read_again_and_the_version_changes(
    library: Library, folder: Path, store: Store
) -> None:
    await library.scan()
    version = library.version
    await library.scan()
    assert library.version == version
    (folder / "boiler.txt").write_text("Boiler\n\nThe pressure is 1.2 bar now.\n")
    await library.scan()
    assert library.version != version
    (hit,) = (await store.passages.search(["pressure"], "en")).hits
    assert hit.text == "The pressure is 1.2 bar now."


async def test_a_change_of_the_same_size_within_one_tick_is_seen(
    library: Library, folder: Path, store: Store
) -> None:
    path = folder / "boiler.txt"
    stamp = path.stat()
    await library.scan()
    path.write_text(path.read_text().replace("1.5", "1.2"))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    await library.scan()
    (hit,) = (await store.passages.search(["pressure"], "en")).hits
    assert "1.2" in hit.text


async def test_an_unchanged_document_is_not_read_again_even_after_a_restart(
    folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("boiler.txt", "kitchen/oven.md"):
        os.utime(folder / name, (1_700_000_000, 1_700_000_000))
    await Library(folder, store.passages).scan()
    monkeypatch.setattr(Child, "read", lambda *_: pytest.fail("read again"))
    again = Library(folder, store.passages)
    await again.scan()
    assert again.state().documents == 2
    os.utime(folder / "boiler.txt", (1_700_000_999, 1_700_000_999))
    await again.scan()


async def test_documents_are_read_again_when_the_reader_has_changed(
    folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Library(folder, store.passages)
    await first.scan()
    monkeypatch.setattr(readers, "FORMAT", readers.FORMAT + 1)
    second = Library(folder, store.passages)
    await second.scan()
    assert {d.format for d in await store.passages.documents()} == {readers.FORMAT}
    assert first.version != second.version


async def test_a_deleted_document_is_gone(library: Library, folder: Path, store: Store) -> None:
    await library.scan()
    (folder / "boiler.txt").unlink()
    await library.scan()
    assert await held(store) == ["kitchen/oven.md"]
    assert await found(store, "pressure") == []


async def test_a_file_that_cannot_be_read_is_told_once_and_keeps_no_other_from_it(
    library: Library, folder: Path, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "letter.pdf").write_text("Dear reader")
    (folder / "tool.txt").write_bytes(b"\x7fELF" + bytes(100))
    await library.scan()
    await library.scan()
    state = library.state()
    assert state.documents == 2
    assert "letter.pdf: no PDF" in state.detail
    assert "tool.txt: not text" in state.detail
    assert sum("letter.pdf" in record.message for record in caplog.records) == 1
    (folder / "letter.pdf").unlink()
    (folder / "tool.txt").write_text("A tool\n\nIt is a text now.\n")
    await library.scan()
    assert (library.state().documents, library.state().detail) == (3, "")


async def test_links_are_not_followed_out_of_the_library_nor_in_a_circle(
    library: Library, folder: Path, store: Store, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\n\nThe password is swordfish.\n")
    (folder / "secret.md").symlink_to(secret)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "inside.md").symlink_to(folder / "boiler.txt")
    # Large books lie elsewhere, and are none of the documents.
    (folder / "book.zim").symlink_to(tmp_path / "book.zim")
    (folder / "round").symlink_to("round")
    await library.scan()
    assert await held(store) == ["boiler.txt", "kitchen/oven.md"]
    assert library.state().detail == "secret.md: a link out of the library"


async def test_a_folder_that_may_not_be_looked_into_is_told_and_its_documents_kept(
    library: Library, folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await library.scan()
    scandir = os.scandir

    def closed(path: Path) -> object:
        if path.name == "kitchen":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    await library.scan()
    assert library.state().detail == "kitchen: a folder that can't be looked into"
    assert await held(store) == ["boiler.txt", "kitchen/oven.md"]
    monkeypatch.undo()
    await library.scan()
    assert library.state().detail == ""


async def test_what_is_no_document_is_left_alone(
    library: Library, folder: Path, store: Store
) -> None:
    for name in ("README.txt", "LICENSE.md", ".hidden.md", "~$open.md", "photo.jpg", "book.zim"):
        (folder / name).write_text("words about something")
    (folder / ".git").mkdir()
    (folder / ".git" / "notes.md").write_text("words")
    (folder / "kitchen" / "readme.md").write_text(
        "# Read me\n\nIn a folder of documents, a document.\n"
    )
    await library.scan()
    assert await held(store) == ["boiler.txt", "kitchen/oven.md", "kitchen/readme.md"]


async def test_a_library_that_is_away_is_missing_and_comes_back_as_it_was(
    library: Library, folder: Path, store: Store
) -> None:
    await library.scan()
    version = library.version
    away = folder.with_name("away")
    await asyncio.to_thread(folder.rename, away)
    await library.scan()
    state = library.state()
    assert (state.configured, state.setting) == (False, "LIBRARY_DIR")
    await asyncio.to_thread(away.rename, folder)
    await library.scan()
    assert library.state().documents == 2
    assert library.version == version


async def test_thousands_of_files_are_read_without_holding_up_others(
    library: Library, folder: Path, store: Store
) -> None:
    def write() -> None:
        for number in range(1_000):
            (folder / f"note{number}.md").write_text(
                f"# Note {number}\n\nAbout thing number {number}.\n"
            )

    await asyncio.to_thread(write)
    ticks = 0
    scanning = asyncio.create_task(library.scan())
    while not scanning.done():
        ticks += 1
        await asyncio.sleep(0.001)
    assert ticks > 20
    assert library.state().documents == 1_002
    assert (await found(store, "777"))[0] == "note777.md"


async def test_looking_goes_on_after_a_look_that_failed(
    folder: Path, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    await store.close()
    library = Library(folder, store.passages, rescan_seconds=3600)
    await library.ready()
    assert "closed" in library.state().detail
    await library.close()


class _OneThread(ThreadPoolExecutor):
    """A thread that is busy when the work of number `at` is handed to it, until it is let go on."""

    def __init__(self, at: int) -> None:
        super().__init__(max_workers=1)
        self._left = at
        self.reached = asyncio.Event()
        self.go_on = threading.Event()

    def submit[**P, T](self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        self._left -= 1
        if self._left == 0:
            super().submit(self.go_on.wait)
            self.reached.set()
        return super().submit(fn, *args, **kwargs)


@pytest.mark.parametrize("at", range(1, 8))
async def test_no_process_is_left_whenever_the_looking_is_stopped(
    at: int, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[subprocess.Popen[bytes]] = []
    begin = children._begin

    def remembered() -> subprocess.Popen[bytes]:
        begun.append(begin())
        return begun[-1]

    monkeypatch.setattr(children, "_begin", remembered)
    executor = _OneThread(at)
    with monkeypatch.context() as patch:
        patch.setattr(asyncio.get_running_loop(), "_default_executor", executor)
        await library.start()
        # The look may have fewer pieces of work than that.
        waiting = [
            asyncio.create_task(event) for event in (library.ready(), executor.reached.wait())
        ]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        closing = asyncio.create_task(library.close())
        # So many turns take work that is still waiting for the thread off its list.
        for _ in range(5):
            await asyncio.sleep(0)
        executor.go_on.set()
        await closing
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    executor.shutdown()
    assert [process.pid for process in begun if process.returncode is None] == []
