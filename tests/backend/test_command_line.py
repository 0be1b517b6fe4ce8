"""The command line as a process: whatever it is given, it ends with words and an exit code."""

from __future__ import annotations

import json
import os
from pathlib import Path
import subprocess
import sys
from typing import Any

import pytest

from tests.backend.test_doctor import answering

ROOT = Path(__file__).parents[2]
NEXTCLOUD = {"id": 1, "name": "Nextcloud"}


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


def test_all_that_is_wrong_with_the_settings_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "mnemolis.toml").write_text('llm_modle = "x"\nport = "eight"\n')
    done = run(tmp_path, "serve", LANGUAGE="german", LIBARY_DIR="x", HA_TOKEN_FILE="/no/such")
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert all(line.startswith("mnemolis: ") for line in lines)
    for part in ("'llm_model'?", "LIBRARY_DIR?", "HA_TOKEN_FILE: ", "PORT: ", "LANGUAGE: "):
        assert len([line for line in lines if part in line]) == 1, part
    assert len(lines) == 5


def test_a_language_that_is_none_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "ask", "boiler", "--language", "german")
    assert done.returncode == 2
    assert "'german' is no tag of a language, say en" in done.stderr


def test_each_source_is_shown_by_a_title_or_by_what_it_is_called(tmp_path: Path) -> None:
    document = run(tmp_path, "ask", "what is the boiler pressure")
    assert "  house  Boiler  house://boiler.md\n" in document.stdout
    assert "\nResult\nBoiler\n" in document.stdout
    pages: dict[str, tuple[int, dict[str, Any]]] = {
        "/api/status-page/home": (200, {"publicGroupList": [{"monitorList": [NEXTCLOUD]}]}),
        "/api/status-page/heartbeat/home": (200, {"heartbeatList": {"1": [{"status": 0}]}}),
    }
    with answering(pages) as port:
        said = run(
            tmp_path,
            "ask",
            "is any service down",
            UPTIME_KUMA_URL=f"http://127.0.0.1:{port}",
            UPTIME_KUMA_STATUS_PAGE="home",
        )
    assert said.returncode == 0, said.stdout + said.stderr
    assert "  uptime  Service status\n" in said.stdout


def test_a_source_that_fails_is_named_beside_what_is_said(tmp_path: Path) -> None:
    with answering({}) as port:
        feed = f"http://127.0.0.1:{port}/feed?key=s3cret"
        failed = run(tmp_path, "ask", "what's in the news", NEWS_FEEDS=feed)
    assert failed.returncode == 1
    assert failed.stdout == "I can't reach the source for that right now.\n"
    assert failed.stderr == "news: bad_reply: 127.0.0.1 says 404; doctor tells more\n"


def test_where_nothing_is_found_no_result_is_shown(tmp_path: Path) -> None:
    done = run(tmp_path, "ask", "who was Marie Curie")
    assert done.returncode == 1
    assert done.stdout == "I found nothing about that.\n"


@pytest.mark.parametrize("library", ["nowhere", "a file"])
def test_a_library_that_is_not_there_is_told_and_named(library: str, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("text")
    done = run(tmp_path, "ask", "boiler", "--library", str(tmp_path / library))
    assert done.returncode == 1
    assert "LIBRARY_DIR" in done.stdout
    assert str(tmp_path / library) in done.stderr
    assert "LIBRARY_DIR" in done.stderr
