"""The command line as a process: whatever it is given, it ends with words and an exit code."""

from __future__ import annotations

import json
import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[2]


def run(
    folder: Path, *arguments: str | bytes, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command over a library of one document, its data in `folder`."""
    library = folder / "library"
    library.mkdir(exist_ok=True)
    (library / "boiler.md").write_text("# Boiler\n\nThe pressure of the boiler is 1.5 bar.\n")
    return subprocess.run(
        (sys.executable, "-m", "backend", *arguments),
        cwd=folder,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "LIBRARY_DIR": str(library), "LLM_API_TYPE": "extractive"}
        | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("question", [b"boiler \xff\xfe pressure", b"boiler\x07 pressure \x1b"])
def test_a_question_in_bytes_that_are_no_text_is_answered(question: bytes, tmp_path: Path) -> None:
    done = run(tmp_path, "ask", question, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    reply = json.loads(done.stdout)
    assert "1.5 bar" in reply["speech"]
    assert reply["query"].startswith("boiler")
    assert "\x1b" not in reply["query"]


@pytest.mark.parametrize(
    ("arguments", "variables", "says"),
    [
        (("ask", " \x07 "), {}, "1 to 2000 characters"),
        (("ask", "a" * 2001), {}, "1 to 2000 characters"),
        (("ask", "boiler", "--source", "huose"), {}, "allowed: auto, fusion, house, kiwix"),
        (("serve", "--config", "."), {}, "can't be read (Is a directory)"),
        (("serve", "--port", "99999"), {}, "PORT: "),
        (("serve",), {"LIBARY_DIR": "x"}, "did you mean LIBRARY_DIR?"),
        (("serve",), {"API_KEYS": ","}, "API_KEYS: there is none in it"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    arguments: tuple[str, ...], variables: dict[str, str], says: str, tmp_path: Path
) -> None:
    done = run(tmp_path, *arguments, **variables)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize("library", ["nowhere", "a file"])
def test_a_library_that_is_not_there_is_told_and_named(library: str, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("text")
    done = run(tmp_path, "ask", "boiler", "--library", str(tmp_path / library))
    assert done.returncode == 1
    assert "LIBRARY_DIR" in done.stdout
    assert str(tmp_path / library) in done.stderr
    assert "LIBRARY_DIR" in done.stderr
