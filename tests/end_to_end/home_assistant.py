"""A real Home Assistant in a process of its own, and a client of its interfaces.

It decides how one is prepared, started, onboarded and driven, over HTTP and the WebSocket that the frontend uses;
which integrations are set up and what is asked is the callers'. Everything stays on 127.0.0.1; no package is
installed while it runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
import json
from pathlib import Path
import socket
from typing import Any, Final, Self

import aiohttp

from .process import Process

ROOT: Final = Path(__file__).parents[2]
PYTHON: Final = ROOT / ".venv-ha" / "bin" / "python"
INTEGRATION: Final = ROOT / "custom_components" / "mnemolis_intents"
DEMO_HOME: Final = Path(__file__).parent / "demo_home"

USER: Final = "demo"
PASSWORD: Final = "demo-password"

_START_SECONDS: Final = 120.0
"""A first start compiles what it imports; on a busy machine of two cores that takes most of a minute."""
_REPLY_SECONDS: Final = 60.0

_CONFIGURATION: Final = """\
homeassistant:
  name: Demo home
  unit_system: metric
  time_zone: Europe/Berlin
  country: DE
  language: en
frontend:
config:
conversation:
assist_pipeline:
"""


class Refused(Exception):
    """Home Assistant refused a command; the message is its error."""


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    """Return whether nobody listens on a port of 127.0.0.1 now."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@dataclass(frozen=True, slots=True)
class Turn:
    """What the pipeline did with one utterance, and what the chat log holds after it."""

    events: list[dict[str, Any]]
    chat_log: list[dict[str, Any]]

    @property
    def kinds(self) -> list[str]:
        """Kinds of the events, in order."""
        return [event["type"] for event in self.events]

    @property
    def error(self) -> dict[str, Any] | None:
        """Code and message of the error that ended the run."""
        return next((event["data"] for event in self.events if event["type"] == "error"), None)

    @property
    def end(self) -> dict[str, Any]:
        """Data of `intent-end`; AssertionError when the run never came so far."""
        for event in self.events:
            if event["type"] == "intent-end":
                data: dict[str, Any] = event["data"]
                return data
        raise AssertionError(f"no intent-end: {self.events}")

    @property
    def response(self) -> dict[str, Any]:
        """The intent response: speech, response type, targets."""
        response: dict[str, Any] = self.end["intent_output"]["response"]
        return response

    @property
    def speech(self) -> str:
        """What is said."""
        speech: str = self.response["speech"]["plain"]["speech"]
        return speech

    @property
    def conversation_id(self) -> str:
        """The conversation, for a follow-up."""
        conversation: str = self.end["intent_output"]["conversation_id"]
        return conversation

    @property
    def deltas(self) -> list[dict[str, Any]]:
        """Deltas of the chat log, as they were streamed."""
        return [
            event["data"]["chat_log_delta"]
            for event in self.events
            if event["type"] == "intent-progress" and "chat_log_delta" in event["data"]
        ]

    @property
    def content(self) -> str | None:
        """What the chat log holds as the last thing said."""
        content: str | None = self.chat_log[-1].get("content")
        return content

    @property
    def intents(self) -> list[tuple[str, dict[str, Any]]]:
        """Intents that Home Assistant's own agent carried out, with their slots."""
        return [
            (call["tool_name"], call["tool_args"])
            for content in self.chat_log
            for call in content.get("tool_calls") or ()
        ]


class Connection:
    """A WebSocket of the frontend's kind: commands, and subscriptions that go on beside them."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._last = 0
        self._inboxes: dict[int, asyncio.Queue[dict[str, Any] | None]] = {}
        self._reader = asyncio.create_task(self._read(), name="Home Assistant's WebSocket")

    @classmethod
    async def open(cls, http: aiohttp.ClientSession, url: str, token: str) -> Self:
        """Open a connection and log in."""
        websocket = await http.ws_connect(f"{url}/api/websocket", max_msg_size=0)
        await websocket.receive_json()
        await websocket.send_json({"type": "auth", "access_token": token})
        hello = await websocket.receive_json()
        if hello["type"] != "auth_ok":
            await websocket.close()
            raise Refused(str(hello))
        return cls(websocket)

    async def close(self) -> None:
        """Close it."""
        await self._socket.close()
        await self._reader

    async def command(self, kind: str, **fields: Any) -> Any:
        """Send a command and return its result; Refused when it fails."""
        async with self.subscribe(kind, **fields) as (result, _):
            return result

    @asynccontextmanager
    async def subscribe(
        self, kind: str, **fields: Any
    ) -> AsyncIterator[tuple[Any, AsyncIterator[dict[str, Any]]]]:
        """Send a command; give its result and, as they come, its events. Refused when it fails."""
        self._last += 1
        number = self._last
        inbox = self._inboxes[number] = asyncio.Queue()
        try:
            await self._socket.send_json({"id": number, "type": kind, **fields})
            reply = await self._next(inbox)
            if not reply["success"]:
                raise Refused(f"{kind}: {reply['error']}")
            yield reply["result"], self._events(inbox)
        finally:
            del self._inboxes[number]

    async def _events(
        self, inbox: asyncio.Queue[dict[str, Any] | None]
    ) -> AsyncIterator[dict[str, Any]]:
        while True:
            yield (await self._next(inbox))["event"]

    async def _next(self, inbox: asyncio.Queue[dict[str, Any] | None]) -> dict[str, Any]:
        async with asyncio.timeout(_REPLY_SECONDS):
            message = await inbox.get()
        if message is None:
            raise Refused("Home Assistant closed the connection")
        return message

    async def _read(self) -> None:
        async for message in self._socket:
            parts = json.loads(message.data)
            for part in parts if isinstance(parts, list) else (parts,):
                if (inbox := self._inboxes.get(part.get("id"))) is not None:
                    inbox.put_nowait(part)
        for inbox in self._inboxes.values():
            inbox.put_nowait(None)


class HomeAssistant:
    """A Home Assistant with a configuration folder of its own."""

    def __init__(self, config: Path, *, port: int | None = None) -> None:
        """Take the folder `config`, which is made by `prepare`, and a port, else a free one."""
        self.config = config
        self.port = free_port() if port is None else port
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: Process | None = None
        self.satellite: str | None = None
        self._known_user = False
        self._token = ""
        self._open = AsyncExitStack()

    def prepare(self) -> None:
        """Make the folder, or take it as it is left by an earlier run."""
        components = self.config / "custom_components"
        storage = self.config / ".storage"
        for folder in (components, storage):
            folder.mkdir(parents=True, exist_ok=True)
        (self.config / "configuration.yaml").write_text(_CONFIGURATION, "utf-8")
        for component in (INTEGRATION, DEMO_HOME):
            link = components / component.name
            link.unlink(missing_ok=True)
            link.symlink_to(component, target_is_directory=True)
        # `http:` in YAML is migrated to this file, with a repair issue; so it is written at once.
        _store(
            storage / "http",
            version=3,
            data={
                "stable": {
                    "server_host": ["127.0.0.1"],
                    "server_port": self.port,
                    "cors_allowed_origins": [],
                    "login_attempts_threshold": -1,
                    "ip_ban_enabled": True,
                    "ssl_profile": "intermediate_v6",
                    "use_x_frame_options": True,
                    "created_at": "2026-01-01T00:00:00+00:00",
                    "error": None,
                    "error_message": None,
                },
                "pending": None,
                "yaml_migration_done": True,
            },
        )
        onboarding = storage / "onboarding"
        if onboarding.exists():
            self._known_user = "user" in json.loads(onboarding.read_text("utf-8"))["data"]["done"]
        else:
            # These steps set up integrations that want the internet.
            done = ["core_config", "analytics", "integration"]
            _store(onboarding, version=4, data={"done": done})

    async def start(self) -> None:
        """Start it, log in (onboarding on the first start), and return once it runs."""
        self.process = await Process.start(
            "Home Assistant",
            [
                PYTHON,
                "-m",
                "homeassistant",
                "-c",
                self.config,
                "--skip-pip",
                "--log-no-color",
                "-v",
            ],
            environment={"HA_DISABLE_LOG_FILE": "1", "PYTHONPATH": ""},
            # The working folder comes first on its path: the checkout's `custom_components` would win.
            cwd=self.config,
            log=self.config.with_suffix(".log"),
        )
        self._open.push_async_callback(self.process.stop)
        await self.process.line("Home Assistant initialized in", _START_SECONDS)
        self._http = await self._open.enter_async_context(aiohttp.ClientSession())
        if not self._token:
            self._token = await self._log_in()
        self._connection = await Connection.open(self._http, self.url, self._token)
        self._open.push_async_callback(self._connection.close)
        await self._until_running()

    async def stop(self) -> None:
        """Stop it; it may be started again."""
        await self._open.aclose()

    # What an owner does.

    async def rest(
        self, method: str, path: str, body: Any = None, *, form: Mapping[str, str] | None = None
    ) -> Any:
        """Call an HTTP endpoint with JSON or a form; return its JSON. Refused on a status of 400 or more."""
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        async with self._http.request(
            method, self.url + path, json=body, data=form, headers=headers
        ) as response:
            text = await response.text()
            if response.status >= 400:
                raise Refused(f"{method} {path}: {response.status} {text[:500]}")
            return json.loads(text) if text else None

    async def command(self, kind: str, **fields: Any) -> Any:
        """Send a WebSocket command and return its result; Refused when it fails."""
        return await self._connection.command(kind, **fields)

    async def set_up(self, domain: str, **answers: Any) -> dict[str, Any]:
        """Go through an integration's config flow and return the flow's last step.

        Without `answers` the flow must ask nothing. A last step of the type `form` shows the errors.
        """
        path = "/api/config/config_entries/flow"
        step = await self.rest("POST", path, {"handler": domain})
        if step["type"] == "form":
            step = await self.rest("POST", f"{path}/{step['flow_id']}", answers)
        result: dict[str, Any] = step
        return result

    async def entries(self, domain: str) -> list[dict[str, Any]]:
        """Return the config entries of an integration."""
        entries: list[dict[str, Any]] = await self.command("config_entries/get", domain=domain)
        return entries

    async def set_up_demo_home(self) -> None:
        """Set the kitchen up, if it isn't yet, and take its satellite for the one that hears us."""
        if not await self.entries("demo_home"):
            await self.set_up("demo_home")
        devices = await self.command("config/device_registry/list")
        self.satellite = next(
            device["id"]
            for device in devices
            if ["demo_home", "satellite"] in device["identifiers"]
        )

    async def states(self, domain: str) -> dict[str, dict[str, Any]]:
        """Return the states of a domain by entity id."""
        return {
            state["entity_id"]: state
            for state in await self.rest("GET", "/api/states")
            if state["entity_id"].startswith(f"{domain}.")
        }

    @asynccontextmanager
    async def state_changes(self, entity_id: str) -> AsyncIterator[AsyncIterator[str]]:
        """Give the states of an entity: the one of now, then each that it changes to."""
        trigger = {"platform": "state", "entity_id": entity_id}
        async with self._connection.subscribe("subscribe_trigger", trigger=trigger) as (_, events):
            now = (await self.rest("GET", f"/api/states/{entity_id}"))["state"]

            async def states() -> AsyncIterator[str]:
                yield now
                async for event in events:
                    yield event["variables"]["trigger"]["to_state"]["state"]

            yield states()

    async def agent(self) -> str:
        """Return the entity id of our conversation agent."""
        agent: str = next(
            entity["entity_id"]
            for entity in await self.command("config/entity_registry/list")
            if entity["platform"] == INTEGRATION.name
            and entity["entity_id"].startswith("conversation.")
        )
        return agent

    async def create_pipeline(
        self, name: str, *, engine: str, language: str = "en", prefer_local: bool = False
    ) -> str:
        """Make an Assist pipeline for text with the agent `engine` and return its id."""
        pipeline = await self.command(
            "assist_pipeline/pipeline/create",
            name=name,
            language=language,
            conversation_engine=engine,
            conversation_language=language,
            prefer_local_intents=prefer_local,
            stt_engine=None,
            stt_language=None,
            tts_engine=None,
            tts_language=None,
            tts_voice=None,
            wake_word_entity=None,
            wake_word_id=None,
        )
        identifier: str = pipeline["id"]
        return identifier

    async def say(
        self, text: str, pipeline: str | None = None, *, conversation_id: str | None = None
    ) -> Turn:
        """Say `text` to the kitchen's satellite and return what the pipeline makes of it."""
        turn: list[dict[str, Any]] = []
        async with self._connection.subscribe(
            "assist_pipeline/run",
            start_stage="intent",
            end_stage="intent",
            input={"text": text},
            device_id=self.satellite,
            conversation_id=conversation_id,
            **({} if pipeline is None else {"pipeline": pipeline}),
        ) as (_, events):
            async for event in events:
                turn.append(event)
                if event["type"] in ("run-end", "error"):
                    break
        conversation = turn[0]["data"]["conversation_id"]
        return Turn(turn, await self._chat_log(conversation))

    # How it comes to run.

    async def _chat_log(self, conversation: str) -> list[dict[str, Any]]:
        try:
            async with self._connection.subscribe(
                "conversation/chat_log/subscribe", conversation_id=conversation
            ) as (_, events):
                content: list[dict[str, Any]] = (await anext(events))["data"]["content"]
                return content
        except Refused:
            return []

    async def _log_in(self) -> str:
        client = f"{self.url}/"
        if not self._known_user:
            user = {"name": "Demo", "username": USER, "password": PASSWORD, "language": "en"}
            made = await self.rest("POST", "/api/onboarding/users", {"client_id": client, **user})
            code = made["auth_code"]
        else:
            flow = await self.rest(
                "POST",
                "/auth/login_flow",
                {
                    "client_id": client,
                    "handler": ["homeassistant", None],
                    "redirect_uri": client,
                },
            )
            step = await self.rest(
                "POST",
                f"/auth/login_flow/{flow['flow_id']}",
                {
                    "client_id": client,
                    "username": USER,
                    "password": PASSWORD,
                },
            )
            code = step["result"]
        form = {"client_id": client, "code": code, "grant_type": "authorization_code"}
        token: str = (await self.rest("POST", "/auth/token", form=form))["access_token"]
        return token

    async def _until_running(self) -> None:
        async with self._connection.subscribe(
            "subscribe_events", event_type="homeassistant_started"
        ) as (_, events):
            if (await self.command("get_config"))["state"] != "RUNNING":
                await anext(events)


def _store(path: Path, *, version: int, data: dict[str, Any]) -> None:
    content = {"version": version, "minor_version": 1, "key": path.name, "data": data}
    path.write_text(json.dumps(content), "utf-8")
