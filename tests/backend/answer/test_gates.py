"""What a composed answer must not be, how replies are read, and that a stream says what the whole would."""

from __future__ import annotations

from itertools import pairwise
import json

from hypothesis import example, given, strategies as st
import pytest

from backend.answer import gates
from backend.answer.gates import Rejection
from backend.answer.judge import BySentence, Whole
from backend.answer.prompt import build
from backend.answer.reply import Reader, Reply, Tags, ends_sentence, is_question
from backend.answer.verdicts import Task
from backend.text.numbers import Material
from backend.types import Answer, AnswerStatus, Sentence
from tests.backend.answer.kitchen import HOUSE, ONE, TWO, holds, question

ASKED = "what does error E24 on the dishwasher mean"
TAGS = Tags(TWO.sections)


# Echo


@pytest.mark.parametrize(
    "body",
    [
        "What does error E24 on the dishwasher mean?",
        "what does error e24 on the dishwasher mean",
        "Error E24 on the dishwasher means.",
        "The meaning of error E24 on the dishwasher.",
        "What error E24 on the dishwasher means",
        "Do you mean error E24 on the dishwasher?",
        "So what does the error E24 mean on your dishwasher, exactly?",
    ],
)
def test_the_question_again_is_no_answer(body: str) -> None:
    assert isinstance(gates.echo(body, ASKED, "en"), Rejection)


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("Error E24 on the dishwasher means that the filter is blocked.", ASKED),
        ("Blocked.", ASKED),
        ("Paris.", "what is the capital of France"),
        ("The capital of France is Paris.", "what is the capital of France"),
        ("Yes, the dishwasher needs salt.", "does the dishwasher need salt"),
        ("The dishwasher does not need salt.", "does the dishwasher need salt"),
        ("It is 1.5 bar.", "what is the boiler pressure"),
        ("The boiler pressure is 1.5 bar.", "what is the boiler pressure"),
    ],
)
def test_an_answer_in_the_words_of_the_question_is_one(body: str, asked: str) -> None:
    assert gates.echo(body, asked, "en") is None


@pytest.mark.parametrize(
    ("body", "asked", "language"),
    [
        ("Ja, der Geschirrspüler braucht Salz.", "braucht der Geschirrspüler Salz", "de"),
        ("Non, le lave-vaisselle a besoin de sel.", "le lave-vaisselle a-t-il besoin de sel", "fr"),
        ("Nie, zmywarka potrzebuje soli.", "czy zmywarka potrzebuje soli", "pl"),
    ],
)
def test_yes_and_no_are_answers_in_every_language(body: str, asked: str, language: str) -> None:
    assert gates.echo(body, asked, language) is None


# Attribution and tags


@pytest.mark.parametrize(
    ("named", "offered", "sources"),
    [
        (("house",), ("house", "kiwix"), ("house",)),
        (("kiwix", "house", "kiwix"), ("house", "kiwix"), ("kiwix", "house")),
        ((), ("house",), ("house",)),
        (("web",), ("house",), ("house",)),
    ],
)
def test_named_tags_that_were_offered_are_the_sources(
    named: tuple[str, ...], offered: tuple[str, ...], sources: tuple[str, ...]
) -> None:
    assert gates.attribution(named, offered) == sources


@pytest.mark.parametrize("named", [(), ("web",), ("house", "web")])
def test_any_other_tags_are_refused(named: tuple[str, ...]) -> None:
    refused = gates.attribution(named, ("house", "kiwix"))
    assert isinstance(refused, Rejection)
    assert refused.gate == "attribution"


@pytest.mark.parametrize(
    ("text", "bare", "names"),
    [
        ("It leaks. (house)", "It leaks.", ("house",)),
        ("It leaks (house).", "It leaks.", ("house",)),
        ("It leaks. ( House ,KIWIX )", "It leaks.", ("house", "kiwix")),
        ("It leaks [house]. It drips [kiwix].", "It leaks. It drips.", ("house", "kiwix")),
        ("It leaks. (House documents)", "It leaks.", ("house",)),
        ("It leaks. [KIWIX — Encyclopedia]", "It leaks.", ("kiwix",)),
        ("It leaks. (Source: house)", "It leaks.", ("house",)),
        ("It leaks. (house and kiwix)", "It leaks.", ("house", "kiwix")),
        ("It leaks. (web)", "It leaks.", ("web",)),
        ("It leaks. (wikipedia)", "It leaks.", ("wikipedia",)),
        ("It leaks [1] a lot [2, 3].", "It leaks a lot.", ()),
        ("It leaks (see the manual).", "It leaks (see the manual).", ()),
        ("It weighs 3 kg (6.6 lb).", "It weighs 3 kg (6.6 lb).", ()),
        ("It opens (on Tuesday)", "It opens (on Tuesday)", ()),
        ("See [the page](/library/x.md).", "See [the page](/library/x.md).", ()),
    ],
)
def test_tags_are_told_from_other_parentheses(text: str, bare: str, names: tuple[str, ...]) -> None:
    assert TAGS.without(text) == (bare, names)


# Reading


def read(text: str, size: int = 3) -> Reply:
    reader = Reader(TAGS)
    for i in range(0, len(text), size):
        reader.feed(text[i : i + size])
    return reader.finish()


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ('{"sources": ["house"], "text": "Yes."}', Reply("json", ("house",), "Yes.")),
        ('{"sources": "House, kiwix", "text": "Yes."}', Reply("json", ("house", "kiwix"), "Yes.")),
        ('{"sources": [], "text": "Yes. (house)"}', Reply("json", ("house",), "Yes.")),
        ('{"sources": ["house"], "text": "Two\nlines."}', Reply("json", ("house",), "Two lines.")),
        (
            '{"sources": ["house"], "text": "Half a',
            Reply("json", ("house",), "Half a", whole=False),
        ),
        ('```json\n{"sources": ["house"], "text": "Yes."}\n```', Reply("json", ("house",), "Yes.")),
        ('Sure: {"text": "Yes.", "sources": ["house"]}', Reply("json", ("house",), "Yes.")),
        ("Yes. (house)", Reply("prose", ("house",), "Yes.")),
        ("Yes.", Reply("prose", (), "Yes.")),
        ("", Reply("prose", (), "")),
        ('{"sources": ["house"]}', Reply("malformed", (), "")),
        ('{"sources": ["house"], "text": 5}', Reply("malformed", (), "")),
        ("{sources: house}", Reply("malformed", (), "")),
        ("I was told.</think>Yes. (house)", Reply("prose", ("house",), "Yes.")),
    ],
)
def test_a_reply_is_read_in_any_form(text: str, reply: Reply) -> None:
    assert read(text) == reply


def test_the_tags_are_known_once_the_text_begins() -> None:
    reader = Reader(TAGS)
    reader.feed('{"sources": ["house", "ki')
    assert reader.named is None
    reader.feed('wix"], "text": "Y')
    assert reader.named == ("house", "kiwix")
    assert reader.text == "Y"


@pytest.mark.parametrize(
    ("text", "ends"),
    [("It is.", True), ('"It is."', True), ("It is (so).", True), ("是。", True), ("It is", False)],
)
def test_the_end_of_a_sentence_is_seen_behind_quotes(text: str, ends: bool) -> None:
    assert ends_sentence(text) is ends


@pytest.mark.parametrize("text", ["Is it?", 'She said "is it?"', "是吗？", "هل؟"])
def test_a_question_is_seen_in_any_script(text: str) -> None:
    assert is_question(text)


# Numbers and language, as gates


def test_the_number_gate_names_what_is_missing() -> None:
    material = Material(HOUSE, "en", ASKED)
    assert gates.numbers("The fuse is number 7.", material, "en") is None
    refused = gates.numbers("The fuse is number 4711.", material, "en")
    assert refused == Rejection("numbers", "4711")


def test_the_language_gate_is_for_what_is_sure() -> None:
    assert gates.wrong_language("Yes.", "de") is None
    assert gates.wrong_language("这个过滤器被堵住了。", "en") is not None


# A stream says what the whole would


SENTENCES = st.sampled_from(
    [
        "The drain filter is blocked.",
        "Rinse it under warm water (house).",
        "The fuse is number 7.",
        "The fuse is number 4711.",
        "Is that all?",
        "What does error E24 mean?",
        "NOT_IN_SOURCES",
        "Das Wasser wird nicht abgepumpt, weil der Filter oder der Schlauch verstopft ist.",
        "The hose may hang 80 cm high at most, and not lower than the tub of the machine.",
        "🙂",
        "[1]",
        "e.g. Dr. Smith",
        "# Details",
        "There are two ways:",
        "It is (see page 4) blocked (house).",
        "You asked what error E24 means.",
        "The sources don't say.",
        "not in sources.",
        "“We have seen it before. Nobody wants it,” he said.",
        '"Quoted."',
    ]
)


def task(cap: int, two: bool) -> Task:
    asked, found = question("what does error E24 mean"), TWO if two else ONE
    return Task(
        question=asked,
        sections=found.sections,
        fresh_until=found.fresh_until,
        prompt=build(asked, found.sections, cap=cap, constrained=True),
        cap=cap,
        key="",
        private=False,
        model="m",
        started=0.0,
    )


def streamed(raw: str, cuts: list[int], cap: int, two: bool) -> tuple[list[Sentence], Answer]:
    reading = BySentence(task(cap, two))
    ends = sorted({0, len(raw), *(cut % (len(raw) + 1) for cut in cuts)})
    out: list[Sentence] = []
    for a, b in pairwise(ends):
        if not reading.over:
            out += reading.feed(raw[a:b])
    return out + reading.finish(None), reading.answer()


@given(
    said=st.lists(SENTENCES, max_size=5),
    sources=st.sampled_from([[], ["house"], ["kiwix", "house"], ["web"]]),
    form=st.sampled_from(["json", "prose", "cut"]),
    cuts=st.lists(st.integers(0, 400), max_size=30),
    cap=st.sampled_from([40, 120, 400]),
    two=st.booleans(),
)
@example(["The drain filter is blocked."], ["house"], "json", list(range(80)), 400, True)
@example(["The drain filter is blocked.", "Rinse it (house)."], [], "json", [], 400, True)
def test_a_stream_says_what_the_whole_would(
    said: list[str], sources: list[str], form: str, cuts: list[int], cap: int, two: bool
) -> None:
    text = " ".join(said)
    raw = (
        f"{text} ({', '.join(sources)})"
        if form == "prose"
        else json.dumps({"sources": sources, "text": text})
    )
    if form == "cut":
        raw = raw[:-3]
    plain = Whole(task(cap, two))
    plain.feed(raw)
    plain.finish(None)
    whole = plain.answer()
    sentences, answer = streamed(raw, cuts, cap, two)

    name, fields = answer.events[0].event, answer.events[0].fields
    if answer.status is not AnswerStatus.NOT_IN_SOURCES:
        holds(sentences, answer)
    if name == "synthesis_rejected" and fields["kept_sentences"]:
        # What had left stands, where the whole would have been refused.
        assert answer.truncated
        assert whole.status in (AnswerStatus.REJECTED, AnswerStatus.NOT_IN_SOURCES)
    elif answer.status is AnswerStatus.SERVED:
        # The whole is judged to its end, the stream to the cap: both have the same to say or the whole is refused.
        if whole.status is AnswerStatus.SERVED:
            assert (whole.text, whole.sources, whole.speech) == (
                answer.text,
                answer.sources,
                answer.speech,
            )
            assert whole.truncated == answer.truncated
    else:
        assert whole.text is None or whole.status is AnswerStatus.NOT_IN_SOURCES
    assert len(answer.text or "") <= cap or answer.status is AnswerStatus.NOT_IN_SOURCES


@pytest.mark.parametrize(
    "after", ["Rinse it (kiwix).", json.dumps({"sources": ["kiwix"], "text": "Rinse it."})]
)
@pytest.mark.parametrize(
    "thought", ["The drain filter is blocked. Rinse it under warm water.", "The drain"]
)
def test_a_thought_in_the_form_of_a_reply_is_never_mixed_with_the_reply(
    thought: str, after: str
) -> None:
    raw = json.dumps({"sources": ["house"], "text": thought}) + "</think>" + after
    sentences, answer = streamed(raw, list(range(400)), 400, True)
    holds(sentences, answer)
    if thought == "The drain":
        assert (answer.text, answer.sources) == ("Rinse it.", ("kiwix",))
    else:
        # What had left stands, and nothing more.
        assert (answer.text, answer.sources) == ("The drain filter is blocked.", ("house",))
        assert answer.truncated
        assert answer.events[0].fields["kept_sentences"] == 1


@given(st.text(max_size=200), st.lists(st.integers(0, 200), max_size=20), st.booleans())
def test_whatever_a_model_babbles_the_answer_has_an_event(
    raw: str, cuts: list[int], two: bool
) -> None:
    sentences, answer = streamed(raw, cuts, 400, two)
    assert len(answer.events) == 1
    if answer.status is AnswerStatus.SERVED:
        holds(sentences, answer)
        assert answer.text
        assert set(answer.sources) <= {"house", "kiwix"}
    elif answer.status is AnswerStatus.REJECTED:
        assert not sentences
