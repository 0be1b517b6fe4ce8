"""The seam between composing an answer and whatever runs the model.

A model server is one file in this folder. It turns a prompt into text, and its troubles into `ModelError`; what
the text is worth is decided by the gates, and whether to ask at all by `backend.llm.availability`. No caller
branches on which server it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Protocol


class ModelError(Exception):
    """The model gave nothing. `kind` is what the contract's gate `empty` shows as its detail.

    One of `unreachable`, `timeout`, `http_<status>`, `bad_reply`, `no_model`.
    """

    def __init__(self, kind: str, detail: str = "") -> None:
        # It is shown in one line; the page that a web server sends for an error tells nothing.
        detail = " ".join(detail.split())
        if detail.startswith("<"):
            detail = ""
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind
        self.detail = detail


class ReplyCut(ModelError):
    """The reply ended at `max_tokens`: all before its last sentence is whole."""

    def __init__(self) -> None:
        super().__init__("cut")


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a model.

    `schema` is a JSON schema that the reply has to follow (only given where `Provider.constrained`); `max_tokens`
    bounds the reply; `timeout` is in seconds over the whole call; `temperature` as the servers take it.
    """

    system: str
    user: str
    timeout: float
    schema: dict[str, Any] | None = None
    max_tokens: int = 512
    temperature: float = 0.1


class Provider(Protocol):
    """A model on a server."""

    @property
    def kind(self) -> str:
        """The value of LLM_API_TYPE that chose it."""

    @property
    def model(self) -> str:
        """The model's name, part of every signature."""

    @property
    def constrained(self) -> bool:
        """Whether the server can hold a reply to a JSON schema."""

    def stream(self, call: Call) -> AsyncGenerator[str]:
        """Yield the reply piece by piece, thoughts left out. Raises ModelError, ReplyCut after the last piece.

        Closing the generator ends the call on the server too.
        """

    async def probe(self) -> None:
        """Ask whether the server and the model are there, within two seconds. Raises ModelError."""

    async def warm_up(self) -> None:
        """Have the model loaded before it is needed; quiet about failures."""

    async def close(self) -> None:
        """Give back what the provider holds."""


_ending: Final[set[asyncio.Task[None]]] = set()
"""Calls that nobody waits for any more, until their connections are closed."""


def _ended(task: asyncio.Task[None]) -> None:
    _ending.discard(task)
    if not task.cancelled():
        # Whoever waited has been told.
        task.exception()


async def bounded(pieces: AsyncGenerator[str], seconds: float) -> AsyncGenerator[str]:
    """Yield `pieces`, all of them within `seconds` from the first request on. Raises ModelError `timeout`.

    The call is a task of its own, which is cancelled once and then left to close its connection: a second cancellation
    (a limit, and somebody who hangs up at the same moment) would end the closing, and the model would work on.
    """
    limit = asyncio.get_running_loop().time() + seconds
    queue: asyncio.Queue[str | None] = asyncio.Queue()

    async def call() -> None:
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    queue.put_nowait(piece)
        finally:
            queue.put_nowait(None)

    task = asyncio.create_task(call())
    try:
        while True:
            try:
                async with asyncio.timeout_at(limit):
                    piece = await queue.get()
            except TimeoutError as error:
                raise ModelError("timeout", f"after {seconds:g} s") from error
            if piece is None:
                break
            yield piece
        await task
    finally:
        if not task.done():
            _ending.add(task)
            task.add_done_callback(_ended)
            task.cancel()
            await asyncio.wait((task,))
