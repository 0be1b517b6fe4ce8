"""Files are read in a process of their own.

Decides how long a file may take and how much memory, and what becomes of one that takes more. A file can make the
reader of its format run forever, hold up every thread of its process, or ask for all memory there is; and the readers
take more memory than the rest of the server, and aren't needed once the library has been looked through.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import datetime
import json
import logging
import os
from pathlib import Path, PurePosixPath
import subprocess
import sys
import threading
import traceback
from typing import BinaryIO, Final

from backend.house_wiki import Unreadable, readers
from backend.text.parts import passages

_LOGGER = logging.getLogger(__name__)

_SECONDS: Final = 20.0
_PDF_SECONDS: Final = 60.0
_MOST_MEMORY: Final = 1 << 30
_ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Read:
    """A document as it was read: `passages` are (section, text)."""

    title: str
    language: str | None
    published: datetime | None
    passages: tuple[tuple[str, str], ...]


class Child:
    """The process: begun with the next file whenever there is none. `seconds` is how long a file may take."""

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._ended = False

    def read(self, path: PurePosixPath, content: bytes) -> Read:
        """Return what `content` of the file `path` says; blocks.

        Raises Unreadable for what the file is, OSError where there can be no process.
        """
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

        pdf = path.suffix.lower() == ".pdf"
        seconds = self._seconds or (_PDF_SECONDS if pdf else _SECONDS)
        timer = threading.Timer(seconds, stop)
        timer.start()
        try:
            head = {"path": path.as_posix(), "bytes": len(content)}
            process.stdin.write(json.dumps(head).encode() + b"\n")
            process.stdin.write(content)
            process.stdin.flush()
            reply = process.stdout.readline()
        except (OSError, ValueError):
            # The process or, by `end`, its pipes are gone.
            reply = b""
        finally:
            timer.cancel()
            timer.join()
        if not reply:
            self.rest()
            if late.is_set():
                raise Unreadable(f"takes longer than {seconds:.0f} s to read")
            raise Unreadable("damaged (the reader gave up on it)")
        said = json.loads(reply)
        if "fault" in said:
            _LOGGER.error("Reading %s failed: %s", path, said["fault"])
        if "unreadable" in said:
            raise Unreadable(said["unreadable"])
        published = said["published"]
        return Read(
            said["title"],
            said["language"],
            None if published is None else datetime.fromisoformat(published),
            tuple((section, text) for section, text in said["passages"]),
        )

    def end(self) -> None:
        """End the process, and whatever it is reading, for good; blocks."""
        with self._lock:
            self._ended = True
        self.rest()

    def rest(self) -> None:
        """End the process until there is another file to read; blocks."""
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
    """Read files from `requests`, and reply with one line of JSON each, until the end."""
    while head := requests.readline():
        asked = json.loads(head)
        reply = _reply(PurePosixPath(asked["path"]), requests.read(asked["bytes"]))
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


def _reply(path: PurePosixPath, content: bytes) -> dict[str, object]:
    try:
        document = readers.read(path, content)
        return {
            "title": document.title,
            "language": document.language,
            "published": document.published and document.published.isoformat(),
            "passages": list(passages(document.parts)),
        }
    except Unreadable as error:
        return {"unreadable": str(error)}
    except MemoryError:
        return {"unreadable": "takes too much memory to read"}
    except Exception as error:  # noqa: BLE001 (told to the owner, and the fault to the log)
        return {
            "unreadable": f"{type(error).__name__}: {error}",
            "fault": traceback.format_exc(),
        }


if __name__ == "__main__":
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    # Whoever ends the server by hand sends the signal to its children, too: they are ended by it.
    with contextlib.suppress(KeyboardInterrupt):
        serve(sys.stdin.buffer, sys.stdout.buffer)
