"""Composing an answer with a model that does what a test has it do, by the official client over a socket."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
import json
import logging
from typing import Any

import pytest

from backend.contract import tagged
from backend.types import Answer, AnswerStatus, HomeState, Sentence, Style
from tests.backend.answer.kitchen import ONE, TWO, Kitchen, event, evidence, holds, question
from tests.scripted_model import Say, ScriptedModel, prose, says

GOOD = "The drain filter or the drain hose is blocked. Rinse the filter under warm water."
MISS = "The retrieved sources don't answer this."


# Served


async def test_a_good_reply_is_served_with_its_source(
    model: ScriptedModel, kitchen: Kitchen, stream: bool
) -> None:
    model.script(says(GOOD, "house"))
    _, answer = await kitchen.stream(stream=stream)
    assert answer.status is AnswerStatus.SERVED
    assert (answer.text, answer.sources, answer.truncated) == (GOOD, ("house",), False)
    assert answer.speech
    name, fields = event(answer)
    assert name == "synthesis_invoked"
    assert fields.keys() == {"elapsed_ms", "model", "sections", "style"}
    assert (fields["model"], fields["sections"], fields["style"]) == ("scripted:1b", 1, "brief")


async def test_the_tags_are_those_named_in_order_of_mention(
    model: ScriptedModel, kitchen: Kitchen, stream: bool
) -> None:
    model.script(says(GOOD, "kiwix", "house"))
    _, answer = await kitchen.stream(found=TWO, stream=stream)
    assert answer.sources == ("kiwix", "house")


async def test_the_reply_is_held_to_the_tags_offered(
    model: ScriptedModel, kitchen: Kitchen
) -> None:
    model.script(says(GOOD, "house"))
    await kitchen.answer(found=TWO)
    schema = model.requests[0]["format"]
    assert list(schema["properties"]) == ["sources", "text"]
    assert schema["properties"]["sources"]["items"]["enum"] == ["house", "kiwix"]


async def test_sentences_leave_before_the_reply_is_at_its_end(
    model: ScriptedModel, kitchen: Kitchen
) -> None:
    reply = json.dumps({"sources": ["house"], "text": GOOD})
    model.script(Say([reply[: reply.index("Rinse") + len("Rinse the")]], hang=True))
    items = kitchen.composer.compose(question(), ONE, stream=True)
    async with aclosing(items):
        first = await anext(items)
        assert isinstance(first, Sentence)
        assert first.text == "The drain filter or the drain hose is blocked."
    await model.hung_up.wait()


async def test_the_cap_holds_at_a_sentence_end(model: ScriptedModel, stream: bool) -> None:
    kitchen = Kitchen.over(model, synthesis_brief_max_chars=60)
    model.script(says(GOOD, "house"))
    _, answer = await kitchen.stream(stream=stream)
    assert answer.text == "The drain filter or the drain hose is blocked."
    assert answer.truncated
    assert event(answer)[0] == "synthesis_invoked"
    await kitchen.close()


async def test_what_is_over_the_cap_is_not_waited_for(model: ScriptedModel) -> None:
    kitchen = Kitchen.over(model, synthesis_brief_max_chars=60)
    model.script(says(f"{GOOD} And then.", "house", hang=True))
    _, answer = await kitchen.stream()
    assert answer.text == "The drain filter or the drain hose is blocked."
    await asyncio.wait_for(model.hung_up.wait(), 5)
    await kitchen.close()


async def test_a_reply_cut_by_the_server_ends_on_a_whole_sentence(
    model: ScriptedModel, kitchen: Kitchen, stream: bool
) -> None:
    text = json.dumps({"sources": ["house"], "text": GOOD + " Then switch"})[:-2]
    model.script(prose(text, done_reason="length"))
    _, answer = await kitchen.stream(stream=stream)
    assert (answer.text, answer.truncated) == (GOOD, True)
    assert not kitchen.answers.kept


async def test_no_answer_asks_back(model: ScriptedModel, kitchen: Kitchen, stream: bool) -> None:
    model.script(says(f"{GOOD} Would you like to know more?", "house"))
    _, answer = await kitchen.stream(stream=stream)
    assert answer.text == GOOD


async def test_a_model_that_babbles_on_is_not_listened_to_for_ever(
    model: ScriptedModel, kitchen: Kitchen, stream: bool
) -> None:
    text = f"{GOOD} (house) " + "The filter is blocked again and again. " * 400
    model.script(prose(text, size=400, hang=True))
    _, answer = await kitchen.stream(found=ONE, stream=stream)
    assert answer.text is not None
    assert answer.text.startswith("The drain filter")
    assert answer.truncated
    assert not kitchen.answers.kept
    await asyncio.wait_for(model.hung_up.wait(), 5)


# Skipped


@pytest.mark.parametrize(
    ("settings", "found", "reason"),
    [
        ({"synthesis_enabled": False}, ONE, "disabled"),
        ({"llm_api_type": "none"}, ONE, "llm_unconfigured"),
        ({}, None, "empty_result"),
        ({}, evidence(house=""), "empty_result"),
        ({}, evidence(ha="The kitchen has 21 °C."), "input_too_short"),
        ({}, evidence(changes="Nothing changed. " * 30), "changes_prose"),
    ],
    ids=["disabled", "unconfigured", "nothing", "empty", "short", "changes"],
)
async def test_each_skip_is_named_and_costs_no_call(
    model: ScriptedModel, stream: bool, settings: dict[str, Any], found: Any, reason: str
) -> None:
    kitchen = Kitchen.over(model, **settings)
    sentences, answer = await kitchen.stream(found=found, stream=stream)
    assert not sentences
    assert (answer.status, answer.text) == (AnswerStatus.SKIPPED, None)
    assert event(answer) == ("synthesis_skipped", {"reason": reason})
    assert model.calls == 0
    await kitchen.close()


async def test_two_short_sections_are_not_too_short(model: ScriptedModel, kitchen: Kitchen) -> None:
    model.script(says("It is 21 °C.", "ha"))
    answer = await kitchen.answer(found=evidence(ha="The kitchen has 21 °C.", house="Fuse 7."))
    assert answer.text == "It is 21 °C."


# Rejected


@pytest.mark.parametrize(
    ("say", "gate", "detail"),
    [
        (says("", "house"), "empty", "no_text"),
        (says("  \n ", "house"), "empty", "no_text"),
        (prose(""), "empty", "no_text"),
        (prose("<think>Let me see. It is 4."), "empty", "no_text"),
        (Say(thinking="Let me see."), "empty", "no_text"),
        (Say(status=500), "empty", "http_500"),
        (Say(raw=b'{"message"'), "empty", "bad_reply"),
        (says(GOOD, "news"), "attribution", "not offered: news"),
        (says(GOOD, "house", "web"), "attribution", "not offered: web"),
        (says(GOOD), "attribution", "no source named"),
        (prose(GOOD), "attribution", "no source named"),
        (prose(f"{GOOD} (web)"), "attribution", "not offered: web"),
        (prose(f"{GOOD} (wikipedia)"), "attribution", "not offered: wikipedia"),
        (prose('{"sources": "house"}'), "attribution", "malformed"),
        (prose('{"sources: [house]'), "attribution", "malformed"),
        (says("What does error E24 mean?", "house"), "echo", "the question itself"),
        (says("What error E24 means.", "house"), "echo", "the question restated"),
        (says("You mean: what does error E24 mean?", "house"), "echo", "the question restated"),
        (
            says("Shall I look up the filter and the hose of the machine?", "house"),
            "echo",
            "a question back",
        ),
        (
            says(
                "Der Filter ist verstopft und das Wasser wird nicht abgepumpt, weil der Schlauch zu ist.",
                "house",
            ),
            "language",
            "de",
        ),
        (says("The filter has 4711 holes.", "house"), "numbers", "4711"),
        (says(f"{'very ' * 200}long.", "house"), "length", "no sentence fits"),
    ],
)
async def test_each_gate_rejects_in_its_name(
    model: ScriptedModel, kitchen: Kitchen, stream: bool, say: Say, gate: str, detail: str
) -> None:
    model.script(say)
    sentences, answer = await kitchen.stream(found=TWO, stream=stream)
    assert not sentences
    assert (answer.status, answer.text, answer.speech) == (AnswerStatus.REJECTED, None, None)
    assert event(answer) == (
        "synthesis_rejected",
        {"gate": gate, "detail": detail, "kept_sentences": 0},
    )
    assert not kitchen.answers.kept
    assert model.calls == 1


async def test_an_invented_number_is_logged(
    model: ScriptedModel, kitchen: Kitchen, caplog: pytest.LogCaptureFixture
) -> None:
    model.script(says("The filter has 4711 holes.", "house"))
    with caplog.at_level(logging.WARNING):
        await kitchen.answer()
    assert "4711" in caplog.text


async def test_a_number_of_the_question_is_no_evidence(
    model: ScriptedModel, kitchen: Kitchen
) -> None:
    model.script(says("Yes, the fuse is number 9.", "house"))
    answer = await kitchen.answer(question("is the fuse number 9"))
    assert event(answer)[1]["gate"] == "numbers"


async def test_a_number_of_evidence_that_the_prompt_cut_off_is_none(model: ScriptedModel) -> None:
    kitchen = Kitchen.over(model, synthesis_input_budget_chars=250)
    model.script(says("The fuse is number 7.", "house"))
    answer = await kitchen.answer()
    assert "number 7" not in model.requests[0]["messages"][1]["content"]
    assert event(answer)[1]["gate"] == "numbers"
    await kitchen.close()


async def test_a_model_that_is_down_is_asked_once(model: ScriptedModel, stream: bool) -> None:
    kitchen = Kitchen.over(model)
    await model.stop()
    for _ in range(2):
        _, answer = await kitchen.stream(stream=stream)
        assert event(answer) == (
            "synthesis_rejected",
            {"gate": "empty", "detail": "unreachable", "kept_sentences": 0},
        )
    # Nobody asks again: a model that is back isn't known to be before a probe.
    await model.start()
    await kitchen.stream(stream=stream)
    assert model.calls == 0
    await kitchen.close()


async def test_a_slow_model_ends_at_its_limit_and_is_hung_up(
    model: ScriptedModel, stream: bool
) -> None:
    kitchen = Kitchen.over(model, synthesis_timeout_seconds=1.5)
    model.script(Say(hang=True))
    _, answer = await kitchen.stream(stream=stream)
    assert event(answer)[1] == {"gate": "empty", "detail": "timeout", "kept_sentences": 0}
    await asyncio.wait_for(model.hung_up.wait(), 5)
    await kitchen.close()


async def test_the_deadline_of_the_question_is_kept(
    model: ScriptedModel, kitchen: Kitchen, stream: bool
) -> None:
    model.script(Say(hang=True))
    asked = question(seconds=0.9)
    _, answer = await kitchen.stream(asked, stream=stream)
    assert asked.left > 0
    assert event(answer)[1]["detail"] == "timeout"


async def test_with_no_time_left_no_model_is_asked(
    model: ScriptedModel, kitchen: Kitchen, stream: bool
) -> None:
    _, answer = await kitchen.stream(question(seconds=0.35), stream=stream)
    assert event(answer)[1] == {"gate": "empty", "detail": "timeout", "kept_sentences": 0}
    assert model.calls == 0


# The honest miss


@pytest.mark.parametrize(
    "say",
    [
        says("NOT_IN_SOURCES"),
        says("NOT_IN_SOURCES", "house"),
        says("Not in sources."),
        says("NOT_IN_SOURCES. The material is about E25."),
        says("What does error E24 mean? NOT_IN_SOURCES"),
        says(MISS, "house"),
        prose("NOT_IN_SOURCES"),
        prose("NOT_IN_SOURCES (house)"),
        prose("**NOT_IN_SOURCES**", size=2),
        prose("<think>They don't say.</think>NOT_IN_SOURCES"),
    ],
)
async def test_the_honest_miss_is_a_success_without_sources_and_never_kept(
    model: ScriptedModel, kitchen: Kitchen, stream: bool, say: Say
) -> None:
    model.script(say)
    _, answer = await kitchen.stream(found=TWO, stream=stream)
    assert answer.status is AnswerStatus.NOT_IN_SOURCES
    assert (answer.text, answer.sources, answer.speech) == (MISS, (), MISS)
    assert event(answer)[0] == "synthesis_invoked"
    assert not kitchen.answers.kept


async def test_the_honest_miss_is_in_the_language_of_the_question(
    model: ScriptedModel, kitchen: Kitchen
) -> None:
    model.script(says("NOT_IN_SOURCES"))
    answer = await kitchen.answer(question("was bedeutet E24", language="de"))
    assert answer.text is not None
    assert answer.text != MISS
    assert answer.said_in == "de"


# Prose in JSON's place


@pytest.mark.parametrize(
    ("reply", "sources"),
    [
        (f"{GOOD} (house)", ("house",)),
        (f"{GOOD} ( Kiwix , HOUSE )", ("kiwix", "house")),
        (f"{GOOD} [HOUSE — House documents]", ("house",)),
        (f"{GOOD} (Encyclopedia)", ("kiwix",)),
        (f"{GOOD} (sources: house, kiwix)", ("house", "kiwix")),
        (GOOD.replace("blocked.", "blocked (house).") + " (kiwix)", ("house", "kiwix")),
        (f"<think>hm</think>\n{GOOD} (house)", ("house",)),
        (f"I was told to answer.</think>{GOOD} (house)", ("house",)),
        (f"Here is the JSON: {json.dumps({'sources': ['house'], 'text': GOOD})}", ("house",)),
        (f"```json\n{json.dumps({'sources': ['House'], 'text': GOOD})}\n```", ("house",)),
        (f"{json.dumps({'text': GOOD, 'sources': ['house']})} Hope this helps!", ("house",)),
    ],
)
async def test_prose_with_tags_is_as_good(
    model: ScriptedModel, kitchen: Kitchen, stream: bool, reply: str, sources: tuple[str, ...]
) -> None:
    model.script(prose(reply))
    _, answer = await kitchen.stream(found=TWO, stream=stream)
    assert (answer.text, answer.sources) == (GOOD, sources)


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"{GOOD} (house)",
        f"{GOOD} (web)",
        f"{GOOD} (dishwasher manual)",
        f"{GOOD} [1]",
        json.dumps({"sources": ["web"], "text": f"{GOOD} (web)"}),
        json.dumps({"text": GOOD}),
    ],
)
async def test_a_lone_source_is_the_source_whatever_is_named(
    model: ScriptedModel, kitchen: Kitchen, stream: bool, reply: str
) -> None:
    model.script(prose(reply))
    _, answer = await kitchen.stream(stream=stream)
    assert answer.sources == ("house",)
    assert answer.text is not None
    assert answer.text.removesuffix(" (dishwasher manual)") == GOOD


# Streaming, once something has left


@pytest.mark.parametrize(
    ("bad", "gate"),
    [
        ("The fuse is number 4711.", "numbers"),
        (
            "Der Filter ist verstopft und das Wasser wird nicht abgepumpt, weil er zu ist und nicht auf.",
            "language",
        ),
    ],
)
async def test_a_failing_sentence_ends_the_stream_and_what_was_sent_stands(
    model: ScriptedModel, kitchen: Kitchen, bad: str, gate: str
) -> None:
    model.script(says(f"{GOOD} {bad} Then switch it on.", "house", hang=True))
    sentences, answer = await kitchen.stream()
    assert (answer.status, answer.text, answer.truncated) == (AnswerStatus.SERVED, GOOD, True)
    assert answer.sources == ("house",)
    name, fields = event(answer)
    assert (name, fields["gate"], fields["kept_sentences"]) == ("synthesis_rejected", gate, 2)
    assert len(sentences) == 2
    assert not kitchen.answers.kept
    await asyncio.wait_for(model.hung_up.wait(), 5)


@pytest.mark.parametrize(
    ("how", "detail"), [({"hang": True}, "timeout"), ({"drop": True}, "unreachable")]
)
async def test_a_model_that_stops_halfway_leaves_what_was_sent(
    model: ScriptedModel, how: dict[str, Any], detail: str
) -> None:
    kitchen = Kitchen.over(model, synthesis_timeout_seconds=1.0)
    reply = json.dumps({"sources": ["house"], "text": GOOD})
    model.script(prose(reply[: reply.index("under")], **how))
    sentences, answer = await kitchen.stream()
    assert [each.text for each in sentences] == ["The drain filter or the drain hose is blocked."]
    assert answer.truncated
    assert event(answer)[1] == {"gate": "empty", "detail": detail, "kept_sentences": 1}
    assert not kitchen.answers.kept
    await kitchen.close()


# The cache


async def test_a_served_answer_is_kept_and_costs_no_second_call(
    model: ScriptedModel, kitchen: Kitchen, stream: bool
) -> None:
    model.script(says(GOOD, "house"))
    await kitchen.answer()
    sentences, again = await kitchen.stream(question("What does error E24 mean?"), stream=stream)
    assert (again.text, again.sources, again.cached) == (GOOD, ("house",), True)
    assert event(again) == ("synthesis_cached", {"age_s": 3})
    assert len(sentences) == (2 if stream else 0)
    assert model.calls == 1


@pytest.mark.parametrize(
    "change",
    [
        {"asked": {"text": "what does error E25 mean"}},
        {"asked": {"style": Style.VOICE}},
        {"found": evidence(house="The fuse is 8. " * 20)},
        {"settings": {"llm_model": "other:1b"}},
    ],
    ids=["question", "style", "evidence", "model"],
)
async def test_what_is_shown_or_told_otherwise_is_another_answer(
    model: ScriptedModel, kitchen: Kitchen, change: dict[str, Any]
) -> None:
    model.script(says(GOOD, "house"), says("The filter is blocked.", "house"))
    await kitchen.answer()
    other = Kitchen.over(model, **change.get("settings", {}))
    other.composer._answers = kitchen.answers
    await other.answer(question(**change.get("asked", {})), change.get("found", ONE))
    assert model.calls == 2
    await other.close()


async def test_a_change_that_is_not_shown_changes_nothing(
    model: ScriptedModel, kitchen: Kitchen
) -> None:
    model.script(says(GOOD, "house"))
    await kitchen.answer()
    section = ONE.sections[0]
    passage = replace(section.passages[0], score=0.9, url="/elsewhere")
    same = replace(ONE, sections=(replace(section, passages=(passage,)),))
    assert (await kitchen.answer(found=same)).cached


async def test_states_sent_with_a_question_are_never_kept(
    model: ScriptedModel, kitchen: Kitchen
) -> None:
    model.then = says("It is 21 °C.", "ha")
    found = evidence(ha="The kitchen has 21 °C. " * 12)
    asked = question("how warm is it", states=(HomeState("sensor.t", "Kitchen", "21"),))
    await kitchen.answer(asked, found)
    assert not kitchen.answers.kept
    await kitchen.answer(asked, found)
    assert model.calls == 2


# Together


async def test_ten_at_once_are_one_call_whole_and_streamed(
    model: ScriptedModel, kitchen: Kitchen
) -> None:
    gate = asyncio.Event()
    model.script(says(GOOD, "house", gate=gate))
    asking = [asyncio.ensure_future(kitchen.stream(stream=bool(i % 2))) for i in range(10)]
    await model.called.wait()
    await asyncio.sleep(0)
    gate.set()
    answers = [answer for _, answer in await asyncio.gather(*asking)]
    assert {answer.text for answer in answers} == {GOOD}
    assert model.calls == 1


async def test_who_asks_while_the_answer_is_being_kept_makes_no_second_call(
    model: ScriptedModel, kitchen: Kitchen, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    putting, put = asyncio.Event(), asyncio.Event()
    keep = kitchen.answers.put

    async def slowly(key: str, value: Answer, fresh_until: datetime) -> None:
        putting.set()
        await put.wait()
        await keep(key, value, fresh_until)

    monkeypatch.setattr(kitchen.answers, "put", slowly)
    model.then = says(GOOD, "house")
    first = asyncio.create_task(kitchen.answer())
    await putting.wait()
    second = asyncio.create_task(kitchen.stream(stream=stream))
    await asyncio.sleep(0)
    put.set()
    (_, answer), other = await second, await first
    assert answer.text == other.text == GOOD
    assert model.calls == 1


async def test_one_that_hangs_up_leaves_the_others_their_answer(
    model: ScriptedModel, kitchen: Kitchen
) -> None:
    gate = asyncio.Event()
    model.script(says(GOOD, "house", gate=gate))
    leaving = asyncio.ensure_future(kitchen.answer())
    await model.called.wait()
    staying = asyncio.ensure_future(kitchen.stream())
    await asyncio.sleep(0.05)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    gate.set()
    _, answer = await staying
    assert answer.text == GOOD
    assert model.calls == 1
    assert not model.hung_up.is_set()


async def test_the_last_that_hangs_up_ends_the_call(
    model: ScriptedModel, kitchen: Kitchen, stream: bool
) -> None:
    model.script(Say(hang=True))
    asking = [asyncio.ensure_future(kitchen.stream(stream=stream)) for _ in range(2)]
    await model.called.wait()
    await asyncio.sleep(0.05)
    for task in asking:
        task.cancel()
    await asyncio.gather(*asking, return_exceptions=True)
    await asyncio.wait_for(model.hung_up.wait(), 5)


async def test_a_deadline_is_the_questions_own(model: ScriptedModel, kitchen: Kitchen) -> None:
    gate = asyncio.Event()
    model.script(says(GOOD, "house", gate=gate))
    hurried = asyncio.ensure_future(kitchen.answer(question(seconds=0.8)))
    await model.called.wait()
    patient = asyncio.ensure_future(kitchen.answer())
    assert event(await hurried)[1]["detail"] == "timeout"
    gate.set()
    assert (await patient).text == GOOD
    assert model.calls == 1


async def test_a_fault_of_ours_is_an_event_and_no_exception(
    model: ScriptedModel, kitchen: Kitchen, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("backend.answer.gates.echo", broken)
    model.script(says(GOOD, "house"))
    _, answer = await kitchen.stream(stream=stream)
    assert event(answer)[1] == {"gate": "empty", "detail": "internal", "kept_sentences": 0}


# Without a model


async def test_without_a_model_the_best_sentences_are_quoted(stream: bool) -> None:
    kitchen = Kitchen.over(None, llm_api_type="extractive")
    _, answer = await kitchen.stream(found=TWO, stream=stream)
    assert answer.status is AnswerStatus.SERVED
    assert answer.text is not None
    assert answer.text.startswith("Error E24 means that the dishwasher can't pump out the water")
    assert answer.sources[0] == "house"
    assert event(answer)[1]["model"] == "extractive"
    _, again = await kitchen.stream(found=TWO, stream=stream)
    assert (again.text, again.cached) == (answer.text, True)


async def test_without_a_model_what_is_not_there_is_an_honest_miss(stream: bool) -> None:
    kitchen = Kitchen.over(None, llm_api_type="extractive")
    _, answer = await kitchen.stream(
        question("who painted the ceiling of the chapel"), stream=stream
    )
    assert (answer.status, answer.text) == (AnswerStatus.NOT_IN_SOURCES, MISS)
    assert not kitchen.answers.kept


async def test_a_quote_in_another_language_is_announced(stream: bool) -> None:
    kitchen = Kitchen.over(None, llm_api_type="extractive")
    german = (
        "Der Fehler E24 bedeutet, dass das Wasser nicht abläuft. Meist ist der Filter verstopft. "
        * 3
    )
    found = evidence("de", house=german)
    for _ in range(2):
        sentences, answer = await kitchen.stream(found=found, stream=stream)
        assert answer.text is not None
        assert answer.text.startswith("Der Fehler E24")
        assert answer.speech is not None
        assert answer.speech.startswith("From a document in German: Der Fehler E24")
        assert answer.said_in == "de"
        if stream:
            holds(sentences, answer)


def test_tags_stand_after_the_text() -> None:
    assert tagged("It rains.", ("web", "news")) == "It rains. (web, news)"
    assert tagged(MISS, ()) == MISS
