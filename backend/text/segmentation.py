"""Where sentences end."""

from __future__ import annotations

import re
from typing import Final

_END: Final = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？]+[」』”]*|\n\s*\n")


def spans(text: str, language: str) -> list[tuple[int, int]]:
    """Return (start, end) of each sentence, without the white space around it."""
    result = []
    start = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        piece = text[start:end]
        if stripped := piece.strip():
            first = start + piece.index(stripped)
            result.append((first, first + len(stripped)))
        start = end
    return result


def sentences(text: str, language: str) -> list[str]:
    """Return the sentences of `text`, white space inside each of them single spaces."""
    return [" ".join(text[start:end].split()) for start, end in spans(text, language)]


class IncrementalSegmenter:
    """Sentences of a text that comes in pieces: the same as of the whole text."""

    def __init__(self, language: str) -> None:
        """Begin a text in `language`."""
        self._language = language
        self._buffer = ""

    def feed(self, piece: str) -> list[str]:
        """Take the next piece; return the sentences that are complete whatever comes."""
        self._buffer += piece
        found = spans(self._buffer, self._language)
        done = found[:-1]
        result = [" ".join(self._buffer[start:end].split()) for start, end in done]
        if done:
            self._buffer = self._buffer[done[-1][1] :]
        return result

    def finish(self) -> list[str]:
        """Return the sentences that are left."""
        rest, self._buffer = self._buffer, ""
        return sentences(rest, self._language)
