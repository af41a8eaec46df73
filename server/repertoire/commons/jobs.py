"""Embeds contributed traces in batches: a job for each contribution, deferred with it, retried until it is done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import numpy as np
from procrastinate import App, JobContext, PsycopgConnector, RetryStrategy, SyncPsycopgConnector

from repertoire.app.traces.embed import SPACES, passage
from repertoire.commons.database import Connection, Database
from repertoire.commons.migrations import DIMENSIONS
from repertoire.domain.errors import ModelUnavailable, RepertoireError
from repertoire.domain.trace import PROBLEM_SPACE, SOLUTION_SPACE, Trace
from repertoire.ports import Embedder, Vectors

EMBED = "embed_trace"
COLUMNS = {PROBLEM_SPACE: "problem", SOLUTION_SPACE: "solution_vector"}  # of a vector space
_BATCH = 16
_ATTEMPTS, _BACK_OFF = 10, 2  # the waits double up to 17 minutes, half an hour in all; then the job counts as failed
_HEARTBEAT_S, _STALLED_S, _LOOK_S = 2.0, 8.0, 3.0  # a worker that is silent for so long is dead: its jobs are done anew

_log = logging.getLogger(__name__)


class HeldElsewhere(RepertoireError):
    """Another worker embeds the trace of a job, and has not committed yet."""


def defer(connection: Connection, jobs: App, community: str, key: str) -> None:
    """Add the job that embeds a trace, in the transaction that stores the trace."""
    jobs.configure_task(EMBED, connection=connection).defer(community=community, key=key)


def queue(database: Database) -> App:
    """Return the job queue of a server, which adds jobs and runs none."""
    return App(connector=SyncPsycopgConnector(conninfo=database.url))


async def work(database: Database, embedder: Embedder, stop: asyncio.Event) -> None:
    """Do the jobs of all communities until `stop` is set; a job that was begun is ended first."""
    jobs = App(connector=PsycopgConnector(conninfo=database.url, min_size=1, max_size=3))
    retry = RetryStrategy(max_attempts=_ATTEMPTS, exponential_wait=_BACK_OFF)

    @jobs.task(name=EMBED, retry=retry, pass_context=True)
    def embed_trace(context: JobContext, community: str, key: str) -> None:
        embed(database, embedder, community, key, alone=context.job.attempts > 0)

    async with jobs.open_async():
        worker = asyncio.create_task(
            jobs.run_worker_async(
                install_signal_handlers=False,
                delete_jobs="successful",
                update_heartbeat_interval=_HEARTBEAT_S,
                stalled_worker_timeout=_STALLED_S,
            )
        )
        rescuer = asyncio.create_task(_forever(lambda: _rescue(jobs)))
        waiting = asyncio.create_task(stop.wait())
        await asyncio.wait({worker, waiting}, return_when=asyncio.FIRST_COMPLETED)
        rescuer.cancel()
        waiting.cancel()
        worker.cancel()  # procrastinate ends what was begun, then returns
        await asyncio.gather(worker, rescuer, waiting, return_exceptions=True)


def embed(database: Database, embedder: Embedder, community: str, key: str, *, alone: bool = False) -> int:
    """Embed a trace, and beside it, unless `alone`, the others of its community that wait; return how many.

    A retried job embeds its own trace alone: one on which the model fails must not take the others with it.

    Raises:
        ModelUnavailable: the model cannot be loaded, or is not the one that the columns are made for.
        HeldElsewhere: another worker embeds the trace; if that one dies, nobody but this job embeds it.
    """
    if embedder.dimensions != DIMENSIONS:
        message = (
            f"{embedder.model} has {embedder.dimensions} dimensions, a commons holds {DIMENSIONS}; use the bundled"
        )
        raise ModelUnavailable(message)
    done = _embed_batch(database, embedder, community, key, size=1 if alone else _BATCH)
    while not alone and (batch := _embed_batch(database, embedder, community, key)):
        done += batch
    if _is_pending(database, community, key):
        message = f"another worker embeds {key}; the job looks again later"
        raise HeldElsewhere(message)
    return done


def _is_pending(database: Database, community: str, key: str) -> bool:
    with database.tenant(community) as connection:
        row = connection.execute(
            "SELECT 1 FROM trace WHERE community = %s AND key = %s AND problem IS NULL", (community, key)
        ).fetchone()
    return row is not None


def has_worker(database: Database) -> bool:
    """Tell whether some worker is alive."""
    with database.untenanted() as connection:
        row = connection.execute(
            "SELECT 1 FROM procrastinate_workers WHERE last_heartbeat > now() - make_interval(secs => %s)",
            (_STALLED_S,),
        ).fetchone()
    return row is not None


def as_vector(vector: Vectors) -> str:
    """Return a vector as PostgreSQL reads it."""
    return "[" + ",".join(f"{value:.6g}" for value in np.asarray(vector).tolist()) + "]"


def _embed_batch(database: Database, embedder: Embedder, community: str, key: str, *, size: int = _BATCH) -> int:
    with database.tenant(community) as connection:
        rows = connection.execute(
            "SELECT number, key, title, context, solution FROM trace WHERE community = %s AND problem IS NULL "
            "ORDER BY key <> %s, number LIMIT %s FOR NO KEY UPDATE SKIP LOCKED",
            (community, key, size),
        ).fetchall()
        traces = [Trace(*row[1:]) for row in rows]
        vectors = [embedder.embed_passages([passage(space, trace) for trace in traces]) for space in SPACES if traces]
        columns = ", ".join(f"{COLUMNS[space]} = %s::halfvec" for space in SPACES)
        for place, (number, *_) in enumerate(rows):
            connection.execute(
                f"UPDATE trace SET {columns}, model = %s WHERE community = %s AND number = %s",
                (*(as_vector(space[place]) for space in vectors), embedder.model, community, number),
            )
        return len(rows)


async def _rescue(jobs: App) -> None:
    """Queue again the jobs of workers that died."""
    for job in await jobs.job_manager.get_stalled_jobs(seconds_since_heartbeat=_STALLED_S):
        _log.warning("job %s is done again: its worker died", job.id)
        await jobs.job_manager.retry_job(job)


async def _forever(look: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await look()
        except Exception as error:  # noqa: BLE001 - the loop is a door: PostgreSQL may be away for a while
            _log.warning("stalled jobs could not be looked for: %s", error)
        await asyncio.sleep(_LOOK_S)
