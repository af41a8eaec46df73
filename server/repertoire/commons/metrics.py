"""Counts requests, connections and jobs for Prometheus; whoever has the operator's token reads them at /metrics.

No label holds an id, a key, a community or a text: routes are templates, all else is one of a few fixed words.
"""

from __future__ import annotations

import asyncio
import hmac
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import psycopg
from fastapi import Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from repertoire.commons.database import Database
from repertoire.domain.errors import InvalidRequest

TOKEN_FILE = "REPERTOIRE_COMMONS_METRICS_TOKEN_FILE"  # noqa: S105 - the name of a variable
_LEAST_TOKEN = 16  # characters
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_JOB_STATES = {"todo": "pending", "doing": "running", "failed": "dead"}  # procrastinate's words, and ours
_POOL_STATES = {"pool_size": "open", "pool_available": "idle", "requests_waiting": "awaited"}


class Metrics:
    """The metrics of one process."""

    def __init__(self, database: Database) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "repertoire_commons_requests", "Answered requests.", ["method", "route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "repertoire_commons_request_seconds",
            "Time from a request to its answer.",
            ["method", "route"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self.running = Gauge(
            "repertoire_commons_requests_running", "Requests that are being answered.", registry=self._registry
        )
        self._registry.register(_Database(database))

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format; asks the database for the number of jobs."""
        return generate_latest(self._registry)


class _Database(Collector):
    """Reads the state of the pool and of the jobs when metrics are read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[Metric]:
        """Return the metrics; the number of jobs is left out while PostgreSQL is away."""
        pool = GaugeMetricFamily("repertoire_commons_pool_connections", "Database connections.", labels=["state"])
        stats = self._database.pool_stats()
        for name, state in _POOL_STATES.items():
            pool.add_metric([state], stats.get(name, 0))
        yield pool
        jobs = GaugeMetricFamily("repertoire_commons_jobs", "Embedding jobs of all communities.", labels=["state"])
        try:
            counts = self._jobs()
        except psycopg.OperationalError:
            counts = {}
        for name, state in _JOB_STATES.items() if counts else ():
            jobs.add_metric([state], counts.get(name, 0))
        yield jobs
        yield GaugeMetricFamily("repertoire_commons_database_up", "1 if PostgreSQL answers.", value=float(bool(counts)))

    def _jobs(self) -> dict[str, int]:
        with self._database.untenanted() as connection:
            rows = connection.execute("SELECT status::text, count(*) FROM procrastinate_jobs GROUP BY 1").fetchall()
        return {"todo": 0, **{str(status): int(count) for status, count in rows}}


def read_token() -> str:
    """Return the operator's token from the file that TOKEN_FILE names; empty where none is named.

    Raises:
        InvalidRequest: the file holds too little to be a secret.
    """
    path = os.environ.get(TOKEN_FILE, "")
    token = Path(path).read_text(encoding="ascii").strip() if path else ""
    if path and len(token) < _LEAST_TOKEN:
        message = f"{path} holds {len(token)} characters; a token for /metrics has at least {_LEAST_TOKEN}"
        raise InvalidRequest(message)
    return token


def metrics_route(metrics: Metrics, token: str) -> Callable[[Request], Awaitable[Response]]:
    """Return the route that shows the metrics to whoever sends the token, and to nobody where there is none."""
    expected = f"Bearer {token}".encode()

    async def read(request: Request) -> Response:
        sent = request.headers.get("authorization", "").encode()
        if not token or not hmac.compare_digest(sent, expected):
            return Response(status_code=401, headers={"WWW-Authenticate": "Bearer"})
        return Response(await asyncio.to_thread(metrics.text), media_type=CONTENT_TYPE_LATEST)

    return read
