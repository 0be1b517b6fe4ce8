"""What a test does with the house: speak to it, and see what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from homeassistant.components.conversation import HOME_ASSISTANT_AGENT
from homeassistant.components.intent import TimerEventType, TimerInfo
from homeassistant.core import HomeAssistant, ServiceCall
from pytest_homeassistant_custom_component.typing import MockHAClientWebSocket


@dataclass
class Heard:
    """What came of one utterance: the pipeline's events, in order."""

    events: list[dict[str, Any]]

    @property
    def error(self) -> dict[str, Any] | None:
        return next((event["data"] for event in self.events if event["type"] == "error"), None)

    @property
    def deltas(self) -> list[dict[str, Any]]:
        return [
            event["data"]["chat_log_delta"]
            for event in self.events
            if event["type"] == "intent-progress" and "chat_log_delta" in event["data"]
        ]

    @property
    def output(self) -> dict[str, Any]:
        assert self.error is None, self.error
        (output,) = (
            event["data"]["intent_output"] for event in self.events if event["type"] == "intent-end"
        )
        return dict(output)

    @property
    def response(self) -> dict[str, Any]:
        return dict(self.output["response"])

    @property
    def speech(self) -> str:
        return str(self.response["speech"]["plain"]["speech"])

    @property
    def streamed(self) -> str:
        return "".join(delta.get("content") or "" for delta in self.deltas)

    @property
    def conversation_id(self) -> str:
        return str(self.output["conversation_id"])


class House:
    """A running Home Assistant and someone who speaks to it."""

    def __init__(self, hass: HomeAssistant, client: MockHAClientWebSocket, device_id: str) -> None:
        self.hass = hass
        self.device_id = device_id
        self.timers: list[tuple[TimerEventType, int, str | None]] = []
        self.service_calls: list[ServiceCall] = []
        self._client = client

    def timer_event(self, event: TimerEventType, timer: TimerInfo) -> None:
        """Take note of a timer."""
        self.timers.append((event, timer.created_seconds, timer.conversation_command))

    async def pipeline(
        self,
        agent: str = HOME_ASSISTANT_AGENT,
        *,
        prefer_local: bool = False,
        language: str = "en",
    ) -> str:
        """Make a pipeline of this agent; return its id."""
        result = await self._call(
            {
                "type": "assist_pipeline/pipeline/create",
                "conversation_engine": agent,
                "conversation_language": language,
                "language": language,
                "name": f"{agent} {prefer_local} {language}",
                "stt_engine": None,
                "stt_language": None,
                "tts_engine": None,
                "tts_language": None,
                "tts_voice": None,
                "wake_word_entity": None,
                "wake_word_id": None,
                "prefer_local_intents": prefer_local,
            }
        )
        identifier: str = result["id"]
        return identifier

    async def pipelines(self) -> dict[str, dict[str, Any]]:
        """Return all pipelines by id."""
        result = await self._call({"type": "assist_pipeline/pipeline/list"})
        return {pipeline["id"]: pipeline for pipeline in result["pipelines"]}

    async def say(self, text: str, pipeline: str, *, conversation_id: str | None = None) -> Heard:
        """Say `text` to the satellite in the kitchen, through the pipeline."""
        message: dict[str, Any] = {
            "type": "assist_pipeline/run",
            "start_stage": "intent",
            "end_stage": "intent",
            "input": {"text": text},
            "pipeline": pipeline,
            "device_id": self.device_id,
        }
        if conversation_id:
            message["conversation_id"] = conversation_id
        await self._client.send_json_auto_id(message)
        started = await self._client.receive_json()
        assert started["success"], started
        events: list[dict[str, Any]] = []
        while not events or events[-1]["type"] not in ("run-end", "error"):
            events.append((await self._client.receive_json())["event"])
        if events[-1]["type"] == "error":
            events.append((await self._client.receive_json())["event"])
        return Heard(events)

    async def _call(self, message: dict[str, Any]) -> Any:
        await self._client.send_json_auto_id(message)
        answer = await self._client.receive_json()
        assert answer["success"], answer
        return answer["result"]
