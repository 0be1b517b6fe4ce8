"""What people ask at home reaches the source that knows it: rows of `rows/<code>.toml`, by language and source."""

from pathlib import Path
import re
import tomllib

from hypothesis import given, strategies as st
import pytest

from backend import languages
from backend.planning.rules import Words, plan_rules

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


ABOUT_THINGS = {
    "en": [
        "how do i turn off the water",
        "what does start mean",
        "start date of world war two",
        "set theory",
        "open source software",
        "close encounters of the third kind",
        "play by shakespeare with the ghost",
        "the dishwasher is leaking",
        "the light on the router is blinking red",
        "my dryer makes a noise",
        "speed of light",
        "volume of a sphere",
        "traffic light colours",
        "what is an alarm clock",
        "cool facts about penguins",
        "open a bank account",
        "change a tyre",
        "schindler s list",
        "list of us presidents",
        "coffee origin",
        "make sourdough bread",
        "book by tolkien about hobbits",
        "switch statement in java",
        "who runs the bbc",
        "is snow white a real story",
        "is a fan on all night bad",
        "why does it rain",
        "hottest temperature in history",
        "how does a server work",
        "how many windows does the white house have",
    ],
    "de": [
        "wie stelle ich das wasser ab",
        "pizzateig selber machen",
        "reifen wechseln",
        "bankkonto eröffnen",
        "die spülmaschine leckt",
        "die lampe am router blinkt rot",
        "polarlicht farben",
        "lichtgeschwindigkeit",
        "volumen einer kugel",
        "was ist ein wecker",
        "liste der us präsidenten",
        "kaffee herkunft",
        "wie lange hält eine lampe",
        "bei welcher temperatur kocht wasser",
        "das haus am see",
        "blutdruck senken",
        "gitarre spielen lernen",
        "zurück in die zukunft schauspieler",
        "20 grad celsius in fahrenheit",
        "macht wasser dick",
        "was ist die pflicht eines mieters",
        "wie viele minuten kocht ein ei",
        "wem gehört der spiegel",
        "wer erfand die zeitung",
        "warum regnet es",
        "wie entsteht schnee",
        "wie funktioniert ein server",
        "wie viele fenster hat das weiße haus",
        "was bedeutet schadenfreude",
        "wie heiß ist die sonne",
    ],
}


@pytest.mark.parametrize("language", ABOUT_THINGS)
def test_what_is_asked_about_a_thing_is_no_order_to_it_and_no_question_of_now(
    language: str,
) -> None:
    for utterance in ABOUT_THINGS[language]:
        plan = plan_rules(utterance, language)
        assert not plan.handback, utterance
        assert plan.named not in ("ha", "forecast", "news", "uptime"), utterance


def every_word(language: str) -> list[str]:
    """Return what the patterns of a language are made of."""
    return sorted(set(re.findall(r"[a-z]{2,}", str(dict(languages.table(language, "rules"))))))


@pytest.mark.parametrize("language", languages.SPOKEN)
@given(data=st.data())
def test_no_run_of_the_words_of_the_patterns_holds_them_up(
    language: str, data: st.DataObject
) -> None:
    words = data.draw(st.lists(st.sampled_from(every_word(language)), min_size=1, max_size=4))
    utterance = (" ".join(words) + " ") * 2000
    assert plan_rules(utterance[:2000], language).by in ("rule", "default")


@pytest.mark.parametrize("word", ["light", "please", "a"])
def test_what_stands_beyond_what_anyone_says_in_one_breath_is_not_looked_at(word: str) -> None:
    plan = plan_rules(f"{word} " * 600 + "what s the weather", "en")
    assert plan.named != "forecast"


def test_a_list_that_no_one_wrote_is_named_with_those_that_are_there() -> None:
    words = Words({"device": "lamps? garage_door", "area": "kitchen (ground|first)_floor"})
    assert re.fullmatch(words.spelt_out("^{device} (on|off)"), "garage door off")
    assert re.fullmatch(words.spelt_out("({area} ){1,2}"), "kitchen ground floor ")
    assert not re.search(words.spelt_out("{device}"), "lamppost")
    with pytest.raises(ValueError, match=r"'room'.*device, area"):
        words.spelt_out("{room} {device}")
