"""Whatever a model does, with every source, whole or streamed: the contract of the reply holds.

The real server over the real parts; the model says what a row has it say. Each reply is held against the reply to
the same question without composing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp.test_utils import TestClient, TestServer
from libzim.writer import Creator, Hint, Item, StringProvider
import pytest

from backend.bootstrap import build, create_server
from backend.contract import Reply
from backend.languages import spoken
from backend.settings import Settings
from tests.backend.server.test_streaming import events
from tests.scripted_model import MODEL, Say, ScriptedModel, prose, says

HOUSE = """# Dishwasher

## Error codes

Error E24 means that the dishwasher can't pump out the water: the drain filter or the drain hose is blocked. Switch the
dishwasher off, take out the lower basket and rinse the filter under warm water. Check that the drain hose is not
kinked behind the cabinet. The filter is cleaned every 14 days.
"""
ARTICLE = """<html><head><title>Dishwasher error E24</title></head><body><h1>Dishwasher error E24</h1>
<p>On many dishwashers the error E24 is shown when the water can't leave the tub within 4 minutes. A kinked drain hose
causes most of the cases. Dishwashers have had such codes since 1998, when the first display was built into a door, and
the meaning of the numbers differs from maker to maker to this day.</p></body></html>"""
SHORT = "# Bins\n\nThe bins are collected on Tuesday."

QUESTION = "what does error E24 on the dishwasher mean"
SOURCES = ("house", "kiwix", "fusion")
ANSWER = "The drain hose is kinked or blocked."
SECOND = "The water can't leave the dishwasher."


@dataclass(frozen=True)
class Row:
    """What the model does, and what comes of it: a gate with its detail, or what is served.

    `{tag}` in a text stands for the tags of the sources that were offered.
    """

    name: str
    say: Say | str
    gate: str | None = None
    detail: str | None = None
    answer: str | None = None
    misses: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    named: tuple[str, ...] | None = None


SLOW = {"synthesis_timeout_seconds": 0.6}
ROWS = (
    Row("served", ANSWER, answer=ANSWER),
    Row("served in two sentences", f"{ANSWER} {SECOND}", answer=f"{ANSWER} {SECOND}"),
    Row("not in the sources", "NOT_IN_SOURCES", misses=True, named=()),
    Row("not in the sources, with a tag", "NOT_IN_SOURCES", misses=True),
    Row("silent", Say(), "empty"),
    Row("blanks alone", prose(" \n\n  "), "empty"),
    Row("no text in the agreed form", "", "empty"),
    Row("down", Say(drop=True), "empty"),
    Row("an error of the server", Say(status=500), "empty", "http_500"),
    Row("no such model", Say(status=404), "empty"),
    Row("late", Say(hang=True), "empty", "timeout", settings=SLOW),
    Row(
        "babbling without a sentence",
        Say(["and so "] * 20, hang=True),
        "empty",
        "timeout",
        settings=SLOW,
    ),
    Row("thoughts alone, in the text", prose("<think>Is it E24? The hose"), "empty"),
    Row("thoughts alone, in their field", Say(thinking="The user wants to know"), "empty"),
    Row("broken lines", Say(raw=b'{"message": {"con\n\n\xff\xfe'), "empty"),
    Row("the question again", "What does error E24 on the dishwasher mean?", "echo"),
    Row("the question nearly again", "Error E24 on the dishwasher means what", "echo"),
    Row(
        "another language",
        "Der Fehler bedeutet, dass das Wasser nicht abgepumpt werden kann und der Schlauch geknickt ist.",
        "language",
    ),
    Row("a number of its own", "The drain hose is blocked after 77 days.", "numbers", "77"),
    Row("a number of the question alone", "The dishwasher has 24 drain hoses.", "numbers", "24"),
    Row(
        "a sentence over the cap",
        "The drain hose is blocked, " + "and the filter is blocked, " * 20 + "and so on.",
        "length",
    ),
)


class _Article(Item):
    def get_path(self) -> str:
        return "e24"

    def get_title(self) -> str:
        return "Dishwasher error E24"

    def get_mimetype(self) -> str:
        return "text/html"

    def get_contentprovider(self) -> StringProvider:
        return StringProvider(ARTICLE)

    def get_hints(self) -> dict[Hint, bool]:
        return {Hint.FRONT_ARTICLE: True}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a manual, a short note, and an encyclopedia of one article."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "dishwasher.md").write_text(HOUSE, "utf-8")
    (folder / "bins.md").write_text(SHORT, "utf-8")
    with Creator(folder / "codes.zim").config_indexing(True, "eng") as creator:
        creator.set_mainpath("e24")
        creator.add_item(_Article())
        for name, value in {"Title": "Codes", "Language": "eng", "Date": "2026-11-30"}.items():
            creator.add_metadata(name, value)
    return folder


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as scripted:
        yield scripted


class House:
    """Starts servers over the library, each with settings of its own, and asks them."""

    def __init__(self, library: Path, data: Path, model: ScriptedModel) -> None:
        self._library = library
        self._data = data
        self._model = model

    @asynccontextmanager
    async def open(self, **settings: Any) -> AsyncIterator[Asking]:
        """Start a server; yield what asks it."""
        values = {
            "data_dir": self._data,
            "library_dir": self._library,
            "llm_api_type": "ollama",
            "llm_url": self._model.url,
            "llm_model": MODEL,
            **settings,
        }
        async with build(Settings(**values)) as backend:
            await backend.models.ready()
            async with TestClient(TestServer(create_server(backend))) as client:
                yield Asking(client)
                await backend.ask.close()


class Asking:
    """Asks one server."""

    def __init__(self, client: TestClient[Any, Any]) -> None:
        self.client = client

    async def whole(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the reply."""
        async with self.client.post("/search", json=body) as response:
            assert response.status == 200, await response.text()
            reply: dict[str, Any] = await response.json()
            return reply

    async def streamed(self, body: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
        """Return the whole reply at the end of a stream, and all its events."""
        headers = {"Accept": "text/event-stream"}
        async with self.client.post("/search", json=body, headers=headers) as response:
            assert response.status == 200, await response.text()
            got = await events(response)
        return dict(got)["done"], got


@pytest.fixture
def house(library: Path, tmp_path: Path, model: ScriptedModel) -> House:
    return House(library, tmp_path / "data", model)


def body(source: str, **more: Any) -> dict[str, Any]:
    return {"query": QUESTION, "source": source, "explain": True, **more}


def voice(source: str) -> dict[str, Any]:
    return body(source, synthesize=True, answer_style="voice", language="en")


def scripted(row: Row, source: str) -> Say:
    """Return what the model says, standing on the sources that are offered unless the row names others."""
    if isinstance(row.say, Say):
        return row.say
    offered = ("house", "kiwix") if source == "fusion" else (source,)
    return says(row.say, *(offered if row.named is None else row.named))


def told(reply: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    return [event for event in reply["explanation"] if event["event"].startswith(prefix)]


def check(row: Row, source: str, plain: dict[str, Any], reply: dict[str, Any]) -> None:
    """Hold a reply against the row, and against the reply without composing."""
    Reply.model_validate(reply)
    tags = ["house", "kiwix"] if source == "fusion" else [source]
    for unchanged in (
        "result",
        "source_used",
        "success",
        "error",
        "citations",
        "language",
        "query",
    ):
        assert reply[unchanged] == plain[unchanged], unchanged
    assert reply["speech"].strip()
    (event,) = told(reply, "synthesis_")
    if row.gate is not None:
        assert (event["event"], event["gate"]) == ("synthesis_rejected", row.gate), event
        assert event["kept_sentences"] == 0
        assert row.detail is None or row.detail in event["detail"], event
        assert (reply["answer"], reply["answer_sources"], reply["synthesized"]) == (None, [], False)
        assert reply["speech"] == plain["speech"]
    elif row.misses:
        assert event["event"] == "synthesis_invoked"
        assert reply["answer"] == reply["speech"] == spoken("en", "honest_miss")
        assert (reply["answer_sources"], reply["synthesized"]) == ([], True)
    else:
        assert event["event"] == "synthesis_invoked"
        assert event["sections"] == len(tags)
        assert reply["answer"] == f"{row.answer} ({', '.join(tags)})"
        assert reply["speech"] == row.answer
        assert (reply["answer_sources"], reply["synthesized"]) == (tags, True)
    assert not reply["truncated"]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_whatever_the_model_does_the_contract_holds(
    row: Row, source: str, house: House, model: ScriptedModel
) -> None:
    async with house.open(**row.settings) as ask:
        plain = await ask.whole(body(source))
        assert model.calls == 0
        model.script(scripted(row, source))
        check(row, source, plain, await ask.whole(voice(source)))
        assert model.calls == 1


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_whatever_the_model_does_the_contract_holds_in_a_stream(
    row: Row, source: str, house: House, model: ScriptedModel
) -> None:
    async with house.open(**row.settings) as ask:
        plain = await ask.whole(body(source))
        model.script(scripted(row, source))
        reply, got = await ask.streamed(voice(source))
    sentences = [data for name, data in got if name == "sentence"]
    assert [name for name, _ in got] == ["retrieval", *["sentence"] * len(sentences), "done"]
    retrieval = got[0][1]
    assert retrieval["result"] == plain["result"]
    assert (retrieval["answer"], retrieval["synthesized"]) == (None, False)
    check(row, source, plain, reply)
    if row.gate is not None:
        assert sentences == []
    else:
        assert "".join(sentence["speech"] for sentence in sentences) == reply["speech"]


@pytest.mark.parametrize("source", ["house", "kiwix"])
async def test_one_source_alone_is_who_says_it_whatever_the_model_names(
    source: str, house: House, model: ScriptedModel
) -> None:
    async with house.open() as ask:
        model.script(says(ANSWER, "web"), says(f"{ANSWER} (web)"))
        for number in range(2):
            reply = await ask.whole({**voice(source), "query": QUESTION + "?" * number})
            assert reply["answer"] == f"{ANSWER} ({source})"


@pytest.mark.parametrize("source", SOURCES)
async def test_a_gate_ends_a_stream_after_the_first_sentence_and_what_left_stays(
    source: str, house: House, model: ScriptedModel
) -> None:
    tags = ("house", "kiwix") if source == "fusion" else (source,)
    model.then = says(f"{ANSWER} It takes 77 minutes. {SECOND}", *tags)
    async with house.open() as ask:
        for _ in range(2):
            reply, got = await ask.streamed(voice(source))
            assert [data["text"] for name, data in got if name == "sentence"] == [ANSWER]
            assert reply["answer"] == f"{ANSWER} ({', '.join(tags)})"
            assert reply["speech"] == ANSWER
            assert reply["truncated"]
            (event,) = told(reply, "synthesis_")
            assert (event["event"], event["gate"], event["kept_sentences"]) == (
                "synthesis_rejected",
                "numbers",
                1,
            )
    # What was cut short is never kept.
    assert model.calls == 2


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("reason", "query", "settings"),
    [
        ("disabled", QUESTION, {"synthesis_enabled": False}),
        ("llm_unconfigured", QUESTION, {"llm_api_type": "none"}),
        ("empty_result", "zyzzyva quokka xylophone", {}),
        ("input_too_short", "when are the bins collected", {}),
    ],
    ids=lambda value: value if isinstance(value, str) and "_" in value else "",
)
@pytest.mark.parametrize("source", ["auto", "house"])
async def test_every_skip_says_why_and_asks_no_model(
    source: str,
    reason: str,
    query: str,
    settings: dict[str, Any],
    stream: bool,
    house: House,
    model: ScriptedModel,
) -> None:
    async with house.open(**settings) as ask:
        plain = await ask.whole({**body(source), "query": query, "language": "en"})
        asked = {**voice(source), "query": query}
        reply = (await ask.streamed(asked))[0] if stream else await ask.whole(asked)
    (event,) = told(reply, "synthesis_")
    assert (event["event"], event["reason"]) == ("synthesis_skipped", reason)
    for unchanged in ("result", "speech", "success", "error", "source_used"):
        assert reply[unchanged] == plain[unchanged], unchanged
    assert (reply["answer"], reply["synthesized"]) == (None, False)
    assert reply["speech"].strip()
    assert model.calls == 0


async def test_a_second_identical_question_is_served_from_what_is_kept(
    house: House, model: ScriptedModel
) -> None:
    model.then = says(ANSWER, "house")
    async with house.open() as ask:
        # What is found before the library has been read once isn't kept.
        await ask.whole(body("house"))
        first = await ask.whole(voice("house"))
        again = await ask.whole(voice("house"))
        louder = await ask.whole({**voice("house"), "query": QUESTION.upper() + "?"})
    assert model.calls == 1
    for reply in (again, louder):
        assert [event["event"] for event in told(reply, "synthesis_")] == ["synthesis_cached"]
        assert (reply["answer"], reply["speech"]) == (first["answer"], first["speech"])
        assert reply["cached"]


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.gate or row.misses], ids=lambda row: row.name
)
async def test_neither_a_failure_nor_a_miss_is_kept(
    row: Row, house: House, model: ScriptedModel
) -> None:
    async with house.open(**row.settings) as ask:
        model.script(scripted(row, "fusion"))
        await ask.whole(voice("fusion"))
        assert model.calls == 1
    # A server of its own: a model that was found down isn't asked again at once.
    async with house.open(**row.settings) as ask:
        model.script(says(ANSWER, "house"))
        assert (await ask.whole(voice("fusion")))["answer"] == f"{ANSWER} (house)"


async def test_an_edited_document_is_never_answered_from_what_was_kept(
    tmp_path: Path, model: ScriptedModel
) -> None:
    folder = tmp_path / "library"
    folder.mkdir()
    file = folder / "dishwasher.md"
    file.write_text(HOUSE, "utf-8")
    house = House(folder, tmp_path / "data", model)
    old, new = (f"The filter is cleaned every {days} days." for days in (14, 21))
    async with house.open() as ask:
        model.script(says(old, "house"))
        assert (await ask.whole(voice("house")))["answer"] == f"{old} (house)"
    file.write_text(HOUSE.replace("14 days", "21 days"), "utf-8")
    async with house.open() as ask:
        model.script(says(old, "house"), says(new, "house"))
        stale = await ask.whole(voice("house"))
        assert "21 days" in stale["result"]
        assert stale["answer"] is None
        assert told(stale, "synthesis_rejected")[0]["gate"] == "numbers"
        assert (await ask.whole(voice("house")))["answer"] == f"{new} (house)"


async def test_where_several_speak_a_source_that_wasnt_offered_says_nothing(
    house: House, model: ScriptedModel
) -> None:
    async with house.open() as ask:
        for named in (("web",), ("house", "web"), ()):
            model.script(says(ANSWER, *named))
            reply = await ask.whole(voice("fusion"))
            assert reply["answer"] is None, named
            assert told(reply, "synthesis_rejected")[0]["gate"] == "attribution"


async def test_prose_in_jsons_place_is_an_answer_where_its_source_is_known(
    house: House, model: ScriptedModel
) -> None:
    model.script(prose(ANSWER), prose(ANSWER), prose(f"{ANSWER} (house, kiwix)"))
    async with house.open() as ask:
        single = await ask.whole(voice("house"))
        untagged = await ask.whole(voice("fusion"))
        tagged = await ask.whole(voice("fusion"))
    assert single["answer"] == f"{ANSWER} (house)"
    assert untagged["answer"] is None
    assert told(untagged, "synthesis_rejected")[0]["gate"] == "attribution"
    assert tagged["answer"] == f"{ANSWER} (house, kiwix)"


async def test_a_quote_in_another_language_is_announced_with_and_without_composing(
    house: House, model: ScriptedModel
) -> None:
    asked = {"query": "was bedeutet E24", "language": "de", "source": "house"}
    async with house.open(llm_api_type="extractive") as ask:
        plain = await ask.whole(asked)
        composed = await ask.whole({**asked, "synthesize": True})
    notice = spoken("de", "quoted_from", language="en")
    for reply in (plain, composed):
        assert reply["speech"].startswith(f"{notice} ")
        assert "E24" in reply["speech"]
    assert notice not in composed["answer"]


async def test_the_statistics_tell_served_missed_and_rejected_apart(
    house: House, model: ScriptedModel
) -> None:
    model.script(says("NOT_IN_SOURCES"), Say(status=500), says(ANSWER, "house"))
    async with house.open() as ask:
        for _ in range(3):
            await ask.whole(voice("house"))
        await ask.whole(body("house"))
    # Questions are recorded behind their replies: a server that has ended has recorded them all.
    async with house.open() as ask, ask.client.get("/logs/stats") as response:
        stats = await response.json()
    assert stats["total"] == 4
    assert stats["synthesis"] == {
        "requested": 3,
        "served": 1,
        "not_in_sources": 1,
        "rejected_or_skipped": 1,
    }
