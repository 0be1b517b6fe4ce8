"""The house's own documents: what is in the library, and how it becomes passages."""

from typing import Final

MOST_CHARACTERS: Final = 5_000_000
"""A document holds at most so much text: a shelf of books in one file is no document."""


class Unreadable(Exception):
    """A file can't be read; the message says why."""
