"""Nothing that was answered with 202 is lost, whatever is killed meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable

import httpx
import psycopg

from commons.conftest import Server, until
from commons.test_server import VITE

MANY = 40


def waiting(database: str) -> int:
    with psycopg.connect(database) as connection:
        row = connection.execute(
            "SELECT count(*) FROM trace WHERE problem IS NULL OR solution_vector IS NULL"
        ).fetchone()
    return row[0] if row else 0


def test_a_killed_worker_loses_no_contribution(postgres: Callable[[str], str], start: Callable[..., Server]):
    database = postgres("worker")
    server = start(database)
    with server.client(server.key("team", "ann")) as ann:
        for number in range(MANY):
            body = {**VITE, "title": f"problem {number}", "context": f"It fails in the way of number {number}." * 40}
            assert ann.post("/traces", json=body).status_code == 202
    assert waiting(database) == MANY
    worker = start(database, "work")
    until(lambda: waiting(database) < MANY)
    worker.kill()
    assert waiting(database) > 0, "the worker was too fast to be killed at its work"
    start(database, "work")
    until(lambda: waiting(database) == 0)
    with psycopg.connect(database) as connection:
        until(lambda: connection.execute("SELECT status FROM procrastinate_jobs").fetchall() == [])


def test_a_killed_server_keeps_every_contribution_that_it_accepted(
    postgres: Callable[[str], str], start: Callable[..., Server]
):
    database = postgres("server")
    server = start(database)
    key = server.key("team", "ann")
    accepted: list[str] = []

    def send() -> None:
        with server.client(key) as ann:
            for number in range(10_000):
                try:
                    answer = ann.post("/traces", json={**VITE, "title": f"problem {number}"})
                except httpx.HTTPError:
                    return
                accepted.append(answer.json()["id"])

    sender = threading.Thread(target=send)
    sender.start()
    until(lambda: len(accepted) > 20)
    server.kill()
    sender.join(30)
    again = start(database)
    with again.client(key) as ann:
        kept = {trace["id"] for trace in ann.get("/changes").json()["traces"]}
    assert set(accepted) <= kept
    with psycopg.connect(database) as connection:
        jobs = connection.execute("SELECT count(*) FROM procrastinate_jobs").fetchone()
        traces = connection.execute("SELECT count(*) FROM trace").fetchone()
    assert jobs == traces  # each has its job: both are of one transaction
