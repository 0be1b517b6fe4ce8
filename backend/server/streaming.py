"""A reply as server-sent events: what was found, sentence by sentence, the whole.

Decides what follows what, and what a client gets when the stream can't go on: whatever it was sent stands. How
sentences come about, and which may leave, is decided before they get here.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
import logging
import time
from typing import Final

from aiohttp import web
from pydantic import BaseModel

from backend.ask import failure_reply
from backend.contract import COMMENT_EVERY_SECONDS, ErrorEvent, Reply, SentenceEvent, tagged
from backend.server.asking import Asking, leave, record
from backend.server.errors import REQUEST_ID, head
from backend.server.metrics import METRICS
from backend.types import FUSION, Question, Sentence

_LOGGER = logging.getLogger(__name__)

EVENT_STREAM: Final = "text/event-stream"
_JSON: Final = "application/json"
_COMMENT: Final = b": still here\n\n"
_SLOW_READER_SECONDS: Final = 5.0
"""So long after the deadline a client may take to read the rest."""


def wants_stream(accept: str) -> bool:
    """Return whether an `Accept` header asks for a stream rather than for JSON; `*/*` doesn't."""
    accept = accept.lower()
    if EVENT_STREAM not in accept:
        return False
    quality: dict[str, float] = {}
    for part in accept.split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        weight = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    weight = float(parameter[2:])
                except ValueError:
                    weight = 0.0
        quality.setdefault(name, weight)
    stream, json = quality.get(EVENT_STREAM, 0.0), quality.get(_JSON, 0.0)
    if stream == json and stream > 0:
        names = list(quality)
        return names.index(EVENT_STREAM) < names.index(_JSON)
    return stream > json


class _Stream:
    """The reply to one question on its way out, and what of it the client has."""

    def __init__(self, response: web.StreamResponse, question: Question) -> None:
        self._response = response
        self._question = question
        self._retrieved: Reply | None = None
        self._sentences: list[Sentence] = []
        self.outcome: Reply | None = None
        """How it ended, also when that was said as an `error`; None until then."""

    async def comment(self) -> None:
        await self._response.write(_COMMENT)

    async def item(self, item: Reply | Sentence) -> None:
        """Send what the spine produced next."""
        if isinstance(item, Sentence):
            self._sentences.append(item)
            event = SentenceEvent(index=item.index, text=item.text, speech=item.speech)
            await self._send("sentence", event)
        elif self._retrieved is None and not item.handback:
            self._retrieved = item
            await self._send("retrieval", item)
        else:
            await self._finish(item)

    async def fail(self) -> None:
        """Send that something went wrong."""
        self.outcome = failure_reply(self._question, "internal")
        await self._send("error", ErrorEvent(error="internal", speech=self.outcome.speech))

    async def cut_off(self) -> None:
        """End with what there is."""
        if self._retrieved is None:
            await self._finish(failure_reply(self._question, "timeout"))
        elif not self._sentences:
            await self._finish(self._retrieved)
        else:
            # Which of several sources the sentences name isn't known here.
            source = self._retrieved.source_used
            sources = () if source == FUSION else (source,)
            text = "".join(sentence.text for sentence in self._sentences)
            await self._finish(
                self._retrieved.model_copy(
                    update={
                        "answer": tagged(text, sources),
                        "answer_sources": list(sources),
                        "synthesized": True,
                        "speech": "".join(sentence.speech for sentence in self._sentences),
                        "truncated": True,
                    }
                )
            )

    async def _finish(self, reply: Reply) -> None:
        self.outcome = reply
        await self._send("done", reply)

    async def _send(self, event: str, data: BaseModel) -> None:
        await self._response.write(f"event: {event}\ndata: {data.model_dump_json()}\n\n".encode())


_Queue = asyncio.Queue[Reply | Sentence | Exception | None]


async def _pump(ask: Asking, question: Question, explain: bool, queue: _Queue) -> None:
    """Put all that is produced into `queue`: at the end None, or what went wrong."""
    try:
        async with aclosing(ask.stream(question, explain=explain)) as items:
            async for item in items:
                queue.put_nowait(item)
        queue.put_nowait(None)
    except asyncio.CancelledError:
        queue.put_nowait(RuntimeError("answering was cancelled from within"))
        raise
    except Exception as error:  # noqa: BLE001 (told to the client, logged by the sender)
        queue.put_nowait(error)


async def _send_all(stream: _Stream, queue: _Queue, question: Question) -> None:
    """Send what comes through `queue` until the reply is whole, has failed, or its time is over."""
    end = question.deadline
    while stream.outcome is None:
        left = end - time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, min(COMMENT_EVERY_SECONDS, left))):
                item = await queue.get()
        except TimeoutError:
            if left <= COMMENT_EVERY_SECONDS:
                _LOGGER.error(
                    "a question overran its deadline", extra={"request_id": question.request_id}
                )
                await stream.cut_off()
            else:
                await stream.comment()
            continue
        match item:
            case None:
                await stream.cut_off()
            case Exception():
                _LOGGER.error(
                    "answering failed", exc_info=item, extra={"request_id": question.request_id}
                )
                await stream.fail()
            case _:
                await stream.item(item)


async def respond(
    request: web.Request, ask: Asking, question: Question, *, explain: bool
) -> web.StreamResponse:
    """Answer `question` as a stream. A client that hangs up ends all work for it at once."""
    response = web.StreamResponse(
        headers={"Content-Type": f"{EVENT_STREAM}; charset=utf-8", "X-Accel-Buffering": "no"}
    )
    head(response, request[REQUEST_ID])
    response.headers["Cache-Control"] = "no-cache"
    stream = _Stream(response, question)
    queue: _Queue = asyncio.Queue()
    task = asyncio.create_task(_pump(ask, question, explain, queue))
    try:
        async with asyncio.timeout(max(0.0, question.left) + _SLOW_READER_SECONDS):
            await response.prepare(request)
            await _send_all(stream, queue, question)
            await response.write_eof()
    except ConnectionError:
        pass
    except TimeoutError:
        # It reads too slowly, or not at all.
        if request.transport is not None:
            request.transport.abort()
    finally:
        leave(task)
        record(request.app[METRICS], question, stream.outcome, stream=True)
    return response
