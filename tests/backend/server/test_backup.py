"""A copy of all that the server keeps is whole, whatever is being written meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import io
from pathlib import Path
import sqlite3
import tarfile
from typing import Any

from aiohttp.test_utils import TestClient, TestServer
import pytest

from backend.bootstrap import build, create_server
from backend.settings import Settings

Client = TestClient[Any, Any]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    library = tmp_path / "library"
    library.mkdir()
    (library / "boiler.md").write_text("# Boiler\n\nThe boiler pressure is 1.5 bar.\n", "utf-8")
    settings = Settings(data_dir=tmp_path / "data", library_dir=library, llm_api_type="extractive")
    async with (
        build(settings) as backend,
        TestClient(TestServer(create_server(backend))) as client,
    ):
        yield client


async def ask(client: Client, query: str = "what is the boiler pressure") -> str:
    async with client.post("/search", json={"query": query}) as response:
        return str((await response.json())["result"])


def unpacked(archive: bytes, folder: Path) -> set[str]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
        return set(tar.getnames())


def questions(file: Path) -> int:
    connection = sqlite3.connect(file)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(connection.execute("SELECT count(*) FROM query_log").fetchone()[0])
    finally:
        connection.close()


async def test_the_archive_holds_what_was_just_written_and_serves_as_the_data(
    client: Client, tmp_path: Path
) -> None:
    expected = await ask(client)
    response = await client.get("/backup")
    assert response.headers["Content-Type"] == "application/gzip"
    archive = await response.read()
    restored = tmp_path / "restored"
    assert await asyncio.to_thread(unpacked, archive, restored) == {"mnemolis.sqlite", "id"}
    assert await asyncio.to_thread(questions, restored / "mnemolis.sqlite") == 1
    settings = Settings(
        data_dir=restored, library_dir=tmp_path / "library", llm_api_type="extractive"
    )
    known_as = (await (await client.get("/health")).json())["id"]
    async with (
        build(settings) as backend,
        TestClient(TestServer(create_server(backend))) as again,
    ):
        assert backend.id == known_as
        assert await ask(again) == expected


async def test_copies_made_while_questions_are_written_are_whole(
    client: Client, tmp_path: Path
) -> None:
    async def copy(number: int) -> int:
        archive = await (await client.get("/backup")).read()
        folder = tmp_path / str(number)
        await asyncio.to_thread(unpacked, archive, folder)
        return await asyncio.to_thread(questions, folder / "mnemolis.sqlite")

    asking = [ask(client, f"boiler pressure {number}") for number in range(40)]
    counts, _ = await asyncio.gather(
        asyncio.gather(*(copy(number) for number in range(4))), asyncio.gather(*asking)
    )
    assert all(0 <= count <= 40 for count in counts)


async def test_how_large_it_is_can_be_asked(client: Client) -> None:
    await ask(client)
    told = await (await client.get("/backup/info")).json()
    assert told["file"] == "mnemolis.sqlite"
    assert told["bytes"] > 4096
    assert told["written_at"].endswith("+00:00")
