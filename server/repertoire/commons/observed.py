"""Gives each request an id, a line in the log and a count in the metrics, and turns a fault into an answer."""

from __future__ import annotations

import logging
import re
import secrets
import time
from dataclasses import dataclass
from typing import Any

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from repertoire.commons.database import request_came
from repertoire.commons.logs import REQUESTS, with_fields
from repertoire.commons.metrics import Metrics

REQUEST_ID = "x-request-id"
KEY_ID = "key_id"  # the name in a request's state under which the check of a key leaves its id
_SENT_ID = re.compile(r"[A-Za-z0-9-]{8,64}")
_METHODS = ("GET", "POST", "PATCH", "DELETE")
_PLAIN_ROUTES = ("/mcp", "/metrics", "/docs", "/redoc", "/openapi.json")
_LOG = logging.getLogger(REQUESTS)


@dataclass
class _Request:
    """What is known of a request while it is answered."""

    scope: Scope
    id: str
    began: float
    status: int = 0

    @property
    def method(self) -> str:
        """Return its method, or a word for all that no route has."""
        method = str(self.scope["method"])
        return method if method in _METHODS else "other"

    @property
    def route(self) -> str:
        """Return the template of its route, or a word for all that match none."""
        found = getattr(self.scope.get("route"), "path", "")
        return str(found or next((path for path in _PLAIN_ROUTES if path == self.scope["path"]), "none"))


class Observed:
    """The outermost part of the application."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI's
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_came()
        request = _Request(scope, _id_of(scope), time.perf_counter())
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = request.id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                request.status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = request.id
            await send(message)

        with self._metrics.running.track_inprogress():
            try:
                await self._app(scope, receive, send_with_id)
            except Exception:  # noqa: BLE001 - the door: a fault becomes an answer, and its places a line of the log
                _LOG.exception("fault", extra=with_fields(id=request.id, route=request.route))
                if not request.status:
                    await _fault(request.id)(scope, receive, send_with_id)
            finally:
                self._note(request, state)

    def _note(self, request: _Request, state: dict[str, Any]) -> None:
        seconds = time.perf_counter() - request.began
        self._metrics.answered(request.method, request.route, request.status, seconds)
        fields = with_fields(
            id=request.id,
            method=request.method,
            route=request.route,
            status=request.status,
            ms=round(seconds * 1000, 1),
            key=state.get(KEY_ID, ""),
        )
        _LOG.info("request", extra=fields)


def _id_of(scope: Scope) -> str:
    sent = Headers(scope=scope).get(REQUEST_ID, "")
    return sent if _SENT_ID.fullmatch(sent) else secrets.token_hex(8)


def _fault(request_id: str) -> JSONResponse:
    return JSONResponse({"detail": f"a fault in the server; its log has the details of request {request_id}"}, 500)
