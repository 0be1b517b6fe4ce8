"""What is said of the evidence without a model: what answers by itself, then the most relevant sentences.

Decides how much of each is said. Which sentences of a document are relevant is `extractive`'s, which passages answer
by themselves their source's.
"""

from __future__ import annotations

from collections.abc import Sequence

from backend.answer.cut import cut
from backend.answer.extractive import Quote, best_sentences
from backend.types import Question, Section


def quoted(
    question: Question, sections: Sequence[Section], count: int = 2, cap: int = 400
) -> Quote | None:
    """Return what `sections` say on `question` within `cap` characters, None if nothing is relevant.

    Passages that answer by themselves come first and whole; of the others at most `count` sentences.
    """
    said: list[str] = []
    sources: list[str] = []
    left = cap
    for section in sections:
        text = " ".join(passage.text for passage in section.passages if passage.direct)
        if text and (fitting := cut(text, left, question.language)):
            said.append(fitting)
            sources.append(section.source)
            left -= len(fitting) + 1
    others = [section for section in sections if section.source not in sources]
    rest = best_sentences(question, others, count, left) if others and left > 0 else None
    if not said:
        return rest
    if rest is not None and rest.language == question.language:
        said.append(rest.text)
        sources += [source for source in rest.sources if source not in sources]
    return Quote(" ".join(said), tuple(sources), question.language, 1.0)
