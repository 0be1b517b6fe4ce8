"""Which books a question is put to, and which links lead into a book, whatever a catalogue holds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement

from hypothesis import given, strategies as st
import pytest

from backend.sources.books import Topic
from backend.sources.catalogue import Volume, choose, volumes

URL = "http://kiwix.house:8080"
WORDS = ("boiler", "pressure")


def entry(name: str, link: str | None = None, **fields: str) -> Element:
    element = Element("entry")
    for key, value in {"id": name, "name": name, **fields}.items():
        SubElement(element, key).text = value
    href = f"/content/{quote(name)}" if link is None else link
    SubElement(element, "link", {"type": "text/html", "href": href})
    SubElement(element, "link", {"type": "image/png", "href": "/picture"})
    return element


def of(*entries: Element, url: str = URL) -> list[Volume]:
    return list(volumes(entries, url))


ENTRIES = st.builds(
    entry,
    st.sampled_from(["wikipedia_de_all", "wikipedia_en_all", "heating", "cooking", "a b"]),
    title=st.sampled_from(["", "Wikipedia", "Boiler handbook", "Pressure", "Rice"]),
    language=st.sampled_from(["", "deu", "eng", "eng,deu", "mul", "fra"]),
    flavour=st.sampled_from(["", "mini", "maxi"]),
    articleCount=st.sampled_from(["", "0", "7", "many", "-1", "²", "9" * 5_000, "9" * 400]),
)


@given(st.lists(ENTRIES, max_size=8))
def test_at_most_two_books_are_chosen_those_of_the_language_first(entries: list[Element]) -> None:
    known = of(*entries)
    chosen = choose(known, WORDS, "de")
    assert len(chosen) == min(2, len({(each.edition, each.languages) for each in known}))
    assert all(each.articles < 2**63 for each in chosen)
    near = ["de" in each.languages for each in chosen]
    assert near == sorted(near, reverse=True)
    assert any(near) == any("de" in each.languages for each in known)


@given(st.lists(ENTRIES, max_size=8).flatmap(lambda e: st.tuples(st.just(e), st.permutations(e))))
def test_the_order_of_a_catalogue_does_not_matter(
    lists: tuple[Sequence[Element], Sequence[Element]],
) -> None:
    one, other = (
        [(each.edition, each.languages) for each in choose(of(*entries), WORDS, "de")]
        for entries in lists
    )
    assert one == other


def test_beside_the_book_on_the_topic_stands_one_on_everything() -> None:
    known = of(
        entry("boats_en", title="Boats", language="eng", articleCount="900"),
        entry("heating_en", title="Boilers and heating", language="eng", articleCount="5"),
        entry("wikipedia_en_all", title="Wikipedia", language="eng", articleCount="100"),
        entry("wikipedia_en_top", title="Wikipedia 100", language="eng", articleCount="10"),
        entry("wikipedia_de_all", title="Wikipedia", language="deu", articleCount="9000"),
    )
    assert [each.name for each in choose(known, WORDS, "en")] == ["heating_en", "wikipedia_en_all"]
    assert [each.name for each in choose(known, ["moon"], "en")] == [
        "wikipedia_en_all",
        "boats_en",
    ]
    assert choose(known, ["moon"], "de")[0].name == "wikipedia_de_all"


@pytest.mark.parametrize("link", ["", "/", "//", "?q", "http://["])
def test_an_entry_that_can_t_be_opened_is_no_book(link: str) -> None:
    assert of(entry("x", link)) == []


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=30))
def test_a_link_leads_to_the_path_that_it_was_made_of_in_both_versions(path: str) -> None:
    (new,), (old,) = of(entry("book")), of(entry("book", "/book"))
    inside = None if {".", ".."} & set(path.split("/")) else path
    assert new.path(f"/content/book/{quote(path)}") == inside
    assert old.path(f"/book/{quote(path, safe='/?&;+=:,@')}") == inside
    if inside:
        assert new.path(new.address(path)) == old.path(old.address(path)) == path


def test_a_server_under_a_path_has_its_books_there() -> None:
    told = of(entry("book", "/kiwix/content/book"), url=f"{URL}/kiwix")
    untold = of(entry("book"), url=f"{URL}/kiwix")
    assert {each.address("a b") for each in (*told, *untold)} == {f"{URL}/kiwix/content/book/a%20b"}


@given(st.lists(st.sampled_from(["boiler", "e24", "pressure", "rice", "water"]), unique=True))
def test_searches_leave_words_out_the_commonest_first(words: list[str]) -> None:
    counts = {word: at for at, word in enumerate(words)}
    searches = list(Topic.of(words, "en", "en").counted(counts, 100).searches())
    assert all(len(each.split()) < len(words) for each in searches)
    assert len(searches) <= max(1, len(words) // 2 + 1)
    for longer, shorter in pairwise(searches):
        assert longer.startswith(f"{shorter} ")
