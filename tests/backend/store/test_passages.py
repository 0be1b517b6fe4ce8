"""Passages are found by words, in their language and, by names and codes, in any other."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, given, settings, strategies as st

from backend.store import Store
from backend.store.passages import Chunk, Document, quoted
from backend.types import Found

EN = Document(
    "dishwasher.md",
    1,
    1,
    "a",
    1,
    "Dishwasher manual",
    "en",
    chunks=(
        Chunk("Error codes", "E24 means that the water does not drain. Clean the filter."),
        Chunk("Salt", "Refill salt when the lamp lights."),
        Chunk("Wi-Fi", "The machine has no Wi-Fi."),
    ),
)
DE = Document(
    "kessel.md",
    1,
    1,
    "b",
    1,
    "Anleitung Heizkessel",
    "de",
    chunks=(
        Chunk("Störungen", "F22: Der Wasserdruck ist zu niedrig. Nachfüllen bis 1,5 bar."),
        Chunk("Warmwasser", "Das Warmwasser ist auf 55 °C eingestellt."),
    ),
)
ZH = Document(
    "zh.txt", 1, 1, "c", 1, "洗衣机", "zh", chunks=(Chunk("", "E20 表示排水过滤器堵塞。"),)
)


async def paths(store: Store, words: list[str], language: str | None) -> list[str]:
    """Where the words are found, best first."""
    matches = await store.passages.search(words, language)
    return [f"{hit.path}#{hit.position}" for hit in matches.hits]


async def test_words_find_the_passage_that_holds_them(store: Store) -> None:
    await store.passages.put([EN, DE, ZH])
    assert (await paths(store, ["dishwasher", "draining"], "en"))[0] == "dishwasher.md#0"
    assert (await paths(store, ["warmwasser"], "de"))[0] == "kessel.md#1"
    assert (await paths(store, ["过滤器"], "zh"))[0] == "zh.txt#0"


async def test_a_word_inside_a_compound_and_one_without_its_accents_are_found(store: Store) -> None:
    await store.passages.put([DE])
    assert await paths(store, ["druck"], "de") == ["kessel.md#0"]
    assert (await paths(store, ["storung"], "de"))[0] == "kessel.md#0"


async def test_a_code_is_found_whatever_language_is_spoken(store: Store) -> None:
    await store.passages.put([EN, DE, ZH])
    assert await paths(store, ["e24"], "pl") == ["dishwasher.md#0"]
    assert await paths(store, ["f22"], "en") == ["kessel.md#0"]
    assert await paths(store, ["e20"], "de") == ["zh.txt#0"]


async def test_speech_knows_no_hyphens(store: Store) -> None:
    await store.passages.put([EN])
    assert (await paths(store, ["wifi"], "en"))[0] == "dishwasher.md#2"


async def test_a_title_counts_for_every_passage_of_its_document(store: Store) -> None:
    await store.passages.put([EN, DE])
    assert (await paths(store, ["dishwasher", "salt"], "en"))[0] == "dishwasher.md#1"


async def test_rare_words_weigh_more_and_unknown_ones_are_told(store: Store) -> None:
    await store.passages.put([EN, DE])
    matches = await store.passages.search(["dishwasher", "salt", "zeppelin"], "en")
    assert matches.rarity["dishwasher"] < matches.rarity["salt"] < matches.rarity["zeppelin"]
    assert matches.unknown == {"zeppelin"}


async def test_a_document_put_again_replaces_what_it_said(store: Store) -> None:
    await store.passages.put([EN])
    changed = Document(
        "dishwasher.md", 2, 2, "z", 1, "Manual", "de", chunks=(Chunk("", "Nur Neues."),)
    )
    await store.passages.put([changed])
    assert await paths(store, ["drain"], "en") == []
    assert await paths(store, ["dishwasher"], "en") == []
    assert await paths(store, ["neues"], "de") == ["dishwasher.md#0"]


async def test_a_deleted_document_leaves_nothing_behind(store: Store) -> None:
    await store.passages.put([EN, DE, ZH])
    await store.passages.delete(["dishwasher.md", "kessel.md", "zh.txt", "never there"])
    assert await store.passages.documents() == []
    for words in (["drain"], ["warmwasser"], ["e20"], ["过滤器"]):
        assert await paths(store, words, "en") == []


async def test_documents_come_back_with_what_is_known_of_their_files(store: Store) -> None:
    bad = Document("bad.pdf", 5, 6, "d", 1, unreadable="no PDF")
    await store.passages.put([EN, bad])
    assert [(d.path, d.unreadable) for d in await store.passages.documents()] == [
        ("bad.pdf", "no PDF"),
        ("dishwasher.md", None),
    ]


async def test_one_section_comes_in_order(store: Store) -> None:
    long = Document(
        "long.md",
        1,
        1,
        "l",
        1,
        "Long",
        "en",
        chunks=tuple(Chunk("S", f"part {n}") for n in range(12)),
    )
    await store.passages.put([long])
    assert [hit.position for hit in await store.passages.section("long.md", "S")] == list(range(12))


OPERATORS = st.sampled_from(
    [
        '"',
        "NEAR(",
        "a OR",
        "AND",
        "NOT",
        "title:",
        "*",
        "^",
        "{",
        "}",
        ")",
        "(",
        "-",
        "+",
        "'",
        ";",
        "\x00",
    ]
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=st.lists(st.text() | OPERATORS, max_size=6))
async def test_no_text_is_ever_taken_for_a_query(store: Store, words: list[str]) -> None:
    await store.passages.put([EN])
    matches = await store.passages.search(words, "en")
    assert len(matches.hits) <= 30
    assert store.error is None


async def test_many_and_long_words_are_bounded(store: Store) -> None:
    await store.passages.put([EN, DE])
    matches = await store.passages.search(
        ["drain", *(f"word{n}" for n in range(5_000)), "x" * 2_000], "en"
    )
    assert matches.hits[0].path == "dishwasher.md"
    assert len(matches.rarity) <= 32


def test_a_quoted_term_has_no_end_of_its_own() -> None:
    assert quoted('a" OR "b') == '"a"" OR ""b"'


def long(word: str, language: str = "en") -> Document:
    """Return a document of many passages, each with `word` and one of its own."""
    chunks = tuple(
        Chunk(f"Part {n}", f"{word} number{n} " + "and so it goes on. " * 50) for n in range(300)
    )
    return Document("long.txt", 5, 5, f"hash of {word}", 1, "A long one", language, chunks=chunks)


async def test_who_keeps_an_answer_does_not_wait_for_a_long_document(store: Store) -> None:
    fresh = datetime.now(UTC) + timedelta(hours=1)
    for work in (
        store.passages.put([long("zebra", "de")]),
        store.passages.put([long("okapi", "de")]),
        store.passages.delete(["long.txt"]),
    ):
        task = asyncio.create_task(work)
        kept = 0
        while not task.done():
            await store.results.put("key", Found((), fresh), fresh)
            kept += 1
        await task
        assert kept > 4


async def test_a_long_document_is_replaced_and_forgotten_whole(store: Store) -> None:
    await store.passages.put([EN, long("zebra")])
    assert await paths(store, ["zebra", "number299"], "en")
    await store.passages.put([long("okapi", "de"), DE])
    assert not await paths(store, ["zebra"], "en")
    assert (await paths(store, ["okapi", "number299"], "en"))[0] == "long.txt#299"
    (stored,) = [d for d in await store.passages.documents() if d.path == "long.txt"]
    assert stored == replace(long("okapi", "de"), chunks=())
    await store.passages.delete(["long.txt"])
    assert not await paths(store, ["okapi", "number7"], "en")
    assert [d.path for d in await store.passages.documents()] == ["dishwasher.md", "kessel.md"]


async def test_a_long_document_that_was_not_stored_to_the_end_counts_as_never_read(
    store: Store,
) -> None:
    storing = asyncio.create_task(store.passages.put([long("zebra")]))
    while not await store.passages.documents():
        await asyncio.sleep(0)
    storing.cancel()
    await asyncio.gather(storing, return_exceptions=True)
    (stored,) = await store.passages.documents()
    assert (stored.hash, stored.modified_ns) == ("", 0)
    await store.passages.put([long("zebra")])
    (stored,) = await store.passages.documents()
    assert stored.hash == "hash of zebra"
    assert len((await store.passages.search(["zebra"], "en", limit=1000)).hits) == 300
