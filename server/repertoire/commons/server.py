"""Builds the server's application: routes, doors, health, errors as answers, the worker of `--dev`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import psycopg
from anyio import to_thread
from fastapi import FastAPI, Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from psycopg_pool import PoolTimeout
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from repertoire.commons import jobs
from repertoire.commons.api import PATH, router
from repertoire.commons.bans import Bans
from repertoire.commons.bodies import StatusOut
from repertoire.commons.database import Database
from repertoire.commons.errors import Conflict, NotAllowed, TooManyRequests
from repertoire.commons.gate import Refused
from repertoire.commons.keys import Keys
from repertoire.commons.limits import Limits
from repertoire.commons.mcp_door import PATH as MCP_PATH
from repertoire.commons.mcp_door import McpDoor
from repertoire.commons.metrics import Metrics, metrics_route, read_token
from repertoire.commons.models import Models
from repertoire.commons.observed import Observed
from repertoire.commons.packs import MOST_BYTES as MOST_PACK_BYTES
from repertoire.commons.packs import Packs
from repertoire.commons.problems import PROBLEMS
from repertoire.commons.service import Commons
from repertoire.commons.shared_use import SharedUse
from repertoire.domain.errors import InvalidRequest, RepertoireError, UnknownComponent

MOST_BYTES = 300_000  # of a request: both texts of a trace at their longest, in characters of four bytes
MOST_QUERY = 64_000  # a question and an error at their longest, percent-encoded
_THREADS = 16  # of requests: more than connections, so that some can refuse; more would only share the processor
_PACKS = f"{PATH}/packs/"  # where files are sent
_FULL_S = 60  # after which it is worth asking a server again whose database has no room
_STATUS: tuple[tuple[type[RepertoireError], int], ...] = (
    (NotAllowed, 403),
    (UnknownComponent, 404),
    (Conflict, 409),
    (InvalidRequest, 422),
    (TooManyRequests, 429),
)


def build(database: Database, pepper: bytes, models: Models, *, working: bool) -> FastAPI:
    """Return the application; `working` runs a worker in the same process."""

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        database.open()
        to_thread.current_default_thread_limiter().total_tokens = _THREADS
        queue = jobs.queue(database)
        stop = asyncio.Event()
        with queue.open():
            app.state.commons = Commons(database, queue, models)
            app.state.keys, app.state.bans = Keys(database, pepper), Bans(database)
            app.state.use, app.state.packs = SharedUse(database), Packs(database)
            app.state.database = database
            app.state.limits = Limits(database)
            worker = asyncio.create_task(jobs.work(database, models, stop)) if working and models else None
            async with door.sessions.run():
                yield
            stop.set()
            if worker:
                await worker
        database.close()

    app = FastAPI(title="Repertoire commons", version="1", lifespan=running)
    door, metrics = McpDoor(app, MOST_BYTES), Metrics(database)
    app.include_router(router, responses=PROBLEMS)
    app.add_middleware(SizeLimit)
    app.add_exception_handler(RepertoireError, _as_answer)
    app.add_exception_handler(psycopg.OperationalError, _unavailable)
    app.add_exception_handler(psycopg.DataError, _unstorable)
    app.add_exception_handler(RequestValidationError, _wrong_fields)
    app.add_exception_handler(405, _other_method)
    app.add_api_route("/healthz", _alive, methods=["GET"])
    app.add_api_route("/readyz", _ready(database), methods=["GET"], responses={503: {"model": StatusOut}})
    app.add_route("/metrics", metrics_route(metrics, read_token()), methods=["GET"], include_in_schema=False)
    app.router.routes.append(Route(MCP_PATH, door, methods=["POST"], include_in_schema=False))
    app.add_middleware(Observed, metrics=metrics)  # the last one is the outermost
    return app


class SizeLimit:
    """Refuses a request that is too large or does not say how large it is, before any of it is read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI's
        if scope["type"] == "http":
            headers = dict(scope["headers"])
            length = headers.get(b"content-length", b"0")
            if b"transfer-encoding" in headers:
                await _refuse(411, "say the length of the request")(scope, receive, send)
                return
            if len(scope["query_string"]) > MOST_QUERY:
                await _refuse(414, f"the query of a request has at most {MOST_QUERY} bytes")(scope, receive, send)
                return
            most = MOST_PACK_BYTES if (scope["method"], scope["path"][: len(_PACKS)]) == ("PUT", _PACKS) else MOST_BYTES
            if not length.isdigit() or int(length) > most:
                await _refuse(413, f"a request has at most {most} bytes")(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _refuse(status: int, why: str) -> Response:
    return JSONResponse({"detail": why}, status)


async def _as_answer(_request: Request, error: Exception) -> Response:
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    content: dict[str, object] = {"detail": str(error)}
    if isinstance(error, Refused):
        content |= {"field": error.field, "line": error.line, "what": error.what}
    wait = {"Retry-After": str(error.wait_s)} if isinstance(error, TooManyRequests) else None
    return JSONResponse(content, status, wait)


async def _unavailable(_request: Request, error: Exception) -> Response:
    why, wait = "the database does not answer; try again", 2
    if isinstance(error, psycopg.errors.DiskFull):
        why = "the database's disk is full: nothing new is stored until there is room; what was accepted before is kept"
        wait = _FULL_S
    elif isinstance(error, PoolTimeout):
        why = "all connections to the database are in use, or it does not answer; try again"
    return JSONResponse({"detail": why}, 503, {"Retry-After": str(wait)})


async def _unstorable(_request: Request, error: Exception) -> Response:
    if "NUL" not in str(error):
        raise error
    return JSONResponse({"detail": "a text holds the character NUL, which cannot be stored; leave it out"}, 422)


async def _wrong_fields(_request: Request, error: Exception) -> Response:
    """Answer as the framework does, but in ASCII: a field may hold half a surrogate pair, which UTF-8 cannot encode."""
    wrong = jsonable_encoder(error.errors() if isinstance(error, RequestValidationError) else [])
    return Response(json.dumps({"detail": wrong}), 422, media_type="application/json")


async def _other_method(request: Request, _error: Exception) -> Response:
    """Answer with every method of the path; the framework names those of its first route alone."""
    path = getattr(request.scope.get("route"), "path", request.url.path)
    routes = (route for route in (*router.routes, *request.app.routes) if isinstance(route, Route))
    methods = {method for route in routes if route.path == path for method in route.methods or ()}
    return JSONResponse({"detail": "the route has another method"}, 405, {"Allow": ", ".join(sorted(methods))})


async def _alive() -> StatusOut:
    """Tell that the process answers."""
    return StatusOut(status="ok")


def _ready(database: Database) -> Callable[[], Awaitable[Response]]:
    async def ready() -> Response:
        """Tell whether the database answers."""
        answers = await asyncio.to_thread(database.ready)
        return JSONResponse({"status": "ready" if answers else "no database"}, 200 if answers else 503)

    return ready
