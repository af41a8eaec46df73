"""Servers of two versions on one database: what they may share, and what they say when they may not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import psycopg

from commons.conftest import Server
from commons.test_server import VITE, contribute, found
from repertoire.commons.migrations import STEPS, migrate


def serve(server_environment: dict[str, str], database: str) -> subprocess.CompletedProcess[str]:
    """Start a server that is expected to end at once."""
    line = [sys.executable, "-m", "repertoire", "commons", "serve", "--port", "0"]
    environment = {**server_environment, "DATABASE_URL": database}
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_a_server_works_on_a_schema_that_a_newer_one_has_added_to(
    postgres: Callable[[str], str], start: Callable[..., Server]
):
    database = postgres("newer")
    migrate(database)
    with psycopg.connect(database) as connection:
        connection.execute("ALTER TABLE trace ADD COLUMN mood text NOT NULL DEFAULT ''")
        connection.execute("INSERT INTO migration VALUES (%s, 'mood', now(), %s)", (len(STEPS) + 1, len(STEPS)))
    server = start(database)
    with server.client(server.key("team", "ann")) as ann:
        trace = contribute(ann, VITE)
        assert found(ann, q="vite killed") == [trace]
        assert ann.post(f"/traces/{trace}/votes", json={"vote": "up"}).status_code == 200


def test_a_server_refuses_a_schema_that_needs_a_newer_one_and_changes_nothing(
    postgres: Callable[[str], str], commons_environment: dict[str, str]
):
    database = postgres("needing")
    migrate(database)
    with psycopg.connect(database) as connection:
        connection.execute("INSERT INTO migration VALUES (%s, 'other', now(), %s)", (len(STEPS) + 1, len(STEPS) + 1))
    refused = serve(commons_environment, database)
    assert refused.returncode == 1
    assert "update Repertoire" in refused.stderr


def test_a_server_brings_the_schema_of_the_version_before_up_to_date_and_keeps_its_rows(
    postgres: Callable[[str], str], start: Callable[..., Server]
):
    database = postgres("older")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE migration (step int PRIMARY KEY, name text, at timestamptz)")
        for number, step in enumerate(STEPS[:3], 1):
            connection.execute(step.statements().encode())
            connection.execute("INSERT INTO migration VALUES (%s, %s, now())", (number, step.name))
        connection.execute("INSERT INTO community (community, created) VALUES ('team', '2026-01-01T00:00:00Z')")
        connection.execute("INSERT INTO member VALUES ('team', 'ann', true, '2026-01-01T00:00:00Z')")
    server = start(database)
    with server.client(server.key("team", "ann")) as ann:
        contribute(ann, VITE)
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT vouched FROM member").fetchall() == [(True,)]
        assert connection.execute("SELECT max(step) FROM migration").fetchone() == (len(STEPS),)


def test_a_role_that_may_not_change_the_schema_is_told_who_may(
    postgres: Callable[[str], str], commons_environment: dict[str, str]
):
    database = postgres("forbidden")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN")
    refused = serve(commons_environment, database.replace("postgres:@", "guest:@"))
    assert refused.returncode == 1
    assert "owns the tables" in refused.stderr
