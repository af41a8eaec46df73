"""Lists the jobs that failed as often as they may, and queues them again when their cause is gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from repertoire.commons import jobs
from repertoire.commons.database import Database


@dataclass(frozen=True)
class DeadJob:
    """A job that no worker tries again by itself: its number, the trace to embed, and how often it was tried."""

    id: int
    community: str
    trace: str
    attempts: int


def dead_jobs(database: Database) -> list[DeadJob]:
    """Return the dead jobs of all communities, the oldest first."""
    with jobs.queue(database).open() as queue:
        failed = queue.job_manager.list_jobs(status="failed")
    return [
        DeadJob(job.id or 0, str(job.task_kwargs["community"]), str(job.task_kwargs["key"]), job.attempts)
        for job in failed
    ]


def retry(database: Database, dead: Sequence[DeadJob]) -> None:
    """Queue dead jobs again, with all their attempts."""
    with jobs.queue(database).open() as queue:
        for job in dead:
            queue.job_manager.retry_job_by_id(job.id, datetime.now(timezone.utc))
    with database.untenanted() as connection:
        connection.execute(
            "UPDATE procrastinate_jobs SET attempts = 0 WHERE id = ANY(%s) AND status = 'todo'",
            ([job.id for job in dead],),
        )
