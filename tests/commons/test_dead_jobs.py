"""Contributions that could not be embedded are listed, and embedded once they are queued again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import psycopg

from commons.conftest import Server, until
from commons.test_killed import waiting
from commons.test_server import VITE, contribute


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
    assert refused.returncode == 1
    assert "no dead job" in refused.stderr
    first = listed[0].split()[0]
    assert "1 jobs are queued again" in jobs(server, "--retry", first).stdout
    assert "1 jobs are queued again" in jobs(server, "--retry", "all").stdout
    start(server.database, "work")
    until(lambda: waiting(server.database) == 0)
    assert "0 dead jobs" in jobs(server).stdout
