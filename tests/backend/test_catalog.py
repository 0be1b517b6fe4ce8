"""The books and the areas, over HTTP: from real ZIM files, and a stand-in of Home Assistant's API."""

from __future__ import annotations

from pathlib import Path

from tests.backend.sources.shelf import ENCYCLOPEDIA, bind
from tests.backend.test_live_sources import house


async def test_books_are_listed_and_looked_for_when_asked_to(tmp_path: Path) -> None:
    folder = tmp_path / "zim"
    folder.mkdir()
    async with house(tmp_path, zim_dir=folder, library_rescan_seconds=3600) as client:
        async with client.get("/catalog") as response:
            assert await response.json() == {"books": []}
        bind(folder / "science_en.zim", ENCYCLOPEDIA)
        async with client.post("/catalog/refresh") as response:
            assert await response.json() == {"status": "ok", "books": 1}
        async with client.get("/catalog") as response:
            (book,) = (await response.json())["books"]
        assert (book["name"], book["from"], book["problem"]) == ("science_en.zim", "file", None)


async def test_a_catalogue_that_cannot_be_read_is_said_to_be_and_named(tmp_path: Path) -> None:
    async with house(tmp_path, kiwix_url="http://127.0.0.1:1") as client:
        async with client.post("/catalog/refresh") as response:
            assert response.status == 502
            assert (await response.json())["error"] == "upstream"
        async with client.get("/catalog") as response:
            assert response.status == 200


async def test_without_a_token_there_are_no_areas(tmp_path: Path) -> None:
    async with house(tmp_path) as client, client.get("/areas") as response:
        assert await response.json() == {"areas": []}
