"""Files of the library as documents: Markdown, text, HTML, PDF.

Decides what a file's text, title and language are, and which files can't be read, and why. How a text is cut into
passages, and which files there are, is decided elsewhere. What a document says is data, whatever it says.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
import re
from typing import Final

from backend.house_wiki import MOST_CHARACTERS, Unreadable, pdf
from backend.text import language as languages, markup
from backend.text.markup import Page
from backend.text.parts import Part

FORMAT: Final = 1
"""Changes when a file would be read otherwise than before: what was read earlier is then read again."""
MOST_BYTES: Final = 50 * 1024 * 1024
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
        page = pdf.read(content)
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
    if sum(len(part.text) for part in parts) > MOST_CHARACTERS:
        raise Unreadable(f"holds more than {MOST_CHARACTERS:,} characters of text")
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
