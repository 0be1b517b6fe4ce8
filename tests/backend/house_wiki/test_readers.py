"""What a file of the library says, and why another says nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from hypothesis import given, strategies as st
import pytest

from backend.house_wiki import Unreadable
from backend.house_wiki.readers import MOST_BYTES, Document, read

LIBRARY = Path(__file__).parents[3] / "library"


def text_of(name: str, content: str | bytes) -> Document:
    """Return the document in a file of this name."""
    return read(PurePosixPath(name), content.encode() if isinstance(content, str) else content)


def sections(document: Document) -> dict[str, str]:
    return {part.section: part.text for part in document.parts}


def test_markdown_keeps_its_headings_and_loses_its_marks() -> None:
    document = text_of(
        "m.md",
        "---\ntitle: Boiler\nlanguage: en\ndate: 2026-09-18\n---\n# Boiler\n\nThe **pressure** is\n`1.5` bar,"
        " see [page 2](x.md).\n\n## Codes\n\n| Code | Meaning |\n|---|---|\n| F22 | too *low* |\n\n"
        "Setext\n------\n\n- one\n  goes on\n- two\n\n### Deep\n\n```\ncode # no heading\n```\n\n> quoted\n",
    )
    assert document.title == "Boiler"
    assert document.language == "en"
    assert document.published == datetime(2026, 9, 18, tzinfo=UTC)
    assert sections(document) == {
        "": "The pressure is 1.5 bar, see page 2.",
        "Codes": "F22: too low.",
        "Setext": "- one goes on\n- two",
        "Setext › Deep": "code # no heading\n\nquoted",
    }


def test_what_markdown_hides_is_not_read() -> None:
    document = text_of(
        "m.md",
        "# T\n\nSeen. <!-- hidden\n\nunseen --> <span onclick='x'>Also</span> <script>bad()</script>",
    )
    assert sections(document) == {"": "Seen. Also"}


def test_html_is_read_without_what_runs_hides_or_navigates() -> None:
    document = text_of(
        "p.html",
        "<html lang=de-AT><head><title>Titel</title><style>p {}</style></head><body><nav>Menü</nav><h1>Gerät</h1>"
        "<p>Erster<br>Absatz.<script>x()</script><p hidden>weg<p style='DISPLAY : none'>weg</p>"
        "<div aria-hidden='true'>weg</div><h2>Liste</h2><ul><li>eins<li>zwei</ul><ol><li>a<li>b</ol>"
        "<table><tr><th>Code<th>Sinn<tr><td>E1<td>leer</table><footer>Fuß</footer><!-- weg --></body></html>",
    )
    assert document.title == "Gerät"
    assert document.language == "de"
    assert sections(document) == {
        "": "Erster Absatz.",
        "Liste": "- eins\n- zwei\n1. a\n2. b\n\nE1: leer.",
    }


ATTRIBUTES = " ".join(f"a{number}=1" for number in range(60_000))


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<div>" * 1_900 + "at the bottom" + "</div>" * 1_900, "at the bottom"),
        ("<div>" * 60_000 + "at the bottom", "at the bottom"),
        ("<div>" * 60_000 + "at the bottom" + "</div>" * 60_000, "at the bottom"),
        ("<ul><li>" * 60_000 + "at the bottom", "at the bottom"),
        (f"<p {ATTRIBUTES}>first</p><p>second</p>", "first\n\nsecond"),
        (f"<p {ATTRIBUTES.replace('=', '<')}>first</p><p>second</p>", "first\n\nsecond"),
        (f"<p>before<img src='data:{'A' * 90_000}'> after</p>", "before after"),
        (f"<script>{'a<b;' * 5_000}</script><p>first</p>", "first"),
        ("<p>first</p>" + "<br>" * 9_000 + "<p>second", "first\n\nsecond"),
        ("<p>" + "long " * 3_000 + "<b>x</b>", "long " * 3_000 + "x"),
    ],
    ids=(
        "deep",
        "never closed",
        "far too deep",
        "lists",
        "attributes",
        "attributes with marks",
        "picture",
        "script",
        "breaks",
        "text",
    ),
)
def test_a_page_that_would_take_the_parser_long_says_what_it_says(page: str, text: str) -> None:
    (part,) = text_of("page.html", page).parts
    assert part.text == text


def test_plain_text_has_a_title_and_headings_in_capitals_or_underlined() -> None:
    document = text_of(
        "garden.txt",
        "Garden notes\n\nFirst words\nof it.\n\nWINTER\n\nClose the valve.\n\nSummer\n------\nOpen it.\n",
    )
    assert document.title == "Garden notes"
    assert sections(document) == {
        "": "First words of it.",
        "WINTER": "Close the valve.",
        "Summer": "Open it.",
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_is_read_in_the_encodings_that_computers_write(encoding: str) -> None:
    document = text_of("t.txt", "Über Öfen\n\nDie Tür schließt bei 55 °C.".encode(encoding))
    assert document.title == "Über Öfen"
    assert document.parts[0].text == "Die Tür schließt bei 55 °C."


def test_html_may_say_its_encoding() -> None:
    document = text_of("p.html", "<meta charset='koi8-r'><p>Посудомоечная машина".encode("koi8-r"))
    assert document.parts[0].text == "Посудомоечная машина"


def test_a_pdf_is_read_page_by_page_under_its_headings() -> None:
    document = read(PurePosixPath("w.pdf"), (LIBRARY / "washing-machine.pdf").read_bytes())
    assert document.title == "Washing machine manual"
    assert document.language == "en"
    assert sections(document)["p. 2 › Error codes"].startswith("E10 means that no water comes in")
    assert "closed: push it until it clicks. Often" in sections(document)["p. 2 › Error codes"]


def test_the_german_manual_says_what_the_english_one_says() -> None:
    for name in ("dishwasher", "boiler"):
        english = read(PurePosixPath("a.md"), (LIBRARY / f"{name}.md").read_bytes())
        german = read(PurePosixPath("a.md"), (LIBRARY / f"{name}.de.md").read_bytes())
        assert (english.language, german.language) == ("en", "de")
        assert len(english.parts) == len(german.parts)


@pytest.mark.parametrize(
    ("name", "language"),
    [("ofen.de.md", "de"), ("plain.md", None), ("12.md", None)],
)
def test_a_name_tells_the_language_that_the_text_leaves_open(
    name: str, language: str | None
) -> None:
    assert text_of(name, "E24 42").language == language


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.md", b"", "empty"),
        ("a.txt", b"  \n\t ", "empty"),
        ("a.md", b"# \n\n<!-- only this -->", "no text"),
        ("a.html", b"<script>run()</script>", "no text"),
        ("a.pdf", b"Dear reader, this is a letter.", "no PDF"),
        ("a.pdf", b"%PDF-1.7\n" + b"\x00garbage" * 50, "damaged PDF"),
        ("a.txt", b"\x7fELF\x02\x01\x01" + bytes(200), "not text"),
        ("a.md", bytes(range(1, 32)) * 30, "not text"),
        ("a.docx", b"PK", "no format that can be read"),
        ("a.txt", b"a" * (MOST_BYTES + 1), "larger than 50 MB"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(name: str, content: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        text_of(name, content)


def test_a_locked_or_cut_pdf_says_so() -> None:
    from io import BytesIO

    from pypdf import PdfReader, PdfWriter

    whole = (LIBRARY / "washing-machine.pdf").read_bytes()
    writer = PdfWriter(clone_from=PdfReader(BytesIO(whole)))
    writer.encrypt("secret", algorithm="RC4-128")
    locked = BytesIO()
    writer.write(locked)
    with pytest.raises(Unreadable, match="locked with a password"):
        text_of("locked.pdf", locked.getvalue())
    blank = PdfWriter()
    blank.add_blank_page(200, 200)
    sheet = BytesIO()
    blank.write(sheet)
    with pytest.raises(Unreadable, match="perhaps scanned"):
        text_of("scan.pdf", sheet.getvalue())
    with pytest.raises(Unreadable, match="PDF"):
        text_of("cut.pdf", whole[:900])


@given(content=st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
@pytest.mark.parametrize("suffix", [".md", ".txt", ".html", ".pdf"])
def test_whatever_a_file_holds_it_is_read_or_says_why(suffix: str, content: bytes) -> None:
    try:
        document = text_of(f"file{suffix}", content)
    except Unreadable:
        return
    assert document.title
    assert all(part.text.strip() for part in document.parts)
