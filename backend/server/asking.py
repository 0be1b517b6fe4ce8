"""The promise of the door: whoever asks gets a reply, in time, whatever happens inside.

`backend.ask` keeps the question's deadline itself. What is here holds when something in it doesn't: a step that
hangs is left behind at the deadline, a fault becomes a reply with a sentence to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
import logging
import time
from typing import Any, Final, Protocol

from backend.ask import Told, failure_reply
from backend.contract import LABELS, Reply
from backend.server.metrics import Metrics
from backend.sources.base import Source
from backend.types import Question, Sentence

_LOGGER = logging.getLogger(__name__)


class Asking(Protocol):
    """What answers questions: `backend.ask.Ask`."""

    @property
    def sources(self) -> Mapping[str, Source]:
        """The registered sources by tag."""

    def again(self, question: Question) -> Told | None:
        """Return at once what was told on the same question, if nothing that it stands on has changed."""

    async def reply(self, question: Question, *, explain: bool) -> Reply:
        """Return the whole reply."""

    def stream(self, question: Question, *, explain: bool) -> AsyncGenerator[Reply | Sentence]:
        """Yield what was retrieved, the sentences, the whole reply; on hand-back the last alone."""


_leaving: Final[set[asyncio.Task[Any]]] = set()
"""Tasks that nobody waits for any more; the loop itself holds them only weakly."""


def leave(task: asyncio.Task[Any]) -> None:
    """Cancel `task` without waiting for its end."""
    if task.done():
        return
    task.cancel()
    _leaving.add(task)
    task.add_done_callback(_left)


def _left(task: asyncio.Task[Any]) -> None:
    _leaving.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        _LOGGER.error("what a question left behind failed", exc_info=error)


def again(ask: Asking, question: Question) -> Told | None:
    """Return at once what was told on the same question, if nothing that it stands on has changed; raises nothing."""
    try:
        return ask.again(question)
    except Exception:
        _LOGGER.exception("answering again failed", extra={"request_id": question.request_id})
        return None


async def reply(ask: Asking, question: Question, *, explain: bool) -> Reply:
    """Return the reply to `question`, at the latest at its deadline; raises nothing of its own."""
    task = asyncio.create_task(ask.reply(question, explain=explain))
    try:
        await asyncio.wait((task,), timeout=max(0.0, question.left))
        if not task.done():
            _LOGGER.error(
                "a question overran its deadline", extra={"request_id": question.request_id}
            )
            return failure_reply(question, "timeout")
        if not task.cancelled():
            return task.result()
        # Something inside was cancelled, which isn't our caller's wish to stop.
        _LOGGER.error(
            "answering was cancelled from within", extra={"request_id": question.request_id}
        )
    except Exception:
        _LOGGER.exception("answering failed", extra={"request_id": question.request_id})
    finally:
        leave(task)
    return failure_reply(question, "internal")


def source_rows(ask: Asking) -> list[dict[str, Any]]:
    """Return every source with its label and how it is doing."""
    return [
        {"tag": tag, "label": LABELS[tag], **source.state().as_dict()}
        for tag, source in ask.sources.items()
    ]


def record(metrics: Metrics, question: Question, reply: Reply | None, *, stream: bool) -> None:
    """Count and log how a question ended, in one line without its words; None if the client had gone."""
    elapsed = time.monotonic() - question.received
    metrics.note(question, reply, elapsed)
    _LOGGER.debug("question %r", question.text, extra={"request_id": question.request_id})
    fields: dict[str, Any] = {
        "request_id": question.request_id,
        "elapsed_ms": round(elapsed * 1000),
        "style": question.style.value,
        "language": question.language,
        "stream": stream,
    }
    if reply is None:
        _LOGGER.info("the client hung up", extra=fields)
        return
    fields |= {
        "source": reply.source_used,
        "success": reply.success,
        "error": reply.error,
        "cached": reply.cached,
        "synthesized": reply.synthesized,
        "truncated": reply.truncated,
        "handback": reply.handback,
    }
    _LOGGER.info("answered", extra=fields)
