"""Recorded examples of the contract, read by the tests of both halves.

One JSON file an exchange: `about`, `settings` (what the server needs to be set to, when it matters), `request` (`method`,
`path`, `headers`, and `body` or, where it isn't JSON, `raw`; two tell only how long the body or its question is) and
`response` (`status`, and `body` or the name of a recorded `stream`). `*.sse` are streams byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Example:
    """One exchange. `raw` is the request's body as it is sent, None without one; `stream` the recorded bytes."""

    name: str
    settings: dict[str, Any]
    method: str
    path: str
    headers: dict[str, str]
    raw: bytes | None
    status: int
    body: Any
    stream: bytes | None

    @property
    def events(self) -> list[tuple[str, dict[str, Any]]]:
        """The events of the stream in order, comments left out."""
        assert self.stream is not None, f"{self.name} isn't a stream"
        events = []
        for block in self.stream.decode().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.splitlines())
            if "event" in fields:
                events.append((fields["event"], json.loads(fields["data"])))
        return events


def example(name: str) -> Example:
    """Return the example of that name."""
    record = json.loads((_FOLDER / f"{name}.json").read_text("utf-8"))
    request, response = record["request"], record["response"]
    raw: bytes | None = None
    if "raw" in request:
        raw = request["raw"].encode()
    elif "body_of_bytes" in request:
        raw = b'{"query": "' + b"x" * (request["body_of_bytes"] - 13) + b'"}'
    elif "body_with_query_of" in request:
        raw = json.dumps({"query": "x" * request["body_with_query_of"]}).encode()
    elif "body" in request:
        raw = json.dumps(request["body"]).encode()
    stream = response.get("stream")
    return Example(
        name=name,
        settings=record.get("settings", {}),
        method=request["method"],
        path=request["path"],
        headers=request["headers"],
        raw=raw,
        status=response["status"],
        body=response.get("body"),
        stream=(_FOLDER / stream).read_bytes() if stream else None,
    )


def names(prefix: str = "") -> list[str]:
    """Return the names of all examples, or of those that begin with `prefix`, in order."""
    return sorted(path.stem for path in _FOLDER.glob(f"{prefix}*.json"))
