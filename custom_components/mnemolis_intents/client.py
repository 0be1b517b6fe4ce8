"""The server's HTTP interface, as far as Home Assistant needs it.

Decides what a reply has to look like, how a stream is read, and which of a few kinds a failure is; what is said
about a failure is decided elsewhere. Nothing here knows Home Assistant. Servers older than the contract, which
answer `{result, source_used}` alone and no streams, are understood too.
"""

from __future__ import annotations

import codecs
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
import json
import re
import ssl
from typing import Any, ClassVar, Final

import aiohttp
from yarl import URL

_CONNECT_SECONDS: Final = 3.0
_HEALTH_SECONDS: Final = 8.0
_MAX_BYTES: Final = 1024 * 1024
"""More than any reply of the contract; whatever sends more is no server of ours."""

_LINE_END: Final = re.compile(r"\r\n|\n|\r")


class MnemolisError(Exception):
    """A question that got no reply. `key` names the texts that tell a person so; `str()` is for the log."""

    key: ClassVar[str]


class CannotConnect(MnemolisError):
    """Nothing answers at this address, or what answered hung up."""

    key = "cannot_connect"


class TimedOut(MnemolisError):
    """The server didn't answer in time."""

    key = "timed_out"


class TlsError(MnemolisError):
    """The certificate isn't trusted, or the other side doesn't speak TLS."""

    key = "tls"


class InvalidAuth(MnemolisError):
    """The key is missing or wrong."""

    key = "invalid_auth"


class NotOurs(MnemolisError):
    """Something answers at this address, but not such a server."""

    key = "not_ours"


class BadReply(MnemolisError):
    """The server answered what the contract doesn't know, or failed."""

    key = "bad_reply"


class Busy(MnemolisError):
    """The server has more questions at once than it takes."""

    key = "busy"


class Refused(MnemolisError):
    """The server takes no such request: `message` says why, `allowed` what it would take."""

    key = "refused"

    def __init__(self, message: str, allowed: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.allowed = allowed


class StreamFailed(MnemolisError):
    """The server failed after its reply had begun; `speech` is what it has to say about that."""

    key = "bad_reply"

    def __init__(self, error: str, speech: str) -> None:
        super().__init__(error)
        self.speech = speech


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


@dataclass(frozen=True, slots=True)
class Health:
    """What `GET /health` tells. An older server tells next to nothing: no id, contract 0.

    `admitted` is None where the server doesn't tell. `details` are the parts that only callers with a key see.
    """

    id: str | None = None
    version: str | None = None
    contract: int = 0
    status: str = ""
    admitted: bool | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: object) -> Health:
        """Return what the reply tells; any JSON will do."""
        if not isinstance(data, dict):
            return cls()
        contract = _whole(data.get("contract"))
        details = {
            key: data[key]
            for key in ("sources", "model", "cache", "jobs")
            if isinstance(data.get(key), dict)
        }
        return cls(
            id=_text(data.get("id")) or None,
            version=_text(data.get("version")) or None,
            contract=contract,
            status=_text(data.get("status")),
            admitted="sources" in details if contract else None,
            details=details,
        )


@dataclass(frozen=True, slots=True)
class Citation:
    """A document that a reply stands on."""

    source: str
    title: str
    url: str | None
    published: str | None
    section: str | None

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Citation:
        """Return the citation."""
        return cls(
            source=_text(data.get("source")),
            title=_text(data.get("title")),
            url=_text(data.get("url")) or None,
            published=_text(data.get("published")) or None,
            section=_text(data.get("section")) or None,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server found and says. `speech` is empty on hand-back and from servers older than the contract."""

    result: str
    source_used: str = ""
    success: bool = True
    error: str | None = None
    answer: str | None = None
    answer_sources: tuple[str, ...] = ()
    speech: str = ""
    citations: tuple[Citation, ...] = ()
    language: str = ""
    truncated: bool = False
    handback: bool = False
    contract: int = 0

    @classmethod
    def parse(cls, data: object) -> Reply:
        """Return the reply. Raises BadReply for what is none."""
        if not isinstance(data, dict) or not isinstance(data.get("result"), str):
            raise BadReply("the reply has no result")
        citations = data.get("citations")
        return cls(
            result=data["result"],
            source_used=_text(data.get("source_used")),
            success=data.get("success") is not False,
            error=_text(data.get("error")) or None,
            answer=_text(data.get("answer")) or None,
            answer_sources=_texts(data.get("answer_sources")),
            speech=_text(data.get("speech")),
            citations=tuple(Citation.parse(item) for item in citations if isinstance(item, dict))
            if isinstance(citations, list)
            else (),
            language=_text(data.get("language")),
            truncated=data.get("truncated") is True,
            handback=data.get("handback") is True,
            contract=_whole(data.get("contract")),
        )


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found, before anything is composed of it."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the answer. All but the first begin with a space: plain joining gives the whole."""

    speech: str


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a stream, its lines of data joined."""

    event: str
    data: str


class EventParser:
    """Server-sent events out of bytes that may be cut anywhere, even inside a character or a line end."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._after_cr = False
        self._rest = ""
        self._event = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Yield the events that `chunk` completes. Raises BadReply for one that grows without end."""
        text = self._decoder.decode(chunk)
        if not text:
            return
        if self._after_cr:
            text = text.removeprefix("\n")
        self._after_cr = chunk.endswith(b"\r")
        *lines, self._rest = _LINE_END.split(self._rest + text)
        for line in lines:
            if (event := self._line(line)) is not None:
                yield event
        if len(self._rest) + sum(map(len, self._data)) > _MAX_BYTES:
            raise BadReply("an event of the stream is too long")

    def _line(self, line: str) -> ServerEvent | None:
        """Take in one line; return the event that an empty one ends."""
        if not line:
            event, data = self._event or "message", self._data
            self._event, self._data = "", []
            return ServerEvent(event, "\n".join(data)) if data else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        return None


class MnemolisClient:
    """One server, over a session that others share. Every method raises only MnemolisError."""

    def __init__(self, session: aiohttp.ClientSession, url: str, api_key: str | None) -> None:
        self._session = session
        self._url = URL(url)
        self._headers = {"X-API-Key": api_key} if api_key else {}

    async def health(self) -> Health:
        """Return what the server tells about itself."""
        async with self._request("GET", "health", seconds=_HEALTH_SECONDS) as response:
            if not response.ok:
                raise NotOurs(f"GET /health: HTTP {response.status}")
            try:
                return Health.parse(json.loads(await _body(response)))
            except (ValueError, RecursionError) as error:
                raise NotOurs("GET /health: no JSON") from error

    async def check(self) -> Health:
        """Return the health, having made sure that the key is the right one."""
        health = await self.health()
        if health.admitted is False:
            raise InvalidAuth("the server wants a key")
        if health.contract == 0:
            # Older servers tell it nowhere but where a key is needed, and may not have this address.
            with suppress(NotOurs):
                async with self._request("GET", "sources", seconds=_HEALTH_SECONDS):
                    pass
        return health

    async def search(self, body: Mapping[str, Any], *, seconds: float) -> Reply:
        """Return the reply to `body`, the contract's request."""
        async with self._request("POST", "search", seconds=seconds, body=body) as response:
            return await _reply(response)

    async def stream(
        self, body: Mapping[str, Any], *, seconds: float
    ) -> AsyncGenerator[Retrieved | Sentence | Reply]:
        """Yield the reply as it comes about; the last item is always the whole Reply."""
        async with self._request(
            "POST", "search", seconds=seconds, body=body, accept="text/event-stream"
        ) as response:
            if response.content_type != "text/event-stream":
                yield await _reply(response)
                return
            await _raise_for_status(response)
            parser = EventParser()
            async for chunk in response.content.iter_any():
                for event in parser.feed(chunk):
                    item = _item(event)
                    if item is not None:
                        yield item
                    if isinstance(item, Reply):
                        return
            raise CannotConnect("the stream ended before the reply was whole")

    @asynccontextmanager
    async def _request(
        self,
        method: str,
        path: str,
        *,
        seconds: float,
        body: Mapping[str, Any] | None = None,
        accept: str = "application/json",
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Yield the response; what goes wrong until it is read becomes a MnemolisError."""
        try:
            async with self._session.request(
                method,
                self._url / path,
                headers={**self._headers, "Accept": accept},
                json=body,
                # A redirect would hand the key to whoever it names.
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=_CONNECT_SECONDS),
            ) as response:
                if response.status in (401, 403):
                    raise InvalidAuth(f"HTTP {response.status}")
                if 300 <= response.status < 400:
                    raise NotOurs(f"HTTP {response.status}: a redirect")
                yield response
        except TimeoutError as error:
            raise TimedOut("no answer in time") from error
        except (aiohttp.ClientSSLError, ssl.SSLError) as error:
            raise TlsError(type(error).__name__) from error
        except (aiohttp.ClientResponseError, aiohttp.InvalidURL) as error:
            raise NotOurs(type(error).__name__) from error
        except (aiohttp.ClientError, OSError) as error:
            raise CannotConnect(type(error).__name__) from error


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """Return the body. Raises BadReply for one that is too long."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > _MAX_BYTES:
            raise BadReply("the reply is too long")
    return bytes(body)


async def _raise_for_status(response: aiohttp.ClientResponse) -> None:
    """Raise what an HTTP status that isn't a success means."""
    if response.ok:
        return
    if response.status == 429:
        raise Busy("HTTP 429")
    if response.status in (404, 405):
        raise NotOurs(f"HTTP {response.status}")
    if response.status >= 500:
        raise BadReply(f"HTTP {response.status}")
    try:
        data = json.loads(await _body(response))
    except ValueError, RecursionError:
        data = None
    if not isinstance(data, dict):
        data = {}
    raise Refused(
        _text(data.get("message")) or f"HTTP {response.status}", _texts(data.get("allowed"))
    )


async def _reply(response: aiohttp.ClientResponse) -> Reply:
    """Return the reply that is the body."""
    await _raise_for_status(response)
    return Reply.parse(_json(await _body(response)))


def _json(data: str | bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadReply("no JSON") from error


def _item(event: ServerEvent) -> Retrieved | Sentence | Reply | None:
    """Return what the event brings, None for events of a later contract. Raises what it reports."""
    match event.event:
        case "retrieval":
            return Retrieved(Reply.parse(_json(event.data)))
        case "sentence":
            data = _json(event.data)
            if not isinstance(data, dict) or not isinstance(data.get("speech"), str):
                raise BadReply("a sentence without speech")
            return Sentence(data["speech"])
        case "done":
            return Reply.parse(_json(event.data))
        case "error":
            data = _json(event.data)
            fields = data if isinstance(data, dict) else {}
            raise StreamFailed(_text(fields.get("error")), _text(fields.get("speech")))
    return None
