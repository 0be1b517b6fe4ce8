"""Quotes without a model: is the answer in the two sentences quoted, is nothing quoted where the text is on another topic.

Each question is asked over its own paragraph among those of the row, and over paragraphs of other articles. The set
has such pairs for all languages but English; for English each question is paired with the paragraphs of the next row
that is of another article and shows none of its own. English questions that the paragraph on their topic doesn't
answer (SQuAD 2) are measured too, but no words of theirs tell them from the others: nothing is asked of that figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
import statistics
import time
from typing import Final

from backend.answer.extractive import best_sentences
from backend.text.segmentation import sentences
from backend.text.words import fold, tokens
from backend.types import Passage, Question, Section
from benchmarks.quality.figure import Figure
from benchmarks.quality.rows import Row, read_rows

SET: Final = "3 answerability"
LANGUAGES: Final = ("en", "de", "es", "zh", "ru", "ar")
BRIEF: Final = 800
VOICE: Final = 400
"""Characters of an answer by style, as the settings have them by default."""
FOUND: Final = ">= 85 %"
FALSE: Final = "<= 10 %"

Quoting = Callable[[Row], str]


def measure(data: Path) -> list[Figure]:
    """Return, by language, how often the answer is quoted, and how often something is on a question off topic."""
    rows = list(read_rows(data / "3_answerability.jsonl"))
    figures = []
    for language in LANGUAGES:
        own = [row for row in rows if row["lang"] == language]
        answered = [row for row in own if row["answerable"]]
        figures.append(_figure(f"{language}, answers quoted", answered, _quotes_answer, FOUND))
        spoken = [_quotes_answer(row, spoken_quote) for row in answered]
        figures.append(
            Figure(SET, f"{language}, the same, spoken", len(spoken), _percent(spoken), "")
        )
        off_topic = list(_paired(own)) if language == "en" else _unanswered(own)
        figures.append(_figure(f"{language}, off topic, false answers", off_topic, _says, FALSE))
        if language == "en":
            what = "en, on topic but unanswered, false answers"
            figures.append(_figure(what, _unanswered(own), _says, ""))
    spans = sorted(map(_milliseconds, _long(rows)))
    figures.append(
        Figure(
            SET,
            "time for 6,000 characters, p50, ms",
            len(spans),
            statistics.median(spans),
            "<= 1 ms",
        )
    )
    return figures


def _unanswered(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if not row["answerable"]]


def _paired(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield each row with the paragraphs of another one, none of which is of its own article."""
    for at, row in enumerate(rows):
        own = row["group"].partition(":")[2].replace("_", " ")
        for other in (*rows[at + 1 :], *rows[:at]):
            if own not in {paragraph["title"] for paragraph in other["paragraphs"]}:
                yield row | {"paragraphs": other["paragraphs"]}
                break


def _figure(
    what: str, rows: Sequence[Row], right: Callable[[Row, Quoting], bool], target: str
) -> Figure:
    verdicts = [right(row, quoted) for row in rows]
    naive = [right(row, overlapping) for row in rows]
    halves = " and ".join(f"{_percent(verdicts[start::2]):.1f}" for start in (0, 1))
    return Figure(
        SET,
        what,
        len(rows),
        _percent(verdicts),
        target,
        naive=_percent(naive),
        note=f"by halves {halves}",
    )


def _percent(verdicts: Sequence[bool]) -> float:
    return 100 * sum(verdicts) / max(1, len(verdicts))


def quoted(row: Row) -> str:
    """Return what the product quotes in the style `brief`, the default; "" for nothing."""
    return _quoted(row, BRIEF)


def spoken_quote(row: Row) -> str:
    """Return what the product quotes where it is spoken."""
    return _quoted(row, VOICE)


def _quoted(row: Row, cap: int) -> str:
    quote = best_sentences(_question(row), [_section(row)], cap=cap)
    return quote.text if quote else ""


def overlapping(row: Row) -> str:
    """Return the two sentences that share most words with the question, if one shares half of them."""
    asked = set(tokens(row["question"]))
    texts = [paragraph["text"] for paragraph in row["paragraphs"]]
    every = [sentence for text in texts for sentence in sentences(text, row["lang"])]
    shared = [len(asked.intersection(tokens(sentence))) for sentence in every]
    best = sorted(range(len(every)), key=lambda at: -shared[at])[:2]
    if not best or shared[best[0]] < len(asked) / 2:
        return ""
    return " ".join(every[at] for at in sorted(best))


def _quotes_answer(row: Row, quoting: Quoting) -> bool:
    text = fold(quoting(row))
    return any(fold(answer) in text for answer in row["answers"])


def _says(row: Row, quoting: Quoting) -> bool:
    return quoting(row) != ""


def _question(row: Row) -> Question:
    now = time.monotonic()
    return Question(row["question"], row["lang"], datetime.now(UTC), now, now + 60)


def _section(row: Row) -> Section:
    passages = (
        Passage("house", paragraph["title"], paragraph["text"], language=row["lang"])
        for paragraph in row["paragraphs"]
    )
    return Section("house", "House documents", tuple(passages))


def _long(rows: Sequence[Row]) -> list[Row]:
    """Return English rows with so many paragraphs that they are of about 6,000 characters."""
    english = [row for row in rows if row["lang"] == "en"]
    long = []
    for at, row in enumerate(english[:60]):
        paragraphs = list(row["paragraphs"])
        for other in english[at + 1 :]:
            paragraphs += other["paragraphs"]
            if sum(len(paragraph["text"]) for paragraph in paragraphs) >= 6000:
                break
        long.append(row | {"paragraphs": paragraphs})
    return long


def _milliseconds(row: Row) -> float:
    """Return how long a quote takes once the sentences are known, as they are for what was retrieved before."""
    question, section = _question(row), _section(row)
    best_sentences(question, [section])
    began = time.perf_counter()
    best_sentences(question, [section])
    return 1000 * (time.perf_counter() - began)
