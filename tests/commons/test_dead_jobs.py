"""Contributions that could not be embedded are listed, and embedded once they are queued again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt
import psycopg
import pytest

from commons.conftest import Server, until
from commons.test_killed import waiting
from commons.test_server import VITE, contribute
from repertoire.commons.database import Database
from repertoire.commons.jobs import HeldElsewhere, embed
from repertoire.commons.models import Models


def jobs(server: Server, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "repertoire", "commons", "jobs", *arguments]
    environment = {**server.environment, "DATABASE_URL": server.database}
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_a_dead_job_is_listed_and_done_once_it_is_queued_again(
    postgres: Callable[[str], str], start: Callable[..., Server]
):
    server = start(postgres("dead"))
    with server.client(server.key("team", "ann")) as ann:
        trace = contribute(ann, VITE)
        other = contribute(ann, {**VITE, "title": "another"})
    with psycopg.connect(server.database) as connection:  # as after the last attempt
        connection.execute("UPDATE procrastinate_jobs SET status = 'failed', attempts = 10")
    listed = jobs(server).stdout.splitlines()
    assert [line.split()[1:3] for line in listed[:2]] == [["team", trace], ["team", other]]
    assert "tried 10 times" in listed[0]
    assert "2 dead jobs" in listed[-1]
    assert VITE["solution"] not in str(listed)
    refused = jobs(server, "--retry", "99999")
    assert refused.returncode == 2
    assert "no dead job" in refused.stderr
    first = listed[0].split()[0]
    assert "1 jobs are queued again" in jobs(server, "--retry", first).stdout
    assert "1 jobs are queued again" in jobs(server, "--retry", "all").stdout
    start(server.database, "work")
    until(lambda: waiting(server.database) == 0)
    assert "0 dead jobs" in jobs(server).stdout


def test_a_trace_on_which_the_model_fails_keeps_no_other_from_its_vectors(
    postgres: Callable[[str], str], start: Callable[..., Server]
):
    server = start(postgres("poisoned"))
    with server.client(server.key("team", "ann")) as ann:
        for number in range(4):
            contribute(ann, {**VITE, "title": f"number {number}"})
        bad = contribute(ann, {**VITE, "title": "poison"})
    database = Database(server.database)
    database.open()
    try:
        with database.tenant("team") as connection:
            keys = [key for (key,) in connection.execute("SELECT key FROM trace ORDER BY number")]
        for key in keys:  # as retried jobs do
            with suppress(PoisonError):
                embed(database, Models(Poisoned()), "team", key, alone=True)
        with database.tenant("team") as connection:
            left = connection.execute("SELECT key FROM trace WHERE problem IS NULL").fetchall()
    finally:
        database.close()
    assert left == [(bad,)]


def test_a_job_whose_trace_another_worker_holds_is_not_done(
    postgres: Callable[[str], str], start: Callable[..., Server]
):
    server = start(postgres("held"))
    with server.client(server.key("team", "ann")) as ann:
        held = contribute(ann, VITE)
    database = Database(server.database)
    database.open()
    try:
        with database.tenant("team") as other:
            other.execute("SELECT 1 FROM trace WHERE key = %s FOR UPDATE", (held,))
            with pytest.raises(HeldElsewhere):
                embed(database, Models(Poisoned()), "team", held)
        assert embed(database, Models(Poisoned()), "team", held, alone=True) == 1
        assert embed(database, Models(Poisoned()), "team", held) == 0
    finally:
        database.close()


def test_votes_and_flags_do_not_wait_for_the_model(postgres: Callable[[str], str], start: Callable[..., Server]):
    server = start(postgres("voting"))
    with server.client(server.key("team", "ann")) as ann:
        trace = contribute(ann, VITE)
        database = Database(server.database)
        database.open()
        asked: list[int] = []

        class Voting(Poisoned):
            def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
                if not asked:
                    asked.append(ann.post(f"/traces/{trace}/votes", json={"vote": "up"}).status_code)
                    asked.append(ann.post(f"/traces/{trace}/flags", json={"reason": "harmful"}).status_code)
                return super().embed_passages(texts)

        try:
            assert embed(database, Models(Voting()), "team", trace) == 1
        finally:
            database.close()
    assert asked == [200, 200]


class PoisonError(Exception):
    """Stands for a fault of the model on one text."""


class Poisoned:
    """An embedder that fails on one text."""

    model, dimensions = "poisoned", 384

    def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if any("poison" in text for text in texts):
            raise PoisonError
        return np.ones((len(texts), self.dimensions), dtype=np.float32)
