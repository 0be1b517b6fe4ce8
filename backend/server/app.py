"""The application: its parts come in as arguments, its addresses are in `routes`.

Two middlewares stand before every address: `errors.boundary` turns what goes wrong into HTTP, `auth.admission`
lets in who may. There are no CORS headers: pages of other sites have no business here.
"""

from __future__ import annotations

from typing import Final

from aiohttp import web

from backend.contract import BODY_MAX_BYTES
from backend.server.asking import Asking
from backend.server.auth import KEYS, Keys, admission
from backend.server.errors import boundary
from backend.server.metrics import METRICS, Metrics
from backend.server.parts import ASK, HEALTH, LOOK, SETTINGS, STORE, HealthCheck, Keeping, Look
from backend.server.rates import PLACES, RATES, Places, Rates
from backend.server.routes import ROUTES
from backend.settings import Settings

_SEARCHES_AT_ONCE: Final = 64
"""A household's satellites and then some; each holds memory and a place in a queue until its deadline."""


def create_app(
    ask: Asking,
    *,
    settings: Settings,
    health: HealthCheck,
    store: Keeping,
    look: Look,
    searches_at_once: int = _SEARCHES_AT_ONCE,
) -> web.Application:
    """Return the application over its parts.

    `health` returns all there is to know about the server; what a caller gets of it is decided here. `look` has the
    sources looked at whose changes are told.
    """
    app = web.Application(middlewares=(boundary, admission), client_max_size=BODY_MAX_BYTES)
    app[ASK] = ask
    app[SETTINGS] = settings
    app[HEALTH] = health
    app[STORE] = store
    app[LOOK] = look
    app[METRICS] = Metrics()
    app[KEYS] = Keys(settings.api_keys)
    app[RATES] = Rates(settings.rate_limit_per_minute, settings.rate_limit_total_per_minute)
    app[PLACES] = Places(searches_at_once)
    for route in ROUTES:
        app.router.add_route(route.method, route.path, route.handler)
        if route.method == "GET":
            app.router.add_route("HEAD", route.path, route.handler)
    return app
