"""When the next bus leaves, from a server of the house: a whole source, to be copied and changed.

Decides what of the timetable is told and how; where the server is, is a setting. Read it beside
docs/writing-a-source.md.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import aiohttp

from backend.sources.base import SourceState, made_of
from backend.sources.http import UpstreamError, fetch_json
from backend.types import Found, NotConfigured, Nothing, Outcome, Passage, Question, Step

SETTING: Final = "BUS_URL"
_MOST_TOLD: Final = 3
# The words of a source are data: in the product this is backend/languages/<code>/bus.toml.
_SAID: Final = {"en": "Line {line} leaves at {time}.", "de": "Linie {line} fährt um {time} Uhr."}


class Bus:
    """Asks the timetable at `url`; an outcome may be kept for `ttl` seconds."""

    # The tag on the wire; the file is named after it.
    tag = "bus"

    def __init__(self, session: aiohttp.ClientSession, url: str | None, *, ttl: float) -> None:
        self._session = session
        self._url = url
        self._problem = ""
        self.ttl = ttl
        # What the source holds, in a word: a change makes what was kept stale. Here another server does.
        self.version = made_of(url)

    async def start(self) -> None:
        """Begin nothing: it is asked when it is needed, so that a dead server keeps nobody waiting."""

    async def close(self) -> None:
        """End nothing: the session is everybody's."""

    def state(self) -> SourceState:
        """Return whether it is set up, and what went wrong when it was last asked; asks nobody."""
        if self._url is None:
            return SourceState(False, SETTING)
        return SourceState(True, detail=self._problem)

    async def ask(self, step: Step, question: Question) -> Outcome:
        """Tell the next buses. `step.query` are the words, `question` says when, where and in which language."""
        if self._url is None:
            # At once, and with nothing sent. The person hears the name of the setting.
            return NotConfigured(SETTING)
        try:
            reply = await fetch_json(self._session, self._url, until=question.deadline)
        except UpstreamError as error:
            # Slow, away, refused, nonsense: told apart already. Never tried again here.
            self._problem = str(error)
            return error.failed
        self._problem = ""
        said = _said(reply, question)
        if not said:
            return Nothing()
        passages = tuple(
            # `direct`: a sentence that answers by itself, said as it is.
            Passage(self.tag, "", text, language=question.language, direct=True)
            for text in said
        )
        return Found(passages, datetime.now(UTC) + timedelta(seconds=self.ttl))


def _said(reply: Any, question: Question) -> list[str]:
    """Return a sentence for each of the next buses; what isn't as it should be is left out, it is data of others."""
    rows = reply.get("departures") if isinstance(reply, dict) else None
    text = _SAID.get(question.language, _SAID["en"])
    said = []
    for row in rows if isinstance(rows, list) else ():
        line, time = (row.get("line"), row.get("time")) if isinstance(row, dict) else (None, None)
        if isinstance(line, str) and isinstance(time, str):
            # On one line, and no longer than a name may be: nobody's text becomes a header or a speech.
            said.append(text.format(line=" ".join(line.split())[:20], time=time[:5]))
    return said[:_MOST_TOLD]
