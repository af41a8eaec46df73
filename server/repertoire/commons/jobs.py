"""Embeds contributed traces in batches: a job for each contribution, deferred with it, retried until it is done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from procrastinate import App, JobContext, PsycopgConnector, RetryStrategy, SyncPsycopgConnector

from repertoire.commons.database import Connection, Database
from repertoire.commons.filling import Filler
from repertoire.commons.models import Models
from repertoire.commons.vectors import READ, Columns, held, name_model, store, traces_of, vectors_of, writing
from repertoire.domain.errors import ModelUnavailable, RepertoireError
from repertoire.ports import Embedder

EMBED = "embed_trace"
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
    # each job is added over the connection of its contribution: the queue's own would lie idle
    return App(connector=SyncPsycopgConnector(conninfo=database.url, min_size=0, max_size=1))


async def work(database: Database, models: Models, stop: asyncio.Event) -> None:
    """Do the jobs of all communities, and fill columns with vectors of a new model, until `stop` is set.

    What was begun is ended first.
    """
    jobs = App(connector=PsycopgConnector(conninfo=database.url, min_size=1, max_size=3))
    retry = RetryStrategy(max_attempts=_ATTEMPTS, exponential_wait=_BACK_OFF)
    filler = Filler(database, models)

    @jobs.task(name=EMBED, retry=retry, pass_context=True)
    def embed_trace(context: JobContext, community: str, key: str) -> None:
        embed(database, models, community, key, alone=context.job.attempts > 0)

    async with jobs.open_async():
        worker = asyncio.create_task(
            jobs.run_worker_async(
                install_signal_handlers=False,
                delete_jobs="successful",
                update_heartbeat_interval=_HEARTBEAT_S,
                stalled_worker_timeout=_STALLED_S,
            )
        )
        rescuer = asyncio.create_task(_until(stop, "stalled jobs", lambda: _rescue(jobs)))
        filling = asyncio.create_task(
            _until(stop, "columns to fill", lambda: asyncio.to_thread(filler.fill, stop.is_set))
        )
        waiting = asyncio.create_task(stop.wait())
        await asyncio.wait({worker, waiting}, return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        worker.cancel()  # procrastinate ends what was begun, then returns
        await asyncio.gather(worker, rescuer, filling, waiting, return_exceptions=True)


def embed(database: Database, models: Models, community: str, key: str, *, alone: bool = False) -> int:
    """Embed a trace with each model of its community that is on this machine; return how many traces got vectors.

    Unless `alone`, others of the community that wait for vectors of the current model are embedded beside it: a
    retried job embeds its own trace alone, because one on which the model fails must not take the others with it.

    Raises:
        ModelUnavailable: none of the community's models is on this machine, or can be loaded.
        HeldElsewhere: another worker embeds the trace; if that one dies, nobody but this job embeds it.
    """
    current, written = _written(database, models, community)
    done = 0
    for columns, embedder in written:
        only = alone or columns is not current
        done += (last := _embed_batch(database, columns, embedder, community, key, alone=only))
        while not only and last:
            done += (last := _embed_batch(database, columns, embedder, community, key))
        if _is_pending(database, columns, community, key):
            message = f"another worker embeds {key}; the job looks again later"
            raise HeldElsewhere(message)
    return done


def _written(database: Database, models: Models, community: str) -> tuple[Columns, list[tuple[Columns, Embedder]]]:
    """Return the columns that searches read, and the columns that this worker writes with the embedder for each."""
    with database.tenant(community) as connection:
        found = held(connection, community)
        if not found.model:
            name_model(connection, community, models.configured().model)
            found = held(connection, community)
    written = [(columns, one) for columns, model in found.written if (one := models.named(model)) is not None]
    if not written:
        message = f"{found.model} is not on this machine; fetch it into the worker's home with `repertoire model fetch`"
        raise ModelUnavailable(message)
    return found.current, written


def _is_pending(database: Database, columns: Columns, community: str, key: str) -> bool:
    with database.tenant(community) as connection:
        row = connection.execute(
            f"SELECT 1 FROM trace WHERE community = %s AND key = %s AND {columns.problem} IS NULL", (community, key)
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


def _embed_batch(
    database: Database, columns: Columns, embedder: Embedder, community: str, key: str, *, alone: bool = False
) -> int:
    which, size = ("AND key = %s", 1) if alone else ("ORDER BY key <> %s, number", _BATCH)
    with database.tenant(community) as connection:
        if (columns, embedder.model) not in writing(connection, community).written:
            return 0
        rows = connection.execute(
            f"SELECT {READ} FROM trace WHERE community = %s AND {columns.problem} IS NULL "
            f"{which} LIMIT %s FOR NO KEY UPDATE SKIP LOCKED",
            (community, key, size),
        ).fetchall()
        vectors = vectors_of(embedder, traces_of(rows))
        numbers = [row[0] for row in rows]
        store(connection, community, columns, embedder.model, dict(zip(numbers, vectors, strict=True)))
        return len(rows)


async def _rescue(jobs: App) -> None:
    """Queue again the jobs of workers that died."""
    for job in await jobs.job_manager.get_stalled_jobs(seconds_since_heartbeat=_STALLED_S):
        _log.warning("job %s is done again: its worker died", job.id)
        await jobs.job_manager.retry_job(job)


async def _until(stop: asyncio.Event, what: str, look: Callable[[], Awaitable[None]]) -> None:
    while not stop.is_set():
        try:
            await look()
        except Exception as error:  # noqa: BLE001 - the loop is a door: PostgreSQL may be away for a while
            _log.warning("%s could not be looked for: %s", what, error)
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(stop.wait(), _LOOK_S)
