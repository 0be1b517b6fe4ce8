"""XML from outside is read, or refused: it defines nothing, and is never a fault of ours."""

from __future__ import annotations

import contextlib
from xml.sax.saxutils import quoteattr

from hypothesis import given, strategies as st
import pytest

from backend.text import xml

LAUGHS = (
    b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">%b]><lolz>&lol9;</lolz>"""
    % b"".join(
        b'<!ENTITY lol%d "%b">' % (number, b"&lol%d;" % (number - 1) * 10)
        for number in range(1, 10)
    )
)


def test_names_are_without_their_namespaces() -> None:
    root = xml.tree(
        b'<f:feed xmlns:f="http://f" xmlns="http://g"><entry f:href="x">a<b/>c</entry></f:feed>'
    )
    assert root.tag == "feed"
    assert [(entry.get("href"), entry.text) for entry in root.findall("entry")] == [("x", "a")]


@pytest.mark.parametrize(
    "source",
    [
        LAUGHS,
        b'<!DOCTYPE a SYSTEM "http://127.0.0.1/a.dtd"><a/>',
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        b'<!DOCTYPE a [<!ENTITY % b SYSTEM "file:///etc/passwd"> %b;]><a/>',
        b"<a>" * 10_000 + b"</a>" * 10_000,
        b"",
        b"<a>",
        b"<a></b>",
        b"no XML",
        b'<?xml version="1.0" encoding="UTF-8"><error>',
        b'<?xml version="1.0" encoding="no-such"?><a/>',
    ],
    ids=lambda source: source[:40].decode(),
)
def test_what_is_no_plain_xml_is_refused(source: bytes) -> None:
    with pytest.raises(ValueError, match="XML"):
        xml.tree(source)


def test_an_ampersand_that_stands_for_itself_is_read() -> None:
    # kiwix-serve 3.3 writes an address into its catalogue as it is.
    root = xml.tree(b'<a href="/x?count=5&start=1&amp;b=2&copy;&#65;&#x42;"/>')
    assert root.get("href") == "/x?count=5&start=1&b=2&copy;AB"


@given(st.binary(max_size=200))
def test_whatever_is_given_is_read_or_refused(source: bytes) -> None:
    with contextlib.suppress(ValueError):
        xml.tree(b"<a>" + source + b"</a>")


@given(
    st.text(
        st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"),
        max_size=50,
    )
)
def test_what_is_written_as_xml_should_be_is_read_as_it_was(text: str) -> None:
    source = f"<a b={quoteattr(text)}/>".encode()
    assert xml.tree(source).get("b") == text
