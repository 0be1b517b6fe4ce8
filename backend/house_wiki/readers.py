"""Files of the library as documents: Markdown, text, HTML, PDF.

Decides what a file's text, title and language are, and which files can't be read, and why. How a text is cut into
passages, and which files there are, is decided elsewhere. What a document says is data, whatever it says.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
import io
import logging
from pathlib import PurePosixPath
import re
import time
from typing import TYPE_CHECKING, Final

from backend.text import language as languages, markup
from backend.text.markup import Page
from backend.text.parts import Part

if TYPE_CHECKING:
    from pypdf import PdfReader

FORMAT: Final = 1
"""Changes when a file would be read otherwise than before: what was read earlier is then read again."""
MOST_BYTES: Final = 50 * 1024 * 1024
_MOST_CHARACTERS: Final = 5_000_000
_PDF_SECONDS: Final = 60.0
_SAMPLE: Final = 4_000
"""So many characters tell the language of a text."""
_CHARSET: Final = re.compile(rb"""<meta[^>]{0,200}charset=["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_SUFFIX_LANGUAGE: Final = re.compile(r"[._-]([a-z]{2})$")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")

_MARKDOWN: Final = frozenset((".md", ".markdown"))
_TEXT: Final = frozenset((".txt", ".text"))
_HTML: Final = frozenset((".html", ".htm", ".xhtml"))
_PDF: Final = frozenset((".pdf",))
SUFFIXES: Final = _MARKDOWN | _TEXT | _HTML | _PDF


class Unreadable(Exception):
    """A file can't be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says. `language` is a primary subtag, None when it can't be told; `published` is aware."""

    title: str
    language: str | None
    parts: tuple[Part, ...]
    published: datetime | None = None


def read(path: PurePosixPath, content: bytes) -> Document:
    """Return the document that `content` of the file `path` is; raises Unreadable."""
    if len(content) > MOST_BYTES:
        raise Unreadable(f"larger than {MOST_BYTES >> 20} MB")
    if not content.strip():
        raise Unreadable("empty")
    suffix = path.suffix.lower()
    if suffix in _PDF:
        page = _pdf(content)
    elif suffix in _HTML:
        page = markup.html(_decoded(content, _declared(content)))
    elif suffix in _MARKDOWN:
        page = markup.markdown(_decoded(content))
    elif suffix in _TEXT:
        page = _text(_decoded(content))
    else:
        raise Unreadable(f"no format that can be read; these can: {' '.join(sorted(SUFFIXES))}")
    parts = tuple(part for part in page.parts if part.text.strip())
    if not parts:
        raise Unreadable("holds no text")
    if sum(len(part.text) for part in parts) > _MOST_CHARACTERS:
        raise Unreadable(f"holds more than {_MOST_CHARACTERS:,} characters of text")
    named = _SUFFIX_LANGUAGE.search(path.stem)
    stem = path.stem[: named.start()] if named else path.stem
    title = page.title or re.sub(r"[\W_]+", " ", stem).strip() or path.name
    return Document(title, _language(page, named[1] if named else None), parts, _date(page.date))


def _language(page: Page, named: str | None) -> str | None:
    if page.language:
        return languages.primary(page.language)
    sample = " ".join(part.text for part in page.parts)[:_SAMPLE]
    told = languages.detect(sample)
    # "notes_it.txt" may be Italian or about a computer: a name decides only what the text leaves open.
    return told or named


def _date(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _declared(content: bytes) -> str | None:
    """Return the encoding that an HTML page says it has, if it is one."""
    found = _CHARSET.search(content, 0, 4096)
    if found is None:
        return None
    try:
        return codecs.lookup(found[1].decode("ascii")).name
    except (LookupError, UnicodeDecodeError):
        return None


def _decoded(content: bytes, declared: str | None = None) -> str:
    """Return `content` as text: by its byte order mark, as UTF-8, as declared, as Windows writes it."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = content.decode("utf-16", "replace")
    else:
        if b"\x00" in content[:8192]:
            raise Unreadable("not text, whatever its name says")
        for encoding in filter(None, ("utf-8-sig", declared, "cp1252")):
            try:
                text = content.decode(encoding)
                break
            except (UnicodeDecodeError, LookupError):
                continue
        else:
            text = content.decode("cp1252", "replace")
    if len(_CONTROL.findall(text[:8192])) > len(text[:8192]) // 50:
        raise Unreadable("not text, whatever its name says")
    return _CONTROL.sub("", text)


def _text(source: str) -> Page:
    """Read plain text: a first line that stands alone is the title; lines in capitals or underlined are headings."""
    keys, body = markup.front_matter(source.replace("\r\n", "\n").replace("\r", "\n"))
    title = keys.get("title", "")
    parts: list[Part] = []
    headings: tuple[str, ...] = ()
    blocks: list[str] = []

    def end() -> None:
        if blocks:
            parts.append(Part(headings, "\n\n".join(blocks)))
            blocks.clear()

    for number, paragraph in enumerate(re.split(r"\n[ \t]*\n", body.strip("\n"))):
        lines = [line.rstrip() for line in paragraph.strip("\n").split("\n")]
        if len(lines) > 1 and re.fullmatch(r"[=\-~*]{3,}", lines[1].strip()):
            heading, lines = lines[0].strip(), lines[2:]
        elif len(lines) == 1 and _is_heading(lines[0], first=number == 0):
            heading, lines = lines[0].strip(), []
        else:
            heading = ""
        if heading and not title:
            title = heading
        elif heading:
            end()
            headings = (heading,)
        if joined := "\n".join(markup.unwrapped(lines)):
            blocks.append(joined)
    end()
    language = keys.get("language") or keys.get("lang") or ""
    return Page(title, language, keys.get("date", ""), tuple(parts))


def _is_heading(line: str, *, first: bool) -> bool:
    line = line.strip()
    if not line or len(line) > 80 or line.endswith((".", "!", "?", ",", ";")):
        return False
    return (
        first or (line.isupper() and len(line) > 3) or (line.endswith(":") and line[:-1].isupper())
    )


def _pdf(content: bytes) -> Page:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    if b"%PDF-" not in content[:1024]:
        raise Unreadable("no PDF, whatever its name says")
    # What it finds odd in a file is no news to the owner; what it can't read is told below.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        page = _pdf_pages(PdfReader(io.BytesIO(content)))
    except (PyPdfError, ImportError) as error:
        raise Unreadable(f"a damaged PDF ({error})") from error
    except Unreadable:
        raise
    except (
        Exception
    ) as error:  # A damaged file shows itself as any error somewhere inside the library.
        raise Unreadable(f"a damaged PDF ({type(error).__name__}: {error})") from error
    if not page.parts:
        raise Unreadable(
            "a PDF without text, perhaps scanned; run it through text recognition (ocrmypdf)"
        )
    return page


def _pdf_pages(reader: PdfReader) -> Page:
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("locked with a password")
    end = time.monotonic() + _PDF_SECONDS
    about = reader.metadata
    title = " ".join(str((about and about.title) or "").split())
    parts: list[Part] = []
    length = 0
    for number, sheet in enumerate(reader.pages, 1):
        if time.monotonic() > end:
            raise Unreadable(f"takes longer than {_PDF_SECONDS:.0f} s to read")
        text = _CONTROL.sub("", sheet.extract_text().replace("\x0c", "\n"))
        # A font without a table of its letters gives half surrogate pairs.
        text = text.encode("utf-8", "ignore").decode()
        length += len(text)
        if length > _MOST_CHARACTERS:
            break
        parts += _sheet(text, number, title)
    created = about.creation_date if about else None
    language = reader.root_object.get("/Lang")
    return Page(
        title,
        str(language) if isinstance(language, str) else "",
        created.isoformat() if created else "",
        tuple(parts),
    )


_LIST_LINE: Final = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)])\s")
_HEADING_LENGTH: Final = 60
_FULL: Final = 0.7
"""A line of this share of the widest one goes on in the next line; so wide a heading isn't."""
_ENDS: Final = (".", "!", "?", ":", ";", ",", "…")


def _sheet(text: str, number: int, title: str) -> Iterator[Part]:
    """Yield the parts of a PDF's page. Its headings are lines that look like one: a PDF knows only lines."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    full = _FULL * max((len(line) for line in lines), default=0)
    headings: tuple[str, ...] = (f"p. {number}",)
    blocks: list[str] = []
    for at, line in enumerate(lines):
        previous = lines[at - 1] if at else ""
        following = next(filter(None, lines[at + 1 :]), "")
        if not line:
            continue
        if _looks_like_heading(line, previous, following, full):
            if blocks:
                yield Part(headings, "\n\n".join(blocks))
                blocks = []
            headings = (f"p. {number}",) if line == title else (f"p. {number}", line)
        elif not blocks or not previous:
            blocks.append(line)
        elif previous.endswith("-") and line[0].islower():
            blocks[-1] = blocks[-1][:-1] + line
        elif _LIST_LINE.match(line):
            blocks[-1] += f"\n{line}"
        elif len(previous) > full or line[0].islower():
            blocks[-1] += f" {line}"
        else:
            blocks.append(line)
    if blocks:
        yield Part(headings, "\n\n".join(blocks))


def _looks_like_heading(line: str, previous: str, following: str, full: float) -> bool:
    return (
        len(line) <= min(_HEADING_LENGTH, full)
        and line[0].isupper()
        and not line.endswith(_ENDS)
        and (not previous or previous.endswith(_ENDS) or len(previous) <= full)
        and (len(following) > full or following.endswith("."))
        and not _LIST_LINE.match(following)
    )
