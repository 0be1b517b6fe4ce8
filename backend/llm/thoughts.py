"""Thoughts of a model that stand in its reply, taken out as it comes in.

Models mark them in several spellings, split a mark over pieces, and forget to close it. What follows a mark that
is never closed is a thought to the end. A closing mark without an opening one stays in the text: everything before
it was a thought, and only those who hold the whole reply can take that back (`after_thoughts`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
import re
from typing import Final

from backend.llm.provider import ReplyCut

_NAMES: Final = r"(?:seed:)?(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad)"
_OPEN: Final = re.compile(
    rf"<\s*{_NAMES}(?:\s[^<>]{{0,80}})?>|\[THINK\]|◁think▷"
    r"|<\|channel\|>\s*(?:analysis|commentary)\s*<\|message\|>"
    r"|<\|(?:begin_of_thought|start_thinking|think)\|>",
    re.IGNORECASE,
)
_CLOSE: Final = re.compile(
    rf"<\s*/\s*{_NAMES}\s*>|\[/THINK\]|◁/think▷|<\|channel\|>\s*final\s*<\|message\|>"
    r"|<\|(?:end_of_thought|end_thinking|/think|end)\|>",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    r"(?:<\s*[a-z:]{0,16}(?:\s[^<>]{0,80})?|<\|channel\|>\s*[a-z]{0,12}\s*(?:<[|a-z]{0,9})?|<\|[a-z_]{0,20}\|?"
    r"|\[T?H?I?N?K?|◁t?h?i?n?k?)\Z",
    re.IGNORECASE,
)
"""The end of a text that may be the beginning of an opening mark."""
_LONGEST: Final = 64
"""No closing mark is longer than this."""


class Thoughts:
    """Takes the pieces of a reply and gives back what isn't a thought."""

    def __init__(self) -> None:
        self._buffer = ""
        self._thinking = False

    def feed(self, piece: str) -> str:
        """Take the next piece; return what is surely no thought."""
        self._buffer += piece
        said = []
        while True:
            if self._thinking:
                closing = _CLOSE.search(self._buffer)
                if closing is None:
                    self._buffer = self._buffer[-_LONGEST:]
                    break
                self._buffer = self._buffer[closing.end() :]
                self._thinking = False
            opening = _OPEN.search(self._buffer)
            if opening is None:
                maybe = _OPENING.search(self._buffer)
                end = maybe.start() if maybe else len(self._buffer)
                said.append(self._buffer[:end])
                self._buffer = self._buffer[end:]
                break
            said.append(self._buffer[: opening.start()])
            self._buffer = self._buffer[opening.end() :]
            self._thinking = True
        return "".join(said)

    def finish(self) -> str:
        """Return what was held back, if it was no thought after all."""
        rest, self._buffer = self._buffer, ""
        return "" if self._thinking else rest


async def without_thoughts(pieces: AsyncGenerator[str]) -> AsyncGenerator[str]:
    """Yield `pieces` without the thoughts in them, none empty."""
    thoughts = Thoughts()
    cut: ReplyCut | None = None
    async with aclosing(pieces):
        try:
            async for piece in pieces:
                if said := thoughts.feed(piece):
                    yield said
        except ReplyCut as error:
            cut = error
    if said := thoughts.finish():
        yield said
    if cut is not None:
        raise cut


def after_thoughts(text: str) -> str:
    """Return what follows the last closing mark of `text`, all of it if there is none."""
    for closing in reversed(list(_CLOSE.finditer(text))):
        return text[closing.end() :]
    return text
