"""What is said of the evidence without a model: what answers by itself, then the most relevant sentences.

Decides how much of each is said. Which sentences of a document are relevant is `extractive`'s, which passages answer
by themselves their source's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from backend.answer.cut import cut
from backend.answer.extractive import Quote, best_sentences
from backend.types import Question, Section

_ASKING: Final = ("?", "？")


def quoted(
    question: Question, sections: Sequence[Section], count: int = 2, cap: int = 400
) -> Quote | None:
    """Return what `sections` say on `question` within `cap` characters, None if nothing is relevant.

    Passages that answer by themselves come first and whole, all in the language of the first one; of the others at
    most `count` sentences.
    """
    language = next((p.language for s in sections for p in s.passages if p.direct), None)
    language = language or question.language
    said: list[str] = []
    sources: list[str] = []
    left = cap
    for section in sections:
        direct = [
            passage.text
            for passage in section.passages
            if passage.direct and (passage.language or question.language) == language
        ]
        if fitting := _fitting(direct, left, language):
            said.append(fitting)
            sources.append(section.source)
            left -= len(fitting) + 1
    others = [section for section in sections if section.source not in sources]
    rest = best_sentences(question, others, count, left) if others and left > 0 else None
    if not said:
        return rest
    if rest is not None and rest.language == language:
        said.append(rest.text)
        sources += [source for source in rest.sources if source not in sources]
    return Quote(" ".join(said), tuple(sources), language, 1.0)


def _fitting(texts: Sequence[str], cap: int, language: str) -> str:
    """Return as much of `texts` as fits; "" if nothing does.

    No question is last, as a headline can be one, unless there is nothing else: satellites listen for a reply to it.
    """
    most = ""
    for count in range(len(texts), 0, -1):
        fitting = cut(" ".join(texts[:count]), cap, language)
        if fitting and not fitting.endswith(_ASKING):
            return fitting
        most = most or fitting
    return most
