"""What of a feed is read, when two addresses are one page, and where a text is cut: for whatever others may write."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import example, given, settings, strategies as st
import pytest

from backend.sources.feed_text import MOST_ITEMS, NoFeed, bounded, decoded
from backend.sources.feeds import (
    NewsItem,
    distinct,
    known_dates,
    parse,
    same_address,
    shortened,
    web_address,
)

UNTIMED = settings(deadline=None)
"""How fast the machine is is no matter here."""

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HEAD = "<rss version='2.0'><channel><title>Paper</title>"
END = "</channel></rss>"


def titles(feed: str | bytes) -> list[str]:
    return [item.title for item in parse(feed.encode() if isinstance(feed, str) else feed)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/x", "http://www.a.example/x/#top"),
        ("https://a.example/x", "https://a.example:443/x?utm_source=feed&utm_medium=rss"),
        ("http://a.example:80/x?id=7", "https://a.example/x?at_medium=RSS&id=7&fbclid=abc"),
        ("https://a.example/x", "https://a.example/x?partner=rss&emc=rss"),
        ("https://a.example/x?a=1&b=2", "https://a.example/x?b=2&a=1"),
    ],
)
def test_one_page_under_two_addresses_is_one(one: str, other: str) -> None:
    assert same_address(one) == same_address(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/?4711", "https://a.example/?4712"),
        ("https://a.example/news?story", "https://a.example/news"),
        ("https://a.example/news?story=", "https://a.example/news"),
        ("https://a.example:8080/x", "https://a.example:8081/x"),
        ("https://a.example/x", "https://a.example:8443/x"),
        ("http://a.example:443/x", "http://a.example/x"),
        ("https://a.example/x?ref=4", "https://a.example/x?ref=5"),
        ("https://a.example/x?id=%E4", "https://a.example/x?id=%F6"),
        ("https://a.example/x?at_most=4", "https://a.example/x?at_most=5"),
        ("https://a.example/#!/news/1", "https://a.example/#!/news/2"),
        ("https://a.example/X", "https://a.example/x"),
        ("https://a.example/x?tag=a&tag=b", "https://a.example/x?tag=a"),
    ],
)
def test_two_pages_are_two_however_alike_their_addresses_are(one: str, other: str) -> None:
    assert same_address(one) != same_address(other)
    items = [NewsItem("Live", "", one, NOW), NewsItem("Live", "", other, NOW)]
    assert distinct(items) == items


@given(
    st.lists(st.text("abc%7=?;", max_size=6), max_size=4).map("&".join),
    st.lists(st.text("abc%7=?;", max_size=6), max_size=4).map("&".join),
)
@UNTIMED
def test_questions_of_other_parts_are_other_pages(one: str, other: str) -> None:
    parts = [sorted(filter(None, query.split("&"))) for query in (one, other)]
    addresses = [same_address(f"https://a.example/x?{query}") for query in (one, other)]
    assert (addresses[0] == addresses[1]) == (parts[0] == parts[1])


@given(st.text(max_size=60))
@example("http://[")
@example("http://a.example:99999/x")
@example("https://a.example/\u2100?\u2101")
@example("javascript:alert(1)")
@example("https://a.example/\ud800")
@UNTIMED
def test_whatever_a_link_is_it_is_an_address_or_none(link: str) -> None:
    for each in (link, f"https://a.example/{link}", f"https://{link}/x"):
        address = web_address(each)
        if address is not None:
            assert address[:4].lower() == "http"
            assert same_address(address)


@given(st.text(st.sampled_from("ab .\n!?。"), max_size=3_000))
@UNTIMED
def test_a_text_is_cut_to_its_beginning_and_no_shorter_than_half_of_what_there_is_room_for(
    text: str,
) -> None:
    cut = shortened(text)
    assert text.startswith(cut)
    assert len(cut) <= 1_200
    if len(text) > 1_200:
        # White space at the end of it goes; nothing else does.
        assert len(text[:600].rstrip()) <= len(cut)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("word " * 400, 1_190),
        ("x" * 3_000, 1_200),
        ("語" * 3_000, 1_200),
        ("One sentence of the news. " * 100, 1_160),
        ("Short.\n\n" + "word " * 400, 1_190),
        ("A paragraph.\n\n" * 200, 1_180),
    ],
    ids=["words", "one word", "signs", "sentences", "a short paragraph first", "paragraphs"],
)
def test_of_a_long_text_as_much_is_kept_as_there_is_room_for(text: str, least: int) -> None:
    assert least <= len(shortened(text)) <= 1_200


def test_a_text_is_cut_at_the_end_of_a_sentence_where_one_is_near() -> None:
    cut = shortened("The harbour, which was closed by the storm, is open. " * 40)
    assert cut.endswith("is open.")


def dated(number: int) -> str:
    at = NOW + timedelta(minutes=number)
    return f"<item><title>News number {number}</title><pubDate>{at.isoformat()}</pubDate></item>"


@pytest.mark.parametrize("newest_first", [True, False])
def test_of_an_endless_feed_the_newest_items_are_read_whichever_end_they_are_at(
    newest_first: bool,
) -> None:
    numbers = sorted(range(20_000), reverse=newest_first)
    feed = f"{HEAD}{''.join(map(dated, numbers))}{END}"
    read = titles(feed)
    newest = [f"News number {number}" for number in range(19_900, 20_000)]
    assert set(newest) <= set(read)
    assert len(read) == MOST_ITEMS


@given(st.integers(0, MOST_ITEMS), st.booleans(), st.sampled_from(["item", "entry"]))
@settings(UNTIMED, max_examples=25)
def test_a_feed_of_a_usual_size_is_read_as_it_is(count: int, comments: bool, name: str) -> None:
    between = (
        "<!-- <item> --><x><![CDATA[ <item><a href='/x'> & </item> ]]></x>" if comments else ""
    )
    feed = f"{HEAD}{between.join(f'<{name}>{n}</{name}>' for n in range(count))}{END}"
    assert bounded(feed) == feed


@pytest.mark.parametrize(
    "feed",
    [
        HEAD + "<item><title>t</title></item>" * 60_000 + END,
        HEAD + "<a></a>" * 250_000 + END,
        HEAD + "<a>" * 500_000,
        HEAD + "<" * 1_500_000,
        HEAD + "<" * 1_500_000 + ">",
        HEAD + "<item><title>" + "&" * 1_500_000,
        HEAD + "<item " + " ".join(f"a{n}='1'" for n in range(150_000)) + "></item>" + END,
        HEAD + ("<a " + " ".join(f"b{n}='1'" for n in range(59)) + "/>") * 4_000 + END,
        HEAD + "<item>" + "<category>w</category>" * 80_000 + "</item>" + END,
        HEAD + "<![CDATA[" * 150_000,
        HEAD + "<!-- -->" * 150_000,
        HEAD + "<item><title>t</title>" * 60_000,
        "<html><body>" + "<p>Hello <b>you</b></p>" * 60_000,
    ],
    ids=[
        "items", "tags", "nested", "signs", "signs in one tag", "entities", "attributes of one tag",
        "attributes of many", "parts of one item", "open data", "comments", "open items", "a page",
    ],
)  # fmt: skip
def test_what_a_parser_would_take_seconds_for_never_comes_to_it(feed: str) -> None:
    try:
        read = bounded(feed)
    except NoFeed:
        return
    assert read.count("<") + read.count("=") <= 100_000 or "CDATA" in read
    assert read.count("&") <= 150_000
    assert max(len(piece) for piece in read.split("<")) <= 4_100


@given(st.binary(max_size=300))
@settings(UNTIMED, max_examples=60)
def test_whatever_is_sent_there_is_some_reading_of_it_or_it_is_no_feed(body: bytes) -> None:
    for each in (body, f"{HEAD}<item><title>".encode() + body + b"</title></item></channel></rss>"):
        try:
            items = parse(each)
        except NoFeed:
            continue
        assert all(item.title for item in items)


CAFE = "<item><title>Café opens — “naïve” señor</title></item>"


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("utf-8", "utf-8"),
        ("utf-8", "windows-1252"),
        ("iso-8859-1", "windows-1252"),
        ("iso-8859-1", "utf-8"),
        ("windows-1252", "windows-1252"),
        ("utf-16", "utf-16"),
        ("utf-16", "utf-8"),
        ("no-such-one", "utf-8"),
        ("punycode", "utf-8"),
        ("utf-7", "windows-1252"),
        ("", "utf-8-sig"),
        ("", "windows-1252"),
    ],
)
def test_a_feed_is_read_in_the_encoding_it_is_in_whatever_it_says(
    declared: str, encoding: str
) -> None:
    says = f' encoding="{declared}"' if declared else ""
    feed = f'<?xml version="1.0"{says}?>\n{HEAD}{CAFE}{END}'
    assert titles(feed.encode(encoding)) == ["Café opens — “naïve” señor"]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("koi8-r", "Шторм закрыл порт"),
        ("gb2312", "暴风雨关闭港口"),
        ("iso-8859-2", "Burza w Łodzi"),
    ],
)
def test_other_encodings_are_read_where_they_are_named(encoding: str, text: str) -> None:
    feed = (
        f'<?xml version="1.0" encoding="{encoding}"?>{HEAD}<item><title>{text}</title></item>{END}'
    )
    assert titles(feed.encode(encoding)) == [text]


def test_a_broken_byte_spoils_itself_alone() -> None:
    feed = f"{HEAD}{CAFE}<item><title>Half a sign: ".encode() + "é".encode()[:1]
    read = titles(feed + f"</title></item>{END}".encode())
    assert read == ["Café opens — “naïve” señor", "Half a sign: \ufffd"]


@given(st.binary(max_size=400))
@UNTIMED
def test_any_bytes_are_some_text_without_control_characters(body: bytes) -> None:
    text = decoded(body)
    assert not any(char < " " and char not in "\t\n\r" for char in text)


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("Sun, 01 Mar 2026 11:00:00 GMT", NOW - timedelta(hours=1)),
        ("Sun, 01 Mar 2026 13:00:00 +0200", NOW - timedelta(hours=1)),
        ("2026-03-01T11:00:00", NOW - timedelta(hours=1)),
        ("2026-03-01", NOW - timedelta(hours=12)),
        ("Sun, 01 Mar 2026 11:00:00", NOW - timedelta(hours=1)),
        ("2026-03-01T12:10:00Z", NOW + timedelta(minutes=10)),
        ("2026-03-01T13:00:00Z", None),
        ("9999-12-31T23:59:59Z", None),
        ("0001-01-01T00:00:00Z", None),
        ("1970-01-01T00:00:00Z", None),
        ("2026-02-31T11:00:00Z", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_a_date_without_a_zone_is_utc_and_one_that_cannot_be_is_none(
    written: str, known: datetime | None
) -> None:
    feed = f"{HEAD}<item><title>News</title><pubDate>{written}</pubDate></item>{END}"
    (item,) = known_dates(parse(feed.encode()), NOW)
    assert item.published == known


def test_an_item_in_several_feeds_is_one_that_has_the_text_of_any() -> None:
    url = "https://paper.example/storm"
    items = [
        NewsItem("Storm closes the harbour", "", f"{url}?utm_source=x", NOW),
        NewsItem("Storm closes harbour", "It is closed until Friday.", url, NOW),
        NewsItem("Storm closes harbour", "By another paper.", "https://other.example/1", None),
        NewsItem("Ferry stops", "", "https://paper.example/ferry", NOW),
    ]
    kept = distinct(items)
    assert [item.title for item in kept] == ["Storm closes the harbour", "Ferry stops"]
    assert kept[0].text == "It is closed until Friday."
    assert kept[0].url == f"{url}?utm_source=x"
