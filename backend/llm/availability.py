"""Which model composes answers now: the configured one, none, or quotes in its place.

A model that was found down isn't asked again until a probe in the background finds it back: who asks meanwhile
isn't kept waiting. One question never tries a second model; but where the owner chose none, quotes stand in while
there is no Ollama. How a model is asked is `synthesis`'s, and what it takes is each provider's.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
import logging
from typing import Any, Final, Literal

from backend.llm.llamacpp import LlamaCpp
from backend.llm.ollama import DEFAULT_URL, Ollama, context_tokens
from backend.llm.openai import OpenAI
from backend.llm.provider import ModelError, Provider
from backend.settings import Settings

_LOGGER = logging.getLogger(__name__)

EXTRACTIVE: Final = "extractive"
Kind = Literal["model", "extractive", "none"]

_DOWN: Final = ("unreachable", "no_model")
"""What a call says when there is nobody to call; after anything else the next question may try."""
_REPLY_TOKENS: Final = 1_300


class Availability:
    """Holds the model of a server, and knows whether it is there."""

    def __init__(
        self,
        provider: Provider | None,
        *,
        otherwise: Literal["extractive", "none"] | None = None,
        probe_seconds: float = 60.0,
    ) -> None:
        """Take the model, and what composes `otherwise`: without a model, or while it is down.

        A model without an `otherwise` is the owner's choice: nothing stands in for it.
        """
        self._provider = provider
        self._otherwise: Literal["extractive", "none"] | None = otherwise
        self._probe_seconds = probe_seconds
        # Until it has been seen, a model that has a stand-in isn't there.
        self._problem: ModelError | None = (
            ModelError("unreachable", "not asked yet") if provider and otherwise else None
        )
        self._probed = asyncio.Event()
        self._wake = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None

    @property
    def kind(self) -> Kind:
        """What composes the next answer."""
        if self._provider is None or (self._otherwise is not None and self._problem is not None):
            return self._otherwise or "none"
        return "model"

    @property
    def provider(self) -> Provider:
        """The model; LookupError where there is none."""
        if self._provider is None:
            raise LookupError("no model is configured")
        return self._provider

    @property
    def model(self) -> str:
        """Name of what composes the next answer."""
        return self.provider.model if self.kind == "model" else self.kind

    @property
    def problem(self) -> str | None:
        """Why the model can't be called now: the kind of its error; None if it can."""
        return self._problem.kind if self._problem is not None else None

    def failed(self, error: ModelError) -> None:
        """Take note of how a call failed."""
        if error.kind in _DOWN:
            self._is_down(error)
            self._wake.set()
        elif error.kind == "timeout":
            # It may be loading, and goes on only while somebody waits for it; or it hangs, as the probe will tell.
            self._warm()
            self._wake.set()

    async def start(self) -> None:
        """Begin to look after the model in the background."""
        if self._provider is not None and self._watching is None:
            self._watching = asyncio.create_task(self._watch())

    async def ready(self) -> None:
        """Wait until the model has been looked at once after `start`; a few seconds at most."""
        if self._watching is not None:
            await self._probed.wait()

    async def close(self) -> None:
        """End what `start` began, and give back the model."""
        begun = [task for task in (self._watching, self._warming) if task is not None]
        for task in begun:
            task.cancel()
        await asyncio.gather(*begun, return_exceptions=True)
        self._watching = self._warming = None
        if self._provider is not None:
            await self._provider.close()

    def state(self) -> dict[str, Any]:
        """Return how composing is doing, as `/health` shows it."""
        kind = self.kind
        detail = self._problem.detail if self._problem is not None else ""
        return {
            "kind": self.provider.kind if kind == "model" else kind,
            "model": self.model,
            "available": kind == "extractive" or (kind == "model" and self._problem is None),
            "detail": detail if kind != "none" else "composing is switched off",
        }

    async def _watch(self) -> None:
        while True:
            self._wake.clear()
            await self._probe()
            self._probed.set()
            if self._problem is None:
                await self._wake.wait()
            else:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._probe_seconds):
                        await self._wake.wait()

    async def _probe(self) -> None:
        first = not self._probed.is_set()
        try:
            await self.provider.probe()
        except ModelError as error:
            self._is_down(error)
        except Exception as error:
            _LOGGER.exception("Looking for the model failed")
            self._is_down(ModelError("unreachable", type(error).__name__))
        else:
            if first or self._problem is not None:
                _LOGGER.info("The model %s is there", self.provider.model)
                self._problem = None
                self._warm()

    def _is_down(self, error: ModelError) -> None:
        if self._problem is None or self._problem.kind != error.kind:
            log = _LOGGER.warning if self._otherwise is None else _LOGGER.info
            log("The model %s isn't there: %s", self.provider.model, error.detail or error.kind)
        self._problem = error

    def _warm(self) -> None:
        if self._warming is None or self._warming.done():
            self._warming = asyncio.create_task(self.provider.warm_up())


def from_settings(settings: Settings) -> Availability:
    """Return what composes answers by the settings; nothing is started or asked yet."""
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key is not None else None
    num_ctx = settings.llm_num_ctx or context_tokens(
        settings.synthesis_input_budget_chars, _REPLY_TOKENS
    )
    provider: Provider | None = None
    otherwise: Literal["extractive", "none"] | None = None
    match settings.llm_api_type:
        case "extractive" | "none" as kind:
            otherwise = kind
        case "openai":
            provider = OpenAI(settings.llm_url or DEFAULT_URL, settings.llm_model, key=key)
        case "llamacpp":
            provider = LlamaCpp(settings.llm_model_path, num_ctx=num_ctx)
        case kind:
            provider = Ollama(
                settings.llm_url or DEFAULT_URL,
                settings.llm_model,
                num_ctx=num_ctx,
                keep_alive=settings.llm_keep_alive,
                key=key,
            )
            otherwise = EXTRACTIVE if kind is None else None
    return Availability(provider, otherwise=otherwise, probe_seconds=settings.llm_probe_seconds)
