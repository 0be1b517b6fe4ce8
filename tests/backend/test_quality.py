"""The table of qualities: what is reached, how gains and pairs are made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.quality.__main__ import NAMES, main, reached, table
from benchmarks.quality.figure import Figure
from benchmarks.quality.retrieval import ndcg


@pytest.mark.parametrize(
    ("ours", "target", "expected"),
    [
        (85.0, ">= 85 %", True),
        (84.9, ">= 85 %", False),
        (9.9, "<= 10 %", True),
        (10.1, "≤ 10 %", False),
        (10.0, "< 10 ms", False),
        (0.881, ">= 0.88", True),
        (100.0, "100 %", True),
        (99.9, "100 %", False),
        (3.0, "> .44", True),
        (50.0, "", None),
        (50.0, "printed", None),
    ],
)
def test_a_target_is_a_bound_with_its_unit(ours: float, target: str, expected: bool | None) -> None:
    assert reached(Figure("set", "what", 1, ours, target)) is expected


def test_the_table_is_markdown_with_notes_below() -> None:
    lines = table(
        [
            Figure("1", "one", 1200, 0.5, ">= 0.4", naive=12.345, note="by halves"),
            Figure("2", "two", 3, 1234.5, ""),
        ]
    ).splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        *("1", "one", "1,200", "12.3", "", "0.500", ">= 0.4", "yes")
    ]
    assert "1,234" in lines[3]
    assert len({line.count("|") for line in lines[:4]}) == 1
    assert lines[-1] == "- 1, one: by halves"


@pytest.mark.parametrize(
    ("found", "expected"),
    [(["a", "b"], 1.0), (["b", "a"], 0.631), (["c"], 0.0), ([], 0.0), (["c"] * 10 + ["a"], 0.0)],
)
def test_what_is_found_later_gains_less(found: list[str], expected: float) -> None:
    assert ndcg(found, {"a": 1, "b": 0}) == pytest.approx(expected, abs=0.001)


def row(name: str, **fields: object) -> dict[str, object]:
    text = f"The {name} stands in the garden since 1950. It rains."
    return {
        "id": name,
        "lang": "en",
        "group": f"squadart:{name}",
        "question": f"when was the {name} put into the garden",
        "paragraphs": [{"title": name, "text": text}],
        "answers": ["1950"],
        "answerable": True,
        **fields,
    }


def test_questions_are_paired_with_what_is_of_another_article(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row("Zeppelin"), row("Fountain"), row("Gnome", answerable=False, answers=[])]
    for code in ("de", "es", "zh", "ru", "ar"):
        rows += [row("Zeppelin", lang=code), row("Fountain", lang=code, answerable=False)]
    (tmp_path / "3_answerability.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert main(["--data", str(tmp_path), "--json", "answerability"]) == 0
    figures = {each["what"]: each for each in json.loads(capsys.readouterr().out)}
    assert figures["en, answers quoted"]["ours"] == 100
    assert figures["en, answers quoted"]["reached"] is True
    assert figures["en, off topic, false answers"]["rows"] == 3


def test_every_name_is_a_module_that_measures() -> None:
    for name in NAMES:
        source = Path(main.__code__.co_filename).with_name(f"{name}.py").read_text("utf-8")
        assert "def measure(data: Path) -> list[Figure]:" in source
