"""The agent, through real pipelines: what is said, how it comes, and what happens when the server fails."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiohttp import web
from homeassistant.components.conversation import HOME_ASSISTANT_AGENT, AssistantContent
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.config_entries import SOURCE_REAUTH
from homeassistant.core import HomeAssistant
from homeassistant.util.unit_system import US_CUSTOMARY_SYSTEM
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.mnemolis_intents.const import DOMAIN
from custom_components.mnemolis_intents.language import DATA_LANGUAGES
from tests.contract import example

from .broker import Behaviour, Broker, recorded, stream
from .conftest import set_up
from .house import Heard, House

QUESTION = "what does error E24 on the dishwasher mean"


def content(hass: HomeAssistant, heard: Heard) -> str | None:
    """Return what the chat log holds as the last thing said."""
    last = hass.data[DATA_CHAT_LOGS][heard.conversation_id].content[-1]
    assert isinstance(last, AssistantContent)
    return last.content


def spoken(hass: HomeAssistant, key: str, language: str = "en") -> str:
    """Return one of our own sentences."""
    return hass.data[DATA_LANGUAGES].of(language).spoken[key]


def consistent(hass: HomeAssistant, heard: Heard) -> str:
    """Assert what holds for everything that is ever said, and return it."""
    assert heard.deltas[0]["role"] == "assistant"
    assert all("role" not in delta for delta in heard.deltas[1:])
    assert heard.streamed == heard.speech == content(hass, heard)
    assert heard.speech.strip()
    assert not heard.output["continue_conversation"]
    return heard.speech


def events(*parts: tuple[str, Any]) -> bytes:
    """Return a stream of these events."""
    return "".join(
        f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n" for name, data in parts
    ).encode()


def streaming(data: bytes, **how: Any) -> Behaviour:
    """Return the behaviour of sending these bytes."""

    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return await stream(request, data, **how)

    return behave


def answering(body: Any, status: int = 200) -> Behaviour:
    """Return the behaviour of answering with this JSON, or with this text."""

    async def behave(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        if isinstance(body, str):
            return web.Response(text=body, status=status)
        return web.json_response(body, status=status)

    return behave


REPLY = example("served").body
RETRIEVED = {**REPLY, "answer": None, "speech": "What the document says."}
FIRST, SECOND = (data for event, data in example("stream_served").events if event == "sentence")


@pytest.mark.parametrize(
    "name",
    ["stream_served", "stream_ended_by_gate", "stream_nothing_found"],
)
async def test_what_is_said_is_the_reply_s_speech_in_whole_sentences(
    hass: HomeAssistant, house: House, agent: str, broker: Broker, name: str
) -> None:
    broker.search = recorded(name)
    heard = await house.say(QUESTION, await house.pipeline(agent))
    recording = example(name).events
    assert consistent(hass, heard) == recording[-1][1]["speech"]
    sentences = [data["speech"] for event, data in recording if event == "sentence"]
    assert [delta["content"] for delta in heard.deltas] == sentences or [heard.speech]
    assert heard.response["response_type"] == "query_answer"


@pytest.mark.parametrize("name", ["served", "honest_miss", "nothing_found", "source_failed"])
async def test_a_server_that_answers_a_stream_request_with_json_is_understood(
    hass: HomeAssistant, house: House, agent: str, broker: Broker, name: str
) -> None:
    broker.search = recorded(name)
    heard = await house.say(QUESTION, await house.pipeline(agent))
    assert consistent(hass, heard) == example(name).body["speech"]


async def test_an_older_broker_s_result_is_made_fit_to_be_said(
    hass: HomeAssistant, house: House, agent: str, broker: Broker
) -> None:
    broker.search = answering(
        {
            "result": "# E24\n\nThe **drain** is [blocked](http://x.test/a). Clean the filter! Then wait.",
            "source_used": "kiwix",
        }
    )
    heard = await house.say(QUESTION, await house.pipeline(agent))
    assert consistent(hass, heard) == "E24 The drain is blocked. Clean the filter!"


async def test_the_question_goes_along_with_who_asks_where_and_how(
    hass: HomeAssistant, house: House, agent: str, broker: Broker
) -> None:
    hass.config.units = US_CUSTOMARY_SYSTEM
    heard = await house.say(QUESTION, await house.pipeline(agent))
    assert broker.asked == [
        {
            "query": QUESTION,
            "source": "auto",
            "synthesize": True,
            "answer_style": "voice",
            "language": "en",
            "units": "us",
            "time_zone": hass.config.time_zone,
            "place": {
                "name": hass.config.location_name,
                "latitude": hass.config.latitude,
                "longitude": hass.config.longitude,
            },
            "conversation_id": heard.conversation_id,
            "satellite": house.device_id,
            "area": "Kitchen",
            "accepts": ["handback"],
        }
    ]
    assert broker.headers[0]["X-API-Key"] == "right"


async def test_a_follow_up_brings_the_last_ten_turns(
    hass: HomeAssistant, house: House, agent: str, broker: Broker
) -> None:
    pipeline = await house.pipeline(agent)
    heard = await house.say("turn on the kitchen light", pipeline)
    for _ in range(6):
        heard = await house.say(QUESTION, pipeline, conversation_id=heard.conversation_id)
    turns = [asked.get("history", []) for asked in broker.asked]
    assert turns[0] == [
        {"role": "user", "text": "turn on the kitchen light"},
        {"role": "assistant", "text": "Turned on the lights"},
    ]
    assert [len(history) for history in turns] == [2, 4, 6, 8, 10, 10]
    assert turns[-1][-2:] == [
        {"role": "user", "text": QUESTION},
        {"role": "assistant", "text": heard.speech},
    ]


async def test_two_conversations_know_nothing_of_each_other(
    house: House, agent: str, broker: Broker
) -> None:
    pipeline = await house.pipeline(agent)
    await house.say(QUESTION, pipeline)
    await house.say("who wrote it", pipeline)
    assert all("history" not in asked for asked in broker.asked)


async def test_the_place_stays_here_when_it_should(
    hass: HomeAssistant, house: House, agent: str, entry: MockConfigEntry, broker: Broker
) -> None:
    hass.config_entries.async_update_entry(entry, options={"send_place": False})
    await house.say(QUESTION, await house.pipeline(agent))
    assert "place" not in broker.asked[0]


async def test_an_order_the_server_hands_back_is_home_assistant_s_in_the_same_conversation(
    hass: HomeAssistant, house: House, agent: str, broker: Broker
) -> None:
    broker.search = recorded("stream_handback")
    # Not what Home Assistant's sentences say word for word, but what its own agent understands.
    text = "could you maybe put the kitchen light on for me"
    ours = await house.say(text, await house.pipeline(agent))
    theirs = await house.say(text, await house.pipeline(HOME_ASSISTANT_AGENT))
    assert ours.response == theirs.response
    assert content(hass, ours) == ours.speech
    assert not ours.deltas
    assert len(broker.asked) == 1


@pytest.mark.parametrize("state", ["stopped", "stopped before the start"])
@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it", "nl", "pl", "pt"])
async def test_without_the_server_a_question_is_told_so_in_its_language(
    hass: HomeAssistant,
    house: House,
    entry: MockConfigEntry,
    broker: Broker,
    state: str,
    language: str,
) -> None:
    if state == "stopped before the start":
        await broker.stop()
    agent = await set_up(hass, entry)
    await broker.stop()
    question = {
        "de": "was ist ein quasar",
        "fr": "c'est quoi un quasar",
        "es": "qué es un cuásar",
        "it": "che cos'è un quasar",
        "nl": "wat is een quasar",
        "pl": "co to jest kwazar",
    }
    heard = await house.say(
        question.get(language, "what is a quasar"), await house.pipeline(agent, language=language)
    )
    assert consistent(hass, heard) == spoken(hass, "unreachable", language)
    assert heard.response["response_type"] == "error"


async def test_the_server_s_return_needs_no_hands(
    hass: HomeAssistant, house: House, entry: MockConfigEntry, broker: Broker
) -> None:
    await broker.stop()
    agent = await set_up(hass, entry)
    pipeline = await house.pipeline(agent)
    assert (await house.say(QUESTION, pipeline)).speech == spoken(hass, "unreachable")
    await broker.start()
    assert (await house.say(QUESTION, pipeline)).speech == REPLY["speech"]


async def test_an_order_is_home_assistant_s_when_the_server_is_away(
    hass: HomeAssistant, house: House, agent: str, broker: Broker
) -> None:
    await broker.stop()
    ours = await house.say("open the garage door", await house.pipeline(agent))
    theirs = await house.say("open the garage door", await house.pipeline(HOME_ASSISTANT_AGENT))
    assert ours.response == theirs.response
    assert ours.response["data"]["code"] == "no_valid_targets"


@pytest.mark.parametrize(
    ("language", "text"),
    [("en", "add milk to my shopping list"), ("de", "setze Milch auf die Einkaufsliste")],
)
async def test_an_order_that_home_assistant_has_no_part_for_is_said_not_to_be_done(
    hass: HomeAssistant, house: House, agent: str, broker: Broker, language: str, text: str
) -> None:
    broker.search = recorded("stream_handback")
    heard = await house.say(text, await house.pipeline(agent, language=language))
    assert heard.speech == spoken(hass, "not_done", language)
    assert broker.asked == []


async def test_what_is_neither_order_nor_question_is_told_that_the_server_is_away(
    hass: HomeAssistant, house: House, agent: str, broker: Broker
) -> None:
    await broker.stop()
    heard = await house.say("boiler pressure", await house.pipeline(agent))
    assert consistent(hass, heard) == spoken(hass, "unreachable")
    log = hass.data[DATA_CHAT_LOGS][heard.conversation_id]
    assert [said.role for said in log.content] == ["system", "user", "assistant"]


@pytest.mark.parametrize(
    ("behaviour", "key"),
    [
        (answering("<html>", 502), "failed"),
        (answering("not json"), "failed"),
        (answering(["no", "object"]), "failed"),
        (answering({"answer": "no result"}), "failed"),
        (answering(example("error_429").body, 429), "busy"),
        (answering(example("error_422_wrong_type").body, 422), "failed"),
        (answering("nothing here", 404), "unreachable"),
        (answering("moved", 302), "unreachable"),
        (answering("x" * 2_000_000), "failed"),
        (streaming(b"\xff\xfe\x00 garbage \n\n\n"), "unreachable"),
        (streaming(b"event: done\ndata: {broken\n\n"), "failed"),
        (streaming(b"data: " + b"x" * 2_000_000, piece=100_000), "failed"),
        (streaming(events(("sentence", {"index": 0}))), "failed"),
        (streaming(b"", hang_up=True), "unreachable"),
        (streaming(b": comment\n\n"), "unreachable"),
        (streaming(events(("error", {"error": "internal"}))), "failed"),
        (answering({"result": "", "source_used": "kiwix"}), "nothing"),
        (
            streaming(events(("done", {**REPLY, "speech": "", "answer": None, "result": " "}))),
            "nothing",
        ),
    ],
)
async def test_whatever_the_server_does_a_sentence_is_said(
    hass: HomeAssistant, house: House, agent: str, broker: Broker, behaviour: Behaviour, key: str
) -> None:
    broker.search = behaviour
    heard = await house.say(QUESTION, await house.pipeline(agent))
    assert consistent(hass, heard) == spoken(hass, key)


async def test_a_server_that_is_too_slow_is_not_waited_for(
    hass: HomeAssistant, house: House, agent: str, entry: MockConfigEntry, broker: Broker
) -> None:
    release = asyncio.Event()

    async def wait(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await release.wait()
        return web.Response()

    broker.search = wait
    hass.config_entries.async_update_entry(entry, options={"timeout": 0.2})
    heard = await house.say(QUESTION, await house.pipeline(agent))
    release.set()
    assert consistent(hass, heard) == spoken(hass, "timed_out")


@pytest.mark.parametrize(
    ("sent", "hang_up", "said"),
    [
        # What was found stands when nothing more comes.
        ([("retrieval", RETRIEVED)], True, RETRIEVED["speech"]),
        # What has been said stands, and is ended.
        (
            [("retrieval", RETRIEVED), ("sentence", FIRST)],
            True,
            f"{FIRST['speech']} I had to stop there.",
        ),
        (
            [("sentence", FIRST), ("error", {"error": "x", "speech": "It broke."})],
            False,
            f"{FIRST['speech']} It broke.",
        ),
        (
            [("retrieval", RETRIEVED), ("error", {"error": "x", "speech": "It broke."})],
            False,
            "It broke.",
        ),
        # The whole reply has more to say than the sentences had.
        ([("sentence", FIRST), ("done", REPLY)], False, REPLY["speech"]),
        # The whole reply says something else: what was said is never taken back.
        ([("sentence", FIRST), ("done", {**REPLY, "speech": "Other."})], False, FIRST["speech"]),
        # Events of a later contract, and empty sentences, are passed over.
        (
            [
                ("mood", {}),
                ("sentence", {"speech": " "}),
                ("sentence", FIRST),
                ("done", {**REPLY, "speech": FIRST["speech"]}),
            ],
            False,
            FIRST["speech"],
        ),
    ],
)
async def test_a_stream_that_breaks_off_ends_in_a_sentence(
    hass: HomeAssistant,
    house: House,
    agent: str,
    broker: Broker,
    sent: list[tuple[str, Any]],
    hang_up: bool,
    said: str,
) -> None:
    broker.search = streaming(events(*sent), hang_up=hang_up)
    heard = await house.say(QUESTION, await house.pipeline(agent))
    assert consistent(hass, heard) == said


async def test_a_question_mark_keeps_no_microphone_open(
    hass: HomeAssistant, house: House, agent: str, broker: Broker
) -> None:
    broker.search = answering({**REPLY, "speech": "It is called What?"})
    heard = await house.say(QUESTION, await house.pipeline(agent))
    assert consistent(hass, heard) == "It is called What?"


async def test_a_refused_key_is_said_and_its_renewal_begins(
    hass: HomeAssistant, house: House, agent: str, broker: Broker
) -> None:
    broker.key = "another"
    heard = await house.say(QUESTION, await house.pipeline(agent))
    assert consistent(hass, heard) == spoken(hass, "invalid_auth")
    await hass.async_block_till_done()
    flows = hass.config_entries.flow.async_progress_by_handler(DOMAIN)
    assert [flow["context"]["source"] for flow in flows] == [SOURCE_REAUTH]


@pytest.mark.parametrize("text", [".", "…", "thank you for watching", "You."])
async def test_what_nobody_said_is_never_looked_up(
    hass: HomeAssistant, house: House, agent: str, broker: Broker, text: str
) -> None:
    heard = await house.say(text, await house.pipeline(agent))
    assert consistent(hass, heard) == spoken(hass, "not_understood")
    assert not broker.asked


async def test_a_fault_of_our_own_is_said_in_the_language(
    hass: HomeAssistant,
    house: House,
    agent: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr("custom_components.mnemolis_intents.asking.question", fail)
    pipeline = await house.pipeline(agent, language="de")
    assert consistent(hass, await house.say("was ist ein quasar", pipeline)) == spoken(
        hass, "failed", "de"
    )
    monkeypatch.setattr("homeassistant.components.conversation.async_handle_intents", fail)
    assert consistent(hass, await house.say("was ist ein quasar", pipeline)) == spoken(
        hass, "failed", "de"
    )


async def test_who_hangs_up_ends_the_request(
    hass: HomeAssistant, house: House, agent: str, broker: Broker
) -> None:
    asked, ended = asyncio.Event(), asyncio.Event()

    async def wait(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        asked.set()
        try:
            while True:
                await response.write(b": still here\n\n")
                await asyncio.sleep(0.01)
        finally:
            ended.set()

    broker.search = wait
    task = hass.async_create_task(
        hass.services.async_call(
            "conversation",
            "process",
            {"text": QUESTION, "agent_id": agent},
            blocking=True,
            return_response=True,
        )
    )
    await asked.wait()
    task.cancel()
    async with asyncio.timeout(5):
        await ended.wait()


async def test_getting_ready_greets_the_server_and_never_fails(
    hass: HomeAssistant, agent: str, broker: Broker
) -> None:
    entity = hass.data["conversation"].get_entity(agent)
    assert entity is not None
    broker.health_asked.clear()
    await entity.async_prepare("en")
    assert broker.health_asked.is_set()
    await broker.stop()
    await entity.async_prepare()
