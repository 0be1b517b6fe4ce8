"""PDFs are read in a process of their own, which is ended with what it can't get done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import subprocess
import sys
import threading

import pytest

from backend.house_wiki import Unreadable, pdf

WHOLE = (Path(__file__).parents[3] / "library" / "washing-machine.pdf").read_bytes()


@pytest.fixture
def child() -> Iterator[pdf.Child]:
    child = pdf.Child()
    yield child
    child.end()


def test_the_process_reads_one_after_the_other_as_this_one_would(child: pdf.Child) -> None:
    assert child.read(WHOLE) == pdf.read(WHOLE)
    with pytest.raises(Unreadable, match="no PDF"):
        child.read(b"Dear reader")
    assert child.read(WHOLE).title == "Washing machine manual"


def hang(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Have the process be one that runs `code` in the place of the reader."""

    def begin() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            (sys.executable, "-c", code), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    monkeypatch.setattr(pdf, "_begin", begin)


def test_a_file_that_takes_too_long_is_given_up_and_the_next_one_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child = pdf.Child(seconds=3.0)
    with monkeypatch.context() as patch:
        hang(patch, "import sys; sys.stdin.buffer.read()")
        with pytest.raises(Unreadable, match="takes longer than 3 s"):
            child.read(WHOLE)
    assert child.read(WHOLE).parts
    child.end()


def test_a_file_that_kills_the_process_is_told_and_the_next_one_read(
    child: pdf.Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        hang(patch, "import os; os._exit(9)")
        with pytest.raises(Unreadable, match="gave up"):
            child.read(WHOLE)
    assert child.read(WHOLE).parts


def test_who_ends_it_does_not_wait_for_the_file_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    hang(monkeypatch, "import sys; sys.stdin.buffer.read()")
    child = pdf.Child()
    said: list[str] = []

    def read() -> None:
        try:
            child.read(WHOLE)
        except Unreadable as error:
            said.append(str(error))

    reader = threading.Thread(target=read)
    reader.start()
    child.end()
    reader.join(10)
    assert not reader.is_alive()
    assert len(said) == 1
    with pytest.raises(Unreadable, match="not read to the end"):
        child.read(WHOLE)
