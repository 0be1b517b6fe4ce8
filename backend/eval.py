"""`python -m backend eval`: the product's own functions over rows of JSON, one row a line.

For measuring and comparing from outside: each task runs the very function that the server runs. Rows stream, so
memory stays the same however many there are. A row that can't be used gives a row that says why, with the number of its
line, and the run goes on; it then exits with 1. What the figures mean is decided by whoever made the rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import lru_cache
import json
from pathlib import Path
import sys
from typing import Any, BinaryIO, Final

from backend.answer.cut import cut
from backend.answer.speech import speech
from backend.text.language import detect, primary
from backend.text.numbers import Material
from backend.text.segmentation import sentences
from backend.types import Turn

Row = Mapping[str, Any]
_LINE_MAX: Final = 16 * 1024 * 1024
"""A longer line (bytes) is no row."""
_PIPE: Final = "-"
_MATERIALS: Final = 16
_NAMES: Final = {str: "a string", int: "a whole number", list: "a list"}


class _BadRow(Exception):
    """A row can't be used; the message says what is wrong with it."""


def _get(row: Row, name: str, kind: type[Any] = str) -> Any:
    """Return a field that has to be there; raises _BadRow."""
    if name not in row:
        raise _BadRow(f"the field {name!r} is missing")
    value = row[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _BadRow(f"the field {name!r} has to be {_NAMES[kind]}")
    return value


def _language(row: Row, text: str) -> str:
    """Return the primary subtag of `lang`, else the language that the text seems to be in."""
    tag = row.get("lang")
    if tag is not None and not isinstance(tag, str):
        raise _BadRow("the field 'lang' has to be a string")
    return primary(tag) if tag else primary(detect(text))


@lru_cache(maxsize=_MATERIALS)
def _material(text: str, language: str, question: str) -> Material:
    """Neighbouring rows often stand on one material: it is read once."""
    return Material(text, language, question)


def _numbers(row: Row) -> dict[str, Any]:
    answer, material = _get(row, "answer"), _get(row, "material")
    question = row.get("question") or ""
    if not isinstance(question, str):
        raise _BadRow("the field 'question' has to be a string")
    language = _language(row, answer)
    found = _material(material, language, question).unsupported(answer)
    return {"grounded": not found, "unsupported": found}


def _sentences(row: Row) -> dict[str, Any]:
    text = _get(row, "text")
    return {"sentences": sentences(text, _language(row, text))}


def _cut(row: Row) -> dict[str, Any]:
    text, cap = _get(row, "text"), _get(row, "cap", int)
    if cap < 0:
        raise _BadRow("the field 'cap' has to be 0 or more")
    return {"text": cut(text, cap, _language(row, text))}


def _speech(row: Row) -> dict[str, Any]:
    text = _get(row, "text")
    return {"speech": speech(text, _language(row, text))}


def _turns(row: Row) -> tuple[Turn, ...]:
    history = row.get("history") or []
    if not isinstance(history, list):
        raise _BadRow("the field 'history' has to be a list")
    turns = []
    for turn in history:
        if not isinstance(turn, dict) or turn.get("role") not in ("user", "assistant"):
            raise _BadRow("a turn of 'history' has to be {role: user or assistant, text}")
        turns.append(Turn(turn["role"], _get(turn, "text")))
    return tuple(turns)


def _route(row: Row) -> dict[str, Any]:
    """Return how the server reads an utterance by its rules, whatever is configured and whatever a model would choose."""
    from backend.planning.reading import read
    from backend.planning.rules import DOCUMENTS

    utterance = _get(row, "utterance")
    reading = read(utterance, _language(row, utterance), _turns(row))
    if reading.handback:
        return {"steps": [], "handback": True}
    steps = [
        {"source": source, "query": part.query}
        for part in reading.parts
        for source in part.sources or DOCUMENTS
    ]
    told: dict[str, Any] = {"steps": steps, "handback": False}
    if reading.condition is not None:
        told["condition"] = reading.condition.text
    return told


TASKS: Final[Mapping[str, Callable[[Row], dict[str, Any]]]] = {
    "numbers": _numbers,
    "sentences": _sentences,
    "cut": _cut,
    "speech": _speech,
    "route": _route,
}

_FIELDS: Final = """\
tasks, what a row brings, and what it gives (`lang` may be left out):
  numbers    {id, lang?, question?, material, answer}   -> {id, grounded, unsupported[]}
  sentences  {id, lang, text}                           -> {id, sentences[]}
  cut        {id, lang, text, cap}                      -> {id, text}
  speech     {id, lang, text}                           -> {id, speech}
  route      {id, lang, utterance, history?}            -> {id, steps[{source, query}], handback, condition?}

A row that can't be used gives {id, line, error}; the run goes on, and exits with 1.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a command line; `run` carries it out."""
    parser = subparsers.add_parser(
        "eval",
        help="run one of the product's functions over rows of JSON",
        description="Run one of the product's functions over rows of JSON, one row a line.",
        epilog=_FIELDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", choices=sorted(TASKS), metavar="TASK", help=", ".join(TASKS))
    parser.add_argument(
        "--in",
        dest="source",
        default=_PIPE,
        metavar="FILE",
        help="rows to read (default: -, the standard input)",
    )
    parser.add_argument(
        "--out",
        dest="target",
        default=_PIPE,
        metavar="FILE",
        help="where to write (default: -, the standard output)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry the command out; return its exit status: 0, 1 where a row was bad, 2 where a file can't be used.

    Raises BrokenPipeError when whoever reads the output has left.
    """
    if _same(args.source, args.target):
        return _refuse(f"--in and --out are the same file: {args.target}")
    bad = 0
    try:
        with ExitStack() as stack:
            source = _source(stack, args.source)
            target = _target(stack, args.target)
            for row in rows(args.task, source):
                bad += "error" in row
                # A lone surrogate can't be UTF-8; its escape is JSON all the same.
                line = json.dumps(row, ensure_ascii=False)
                target.write(line.encode("utf-8", "backslashreplace") + b"\n")
                if args.target == _PIPE:
                    target.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        return _refuse(str(error))
    if bad:
        sys.stderr.write(f"eval: {bad} of the rows could not be used; they say why\n")
    return 1 if bad else 0


def _refuse(reason: str) -> int:
    sys.stderr.write(f"eval: {reason}\n")
    return 2


def _same(source: str, target: str) -> bool:
    """Return whether writing would overwrite what is being read."""
    files = Path(source), Path(target)
    return (
        _PIPE not in (source, target)
        and all(map(Path.exists, files))
        and files[0].samefile(files[1])
    )


def _source(stack: ExitStack, name: str) -> BinaryIO:
    return sys.stdin.buffer if name == _PIPE else stack.enter_context(Path(name).open("rb"))


def _target(stack: ExitStack, name: str) -> BinaryIO:
    return sys.stdout.buffer if name == _PIPE else stack.enter_context(Path(name).open("wb"))


def rows(task: str, source: BinaryIO) -> Iterator[dict[str, Any]]:
    """Yield a result for each line of `source` that isn't blank; raises KeyError for an unknown task."""
    function = TASKS[task]
    number = 0
    while line := source.readline(_LINE_MAX + 1):
        number += 1
        row: Row = {}
        try:
            if len(line) > _LINE_MAX:
                _skip_line(source, line)
            if not line.strip():
                continue
            row = _row(line, number)
            yield {"id": _identity(row), **function(row)}
        except UnicodeDecodeError as error:
            reason = f"not UTF-8 at byte {error.start}"
        except json.JSONDecodeError as error:
            reason = f"not JSON: {error.msg} at column {error.colno}"
        except RecursionError:
            reason = "nested too deeply"
        except _BadRow as error:
            reason = str(error)
        else:
            continue
        yield {"id": row.get("id"), "line": number, "error": f"line {number}: {reason}"}


def _row(line: bytes, number: int) -> Row:
    """Return the row of a line; raises _BadRow and what reading it raises."""
    if len(line) > _LINE_MAX:
        raise _BadRow(f"the line is longer than {_LINE_MAX} bytes")
    row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    if not isinstance(row, dict):
        raise _BadRow("a row has to be a JSON object")
    return row


def _identity(row: Row) -> Any:
    if "id" not in row:
        raise _BadRow("the field 'id' is missing")
    return row["id"]


def _skip_line(source: BinaryIO, line: bytes) -> None:
    """Read on to the end of a line that is too long."""
    while line and not line.endswith(b"\n"):
        line = source.readline(_LINE_MAX)
