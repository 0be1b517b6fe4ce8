"""The log on stderr: one line an event, key=value for machines, colours when a person looks.

Fields come as `extra={...}` of the logging call. What is secret is struck out here, last, whatever line it is in,
tracebacks included; what is said at which level is decided where it is logged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
import json
import logging
import re
import sys
from threading import Event, Thread
from typing import Final, TextIO

from pydantic import SecretStr

from backend.settings import Settings

_STANDARD: Final = frozenset(
    (*logging.makeLogRecord({}).__dict__, "message", "asctime", "taskName", "color_message")
)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PLAIN: Final = re.compile(r"[^\s\"'=\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LOOKS_SECRET: Final = re.compile(
    r"(?i)\b([\w-]*api[-_]?keys?|authorization|access_token|[\w-]*password)(['\"]?\s*[=:]\s*)"
    r"(['\"]?)(?:(?:bearer|basic)\s+)?[^\s'\",;&)]+"
)
_OF_SECRETS: Final = ("key", "authorization", "access_token", "password")
"""A line without any of these holds nothing that looks secret: most lines, which need no closer look."""
_STRUCK: Final = "***"
_PAUSE_SECONDS: Final = 0.25
_MOST_WAITING: Final = 10_000
"""So many lines wait for a stream that takes none; then the oldest are lost."""
_STUCK_SECONDS: Final = 2.0


class Formatter(logging.Formatter):
    """Formats a record and strikes `secrets` out. `bare` leaves time, level and logger to somebody else."""

    def __init__(self, secrets: Iterable[str] = (), *, bare: bool = False) -> None:
        super().__init__()
        self._secrets = sorted(filter(None, secrets), key=len, reverse=True)
        self._bare = bare

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with a traceback below it when there is one."""
        message = _CONTROL.sub(" ", record.getMessage())
        fields = [
            f"{name}={_value(value)}"
            for name, value in record.__dict__.items()
            if name not in _STANDARD and value is not None
        ]
        parts = [message, *fields]
        if not self._bare:
            parts = [self.formatTime(record), record.levelname, record.name, *parts]
        line = " ".join(parts)
        if record.exc_info and record.exc_info[0] is not None:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return self._strike(line)

    def _strike(self, line: str) -> str:
        for secret in self._secrets:
            line = line.replace(secret, _STRUCK)
        low = line.lower()
        if not any(word in low for word in _OF_SECRETS):
            return line
        return _LOOKS_SECRET.sub(rf"\1\2\3{_STRUCK}", line)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if _PLAIN.fullmatch(text):
        return text
    return json.dumps(_CONTROL.sub(" ", text), ensure_ascii=False)


class _Background(logging.StreamHandler[TextIO]):
    """Has a thread write what is logged, many lines in one go.

    So a line costs the loop a fifth, and a stream that is stuck stops nobody:
    https://docs.python.org/3/howto/logging-cookbook.html#dealing-with-handlers-that-block
    """

    def __init__(self, plain: logging.StreamHandler[TextIO]) -> None:
        super().__init__(plain.stream)
        self.setFormatter(plain.formatter)
        self._waiting: deque[logging.LogRecord] = deque(maxlen=_MOST_WAITING)
        self._news = Event()
        self._ending = Event()
        self._thread = Thread(target=self._write, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record; never blocks."""
        self._waiting.append(record)
        if not self._news.is_set():
            self._news.set()

    def close(self) -> None:
        """Return once all is written, or the stream is stuck."""
        self._ending.set()
        self._news.set()
        self._thread.join(_STUCK_SECONDS)
        super().close()

    def _write(self) -> None:
        while not self._ending.is_set() or self._waiting:
            self._news.wait()
            self._news.clear()
            lines = []
            while self._waiting:
                record = self._waiting.popleft()
                try:
                    lines.append(self.format(record) + self.terminator)
                except Exception:  # noqa: BLE001  # whatever its fields raise
                    # As every handler does: a line that can't be made is no reason to make no others.
                    self.handleError(record)
            with suppress(OSError, ValueError):
                self.stream.write("".join(lines))
                # Not by our own `flush`, which holds the lock that `emit` is called under.
                self.stream.flush()
            # The first line after a silence is written at once.
            self._ending.wait(_PAUSE_SECONDS)


@contextmanager
def in_background() -> Iterator[None]:
    """Have a thread write meanwhile what is logged where nobody looks on; all of it is written at the end."""
    root = logging.getLogger()
    before = root.handlers[:]
    root.handlers[:] = [
        _Background(each) if type(each) is logging.StreamHandler else each for each in before
    ]
    try:
        yield
    finally:
        ours = [each for each in root.handlers if isinstance(each, _Background)]
        root.handlers[:] = before
        for each in ours:
            each.close()


def _handler(stream: TextIO, secrets: Iterable[str]) -> logging.Handler:
    if not stream.isatty():
        handler: logging.Handler = logging.StreamHandler(stream)
        handler.setFormatter(Formatter(secrets))
        return handler
    from rich.console import Console
    from rich.logging import RichHandler

    handler = RichHandler(console=Console(file=stream), show_path=False, markup=False)
    handler.setFormatter(Formatter(secrets, bare=True))
    return handler


def _secrets(settings: Settings) -> list[str]:
    """Return every secret of the settings, those of settings to come too."""
    values = (getattr(settings, name) for name in Settings.model_fields)
    return [
        one.get_secret_value()
        for value in values
        for one in (value if isinstance(value, tuple) else (value,))
        if isinstance(one, SecretStr)
    ]


def set_up(level: str, settings: Settings | None = None, stream: TextIO | None = None) -> None:
    """Send all log lines from `level` on to `stream` (stderr), the secrets of `settings` struck out."""
    secrets = _secrets(settings) if settings else []
    root = logging.getLogger()
    for handler in root.handlers[:]:
        root.removeHandler(handler)
    root.addHandler(_handler(sys.stderr if stream is None else stream, secrets))
    root.setLevel(level)
    # No line tells of threads, processes or files of source, which cost half of its time:
    # https://docs.python.org/3/howto/logging.html#optimization
    logging.logThreads = logging.logProcesses = False
    logging.logMultiprocessing = False
    logging.logAsyncioTasks = False  # type: ignore[attr-defined]
    logging._srcfile = None  # noqa: SLF001
    # Their own lines say what ours say already, with addresses and headers.
    for name in ("aiohttp.access", "httpx", "httpcore", "asyncio", "mcp"):
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
