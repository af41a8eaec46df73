"""A commons whose traces were split over partitions answers as before, and keeps its communities apart."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable

import numpy as np
import psycopg
import pytest

from commons.conftest import SERVER, active_trace
from commons.test_backup import program
from commons.test_reading import PlacedEmbedder
from repertoire.app.traces.search import TraceQuery, search_traces
from repertoire.commons import migrations
from repertoire.commons.database import Database
from repertoire.commons.migrations import ROLE, migrate
from repertoire.commons.reading import Cache, CommunityTraces
from repertoire.commons.traces import Traces
from repertoire.commons.vectors import FIRST, as_vector, store

TEAMS = [f"team{number}" for number in range(5)]
WORDS = ("docker", "vite", "pytest", "segfault", "timeout")


def contribute(database: Database, numbers: range) -> None:
    draw = random.Random(numbers.start)
    near = np.random.default_rng(numbers.start)
    for team in TEAMS:
        with database.tenant(team) as connection:
            traces = Traces(connection, team)
            for number in numbers:
                trace = active_trace(f"{team} {number}", " ".join(draw.choices(WORDS, k=6)), tags=(draw.choice(WORDS),))
                revision = traces.next_revision()
                traces.put(trace, revision)
                vector = near.normal(0, 1, 384)
                told = as_vector(vector / np.linalg.norm(vector))
                store(connection, team, FIRST, "placed", {revision: (told, told)})


def answers(database: Database) -> list[object]:
    found: list[object] = []
    for team in TEAMS:
        with database.tenant(team) as connection:
            for word in WORDS:
                reader = CommunityTraces(connection, team, Cache())
                answer = search_traces(reader, TraceQuery(f"{word} fails"), embedder=PlacedEmbedder())
                found.append([(hit.trace.key, round(hit.score, 9)) for hit in answer.hits])
            found += [Traces(connection, team).tags(), Traces(connection, team).changes(0, 1_000)]
    return found


@pytest.mark.parametrize("later", [0, 1], ids=["the whole schema", "a step comes later"])
def test_split_over_partitions_it_answers_the_same_and_goes_on(
    postgres: Callable[[str], str], later: int, monkeypatch: pytest.MonkeyPatch
):
    address = postgres(f"split-{later}")
    with monkeypatch.context() as version:
        version.setattr(migrations, "STEPS", migrations.STEPS[: len(migrations.STEPS) - later])
        migrate(address)
    with psycopg.connect(address) as connection:
        for team in TEAMS:
            connection.execute("INSERT INTO community (community, created) VALUES (%s, '')", (team,))
    database = Database(address)
    database.open()
    contribute(database, range(30))
    before = answers(database)
    database.close()
    line = [program("psql"), address, "-v", "ON_ERROR_STOP=1", "-f", SERVER / "deploy" / "partition.sql"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr

    migrate(address)  # as each server does when it starts
    split = Database(address)
    split.open()
    try:
        assert answers(split) == before
        contribute(split, range(30, 40))
        assert all(page.traces[-1].title.endswith(" 39") for page in answers(split)[len(WORDS) + 1 :: len(WORDS) + 2])
        with split.tenant(TEAMS[0]) as connection:
            plan = connection.execute("EXPLAIN SELECT 1 FROM trace WHERE community = %s", (TEAMS[0],)).fetchall()
    finally:
        split.close()
    assert sum(" on trace" in row[0] for row in plan) == 1, "one partition is read"
    with psycopg.connect(address) as connection:
        held = connection.execute("SELECT count(DISTINCT tableoid) FROM trace").fetchone()
        parts = [name for (name,) in connection.execute("SELECT relid::text FROM pg_partition_tree('trace')")]
        assert held is not None
        assert held[0] > 1
        connection.execute(f"SET ROLE {ROLE}")
        for part in parts:  # also where one is asked by its own name
            assert connection.execute(f"SELECT count(*) FROM {part}").fetchone() == (0,)
