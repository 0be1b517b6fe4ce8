"""Builds every part from the settings and hands it over: the only file that knows every source and every model server.

A source or a model server is added here in one line. What is built begins with `async with build(settings)` and has
ended after it, in the reverse order; nothing waits for an upstream on the way.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
import logging
from pathlib import Path
import uuid

from aiohttp import ClientSession, web
from pydantic import SecretStr

from backend import __version__
from backend.answer.synthesis import Composer
from backend.ask import Ask
from backend.contract import Health
from backend.evidence.fusion import Limits
from backend.flights import Flights
from backend.gather import Gatherer
from backend.house_wiki.watch import Library
from backend.llm.availability import Availability, from_settings
from backend.planning import Chooser, Planner
from backend.server.app import create_app
from backend.settings import Settings
from backend.sources.base import Observed, Source
from backend.sources.changes import Changes
from backend.sources.forecast import Forecast
from backend.sources.ha import HomeStates
from backend.sources.house import House
from backend.sources.http import open_session
from backend.sources.kiwix import Kiwix
from backend.sources.kiwix_serve import KiwixServe
from backend.sources.news import News
from backend.sources.uptime import Uptime
from backend.sources.web import Web
from backend.store import Store
from backend.store.store import FILE

_LOGGER = logging.getLogger(__name__)

NAME = "Mnemolis"
_ID_FILE = "id"


@dataclass(frozen=True, slots=True)
class Backend:
    """All parts of one server."""

    settings: Settings
    id: str
    store: Store
    sources: Mapping[str, Source]
    changes: Changes
    models: Availability
    ask: Ask


@asynccontextmanager
async def build(settings: Settings) -> AsyncGenerator[Backend]:
    """Build a server and have it ready to be asked. Raises StoreError when nothing can be written at all."""
    async with AsyncExitStack() as stack:
        library = await asyncio.to_thread(settings.library_dir.absolute)
        store = await Store.open(
            settings.data_dir / FILE,
            size=settings.cache_max_size,
            routes=settings.routing_cache_max_size,
            library=str(library),
        )
        stack.push_async_callback(store.close)
        session = open_session()
        stack.push_async_callback(session.close)
        sources = _sources(settings, store, session)
        changes = _changes(settings, store, sources)
        sources[changes.tag] = changes
        for source in sources.values():
            await source.start()
            stack.push_async_callback(source.close)
        models = from_settings(settings)
        await models.start()
        stack.push_async_callback(models.close)
        ask = Ask(
            sources,
            Planner(
                sources,
                max_steps=settings.fusion_max_sources,
                chooser=_chooser(settings, models, store),
            ),
            Gatherer(sources, store.results, timeout=settings.fusion_timeout_seconds),
            Composer(settings, models, store.answers, Flights()),
            store.log,
            Limits(
                sections=settings.fusion_max_sources,
                fused_chars=settings.fusion_max_chars_per_source,
                fused_seconds=settings.cache_ttl_fusion_seconds,
            ),
        )
        stack.push_async_callback(ask.close)
        known_as = await asyncio.to_thread(identity, settings.data_dir)
        yield Backend(settings, known_as, store, sources, changes, models, ask)


def create_server(backend: Backend) -> web.Application:
    """Return the HTTP application over the parts."""
    if backend.settings.open_to_network:
        _LOGGER.warning("Anyone on the network may ask: set API_KEYS, or HOST to 127.0.0.1")

    async def health() -> Health:
        states = {tag: source.state() for tag, source in backend.sources.items()}
        model = backend.models.state()
        store = backend.store
        return Health(
            status="degraded" if store.error else "ok",
            id=backend.id,
            name=NAME,
            version=__version__,
            sources={tag: state.as_dict() for tag, state in states.items()},
            model=model,
            cache={
                "results": await store.results.count(),
                "answers": await store.answers.count(),
                "error": store.error,
            },
            jobs={},
        )

    return create_app(
        backend.ask,
        settings=backend.settings,
        health=health,
        store=backend.store,
        look=backend.changes.look,
    )


def _sources(settings: Settings, store: Store, session: ClientSession) -> dict[str, Source]:
    """Return every source by its tag, configured or not."""
    library = Library(
        settings.library_dir, store.passages, rescan_seconds=settings.library_rescan_seconds
    )
    sources: tuple[Source, ...] = (
        House(library, store.passages, ttl=settings.cache_ttl_house_seconds),
        Kiwix(
            settings.zims,
            rescan_seconds=settings.library_rescan_seconds,
            ttl=settings.cache_ttl_kiwix_seconds,
            server=KiwixServe(session, settings.kiwix_url) if settings.kiwix_url else None,
        ),
        Uptime(
            session,
            settings.uptime_kuma_url,
            page=settings.uptime_kuma_status_page,
            key=_secret(settings.uptime_kuma_api_key),
            ttl=settings.cache_ttl_uptime_seconds,
        ),
        News.from_settings(settings, session),
        Forecast.from_settings(settings, session),
        Web.from_settings(settings, session),
        HomeStates(
            session,
            settings.ha_url,
            token=_secret(settings.ha_token),
            battery_low=settings.battery_low_threshold_pct,
            ttl=settings.cache_ttl_ha_seconds,
        ),
    )
    return {source.tag: source for source in sources}


def _chooser(settings: Settings, models: Availability, store: Store) -> Chooser | None:
    if not settings.routing_model_enabled:
        return None
    return Chooser(
        models,
        store.routes,
        seconds=settings.routing_timeout_seconds,
        ttl=settings.routing_cache_ttl_seconds,
    )


def _secret(value: SecretStr | None) -> str | None:
    return None if value is None else value.get_secret_value()


def _changes(settings: Settings, store: Store, sources: Mapping[str, Source]) -> Changes:
    """Return the source that tells what has changed in those that can be looked at again and again."""
    observed = [source for source in sources.values() if isinstance(source, Observed)]
    return Changes(
        observed,
        store.snapshots,
        ttl=settings.cache_ttl_changes_seconds,
        hours=settings.hours,
    )


def identity(data_dir: Path) -> str:
    """Return the server's own id, which outlives restarts; made at the first start.

    Where it can't be kept, it holds until the next start.
    """
    file = data_dir / _ID_FILE
    try:
        return str(uuid.UUID(file.read_text("ascii").strip()))
    except (OSError, ValueError):
        pass
    new = str(uuid.uuid4())
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{new}\n", "ascii")
    except OSError as error:
        _LOGGER.warning(
            "%s can't be written (%s): clients won't know this server again", file, error.strerror
        )
    return new
