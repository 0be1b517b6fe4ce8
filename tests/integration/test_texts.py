"""Every text in every language, and the pure functions."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
import re
from typing import Any

from hypothesis import given, strategies as st
import pytest
import yaml

from custom_components.mnemolis_intents import client, language, speech
from custom_components.mnemolis_intents.client import EventParser, Reply, ServerEvent
from custom_components.mnemolis_intents.intent import INTENTS
from tests.contract import example, names

ROOT = Path(language.__file__).parent
LANGUAGES = ("de", "en", "es", "fr", "it", "nl", "pl")
ALL = language._load()


def flat(tree: Any, path: str = "") -> dict[str, str]:
    """Return the texts of a tree by their paths."""
    if isinstance(tree, dict):
        return {
            key: text
            for name, branch in tree.items()
            for key, text in flat(branch, f"{path}.{name}").items()
        }
    return {path: tree}


def translations(code: str) -> dict[str, str]:
    return flat(json.loads((ROOT / "translations" / f"{code}.json").read_text("utf-8")))


def test_there_are_seven_languages() -> None:
    assert tuple(sorted(ALL.all)) == LANGUAGES
    assert tuple(sorted(path.stem for path in (ROOT / "translations").glob("*.json"))) == LANGUAGES


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_text_is_translated(code: str) -> None:
    english, ours = translations("en"), translations(code)
    assert ours.keys() == english.keys()
    for key, text in ours.items():
        assert text.strip() == text != ""
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", english[key]))
        assert not re.search(r"<|https?://|'\{", text), text


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_spoken_sentence_exists_and_keeps_no_microphone_open(code: str) -> None:
    words = ALL.all[code]
    assert words.spoken.keys() == ALL.all["en"].spoken.keys()
    for text in words.spoken.values():
        assert text.strip().endswith(".")
        assert speech.fit(text) == text
    assert words.sentences.keys() == set(INTENTS)
    assert all(words.sentences.values())
    assert words.ahead
    assert words.home
    assert words.questions
    if code != "en":
        assert not set(words.spoken.values()) & set(ALL.all["en"].spoken.values())


def test_every_kind_of_failure_has_its_texts() -> None:
    texts = translations("en")
    kinds = [
        kind
        for kind in vars(client).values()
        if isinstance(kind, type)
        and issubclass(kind, client.MnemolisError)
        and kind is not client.MnemolisError
    ]
    assert len(kinds) == 9
    for kind in kinds:
        assert f".config.error.{kind.key}" in texts
        assert f".exceptions.{kind.key}.message" in texts


def test_the_action_is_described_as_it_is() -> None:
    described = yaml.safe_load((ROOT / "services.yaml").read_text("utf-8"))["ask"]["fields"]
    texts = translations("en")
    for field, details in described.items():
        assert f".services.ask.fields.{field}.name" in texts
        select = details["selector"].get("select")
        for option in select["options"] if select else ():
            assert f".selector.{select['translation_key']}.options.{option}" in texts


def test_the_manifest_is_in_order() -> None:
    manifest = json.loads((ROOT / "manifest.json").read_text("utf-8"))
    keys = list(manifest)
    assert keys[:2] == ["domain", "name"]
    assert keys[2:] == sorted(keys[2:])
    assert manifest["domain"] == ROOT.name
    assert manifest["documentation"].startswith("https://")
    assert manifest["issue_tracker"].startswith("https://")


def test_every_rule_of_the_quality_scale_is_judged() -> None:
    rules = yaml.safe_load((ROOT / "quality_scale.yaml").read_text("utf-8"))["rules"]
    assert len(rules) == 54
    for rule in rules.values():
        assert rule in ("done", "todo") or (rule["status"] == "exempt" and rule["comment"])


def test_the_integration_knows_nothing_of_the_server_s_code() -> None:
    for path in ROOT.glob("*.py"):
        assert not re.search(r"^\s*(from|import) backend", path.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "what is a quasar"),
        ("en", "Will it rain"),
        ("en", "so tell me who wrote it"),
        ("en", "the boiler pressure?"),
        ("en", "please explain heat pumps"),
        ("de", "was ist ein quasar"),
        ("de", "regnet es"),
        ("de", "Weißt du, wie das geht"),
        ("fr", "est-ce qu'il va pleuvoir"),
        ("fr", "où est lyon"),
        ("es", "que es un cuasar"),
        ("es", "¿Qué es?"),
        ("it", "cos'è un quasar"),
        ("it", "pioverà"),
        ("nl", "hoe werkt dat"),
        ("pl", "czy będzie padać"),
        ("pl", "powiedz mi co to jest"),
        ("en", "can you tell me who wrote it"),
        ("en", "could you please explain heat pumps"),
    ],
)
def test_a_question_is_told(code: str, text: str) -> None:
    assert ALL.of(code).is_question(text)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "turn on the light"),
        ("en", "please set a timer"),
        ("en", "will you turn off the light"),
        ("en", "can you open the blinds"),
        ("en", "whatever"),
        ("de", "mach das licht an"),
        ("de", "kannst du das licht ausmachen"),
        ("de", "wasche die wäsche"),
        ("fr", "allume la lumière"),
        ("es", "enciende la luz"),
        ("it", "accendi la luce"),
        ("nl", "doe het licht aan"),
        ("pl", "włącz światło"),
        ("en", ""),
        ("en", "Can you open the blinds?"),
        ("de", "Können Sie bitte die Heizung anmachen?"),
        ("fr", "Peux-tu allumer la lumière de Patrick ?"),
        ("pl", "Czy możesz otworzyć tylne drzwi?"),
    ],
)
def test_an_order_is_told_from_it(code: str, text: str) -> None:
    assert not ALL.of(code).is_question(text)


def test_a_language_is_found_by_its_tag() -> None:
    assert ALL.of("de-CH") is ALL.all["de"]
    assert ALL.of("PT_br") is ALL.all["en"]
    assert ALL.of(None) is ALL.all["en"]


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    assert language.fold(language.fold(text)) == language.fold(text)


# Streams


def parsed(chunks: list[bytes]) -> list[ServerEvent]:
    parser = EventParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    bounds = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in itertools.pairwise(bounds)]


LINE = st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]), max_size=20)
EVENT = st.tuples(
    st.sampled_from(["done", "sentence", "x"]), st.lists(LINE, min_size=1, max_size=3)
)


@given(
    st.lists(EVENT, max_size=4),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(0, 10_000), max_size=10),
    st.booleans(),
)
def test_an_event_is_the_same_however_its_bytes_are_cut(
    events: list[tuple[str, list[str]]], end: str, places: list[int], mark: bool
) -> None:
    text = "".join(
        f": comment{end}id: 1{end}event: {name}{end}"
        + "".join(f"data: {line}{end}" for line in lines)
        + end
        for name, lines in events
    )
    data = ("\ufeff" if mark else "").encode() + text.encode()
    expected = [ServerEvent(name, "\n".join(lines)) for name, lines in events]
    assert parsed(cut(data, places)) == expected
    assert parsed([data[at : at + 1] for at in range(len(data))]) == expected


def test_an_event_may_lack_a_name_a_space_and_an_end() -> None:
    assert parsed([b"data:one\n\ndata\n\nevent: empty\n\ndata: unfinished"]) == [
        ServerEvent("message", "one"),
        ServerEvent("message", ""),
    ]


@given(st.lists(st.binary(), max_size=5))
def test_no_bytes_are_a_fault(chunks: list[bytes]) -> None:
    parsed(chunks)


# Replies


@pytest.mark.parametrize("name", [name for name in names() if not name.startswith("error")])
def test_every_recorded_reply_is_understood(name: str) -> None:
    recording = example(name)
    if name.startswith("health"):
        assert client.Health.parse(recording.body).contract == recording.body.get("contract", 0)
        return
    bodies = (
        [recording.body]
        if recording.stream is None
        else [data for event, data in recording.events if event in ("retrieval", "done")]
    )
    for body in bodies:
        reply = Reply.parse(body)
        assert reply.result == body["result"]
        assert reply.handback or speech.of_reply(reply)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
KEYS = (
    "source_used",
    "success",
    "answer",
    "answer_sources",
    "speech",
    "citations",
    "contract",
    "language",
    "handback",
)


@given(st.fixed_dictionaries({"result": st.text()}, optional=dict.fromkeys(KEYS, JSON)))
def test_whatever_a_server_fills_in_is_typed(data: dict[str, Any]) -> None:
    reply = Reply.parse(data)
    assert isinstance(speech.of_reply(reply), str)
    assert isinstance(reply.success, bool)
    client.Health.parse(data)


# What older brokers' texts become


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("<think>Hm, 42?</think>It is 42.", "It is 42."),
        ("It is 42.<think>never ends", "It is 42."),
        ("See [the manual](http://x.test/a_b) or https://x.test/c now.", "See the manual or now."),
        (
            "[HOUSE — House documents]\nA fact [1].\n\n---\n\n[WEB — Web search]\nAnother [2, 3].",
            "A fact. Another.",
        ),
        ("- **Bold** `code`\n* _soft_ snake_case\n1 * 2", "Bold code soft snake_case 1 2"),
        ("Done ✅ 🎉!", "Done!"),
        ("```\ncode\n```\nText", "Text"),
    ],
)
def test_markup_is_not_said(written: str, said: str) -> None:
    assert speech.fit(written) == said


@given(st.text())
def test_what_is_fit_is_one_line(text: str) -> None:
    assert "\n" not in speech.fit(text)


def test_of_a_page_two_sentences_are_said_and_never_too_much() -> None:
    assert speech.of_reply(Reply("One. Two. Three.")) == "One. Two."
    long = speech.of_reply(Reply("word " * 500))
    assert len(long) <= 402
    assert long.endswith("word …")
    assert speech.of_reply(Reply("x" * 1000)).startswith("xxx")
    assert speech.of_reply(Reply(f"Short. {'x' * 500}.")) == "Short."
    assert speech.of_reply(Reply("")) == ""


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("It is blocked. (house)", "It is blocked."),
        ("It is blocked. (house, kiwix)", "It is blocked."),
        ("It is blocked (badly)", "It is blocked (badly)"),
        ("It is blocked.", "It is blocked."),
    ],
)
def test_the_sources_of_an_answer_are_not_said(answer: str, said: str) -> None:
    reply = Reply("page", source_used="house", answer=answer, answer_sources=("house", "kiwix"))
    assert speech.of_reply(reply) == said
