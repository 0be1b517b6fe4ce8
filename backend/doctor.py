"""The command `doctor`: is everything there that an answer needs, and if not, what to do about it.

Decides what is looked at and what counts as a fault (exit code 1) or as something to know of. It starts the parts
as `serve` does, asks each source once, and looks at the model; what a part says about itself is the part's.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
import json
import logging
import os
import re
import socket
import sys
import time
from typing import Final, Literal

import aiohttp

from backend.bootstrap import Backend, build
from backend.contract import LABELS
from backend.settings import Settings, SettingsError, load
from backend.sources.base import Source
from backend.store.database import StoreError
from backend.types import Failed, NotConfigured, Question, Step

_SOURCE_SECONDS: Final = 60.0
"""A first look through a large library takes its time."""
_HTTP_SECONDS: Final = 2.0
_WORD: Final = "water"
"""What each source is asked for: whether it is found is of no matter, whether it can be looked for is."""

_SET_UP_BY: Final[Mapping[str, str]] = {
    "house": "LIBRARY_DIR",
    "kiwix": "ZIM_DIR or KIWIX_URL",
    "uptime": "UPTIME_KUMA_URL, and UPTIME_KUMA_STATUS_PAGE or UPTIME_KUMA_API_KEY",
    "news": "NEWS_FEEDS, or FRESHRSS_URL and FRESHRSS_USER and FRESHRSS_API_PASSWORD",
    "forecast": "FORECAST_LATITUDE and FORECAST_LONGITUDE",
    "web": "SEARXNG_URL",
    "ha": "HA_URL and HA_TOKEN",
    "changes": "UPTIME_KUMA_URL, HA_URL or NEWS_FEEDS",
}
"""What sets a source up, in words that hold the names of settings."""
_WHERE: Final[Mapping[str, str]] = {
    "kiwix": "KIWIX_URL",
    "uptime": "UPTIME_KUMA_URL and UPTIME_KUMA_STATUS_PAGE",
    "news": "NEWS_FEEDS or FRESHRSS_URL",
    "forecast": "FORECAST_URL or GEOCODING_URL",
    "web": "SEARXNG_URL",
    "ha": "HA_URL",
}
"""Which settings say where the server of a source is."""
_NAME: Final = re.compile(r"[A-Z_]{6,}")

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Check:
    """What was found about one thing; `remedy` says what to do, where there is something to do."""

    name: str
    status: Status
    message: str
    remedy: str | None = None


def add_parser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    parents: Sequence[argparse.ArgumentParser] = (),
) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "doctor",
        parents=list(parents),
        help="look at settings, documents and model, and say what to do",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what was found, a line each; return 0 if nothing is at fault, else 1."""
    # What the parts would log is what the lines say.
    logging.disable(logging.CRITICAL)
    try:
        checks = asyncio.run(_collect(args))
    finally:
        logging.disable(logging.NOTSET)
    healthy = all(check.status != "fail" for check in checks)
    if args.json:
        found = {"ok": healthy, "checks": [asdict(check) for check in checks]}
        text = json.dumps(found, indent=2)
    else:
        text = "\n".join(lines(checks))
    sys.stdout.write(f"{text}\n")
    return 0 if healthy else 1


def lines(checks: Sequence[Check]) -> Iterator[str]:
    """Yield the findings as a person reads them."""
    width = max(len(check.name) for check in checks)
    for check in checks:
        yield f"{check.status:<4}  {check.name:<{width}}  {check.message}"
        if check.remedy:
            yield f"{'':<4}  {'':<{width}}  -> {check.remedy}"


async def _collect(args: argparse.Namespace) -> list[Check]:
    try:
        settings = await asyncio.to_thread(
            load,
            os.environ,
            args.config,
            library_dir=args.library,
            data_dir=args.data_dir,
        )
    except SettingsError as error:
        return [Check("settings", "fail", problem) for problem in error.problems]
    checks = [Check("settings", "ok", "every setting is known and makes sense"), keys(settings)]
    checks.append(await port(settings))
    try:
        async with build(settings) as backend:
            checks += [check async for check in examine(backend)]
    except StoreError as error:
        checks.append(Check("data", "fail", str(error)))
    return checks


def keys(settings: Settings) -> Check:
    """Look at who may ask."""
    if settings.open_to_network:
        return Check(
            "keys",
            "warn",
            f"anyone who reaches {settings.host}:{settings.port} may ask",
            "set API_KEYS to a long random word, or HOST to 127.0.0.1",
        )
    if settings.api_keys:
        return Check("keys", "ok", f"{len(settings.api_keys)} set")
    return Check("keys", "ok", f"none, and only this machine reaches {settings.host}")


async def port(settings: Settings) -> Check:
    """Look whether the server can listen; one of ours that listens there already is welcome."""
    where = f"{settings.host}:{settings.port}"
    try:
        await asyncio.to_thread(_listen, settings.host, settings.port)
    except OSError as error:
        if await _is_ours(settings.port):
            return Check("port", "ok", f"a server of ours listens on {where}")
        return Check(
            "port",
            "fail",
            f"can't listen on {where}: {error.strerror or error}",
            "set PORT to a free one and HOST to an address of this machine, or stop what listens there",
        )
    return Check("port", "ok", f"{where} is free")


def _listen(host: str, port: int) -> None:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)


async def _is_ours(port: int) -> bool:
    limit = aiohttp.ClientTimeout(total=_HTTP_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=limit) as session,
            session.get(f"http://127.0.0.1:{port}/health") as reply,
        ):
            return "contract" in await reply.json()
    except (aiohttp.ClientError, TimeoutError, ValueError, TypeError):
        return False


async def examine(backend: Backend) -> AsyncIterator[Check]:
    """Look at the parts of a server that has been built."""
    settings = backend.settings
    yield (
        Check("data", "fail", backend.store.error)
        if backend.store.error
        else Check("data", "ok", f"{settings.data_dir} can be written")
    )
    for source in backend.sources.values():
        yield await _source(source, settings)
    await backend.models.ready()
    yield _model(backend)


async def _source(source: Source, settings: Settings) -> Check:
    name = source.tag
    now = time.monotonic()
    outcome = await source.ask(
        Step(name, _WORD),
        Question(_WORD, "en", datetime.now(UTC), received=now, deadline=now + _SOURCE_SECONDS),
    )
    state = source.state()
    match outcome:
        case NotConfigured(setting):
            return _not_set_up(name, setting, state.detail, settings)
        case Failed(kind, detail):
            return Check(
                name, "fail", f"{kind}: {detail}" if detail else kind, _remedy(name, kind, detail)
            )
    if state.documents is None:
        return Check(name, "warn" if state.detail else "ok", state.detail or "it answers")
    count = state.documents
    held = f"{count} document{'' if count == 1 else 's'}"
    if state.detail:
        remedy = "replace these files or take them out"
        if settings.kiwix_url is not None and name == "kiwix":
            remedy = f"{remedy}; see that the server at KIWIX_URL runs"
        return Check(name, "warn", f"{held}; can't be read: {state.detail}", remedy)
    if count == 0:
        return Check(name, "warn", "no documents", "put some into the folder; docs/documents.md")
    return Check(name, "ok", held)


def _not_set_up(name: str, setting: str, detail: str, settings: Settings) -> Check:
    """Return what is missing of a source: all of it, which is fine, or the other half, which is a slip."""
    by = _SET_UP_BY.get(name, setting)
    if name == "house":
        return Check(name, "fail", detail, f"let {by} name the folder of the documents")
    if name != "changes" and any(
        getattr(settings, each.lower()) not in (None, ()) for each in _NAME.findall(by)
    ):
        if name == "kiwix":
            return Check(name, "fail", detail, f"let {setting} name the folder of the ZIM files")
        return Check(name, "warn", f"only half set up: no {setting}", f"set {setting} too")
    message = f"not set up: {detail}" if detail else "not set up"
    return Check(name, "ok", message, f"set {by} to add it ({LABELS[name]})")


def _remedy(name: str, kind: str, detail: str) -> str | None:
    where = _WHERE.get(name)
    if kind == "unreadable" and name in ("house", "kiwix"):
        return "replace these files or take them out"
    if where is None or kind not in ("timeout", "unreachable", "busy", "bad_reply"):
        return None
    if "refuses" in detail:
        return f"see that what is set for it is right: {_SET_UP_BY[name]}"
    return f"see that it runs, and that its setting ({where}) names it"


def _model(backend: Backend) -> Check:
    models = backend.models
    if not backend.settings.synthesis_enabled:
        return Check("model", "ok", "composing is switched off (SYNTHESIS_ENABLED)")
    state = models.state()
    problem = models.problem
    if problem is None:
        composing = {
            "none": "composing is switched off (LLM_API_TYPE)",
            "extractive": "the best sentences are quoted, no model is asked",
        }
        return Check(
            "model", "ok", composing.get(models.kind, f"{state['kind']}: {state['model']} is there")
        )
    name, server = models.provider.model, models.provider.kind
    remedy = {
        "ollama": {
            "no_model": f"ollama pull {name}",
            "unreachable": "install and start Ollama (ollama serve), or set LLM_URL to where it runs",
            "http_404": "set LLM_URL to Ollama itself, say http://127.0.0.1:11434, without a path",
        },
        "openai": {
            "no_model": "set LLM_MODEL to a model of the server",
            "unreachable": "start the server, or set LLM_URL to where it runs",
            "http_401": "set LLM_API_KEY to the server's key",
            "http_403": "set LLM_API_KEY to the server's key",
            "http_404": "set LLM_URL to where the API begins, say http://127.0.0.1:8000/v1",
        },
    }.get(server, {})
    message = f"{server}: {state['detail'] or problem}"
    if models.kind == "extractive":
        message = (
            f"no model {name}: {state['detail'] or problem}; the best sentences are quoted instead"
        )
    return Check(
        "model",
        # Quotes stand in by the owner's leave; a model that was chosen and isn't there is a fault.
        "warn" if models.kind == "extractive" else "fail",
        message,
        remedy.get(problem, "docs/models.md says what each model server needs"),
    )
