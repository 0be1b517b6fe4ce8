"""A file that can't be used costs memory between restarts, never an answer."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
import logging
from pathlib import Path
import sqlite3
import threading

import pytest

from backend.store import Store, StoreError
from backend.store.passages import Chunk, Document
from backend.types import Found, Passage

from .test_log import ENTRY

SOON = datetime.now(UTC) + timedelta(hours=1)
FOUND = Found((Passage("house", "Title", "Text"),), SOON)


async def works(store: Store) -> bool:
    """Whether the store keeps what it is given."""
    await store.results.put("key", FOUND, SOON)
    return await store.results.get("key") is not None


async def test_a_damaged_file_is_left_alone_and_the_remedy_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "mnemolis.sqlite"
    path.write_bytes(b"no database at all, " * 500)
    store = await Store.open(path)
    assert await works(store)
    error = store.error
    await store.close()
    assert error is not None
    assert "damaged; move it away" in error
    assert path.read_bytes().startswith(b"no database")
    assert sum("damaged" in record.message for record in caplog.records) == 1


async def test_a_file_damaged_in_its_middle_is_found_out_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "mnemolis.sqlite"
    store = await Store.open(path)
    chunks = tuple(Chunk("", f"passage {n} about nothing") for n in range(200))
    await store.passages.put([Document("a.md", 0, 0, "", 1, chunks=chunks)])
    await store.close()
    content = bytearray(path.read_bytes())
    for at in range(4096, len(content), 4096):
        content[at : at + 1000] = b"\xa5" * 1000
    path.write_bytes(content)
    store = await Store.open(path)
    assert await works(store)
    assert await store.passages.documents() == []
    error = store.error
    await store.close()
    assert "damaged; move it away" in (error or "")
    assert path.read_bytes() == content


async def test_two_of_one_library_share_a_file_and_one_of_another_leaves_it_alone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "data" / "mnemolis.sqlite"
    first, second = [await Store.open(path, library="/papers") for _ in range(2)]
    await first.passages.put([Document("a.md", 0, 0, "", 1)])
    assert [document.path for document in await second.passages.documents()] == ["a.md"]
    for ended in (first, second):
        other = await Store.open(path, library="/books")
        assert "a server of another library (/papers) uses it" in (other.error or "")
        assert await other.passages.documents() == []
        await other.close()
        await ended.close()
    other = await Store.open(path, library="/books")
    assert other.error is None
    await other.close()


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = await Store.open(tmp_path / "file" / "mnemolis.sqlite")
    assert await works(store)
    error = store.error
    await store.close()
    assert error is not None
    assert "DATA_DIR" in error


async def test_a_file_that_is_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "mnemolis.sqlite").mkdir()
    store = await Store.open(tmp_path / "mnemolis.sqlite")
    assert await works(store)
    error = store.error
    await store.close()
    assert error is not None
    assert "can't be written" in error


async def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mnemolis.sqlite"
    await (await Store.open(path)).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="newer version"):
        await asyncio.to_thread(Store.check, path)
    store = await Store.open(path)
    assert await works(store)
    assert "newer version" in (store.error or "")
    await store.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (99,)
    connection.close()


async def test_a_full_disk_loses_rows_with_one_warning_until_there_is_room(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    pages = (await store._database.read(lambda c: c.execute("PRAGMA page_count").fetchone()))[0]

    def limit(connection: sqlite3.Connection, most: int) -> None:
        connection.execute(f"PRAGMA max_page_count = {most}")

    assert store._database._writer is not None
    limit(store._database._writer, pages)
    big = Found((Passage("house", "Title", "x" * 200_000),), SOON)
    with caplog.at_level(logging.WARNING):
        await store.results.put("a", big, SOON)
        await store.results.put("b", big, SOON)
    assert await store.results.count() == 0
    assert store.error is not None
    assert "disk is full; make room" in store.error
    assert sum("full" in record.message for record in caplog.records) == 1
    with pytest.raises(StoreError, match="make room"):
        await store.passages.put(
            [Document("a.md", 0, 0, "", 1, chunks=(Chunk("", "y" * 400_000),))]
        )
    limit(store._database._writer, 1_000_000)
    assert await works(store)
    assert store.error is None


async def test_after_closing_a_call_misses_and_a_second_close_is_nothing(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "mnemolis.sqlite")
    await store.close()
    await store.close()
    assert await store.results.get("key") is None
    store.log.add(ENTRY)
    with pytest.raises(StoreError, match="closed"):
        await store.passages.documents()


async def test_a_caller_that_leaves_takes_nothing_with_it(store: Store) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM results")
        begun.set()
        go_on.wait(10)

    await store.results.put("key", FOUND, SOON)
    running = asyncio.create_task(store._database.write(slow))
    await asyncio.to_thread(begun.wait, 10)
    waiting = asyncio.create_task(store.results.clear())
    await asyncio.sleep(0)
    for task in (running, waiting):
        task.cancel()
    # Reading goes on beside a writer, and sees what was before it.
    assert await store.results.get("key") is not None
    go_on.set()
    assert await works(store)


async def test_readers_and_the_writer_do_not_wait_for_each_other(store: Store) -> None:
    async def ask(number: int) -> None:
        await store.results.put(f"{number % 3}", FOUND, SOON)
        store.log.add(ENTRY)
        await store.results.get(f"{number % 3}")

    await asyncio.gather(*(ask(number) for number in range(60)))
    assert store.error is None
    assert len(await store.log.recent(100)) == 60
