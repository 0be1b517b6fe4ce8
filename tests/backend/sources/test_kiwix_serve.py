"""Questions over HTTP that are answered from the books of a real kiwix-serve, in two versions that talk differently."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from aiohttp import ClientSession
from libzim.reader import Archive
import pytest

from tests.backend.test_live_sources import Client, ask, house
from tests.services.kiwix_serve import VERSIONS, KiwixServer, serving, watched

from .shelf import ENCYCLOPEDIA, OTHER_NAMES, TOWER, bind, page

ODD = (
    "Quagga? Extinct",
    "Tom & Jerry",
    "#hashtag",
    "100% sure",
    "Back\\slash",
    'The "Beatles" <b>',
    "C++",
    "AC/DC; live",
    "Läufer größe",
)


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Return books by what they are called here; their names as files and as books differ, as they do in life."""
    folder = tmp_path_factory.mktemp("shelf")
    bound: dict[str, dict[str, Any]] = {
        "encyclopedia": {
            "file": "wikipedia_en_all_2024-01",
            "articles": ENCYCLOPEDIA,
            "redirects": OTHER_NAMES,
            "Name": "wikipedia_en_all",
            "Title": "Wikipedia",
            "Description": "The free encyclopedia",
            "Tags": "wikipedia;_category:wikipedia;_ftindex:yes",
        },
        "german": {
            "file": "wikipedia_de_all_2024-01",
            "articles": {
                ("Schwarzes_Loch", "Schwarzes Loch"): page(
                    "Schwarzes Loch", "Ein Schwarzes Loch ist ein Objekt, dem nichts entkommt."
                ),
                ("Eiffelturm", "Eiffelturm"): page(
                    "Eiffelturm", "Der Eiffelturm in Paris ist 330 Meter hoch."
                ),
            },
            "language": "deu",
            "Name": "wikipedia_de_all",
            "Title": "Wikipedia",
            "Description": "Die freie Enzyklopädie",
            "Tags": "_category:wikipedia",
        },
        "cooking": {
            "file": "cooking_en",
            "articles": {
                ("q/1", "How long does rice take"): page(
                    "How long does rice take", "Cooking rice takes 18 minutes."
                )
            },
            "Title": "Cooking",
            "Description": "Questions on cooking rice, meat and more",
        },
        "odd": {
            "file": "odd things_en",
            "articles": {
                (title, title): page(title.replace("<", "&lt;"), f"Rarely told, item {number}.")
                for number, title in enumerate(ODD)
            },
            "Title": "Odd things",
        },
        "unindexed": {
            "file": "plain_en",
            "articles": {("Tower", "Eiffel Tower"): TOWER},
            "indexed": False,
        },
    }
    return {
        key: bind(folder / f"{book.pop('file')}.zim", book.pop("articles"), **book)
        for key, book in bound.items()
    }


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def server(
    version: str, shelf: Mapping[str, Path], tmp_path: Path
) -> AsyncIterator[KiwixServer]:
    books = [shelf[key] for key in ("encyclopedia", "german", "cooking")]
    async with serving(version, tmp_path / "kiwix", books) as server:
        yield server


@pytest.fixture
async def client(server: KiwixServer, tmp_path: Path) -> AsyncIterator[Client]:
    async with house(tmp_path, kiwix_url=server.url) as client:
        yield client


async def told(client: Client, query: str, **fields: Any) -> dict[str, Any]:
    return await ask(client, query, **{"source": "kiwix", **fields})


@pytest.mark.parametrize(
    ("text", "title", "fact"),
    [
        ("what is a black hole", "Black hole", "region of spacetime"),
        ("how do black holes form", "Black hole", "massive stars collapse"),
        ("HOW TALL IS THE EIFFEL TOWER?", "Eiffel Tower", "330 metres"),
        ("tour eiffel", "Eiffel Tower", "lattice tower"),
        ("how long does rice take", "How long does rice take", "18 minutes"),
        # No article has all of these words.
        ("size of the smallest black hole of zaxon", "Black hole", "3.3 times the mass"),
    ],
)
async def test_a_question_is_answered_from_the_article_on_it(
    client: Client, text: str, title: str, fact: str
) -> None:
    reply = await told(client, text)
    assert reply["success"], reply
    assert reply["source_used"] == "kiwix"
    assert fact in reply["result"]
    assert fact in reply["speech"]


async def test_without_a_rule_the_encyclopedia_answers_what_the_documents_do_not(
    client: Client,
) -> None:
    reply = await ask(client, "what is a black hole", answer_style="voice", synthesize=True)
    assert "region of spacetime" in reply["speech"]
    assert reply["answer_sources"] == ["kiwix"]


async def test_an_article_is_clean_text_and_a_list_does_not_outrank_it(client: Client) -> None:
    reply = await told(client, "black holes")
    assert reply["result"].index("region of spacetime") < 200
    for noise in ("[1]", "[edit]", "Contents", "Some book", "topics", "<", "number 59"):
        assert noise not in reply["result"]


async def test_the_book_in_the_language_of_the_question_answers(client: Client) -> None:
    reply = await told(client, "wie hoch ist der eiffelturm", language="de")
    assert "330 Meter" in reply["speech"]
    reply = await told(client, "was ist ein schwarzes loch", language="de-AT")
    assert "dem nichts entkommt" in reply["speech"]


@pytest.mark.parametrize("text", ["flurb zaxon", "black gravy", 'AND OR ( " title:', "hello"])
async def test_what_the_books_do_not_know_is_nothing(client: Client, text: str) -> None:
    reply = await told(client, text)
    assert (reply["success"], reply["error"]) == (False, "nothing_found")


async def test_a_citation_opens_the_article(client: Client) -> None:
    reply = await told(client, "tour eiffel")
    url = reply["citations"][0]["url"]
    async with ClientSession() as session, session.get(url) as page:
        assert page.status == 200
        assert "lattice tower" in await page.text()


async def test_a_title_may_hold_any_character(
    version: str, shelf: Mapping[str, Path], tmp_path: Path
) -> None:
    async with (
        serving(version, tmp_path / "kiwix", [shelf["odd"]]) as server,
        house(tmp_path, kiwix_url=server.url) as client,
    ):
        for number, title in enumerate(ODD):
            assert f"item {number}." in (await told(client, title))["result"]


async def test_at_most_two_books_are_asked_the_one_on_the_topic_and_the_encyclopedia(
    version: str, shelf: Mapping[str, Path], tmp_path: Path
) -> None:
    async with (
        serving(version, tmp_path / "kiwix", shelf.values()) as server,
        watched(server.url) as (url, asked),
        house(tmp_path, kiwix_url=url) as client,
    ):
        reply = await told(client, "how long does rice take")
        assert "18 minutes" in reply["result"]
        books = {
            parse_qs(urlsplit(each).query)["books.name"][0] for each in asked if "/search" in each
        }
        assert books == {"cooking_en", "wikipedia_en_all_2024-01"}


async def test_of_the_flavours_of_a_book_the_whole_one_is_asked(
    version: str, shelf: Mapping[str, Path], tmp_path: Path
) -> None:
    book = {"Name": "towers_en", "Title": "Towers"}
    lead = TOWER.partition("<h2>")[0]
    articles = {("Tower", "Eiffel Tower"): lead} | {
        (f"more{n}", f"More {n}"): page(f"More {n}", "Towers, towers.") for n in range(5)
    }
    books = [
        bind(tmp_path / "towers_en_mini.zim", articles, Flavour="mini", **book),
        bind(tmp_path / "towers_en_maxi.zim", {("Tower", "Eiffel Tower"): TOWER}, **book),
    ]
    async with (
        serving(version, tmp_path / "kiwix", books) as server,
        watched(server.url) as (url, asked),
        house(tmp_path, kiwix_url=url) as client,
    ):
        assert "330 metres" in (await told(client, "how tall is the eiffel tower"))["result"]
        assert not any("towers_en_mini" in each for each in asked)


async def test_a_book_without_a_full_text_index_is_searched_by_its_titles(
    version: str, shelf: Mapping[str, Path], tmp_path: Path
) -> None:
    async with (
        serving(version, tmp_path / "kiwix", [shelf["unindexed"]]) as server,
        house(tmp_path, kiwix_url=server.url) as client,
    ):
        for text in ("how tall is the eiffel tower", "name the quaint lattice eiffel tower please"):
            assert "330 metres" in (await told(client, text))["result"]
        assert (await told(client, "what is a black hole"))["error"] == "nothing_found"


async def test_a_server_may_stand_under_a_path(
    version: str, shelf: Mapping[str, Path], tmp_path: Path
) -> None:
    async with (
        serving(version, tmp_path / "kiwix", [shelf["encyclopedia"]], path="/kiwix") as server,
        house(tmp_path, kiwix_url=server.url) as client,
    ):
        reply = await told(client, "tour eiffel")
        assert "lattice tower" in reply["result"]
        assert reply["citations"][0]["url"].startswith(f"{server.url}/")


async def test_a_book_that_was_taken_out_is_asked_no_more_and_what_is_there_now_is(
    client: Client, server: KiwixServer, shelf: Mapping[str, Path]
) -> None:
    assert "330 metres" in (await told(client, "how tall is the eiffel tower"))["result"]
    await server.list([shelf["unindexed"], shelf["german"]])
    await server.reload(holds=2)
    # The catalogue that is kept doesn't know it yet.
    reply = await told(client, "eiffel tower")
    assert "330 metres" in reply["result"]
    assert (await told(client, "what is a black hole"))["error"] == "nothing_found"


async def test_a_catalogue_of_several_pages_is_read_to_its_end(
    version: str, shelf: Mapping[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "kiwix"
    folder.mkdir()
    # The server looks a book that it searches up by the book's own id.
    last = (230, "deu", "german", Archive(shelf["german"]).uuid)
    entries = []
    for number, language, key, known_as in (
        *((n, "eng", "cooking", f"{n:08}-0000-0000-0000-000000000000") for n in range(230)),
        last,
    ):
        book = folder / f"book{number:03}.zim"
        book.symlink_to(shelf[key])
        entries.append(
            f'<book id="{known_as}" path="{book}" title="Book {number:03}" language="{language}"/>'
        )
    server = KiwixServer(version, folder)
    server.write_library(f'<library version="20110515">{"".join(entries)}</library>')
    try:
        await server.start()
        async with house(tmp_path, kiwix_url=server.url) as client:
            reply = await told(client, "wie hoch ist der eiffelturm", language="de")
            assert "330 Meter" in reply["speech"]
            health = await (await client.get("/health")).json()
            assert health["sources"]["kiwix"]["documents"] == 231
    finally:
        server.kill()


async def test_a_server_that_is_away_is_said_to_be_and_asked_again_when_it_is_back(
    client: Client, server: KiwixServer
) -> None:
    # What was asked before the catalogue was known isn't kept.
    for _ in range(2):
        assert (await told(client, "what is a black hole"))["success"]
    server.kill()
    reply = await told(client, "how tall is the eiffel tower")
    assert (reply["success"], reply["error"]) == (False, "unreachable")
    assert reply["speech"] == "I can't reach the source for that right now."
    # What was asked before is known all the same.
    assert (await told(client, "what is a black hole"))["cached"]
    await server.start()
    assert "330 metres" in (await told(client, "how tall is the eiffel tower"))["speech"]


async def test_a_server_that_is_away_from_the_start_holds_nothing_up(
    server: KiwixServer, tmp_path: Path
) -> None:
    server.kill()
    async with house(tmp_path, kiwix_url=server.url) as client:
        assert (await told(client, "what is a black hole"))["error"] == "unreachable"
        assert (await ask(client, "what is the boiler pressure"))["success"]
        await server.start()
        reply = await told(client, "what is a black hole")
        assert reply["success"], reply


async def test_a_server_that_hangs_ends_with_a_sentence_when_the_time_is_over(
    server: KiwixServer, tmp_path: Path
) -> None:
    async with house(tmp_path, kiwix_url=server.url, request_timeout_seconds=2.0) as client:
        assert (await told(client, "what is a black hole"))["success"]
        server.freeze()
        replies = await asyncio.gather(
            *(told(client, f"how tall is the eiffel tower {n}") for n in range(12))
        )
        assert {(reply["success"], reply["error"]) for reply in replies} == {(False, "timeout")}
        assert len({reply["speech"] for reply in replies}) == 1
        assert replies[0]["speech"]
        server.thaw()
        assert (await told(client, "how tall is the eiffel tower"))["success"]


async def test_identical_questions_at_once_are_one_search(
    server: KiwixServer, tmp_path: Path
) -> None:
    async with (
        watched(server.url) as (url, asked),
        house(tmp_path, kiwix_url=url) as client,
    ):
        replies = await asyncio.gather(*(told(client, "what is a black hole") for _ in range(16)))
        assert len({reply["result"] for reply in replies}) == 1
        assert replies[0]["success"]
        # The catalogue is looked at in the background, too.
        others = [each for each in asked if "/catalog" not in each]
        assert len(others) == len(set(others))
        searches = [each for each in asked if "/search" in each and "wikipedia_en" in each]
        assert len(searches) == 1


async def test_files_and_server_are_one_section_in_which_nothing_stands_twice(
    server: KiwixServer, shelf: Mapping[str, Path], tmp_path: Path
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "same.zim").symlink_to(shelf["encyclopedia"])
    async with house(tmp_path, kiwix_url=server.url, zim_dir=files) as client:
        reply = await told(client, "how do black holes form")
        assert reply["source_used"] == "kiwix"
        assert reply["result"].count("massive stars collapse") == 1
        # What only one of them has is found, too.
        assert "18 minutes" in (await told(client, "how long does rice take"))["result"]


@pytest.mark.parametrize("fault", ["kill", "freeze"])
async def test_files_answer_though_the_server_does_not(
    server: KiwixServer, shelf: Mapping[str, Path], tmp_path: Path, fault: str
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "tower.zim").symlink_to(shelf["unindexed"])
    async with house(
        tmp_path, kiwix_url=server.url, zim_dir=files, request_timeout_seconds=3.0
    ) as client:
        getattr(server, fault)()
        assert "330 metres" in (await told(client, "how tall is the eiffel tower"))["speech"]
        # The files don't know it, and the server might.
        reply = await told(client, "what is a black hole")
        assert reply["error"] == {"kill": "unreachable", "freeze": "timeout"}[fault]


async def test_files_that_can_t_be_read_and_a_server_that_is_away_are_told(
    server: KiwixServer, tmp_path: Path
) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "letter.zim").write_text("Dear reader")
    server.kill()
    async with house(tmp_path, kiwix_url=server.url) as client:
        reply = await told(client, "what is a black hole")
        assert not reply["success"]
        state = (await (await client.get("/health")).json())["sources"]["kiwix"]
        assert "letter.zim is no ZIM file" in state["detail"]
        assert "unreachable" in state["detail"]
