"""The log on stderr: one line an event, key=value for machines, colours when a person looks.

Fields come as `extra={...}` of the logging call. What is secret is struck out here, last, whatever line it is in,
tracebacks included; what is said at which level is decided where it is logged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
import json
import logging
import re
import sys
from threading import Event, Thread
import time
from typing import Final, TextIO

from pydantic import SecretStr

from backend.settings import Settings

_OWN: Final = len(logging.makeLogRecord({}).__dict__)
"""So many attributes a record has before the fields that come with it."""
_ADDED: Final = frozenset(("message", "asctime", "color_message"))
"""What other formatters leave in a record."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PLAIN: Final = re.compile(r"[^\s\"'=\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LOOKS_SECRET: Final = re.compile(
    r"(?i)\b([\w-]*api[-_]?keys?|authorization|access_token|[\w-]*password)(['\"]?\s*[=:]\s*)"
    r"(['\"]?)(?:(?:bearer|basic)\s+)?[^\s'\",;&)]+"
)
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
        self._second = 0
        self._clock = ""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with a traceback below it when there is one."""
        line = _CONTROL.sub(" ", record.getMessage())
        for name, value in islice(record.__dict__.items(), _OWN, None):
            if value is not None and name not in _ADDED:
                line += f" {name}={_value(value)}"
        if not self._bare:
            line = f"{self._time(record)} {record.levelname} {record.name} {line}"
        if record.exc_info and record.exc_info[0] is not None:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return self._strike(line)

    def _time(self, record: logging.LogRecord) -> str:
        """Return when it happened; the local time of a second is made once."""
        second = int(record.created)
        if second != self._second:
            self._clock = time.strftime(self.default_time_format, time.localtime(second))
            self._second = second
        return f"{self._clock},{int(record.msecs):03d}"

    def _strike(self, line: str) -> str:
        for secret in self._secrets:
            line = line.replace(secret, _STRUCK)
        low = line.lower()
        # Most lines hold no such word, and need no closer look.
        if "key" in low or "authorization" in low or "access_token" in low or "password" in low:
            return _LOOKS_SECRET.sub(rf"\1\2\3{_STRUCK}", line)
        return line


def _value(value: object) -> str:
    if value is True:
        return "true"
    if value is False:
        return "false"
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
                lines.append(self.format(self._waiting.popleft()) + self.terminator)
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
