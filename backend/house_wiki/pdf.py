"""PDF documents as headed parts of plain text, read in a process of their own.

Decides what of a PDF is a heading, a paragraph, a line of a list: a PDF knows only lines. It is read in a child process
because a file can make the reader of it run forever or ask for all memory there is, and because that reader takes
more memory than the rest of the server and isn't needed once the library has been looked through.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import io
import json
import logging
import os
from pathlib import Path
import re
import struct
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, BinaryIO, Final

from backend.house_wiki import MOST_CHARACTERS, Unreadable
from backend.text.markup import Page
from backend.text.parts import Part

if TYPE_CHECKING:
    from pypdf import PdfReader

_SECONDS: Final = 60.0
_MOST_MEMORY: Final = 1 << 30
_LENGTH: Final = struct.Struct(">Q")
_ROOT: Final = Path(__file__).parents[2]
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_LIST_LINE: Final = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)])\s")
_HEADING_LENGTH: Final = 60
_FULL: Final = 0.7
"""A line of this share of the widest one goes on in the next line; so wide a heading isn't."""
_ENDS: Final = (".", "!", "?", ":", ";", ",", "…")


class Child:
    """A process that reads PDFs: begun with the first one, ended with `end`."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._ended = False

    def read(self, content: bytes) -> Page:
        """Return the text of a PDF; blocks, raises Unreadable."""
        with self._lock:
            if self._ended:
                raise Unreadable("not read to the end")
            process = self._process = self._process or _begin()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._seconds, stop)
        timer.start()
        try:
            process.stdin.write(_LENGTH.pack(len(content)) + content)
            process.stdin.flush()
            reply = process.stdout.readline()
        except (OSError, ValueError):
            # The process or, by `end`, its pipes are gone.
            reply = b""
        finally:
            timer.cancel()
            timer.join()
        if not reply:
            self._stop()
            if late.is_set():
                raise Unreadable(f"takes longer than {self._seconds:.0f} s to read")
            raise Unreadable("a damaged PDF (the reader gave up on it)")
        said = json.loads(reply)
        if "unreadable" in said:
            raise Unreadable(said["unreadable"])
        parts = tuple(Part(tuple(headings), text) for headings, text in said["parts"])
        return Page(said["title"], said["language"], said["date"], parts)

    def end(self) -> None:
        """End the process, and whatever it is reading; blocks."""
        with self._lock:
            self._ended = True
        self._stop()

    def _stop(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        # It has nothing to lose; and who waits for its reply must not wait longer.
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _begin() -> subprocess.Popen[bytes]:
    paths = (str(_ROOT), os.environ.get("PYTHONPATH", ""))
    return subprocess.Popen(
        (sys.executable, "-m", __name__),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Read PDFs from `requests`, each after its length, and reply with one line of JSON each, until the end."""
    while len(head := requests.read(_LENGTH.size)) == _LENGTH.size:
        content = requests.read(_LENGTH.unpack(head)[0])
        reply: dict[str, object]
        try:
            page = read(content)
        except Unreadable as error:
            reply = {"unreadable": str(error)}
        except MemoryError:
            reply = {"unreadable": "a PDF that takes too much memory to read"}
        else:
            reply = {
                "title": page.title,
                "language": page.language,
                "date": page.date,
                "parts": [(part.headings, part.text) for part in page.parts],
            }
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


def read(content: bytes) -> Page:
    """Return the text of a PDF, read in this process; raises Unreadable."""
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


if __name__ == "__main__":
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    serve(sys.stdin.buffer, sys.stdout.buffer)
