"""What people ask at home reaches the source that knows it: rows of `rows/<code>.toml`, by language and source."""

from pathlib import Path
import tomllib

import pytest

from backend.planning import plan_rules

ROWS = Path(__file__).parent / "rows"
SOURCES = {
    "uptime": ("uptime", 95),
    "news": ("news", 95),
    "weather": ("forecast", 97),
    "changes": ("changes", 95),
    "house": ("house", 95),
}
"""By the name of the rows: the source that has to be asked, and for how many in a hundred."""
LEAST = 40
LANGUAGES = [path.stem for path in sorted(ROWS.glob("??.toml"))]


def rows(language: str) -> dict[str, list[str]]:
    with (ROWS / f"{language}.toml").open("rb") as file:
        return tomllib.load(file)


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_are_many_and_none_stands_twice(language: str) -> None:
    told = rows(language)
    assert set(told) == set(SOURCES)
    for utterances in told.values():
        assert len(utterances) >= LEAST
    every = [utterance for utterances in told.values() for utterance in utterances]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_asked_at_home_reaches_its_source(language: str, name: str) -> None:
    source, least = SOURCES[name]
    utterances = rows(language)[name]
    missed = []
    for utterance in utterances:
        plan = plan_rules(utterance, language)
        if not plan.steps or plan.steps[0].source != source:
            missed.append((utterance, "handback" if plan.handback else plan.steps[0].source))
    print(f"{language} {name}: {len(missed)} of {len(utterances)} missed", *missed, sep="\n")
    assert 100 * (len(utterances) - len(missed)) >= least * len(utterances)
