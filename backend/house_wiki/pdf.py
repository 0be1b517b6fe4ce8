"""PDF documents as headed parts of plain text.

Decides what of a PDF is a heading, a paragraph, a line of a list: a PDF knows only lines.
"""

from __future__ import annotations

from collections.abc import Iterator
import io
import logging
import re
from typing import TYPE_CHECKING, Final

from backend.house_wiki import MOST_CHARACTERS, Unreadable
from backend.text.markup import Page
from backend.text.parts import Part

if TYPE_CHECKING:
    from pypdf import PdfReader

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_LIST_LINE: Final = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)])\s")
_HEADING_LENGTH: Final = 60
_FULL: Final = 0.7
"""A line of this share of the widest one goes on in the next line; so wide a heading isn't."""
_ENDS: Final = (".", "!", "?", ":", ";", ",", "…")


def read(content: bytes) -> Page:
    """Return the text of a PDF; raises Unreadable."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    if b"%PDF-" not in content[:1024]:
        raise Unreadable("no PDF, whatever its name says")
    # What it finds odd in a file is no news to the owner; what it can't read is told below.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        page = _page(PdfReader(io.BytesIO(content)))
    except (Unreadable, MemoryError):
        raise
    except (PyPdfError, ImportError) as error:
        raise Unreadable(f"a damaged PDF ({error})") from error
    except Exception as error:
        # A damaged file shows itself as any error somewhere inside the library.
        raise Unreadable(f"a damaged PDF ({type(error).__name__}: {error})") from error
    if not page.parts:
        raise Unreadable(
            "a PDF without text, perhaps scanned; run it through text recognition (ocrmypdf)"
        )
    return page


def _page(reader: PdfReader) -> Page:
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("locked with a password")
    about = reader.metadata
    title = " ".join(str((about and about.title) or "").split())
    parts: list[Part] = []
    length = 0
    for number, sheet in enumerate(reader.pages, 1):
        text = _CONTROL.sub("", sheet.extract_text().replace("\x0c", "\n"))
        # A font without a table of its letters gives half surrogate pairs.
        text = text.encode("utf-8", "ignore").decode()
        length += len(text)
        if length > MOST_CHARACTERS:
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
