"""`python -m backend eval`, as it is run from a shell."""

from __future__ import annotations

import io
import json
from pathlib import Path
import subprocess
import sys
from typing import Any, NamedTuple, Protocol

import pytest

from backend.__main__ import main


class Done(NamedTuple):
    returncode: int
    stdout: bytes
    stderr: bytes


class Run(Protocol):
    def __call__(self, *arguments: str, rows: bytes = b"") -> Done: ...


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    def run(*arguments: str, rows: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(rows)))
        try:
            code = main(["eval", *arguments])
        except SystemExit as left:
            code = int(left.code or 0)
        sys.stdout.flush()
        return Done(code, *capfdbinary.readouterr())

    return run


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.mark.parametrize(
    ("task", "row", "expected"),
    [
        (
            "numbers",
            {
                "id": 1,
                "material": "The tank of the boiler holds 1,500 litres, as it is on its side.",
                "answer": "Er fasst 1.500 Liter, nicht 7.",
                "lang": "de",
            },
            {"id": 1, "grounded": False, "unsupported": ["7"]},
        ),
        (
            "numbers",
            {
                "id": "a",
                "material": "It opened in 1889.",
                "question": "When?",
                "answer": "In 1889.",
            },
            {"id": "a", "grounded": True, "unsupported": []},
        ),
        (
            "sentences",
            {"id": 1, "lang": "de-DE", "text": "Das ist z. B. Wasser. Gut so."},
            {"id": 1, "sentences": ["Das ist z. B. Wasser.", "Gut so."]},
        ),
        ("cut", {"id": 1, "lang": "en", "text": "One. Two.", "cap": 5}, {"id": 1, "text": "One."}),
        (
            "speech",
            {"id": 1, "lang": "fr", "text": "Il fait 21 °C [1]."},
            {"id": 1, "speech": "Il fait 21 degrés Celsius."},
        ),
    ],
)
def test_each_task_runs_the_product_over_a_row(
    run: Run, task: str, row: dict[str, Any], expected: dict[str, Any]
) -> None:
    done = run(task, rows=lines(row))
    assert (done.returncode, json.loads(done.stdout)) == (0, expected), done.stderr


def test_routing_gives_steps_and_takes_history(run: Run) -> None:
    row = {
        "id": 1,
        "lang": "en",
        "utterance": "what does error E24 on the dishwasher mean",
        "history": [{"role": "user", "text": "hello"}],
    }
    done = run(
        "route", rows=lines(row, {"id": 2, "lang": "en", "utterance": "turn on the kitchen light"})
    )
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["id"] == 1
    assert first["handback"] is False
    assert all(set(step) >= {"source", "query"} for step in first["steps"])
    assert second == {"id": 2, "steps": [], "handback": True}


def test_a_bad_row_says_why_and_the_run_goes_on(run: Run) -> None:
    rows = b"".join(
        [
            b"\xef\xbb\xbf" + lines({"id": 1, "lang": "en", "text": "Ok."}),
            b"{oops\n",
            b'{"id": 3, "text": "\xff"}\n',
            lines([1]),  # type: ignore[arg-type]
            b"\n",
            lines({"id": 6, "lang": "en"}),
            lines({"id": 7, "lang": 5, "text": "x"}),
            lines({"lang": "en", "text": "x"}),
            b"[" * 100_000 + b"\n",
            lines({"id": 10, "lang": "en", "text": "Fine. \ud800"}),
        ]
    )
    done = run("sentences", rows=rows)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert found[0] == {"id": 1, "sentences": ["Ok."]}
    assert [row.get("line") for row in found] == [None, 2, 3, 4, 6, 7, 8, 9, None]
    assert "column" in found[1]["error"]
    assert "UTF-8" in found[2]["error"]
    assert "object" in found[3]["error"]
    assert found[4] == {"id": 6, "line": 6, "error": "line 6: the field 'text' is missing"}
    assert "'lang'" in found[5]["error"]
    assert "'id'" in found[6]["error"]
    assert found[8]["id"] == 10


def test_files_are_read_and_written(run: Run, tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(lines({"id": 1, "lang": "en", "text": "Zażółć. Gęś."}))
    assert run("sentences", "--in", str(source), "--out", str(target)).returncode == 0
    assert json.loads(target.read_text("utf-8"))["sentences"] == ["Zażółć.", "Gęś."]
    same = run("sentences", "--in", str(source), "--out", str(source))
    assert same.returncode == 2
    assert source.stat().st_size > 0
    missing = run("sentences", "--in", str(tmp_path / "no.jsonl"))
    assert missing.returncode == 2
    assert b"no.jsonl" in missing.stderr


def test_an_unknown_task_is_refused_with_those_there_are(run: Run) -> None:
    done = run("sentance")
    assert done.returncode == 2
    assert b"sentences" in done.stderr
    assert b"{id, lang, text, cap}" in run("--help").stdout


def test_rows_come_and_go_one_by_one_through_a_pipe() -> None:
    row = lines({"id": 1, "lang": "en", "text": "One. Two."})
    with subprocess.Popen(
        [sys.executable, "-m", "backend", "eval", "sentences"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stdout
        for _ in range(2):
            process.stdin.write(row)
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["sentences"] == ["One.", "Two."]
        process.stdin.close()
        assert process.wait() == 0
