"""Questions to ZIM files made here, read by the real libzim."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
import os
from pathlib import Path
import subprocess
import sys
import threading
from typing import Any

import pytest

from backend.sources.kiwix import Kiwix
from backend.text import markup
from backend.types import Failed, Found, NotConfigured, Nothing

from .conftest import Asking
from .shelf import ENCYCLOPEDIA, HOLE, OTHER_NAMES, TOWER, bind, page

Shelf = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "zim"
    folder.mkdir()
    return folder


@pytest.fixture
def shelf(folder: Path) -> Shelf:
    """Return what makes a book of a name in the folder."""

    def make(name: str, articles: Mapping[tuple[str, str], str], **book: Any) -> Path:
        return bind(folder / f"{name}.zim", articles, **book)

    return make


@pytest.fixture
def encyclopedia(shelf: Shelf) -> Path:
    return shelf("science_en", ENCYCLOPEDIA, redirects=OTHER_NAMES)


@pytest.fixture
async def kiwix(folder: Path) -> AsyncGenerator[Kiwix]:
    kiwix = Kiwix(folder, rescan_seconds=3600, ttl=60)
    yield kiwix
    await kiwix.close()


@pytest.mark.parametrize(
    ("text", "path", "fact"),
    [
        ("what is a black hole", "Black_hole", "region of spacetime"),
        ("tell me about black holes", "Black_hole", "region of spacetime"),
        ("how do black holes form", "Black_hole", "massive stars collapse"),
        ("how tall is the eiffel tower", "Eiffel_Tower", "330 metres"),
        ("tour eiffel", "Eiffel_Tower", "lattice tower"),
    ],
)
async def test_a_question_finds_the_article_on_its_topic(
    kiwix: Kiwix, encyclopedia: Path, asking: Asking, text: str, path: str, fact: str
) -> None:
    outcome = await kiwix.ask(*asking(text))
    assert isinstance(outcome, Found)
    best = outcome.passages[0]
    assert best.url == f"zim://science_en/{path}"
    assert best.language == "en"
    assert best.source == "kiwix"
    assert any(fact in passage.text for passage in outcome.passages)


async def test_an_article_is_clean_text(kiwix: Kiwix, encyclopedia: Path, asking: Asking) -> None:
    outcome = await kiwix.ask(*asking("what is a black hole"))
    assert isinstance(outcome, Found)
    own = [p for p in outcome.passages if p.title == "Black hole"]
    said = " ".join(f"{p.section} {p.text}" for p in own)
    assert own[0].text.endswith("that nothing can escape.")
    for noise in ("[1]", "[edit]", "Contents", "Some book", "topics", "<"):
        assert noise not in said


async def test_a_list_does_not_outrank_the_article(
    kiwix: Kiwix, encyclopedia: Path, asking: Asking
) -> None:
    for text in ("black holes", "what is a black hole", "black hole"):
        outcome = await kiwix.ask(*asking(text))
        assert isinstance(outcome, Found)
        assert outcome.passages[0].title == "Black hole"


@pytest.mark.parametrize(
    "text",
    [
        "what does error e24 on the dishwasher mean",
        "flurb zaxon",
        "",
        'AND OR ( " title:',
        "black gravy",
    ],
)
async def test_a_question_on_something_else_finds_nothing(
    kiwix: Kiwix, encyclopedia: Path, asking: Asking, text: str
) -> None:
    assert await kiwix.ask(*asking(text)) == Nothing()


async def test_a_long_article_gives_the_passages_that_match_and_no_more_than_3000_characters(
    kiwix: Kiwix, shelf: Shelf, asking: Asking
) -> None:
    sections = "".join(
        f"<h2>Part {n}</h2>" + f"<p>Whatever part {n} of a bridge is good for. </p>" * 25
        for n in range(300)
    )
    tail = "<h2>Expansion joints</h2><p>Expansion joints of a bridge let it grow by 40 centimetres.</p>"
    shelf(
        "bridges",
        {
            (
                "Bridge",
                "Bridge",
            ): f"<html><body><h1>Bridge</h1><p>A bridge spans.</p>{sections[:200_000]}{tail}"
        },
    )
    outcome = await kiwix.ask(*asking("what do expansion joints of a bridge do"))
    assert isinstance(outcome, Found)
    assert any("40 centimetres" in passage.text for passage in outcome.passages)
    assert sum(len(passage.text) for passage in outcome.passages) <= 3_000


async def test_of_many_books_the_two_best_are_asked(
    kiwix: Kiwix, shelf: Shelf, asking: Asking
) -> None:
    said = {
        "a": "Eiffel Tower: 330 metres of wrought iron, built for an exhibition.",
        "b": "From the Eiffel Tower you see Paris at your feet, the queue is long.",
        "c": "Gustave's company raised this Eiffel Tower, which rivets hold together.",
    }
    for name, text in said.items():
        shelf(name, {("Tower", "Eiffel Tower"): page("Eiffel Tower", text)})
    shelf("d", {("X", "Nothing of it"): "<html><body><p>Not a word on that.</p></body></html>"})
    outcome = await kiwix.ask(*asking("how tall is the eiffel tower"))
    assert isinstance(outcome, Found)
    books = {passage.url.split("/")[2] for passage in outcome.passages if passage.url}
    assert len(books) == 2
    assert books < {"a", "b", "c"}


async def test_an_article_that_is_in_two_editions_of_a_book_is_told_once(
    kiwix: Kiwix, shelf: Shelf, asking: Asking
) -> None:
    shelf("old", {("Tower", "Eiffel Tower"): TOWER.replace("330", "324")})
    shelf("new", {("Tower", "Eiffel Tower"): TOWER})
    outcome = await kiwix.ask(*asking("how tall is the eiffel tower"))
    assert isinstance(outcome, Found)
    assert len({passage.url for passage in outcome.passages}) == 1
    assert sum("metres" in passage.text for passage in outcome.passages) == 1


async def test_a_book_in_the_language_of_the_question_comes_first(
    kiwix: Kiwix, shelf: Shelf, asking: Asking
) -> None:
    german = TOWER.replace("The tower is 330 metres tall", "Der Turm ist 330 Meter hoch")
    shelf("en", {("Eiffel", "Eiffel"): TOWER})
    shelf("de", {("Eiffel", "Eiffel"): german}, language="deu")
    for language in ("de", "en"):
        outcome = await kiwix.ask(*asking("eiffel", language))
        assert isinstance(outcome, Found)
        assert outcome.passages[0].language == language


async def test_a_file_that_is_no_book_is_told_and_the_others_work(
    kiwix: Kiwix, encyclopedia: Path, folder: Path, asking: Asking, caplog: pytest.LogCaptureFixture
) -> None:
    whole = await asyncio.to_thread(encyclopedia.read_bytes)
    (folder / "letter.zim").write_text(
        "Dear reader, this is no book, but long enough to look at." * 3
    )
    (folder / "half.zim").write_bytes(whole[:-100])
    # The header is sound, but where it points to there is nothing.
    (folder / "broken.zim").write_bytes(whole[:24] + b"\xff" * 40 + whole[64:])
    (folder / "empty.zim").touch()
    assert isinstance(await kiwix.ask(*asking("what is a black hole")), Found)
    state = kiwix.state()
    assert state.documents == 1
    assert "letter.zim is no ZIM file" in state.detail
    assert "half.zim is not complete" in state.detail
    assert "broken.zim can't be read" in state.detail
    assert sum("letter.zim" in record.message for record in caplog.records) == 1


class Torn:
    """The index of a book that was written over while it was open."""

    def search(self, query: object) -> object:
        raise RuntimeError("EOF reading block 176")


async def test_a_book_that_is_written_over_while_it_is_open_is_told_and_the_others_work(
    kiwix: Kiwix, shelf: Shelf, encyclopedia: Path, asking: Asking
) -> None:
    shelf("towers_en", {("Tower", "Eiffel Tower"): TOWER})
    assert isinstance(await kiwix.ask(*asking("what is a black hole")), Found)
    kiwix._books[encyclopedia].searcher = Torn()
    outcome = await kiwix.ask(*asking("how tall is the Eiffel Tower"))
    assert isinstance(outcome, Found)
    assert {passage.url for passage in outcome.passages} == {"zim://towers_en/Tower"}
    state = kiwix.state()
    assert state.documents == 1
    assert "science_en.zim can't be read any more (EOF reading block 176)" in state.detail


async def test_of_a_book_with_a_damaged_page_the_others_are_read(
    kiwix: Kiwix,
    encyclopedia: Path,
    asking: Asking,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    read = markup.html

    def damaged(content: str) -> markup.Page:
        if "<h1>List of" in content:
            raise RuntimeError("Data corruption detected\n#1: C/a1")
        return read(content)

    monkeypatch.setattr(markup, "html", damaged)
    assert isinstance(await kiwix.ask(*asking("what is a black hole")), Found)
    assert kiwix.state().detail == ""
    assert "List_of_black_holes: Data corruption detected" in caplog.text
    assert "#1" not in caplog.text


async def test_with_nothing_but_bad_files_it_is_a_failure(
    kiwix: Kiwix, folder: Path, asking: Asking
) -> None:
    (folder / "letter.zim").write_text("Dear reader")
    assert await kiwix.ask(*asking("what is a black hole")) == Failed(
        "unreadable", "letter.zim is no ZIM file"
    )


async def test_a_book_without_a_full_text_index_is_searched_by_its_titles(
    kiwix: Kiwix, shelf: Shelf, asking: Asking
) -> None:
    shelf("plain", {("Black_hole", "Black hole"): HOLE}, indexed=False)
    outcome = await kiwix.ask(*asking("what is a black hole"))
    assert isinstance(outcome, Found)


async def test_without_books_the_setting_is_named(kiwix: Kiwix, asking: Asking) -> None:
    assert await kiwix.ask(*asking("what is a black hole")) == NotConfigured("ZIM_DIR")
    state = kiwix.state()
    assert (state.configured, state.setting) == (False, "ZIM_DIR")


async def test_a_folder_that_is_not_there_is_not_configured(tmp_path: Path, asking: Asking) -> None:
    kiwix = Kiwix(tmp_path / "nowhere", rescan_seconds=3600, ttl=60)
    outcome = await kiwix.ask(*asking("what is a black hole"))
    await kiwix.close()
    assert outcome == NotConfigured("ZIM_DIR")


async def test_a_new_a_changed_and_a_deleted_book_are_noticed(
    kiwix: Kiwix, shelf: Shelf, asking: Asking
) -> None:
    assert await kiwix.ask(*asking("eiffel tower")) == NotConfigured("ZIM_DIR")
    versions = [kiwix.version]
    path = await asyncio.to_thread(shelf, "tower", {("Eiffel", "Eiffel Tower"): TOWER})
    await kiwix.scan()
    versions.append(kiwix.version)
    assert isinstance(await kiwix.ask(*asking("how tall is the eiffel tower")), Found)
    await asyncio.to_thread(
        shelf, "tower", {("Eiffel", "Eiffel Tower"): TOWER.replace("330", "331")}
    )
    os.utime(path, (1_700_000_000, 1_700_000_000))
    await kiwix.scan()
    versions.append(kiwix.version)
    outcome = await kiwix.ask(*asking("how tall is the eiffel tower"))
    assert isinstance(outcome, Found)
    assert any("331 metres" in passage.text for passage in outcome.passages)
    path.unlink()
    await kiwix.scan()
    versions.append(kiwix.version)
    assert await kiwix.ask(*asking("eiffel tower")) == NotConfigured("ZIM_DIR")
    assert len(set(versions)) == 3
    assert versions[0] == versions[3]


async def test_a_question_does_not_outlast_its_time_though_a_book_is_slow(
    kiwix: Kiwix, encyclopedia: Path, asking: Asking
) -> None:
    assert isinstance(await kiwix.ask(*asking("eiffel tower")), Found)
    (book,) = kiwix._books.values()
    go_on = threading.Event()
    holder = threading.Thread(
        target=lambda: (book.lock.acquire(), go_on.wait(10), book.lock.release())
    )
    holder.start()
    outcome = await kiwix.ask(*asking("eiffel tower", seconds=0.2))
    go_on.set()
    await asyncio.to_thread(holder.join)
    assert outcome == Failed("timeout", "the books took too long")
    assert isinstance(await kiwix.ask(*asking("eiffel tower")), Found)


async def test_many_questions_at_once_are_all_answered(
    kiwix: Kiwix, encyclopedia: Path, asking: Asking
) -> None:
    outcomes = await asyncio.gather(
        *(
            kiwix.ask(*asking(text))
            for text in ("black hole", "eiffel tower", "how do black holes form") * 5
        )
    )
    assert all(isinstance(outcome, Found) for outcome in outcomes)


def test_libzim_is_loaded_by_the_first_question_only(encyclopedia: Path) -> None:
    code = f"""
import asyncio, sys
from pathlib import Path
from backend.sources.kiwix import Kiwix
async def main():
    kiwix = Kiwix(Path({str(encyclopedia.parent)!r}), rescan_seconds=60, ttl=60)
    await kiwix.start()
    await kiwix.scan()
    print(kiwix.state().documents, "libzim" in sys.modules)
    await kiwix.close()
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]
