"""The number gate: what it rejects that is wrong, and what it rejects that isn't.

On sentences that people judged (RAGTruth, FEVER, HaluEval) and on such as are wrong by making (`altered.py`). Labels of
RAGTruth are taken clean: a row whose only figures are references to passages, marks of lists or counts of words
says nothing of numbers. The naive way rejects what has a figure that isn't one of the material, commas aside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
import json
import os
from pathlib import Path
import re
import subprocess
import sys
import tempfile
import time
from typing import Any, Final

from backend.text.numbers import Material
from benchmarks.quality.altered import altered, claims_figure
from benchmarks.quality.figure import Figure
from benchmarks.quality.rows import read_rows

Row = Mapping[str, Any]
_FIGURE: Final = re.compile(r"\d+(?:[.,]\d+)*")
_TASKS: Final = {"QA": "QA", "Data2txt": "data to text", "Summary": "summaries"}
_ROWS: Final = 10_000
_ROUNDS: Final = 5
_PIECE: Final = 6_000


@dataclass
class Count:
    """How often a wrong one was rejected, and how often a right one."""

    wrong: int = 0
    right: int = 0
    found: int = 0
    alarms: int = 0
    missed: list[Any] = field(default_factory=list)
    false: list[Any] = field(default_factory=list)

    def add(self, rejected: object, wrong: bool, row: Any) -> None:
        """Count one row."""
        if wrong:
            self.wrong += 1
            self.found += bool(rejected)
            if not rejected:
                self.missed.append(row)
        else:
            self.right += 1
            self.alarms += bool(rejected)
            if rejected:
                self.false.append((rejected, row))

    @property
    def precision(self) -> float:
        """Return the part of what was rejected that was wrong, in percent."""
        return 100 * self.found / max(1, self.found + self.alarms)

    @property
    def recall(self) -> float:
        """Return the part of what was wrong that was rejected, in percent."""
        return 100 * self.found / max(1, self.wrong)

    @property
    def false_alarms(self) -> float:
        """Return the part of what was right that was rejected, in percent."""
        return 100 * self.alarms / max(1, self.right)


@cache
def _material(text: str, question: str) -> Material:
    return Material(text, "en", question)


def gate(text: str, material: str, question: str) -> list[str]:
    """Return what the product's gate rejects."""
    return _material(material, question).unsupported(text)


def naive(text: str, material: str, question: str) -> list[str]:
    """Return the figures that aren't in the material, commas aside."""
    held = _naive_figures(material)
    return [each for each in _FIGURE.findall(text) if each.replace(",", "") not in held]


@cache
def _naive_figures(material: str) -> frozenset[str]:
    return frozenset(each.replace(",", "") for each in _FIGURE.findall(material))


def counted(
    rejects: Callable[[str, str, str], object],
    every: Iterable[tuple[str, str, str, bool]],
) -> Count:
    """Return how a gate does on (text, material, question, whether it is wrong)."""
    count = Count()
    for text, material, question, wrong in every:
        count.add(rejects(text, material, question), wrong, (text, material, question))
    return count


def measure(data: Path) -> list[Figure]:
    """Measure the gate on all sets of the folder."""
    answers = list(read_rows(data / "2a_ragtruth_test.jsonl"))
    materials = {each["material_id"]: each["material"] for each in answers}
    sentences = list(read_rows(data / "2d_ragtruth_numeric_sentences.jsonl"))
    claims = list(read_rows(data / "2c_numeric_claims.jsonl"))
    return [
        *_altered(sentences, materials),
        *_judged(sentences, answers, materials),
        *_claims(claims),
        *_speed(materials, sentences),
        *_streaming(claims),
    ]


def supported(sentences: Iterable[Row]) -> Iterator[Row]:
    """Yield what people found nothing wrong in, and whose figures stand in the material as they are written."""
    for each in sentences:
        if (
            not each["hallucinated"]
            and claims_figure(each["sentence"])
            and all(figure["literal_in_material"] for figure in each["numbers"])
        ):
            yield each


def altered_rows(
    sentences: Iterable[Row], materials: Mapping[str, str]
) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield (task, how, text, material, question) of all that is altered, and of the untouched."""
    for each in supported(sentences):
        material, question = materials[each["material_id"]], each["question"] or ""
        yield each["task"], "untouched", each["sentence"], material, question
        for one in altered(each["sentence"], material, question, each["id"]):
            yield each["task"], one.how, one.text, material, question


def _altered(sentences: Sequence[Row], materials: Mapping[str, str]) -> list[Figure]:
    every = list(altered_rows(sentences, materials))
    result = []
    for how, target in (
        ("absent", ">= 99 %"),
        ("next", ""),
        ("swapped", ">= 25 %"),
        ("untouched", "<= 1 %"),
    ):
        here = [
            (text, material, asked, True) for _, kind, text, material, asked in every if kind == how
        ]
        ours, plain = counted(gate, here), counted(naive, here)
        by_task = ", ".join(
            f"{name} {counted(gate, ((t, m, q, True) for task_, kind, t, m, q in every if (task_, kind) == (task, how))).recall:.1f}"
            for task, name in _TASKS.items()
        )
        result.append(
            Figure(
                "RAGTruth, altered",
                f"{how}, rejected %",
                len(here),
                ours.recall,
                target,
                plain.recall,
                note=by_task,
            )
        )
    return result


def judged_sentences(
    sentences: Iterable[Row], materials: Mapping[str, str], task: str
) -> list[Any]:
    """Return the sentences of a task with clean labels."""
    return [
        (
            each["sentence"],
            materials[each["material_id"]],
            each["question"] or "",
            each["hallucinated_number"],
        )
        for each in sentences
        if each["task"] == task and claims_figure(each["sentence"])
    ]


def judged_answers(answers: Iterable[Row], task: str) -> list[Any]:
    """Return the answers of a task with clean labels."""
    return [
        (each["answer"], each["material"], each["question"] or "", each["has_hallucinated_number"])
        for each in answers
        if each["task"] == task and claims_figure(each["answer"])
    ]


def _judged(
    sentences: Sequence[Row], answers: Sequence[Row], materials: Mapping[str, str]
) -> list[Figure]:
    result = []
    asked = {
        ("QA", "sentences"): (">= 75 %", ">= 62 %", ""),
        ("Data2txt", "answers"): ("", ">= 75 %", "<= 8 %"),
        ("Summary", "answers"): ("", "", "<= 3 %"),
    }
    for task, name in _TASKS.items():
        for what, every in (
            ("sentences", judged_sentences(sentences, materials, task)),
            ("answers", judged_answers(answers, task)),
        ):
            targets = asked.get((task, what), ("", "", ""))
            result += _scores(f"RAGTruth {name}, {what}", every, targets)
    return result


def _claims(claims: Sequence[Row]) -> list[Figure]:
    result = []
    for source, targets in (("FEVER", (">= 82 %", ">= 44 %", "")), ("HaluEval-QA", ("", "", ""))):
        every = [
            (each["claim"], each["material"], each["question"] or "", not each["grounded"])
            for each in claims
            if each["source"] == source
        ]
        result += _scores(source, every, targets)
    return result


def _scores(name: str, every: Sequence[Any], targets: tuple[str, str, str]) -> list[Figure]:
    ours, plain = counted(gate, every), counted(naive, every)
    note = f"{ours.wrong} of {len(every)} are wrong"
    return [
        Figure(
            name, "precision %", len(every), ours.precision, targets[0], plain.precision, note=note
        ),
        Figure(name, "recall %", len(every), ours.recall, targets[1], plain.recall),
        Figure(
            name, "false alarms %", len(every), ours.false_alarms, targets[2], plain.false_alarms
        ),
    ]


def _speed(materials: Mapping[str, str], sentences: Sequence[Row]) -> list[Figure]:
    text = "\n".join(materials.values())
    pieces = [text[place : place + _PIECE] for place in range(0, min(len(text), 600_000), _PIECE)]
    # The quickest of some rounds: the others tell what else the machine was doing.
    rounds = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        for piece in pieces:
            Material(piece, "en").unsupported("1")
        rounds.append((time.process_time() - started) / len(pieces))
    reading = min(rounds)
    read = [Material(piece, "en") for piece in pieces[:20]]
    for each in read:
        each.unsupported("1 2 3")
    here = [each["sentence"] for each in sentences]
    started = time.process_time()
    for place, sentence in enumerate(here):
        read[place % len(read)].unsupported(sentence)
    checking = (time.process_time() - started) / len(here)
    return [
        Figure("speed", "material of 6,000 characters, ms", len(pieces), reading * 1e3, "< 2 ms"),
        Figure("speed", "sentence, ms", len(here), checking * 1e3, "< 0.3 ms"),
    ]


def _streaming(claims: Sequence[Row]) -> list[Figure]:
    """Run the command on short texts, and on ten times as many."""
    short = [each for each in claims if len(each["material"]) < 1_000] or list(claims)
    speed, few = _run(short, _ROWS // 10)
    speed, many = _run(short, _ROWS)
    grown = (many - few) / 1024
    return [
        Figure("eval numbers", "rows a second, short texts", _ROWS, speed, "> 500"),
        Figure("eval numbers", "MiB more for ten times the rows", _ROWS, grown, "<= 10 MiB"),
    ]


def _run(short: Sequence[Row], count: int) -> tuple[float, int]:
    """Return rows a second, and the most memory held, in KiB."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "rows.jsonl")
        with source.open("w", encoding="utf-8") as lines:
            for place in range(count):
                each = short[place % len(short)]
                row = {"id": place, "material": f"{each['material']} ", "answer": each["claim"]}
                lines.write(json.dumps(row) + "\n")
        command = [sys.executable, "-m", "backend", "eval", "numbers"]
        started = time.perf_counter()
        process = subprocess.Popen(
            [*command, "--in", str(source), "--out", str(Path(folder, "out"))]
        )
        _, status, usage = os.wait4(process.pid, 0)
        took = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return count / took, usage.ru_maxrss
