"""Who uses a DATA_DIR: several processes over one library may share it, two libraries may not.

Each look through a library forgets what isn't in it, so that a second one in the same file would empty the first. A
claim lasts as long as its process, however that ends.
"""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
import time
from typing import Final, Self, TextIO

from backend.store.database import StoreError, explain

_LOGGER = logging.getLogger(__name__)

_FILE: Final = "library"
_TRIES: Final = 50
_PAUSE_SECONDS: Final = 0.02


class Claim:
    """The claim of `library` on `folder`."""

    def __init__(self, folder: Path, library: str) -> None:
        self._folder = folder
        self._library = library
        self._file: TextIO | None = None

    def take(self) -> Self:
        """Claim the folder; blocks, raises StoreError where another library has it."""
        try:
            import fcntl
        except ImportError:
            return self
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = (self._folder / _FILE).open("a+", encoding="utf-8")
        except OSError as error:
            raise explain(self._folder / _FILE, error) from error
        for _ in range(_TRIES):
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            except OSError as error:
                # A file system without locks.
                _LOGGER.debug("%s can't be claimed: %s", self._folder, error)
                return self
            else:
                with contextlib.suppress(OSError):
                    # On a full disk the claim has no name; it holds all the same.
                    self._file.truncate(0)
                    self._file.write(self._library)
                    self._file.flush()
                fcntl.flock(self._file, fcntl.LOCK_SH)
                return self
            try:
                fcntl.flock(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                # Somebody is just writing down what it is for.
                time.sleep(_PAUSE_SECONDS)
                continue
            self._file.seek(0)
            if (other := self._file.read()) == self._library:
                return self
            self.close()
            raise StoreError(
                f"{self._folder}: a server of another library ({other}) uses it; let each have its own DATA_DIR"
            )
        self.close()
        raise StoreError(f"{self._folder}: another server is starting in it; try again")

    def close(self) -> None:
        """Give the folder free."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None
