"""The log: a line an event, and nothing secret in it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
import io
import logging
import os
import pty
import subprocess
import sys
from threading import Event, Thread

from hypothesis import given, strategies as st
import pytest

from backend.logs import Formatter, in_background, set_up
from backend.settings import Settings

LOGGER = logging.getLogger("backend.something")


@pytest.fixture(autouse=True)
def root_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def log() -> io.StringIO:
    """Return what is logged with two keys set."""
    stream = io.StringIO()
    settings = Settings.model_validate(
        {"api_keys": "first-key,second-key", "llm_api_key": "model-key"}
    )
    set_up("INFO", settings, stream)
    return stream


def test_a_line_names_time_level_logger_message_and_fields(log: io.StringIO) -> None:
    LOGGER.info(
        "answered",
        extra={"source": "house", "success": True, "error": None, "note": 'two "words"', "ms": 1.5},
    )
    line = log.getvalue()
    assert line.endswith(
        'INFO backend.something answered source=house success=true note="two \\"words\\"" ms=1.5\n'
    )
    assert line[:4].isdigit()


def test_levels_below_the_one_set_are_left_out(log: io.StringIO) -> None:
    LOGGER.debug("not this")
    logging.getLogger("httpx").info("nor this")
    logging.getLogger("mcp.server.lowlevel.server").info("nor this, of every message")
    LOGGER.warning("but this")
    assert "this" in log.getvalue()
    assert "not this" not in log.getvalue()
    assert "nor this" not in log.getvalue()


def test_no_key_is_in_any_line_whatever_it_is_in(log: io.StringIO) -> None:
    LOGGER.info("key first-key and %s", "second-key", extra={"model": "http://x/?k=model-key"})
    try:
        int("the model said model-key")
    except ValueError:
        LOGGER.exception("failed")
    logged = log.getvalue()
    assert "Traceback" in logged
    for key in ("first-key", "second-key", "model-key"):
        assert key not in logged


@pytest.mark.parametrize(
    "text",
    [
        "X-API-Key: hidden",
        "{'X-API-Key': 'hidden'}",
        "Authorization: Bearer hidden",
        '"authorization": "Basic hidden"',
        "LLM_API_KEY=hidden",
        "?api_key=hidden&x=1",
        "password=hidden",
    ],
)
def test_what_looks_like_a_key_is_struck_out(text: str, log: io.StringIO) -> None:
    LOGGER.warning("%s", text)
    assert "hidden" not in log.getvalue()


def test_what_only_sounds_like_a_key_stays(log: io.StringIO) -> None:
    LOGGER.warning("number gate", extra={"token": "45"})
    assert "token=45" in log.getvalue()


@given(st.text(), st.text())
def test_one_event_is_one_line(message: str, field: str) -> None:
    record = LOGGER.makeRecord(
        "backend", logging.INFO, "f", 1, "%s", (message,), None, extra={"field": field}
    )
    assert len(Formatter().format(record).splitlines()) == 1


def test_a_person_gets_colours_and_a_pipe_gets_plain_lines() -> None:
    code = (
        "import logging, sys; from backend.logs import set_up; set_up('INFO');"
        "logging.info('hello there', extra={'port': 1}); print('rich' in sys.modules)"
    )
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert piped.stdout == "False\n"
    assert piped.stderr.endswith("INFO root hello there port=1\n")

    theirs, ours = pty.openpty()
    try:
        seen = subprocess.run(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            stderr=ours,
            text=True,
            check=True,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
        )
        assert seen.stdout == "True\n"
        assert "hello there" in os.read(theirs, 4096).decode()
    finally:
        os.close(theirs)
        os.close(ours)


def test_a_stream_that_takes_nothing_stops_nobody_and_no_line_is_lost() -> None:
    reading, writing = os.pipe()
    read: list[str] = []
    with os.fdopen(reading, encoding="utf-8") as source:
        with os.fdopen(writing, "w", encoding="utf-8") as stream:
            set_up("INFO", None, stream)
            with in_background():
                # More than a pipe holds, before anybody reads.
                for number in range(5_000):
                    LOGGER.info("line %d", number)
                reader = Thread(target=lambda: read.extend(source), name="reader")
                reader.start()
            LOGGER.info("the last")
        reader.join()
    assert [line.split("something ")[1] for line in read] == [
        *(f"line {number}\n" for number in range(5_000)),
        "the last\n",
    ]


def test_a_stream_that_takes_nothing_at_all_does_not_keep_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("backend.logs._STUCK_SECONDS", 0.01)
    reading, writing = os.pipe()
    with (
        os.fdopen(reading, encoding="utf-8") as source,
        os.fdopen(writing, "w", encoding="utf-8") as stream,
    ):
        set_up("INFO", None, stream)
        with in_background():
            for number in range(5_000):
                LOGGER.info("line %d", number)
        # We are here although nobody has read; that the test may end, somebody does now.
        lines = [source.readline() for _ in range(5_000)]
    assert lines[-1].endswith("line 4999\n")


def test_a_line_that_cannot_be_made_or_written_takes_no_other_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Flaky(io.StringIO):
        broken = Event()

        def write(self, text: str) -> int:
            if "lost" in text:
                self.broken.set()
                raise BrokenPipeError
            return super().write(text)

    monkeypatch.setattr(logging, "raiseExceptions", False)
    stream = Flaky()
    set_up("INFO", None, stream)
    with in_background():
        LOGGER.info("%d", "no number")
        LOGGER.info("lost")
        assert stream.broken.wait(10)
        LOGGER.info("told")
    assert stream.getvalue().endswith("told\n")


def test_with_a_thread_that_writes_the_time_is_that_of_the_event(log: io.StringIO) -> None:
    with in_background():
        LOGGER.info("first")
        LOGGER.info("second")
    times = [line.split(" INFO")[0] for line in log.getvalue().splitlines()]
    assert len(times) == 2
    assert all(datetime.strptime(time, "%Y-%m-%d %H:%M:%S,%f") for time in times)
    assert times == sorted(times)
