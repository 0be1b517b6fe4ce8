"""The conversation agent: Home Assistant's own sentences first, then the server, and back again on hand-back.

Decides who answers, and that whoever speaks gets a sentence in their language whatever happens. Retrieval and
wording are the server's. Before Home Assistant's sentences have been tried nothing goes over the network, so the
household's commands work the same with the server away.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
import logging
from typing import Final, Literal, override

from hassil.recognize import RecognizeResult
from homeassistant.components import conversation
from homeassistant.const import MATCH_ALL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import asking, speech
from .client import InvalidAuth, MnemolisError, Reply, Retrieved, Sentence, StreamFailed
from .const import DOMAIN
from .coordinator import MnemolisConfigEntry
from .language import DATA_LANGUAGES, Language, fold

_LOGGER = logging.getLogger(__name__)

PARALLEL_UPDATES = 0

_TIMER_COMMAND: Final = "conversation_command"


async def async_setup_entry(
    hass: HomeAssistant,
    entry: MnemolisConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up the agent."""
    async_add_entities([MnemolisAgent(entry)])


@dataclass(slots=True)
class _Turn:
    """What has become of one question so far."""

    said: list[str] = field(default_factory=list)
    retrieved: Reply | None = None
    reply: Reply | None = None
    error: MnemolisError | None = None

    @property
    def text(self) -> str:
        return "".join(self.said)


class MnemolisAgent(conversation.ConversationEntity):
    """The agent of one server. It is always available: without the server it still commands the house."""

    _attr_has_entity_name = True
    _attr_name = None
    _attr_supported_features = conversation.ConversationEntityFeature.CONTROL
    _attr_supports_streaming = True

    def __init__(self, entry: MnemolisConfigEntry) -> None:
        """Start as the agent of `entry`."""
        self._entry = entry
        self._attr_unique_id = entry.entry_id
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, entry.entry_id)},
            name=entry.title,
            manufacturer="Mnemolis",
            entry_type=DeviceEntryType.SERVICE,
        )

    @property
    @override
    def supported_languages(self) -> list[str] | Literal["*"]:
        """Return that every language is welcome; which ones are understood is the server's matter."""
        return MATCH_ALL

    @override
    async def async_prepare(self, language: str | None = None) -> None:
        """Get ready while someone still speaks: load Home Assistant's sentences, connect to the server."""
        await conversation.async_prepare_agent(
            self.hass,
            conversation.HOME_ASSISTANT_AGENT,
            language or self.hass.config.language,
        )
        try:
            await self._entry.runtime_data.client.health()
        except MnemolisError as error:
            _LOGGER.debug("Getting ready: %s", error)

    @override
    async def _async_handle_message(
        self,
        user_input: conversation.ConversationInput,
        chat_log: conversation.ChatLog,
    ) -> conversation.ConversationResult:
        """Answer, or have Home Assistant answer."""
        language = self.hass.data[DATA_LANGUAGES].of(user_input.language)
        history = _history(chat_log)
        turn = _Turn()
        try:
            if (local := await self._home_assistant(user_input, chat_log, language)) is not None:
                return local
            if language.is_ghost(user_input.text):
                return await self._say(
                    user_input, chat_log, turn, language.spoken["not_understood"]
                )
            return await self._knowledge(user_input, chat_log, turn, language, history)
        except intent.IntentError as error:
            # An order that Home Assistant understands and has nothing to do it with: a list that isn't there.
            _LOGGER.warning("Home Assistant couldn't do what was asked: %s", type(error).__name__)
            return await self._say(user_input, chat_log, turn, language.spoken["not_done"])
        except Exception:
            # What escaped would be silence, or an error in English.
            _LOGGER.exception("Answering failed")
            return await self._say(user_input, chat_log, turn, language.spoken["failed"])

    async def _home_assistant(
        self,
        user_input: conversation.ConversationInput,
        chat_log: conversation.ChatLog,
        language: Language,
    ) -> conversation.ConversationResult | None:
        """Return what Home Assistant's own sentences make of it, None where they don't match."""
        places = {fold(zone.name) for zone in self.hass.states.async_all("zone")} | language.home

        def reject(result: RecognizeResult) -> bool:
            """Return whether a match isn't Home Assistant's: its wildcards take any words for a place or a command.

            "Who is Marie Curie" would be answered by "nobody", "will it rain in two hours" by a timer.
            """
            if result.intent.name == intent.INTENT_GET_STATE:
                return any(
                    entity.is_wildcard and fold(entity.text) not in places
                    for entity in result.entities_list
                )
            command = result.entities.get(_TIMER_COMMAND)
            return command is not None and language.is_question(command.text)

        response = await conversation.async_handle_intents(
            self.hass, user_input, chat_log, intent_filter=reject
        )
        if response is None:
            return None
        chat_log.async_add_assistant_content_without_tools(
            conversation.AssistantContent(
                agent_id=self.entity_id,
                content=response.speech.get("plain", {}).get("speech", ""),
            )
        )
        return conversation.ConversationResult(
            response=response, conversation_id=chat_log.conversation_id
        )

    async def _knowledge(
        self,
        user_input: conversation.ConversationInput,
        chat_log: conversation.ChatLog,
        turn: _Turn,
        language: Language,
        history: list[asking.Turn],
    ) -> conversation.ConversationResult:
        """Ask the server."""
        deltas = self._deltas(user_input, turn, language, history)
        async for _ in chat_log.async_add_delta_content_stream(self.entity_id, deltas):
            pass
        if turn.said:
            return self._result(user_input, chat_log, turn)
        if turn.reply is not None and turn.reply.handback:
            return await self._handed_back(user_input)
        if turn.error is None:
            return await self._say(user_input, chat_log, turn, language.spoken["nothing"])
        if not language.is_question(user_input.text):
            # Perhaps an order that Home Assistant understands when it takes it less strictly.
            before = len(chat_log.content)
            result = await self._handed_back(user_input)
            if result.response.error_code is not intent.IntentResponseErrorCode.NO_INTENT_MATCH:
                return result
            # It was none: that it wasn't understood would be untrue, so it wasn't said.
            del chat_log.content[before:]
        return await self._say(
            user_input, chat_log, turn, asking.spoken_failure(turn.error, language)
        )

    async def _deltas(
        self,
        user_input: conversation.ConversationInput,
        turn: _Turn,
        language: Language,
        history: list[asking.Turn],
    ) -> AsyncGenerator[conversation.AssistantContentDeltaDict]:
        """Yield what is said, sentence by sentence, and note in `turn` how it ended. Raises nothing.

        Joined, the deltas are the reply's `speech`, unless the reply goes back on what has been said.
        """
        try:
            async with aclosing(self._items(user_input, history)) as items:
                async for item in items:
                    match item:
                        case Retrieved():
                            turn.retrieved = item.reply
                        case Sentence():
                            if item.speech.strip():
                                yield _delta(turn, item.speech)
                        case Reply():
                            turn.reply = item
                            if rest := _rest(turn, item):
                                yield _delta(turn, rest)
        except MnemolisError as error:
            _LOGGER.debug("No whole reply: %s: %s", type(error).__name__, error)
            if isinstance(error, InvalidAuth):
                self._entry.async_start_reauth(self.hass)
            turn.error = error
        except Exception:
            _LOGGER.exception("Reading the reply failed")
            turn.error = MnemolisError()
        if turn.error is None:
            return
        own = turn.error.speech if isinstance(turn.error, StreamFailed) else ""
        if turn.said:
            yield _delta(turn, f" {own or language.spoken['cut_off']}")
        elif own:
            yield _delta(turn, own)
        elif (
            turn.retrieved and turn.retrieved.success and (found := speech.of_reply(turn.retrieved))
        ):
            # What was found stands, also when nothing more comes.
            yield _delta(turn, found)

    def _items(
        self, user_input: conversation.ConversationInput, history: list[asking.Turn]
    ) -> AsyncGenerator[Retrieved | Sentence | Reply]:
        """Return the reply as it comes about."""
        body = asking.question(
            self.hass,
            self._entry,
            user_input.text,
            language=user_input.language,
            history=history,
            conversation_id=user_input.conversation_id,
            device_id=user_input.device_id,
            satellite_id=user_input.satellite_id,
            accepts_handback=True,
        )
        return self._entry.runtime_data.client.stream(body, seconds=asking.seconds(self._entry))

    async def _handed_back(
        self, user_input: conversation.ConversationInput
    ) -> conversation.ConversationResult:
        """Return what Home Assistant's agent answers, in the same conversation."""
        return await conversation.async_converse(
            self.hass,
            user_input.text,
            user_input.conversation_id,
            user_input.context,
            language=user_input.language,
            agent_id=conversation.HOME_ASSISTANT_AGENT,
            device_id=user_input.device_id,
            satellite_id=user_input.satellite_id,
            extra_system_prompt=user_input.extra_system_prompt,
        )

    async def _say(
        self,
        user_input: conversation.ConversationInput,
        chat_log: conversation.ChatLog,
        turn: _Turn,
        text: str,
    ) -> conversation.ConversationResult:
        """Say `text` in place of an answer."""

        async def deltas() -> AsyncGenerator[conversation.AssistantContentDeltaDict]:
            yield {"role": "assistant", "content": text}

        turn.said.append(text)
        async for _ in chat_log.async_add_delta_content_stream(self.entity_id, deltas()):
            pass
        return self._result(user_input, chat_log, turn)

    def _result(
        self,
        user_input: conversation.ConversationInput,
        chat_log: conversation.ChatLog,
        turn: _Turn,
    ) -> conversation.ConversationResult:
        """Return what was said as the result. The microphone stays closed, whatever mark the text ends with."""
        response = intent.IntentResponse(language=user_input.language)
        if turn.reply is None and turn.retrieved is None:
            response.async_set_error(intent.IntentResponseErrorCode.FAILED_TO_HANDLE, turn.text)
        else:
            response.response_type = intent.IntentResponseType.QUERY_ANSWER
            response.async_set_speech(turn.text)
            if turn.reply is not None and turn.reply.citations:
                response.async_set_card(
                    self._entry.title,
                    "\n".join(
                        " — ".join(filter(None, (citation.title, citation.section, citation.url)))
                        for citation in turn.reply.citations
                    ),
                )
        return conversation.ConversationResult(
            response=response,
            conversation_id=chat_log.conversation_id,
            continue_conversation=False,
        )


def _delta(turn: _Turn, text: str) -> conversation.AssistantContentDeltaDict:
    """Return the delta that says `text`. The first one begins the message: without its role nothing is spoken."""
    begins = not turn.said
    turn.said.append(text)
    if begins:
        return {"role": "assistant", "content": text}
    return {"content": text}


def _rest(turn: _Turn, reply: Reply) -> str:
    """Return what `reply` has to say beyond what was said."""
    if reply.handback:
        return ""
    whole = speech.of_reply(reply)
    if not whole.startswith(turn.text):
        _LOGGER.debug("The reply isn't what was said on the way to it")
        return ""
    return whole.removeprefix(turn.text)


def _history(chat_log: conversation.ChatLog) -> list[asking.Turn]:
    """Return the turns before the present one."""
    return [
        (content.role, content.content)
        for content in chat_log.content[:-1]
        if isinstance(content, conversation.UserContent | conversation.AssistantContent)
        and content.content
    ]
