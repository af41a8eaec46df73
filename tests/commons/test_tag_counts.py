"""The counts of tags are those of a count of all traces, whatever happened to these, and of each community alone."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import psycopg
import pytest

from commons.conftest import active_trace
from repertoire.commons.database import Database
from repertoire.commons.migrations import STEPS, migrate
from repertoire.commons.traces import QUARANTINED, REMOVED, Traces
from repertoire.domain.trace import ACTIVE

TAGS = ("docker", "Docker", "vite", "", "ünïcode", "a b", "python", "rust")
TEAMS = ("team", "rivals")
BEFORE = next(place for place, step in enumerate(STEPS) if step.name == "counts of tags")


def oracle(address: str, community: str) -> dict[str, int]:
    """Count the tags of active traces, past row-level security."""
    with psycopg.connect(address) as connection:
        rows = connection.execute(
            "SELECT tags FROM trace WHERE community = %s AND status = %s", (community, ACTIVE)
        ).fetchall()
    return dict(Counter(tag for (tags,) in rows for tag in tags))


def found(database: Database, community: str) -> dict[str, int]:
    with database.tenant(community) as connection:
        return Traces(connection, community).tags()


def make(address: str) -> None:
    with psycopg.connect(address) as connection:
        for team in TEAMS:
            connection.execute("SELECT set_config('repertoire.community', %s, true)", (team,))
            connection.execute("INSERT INTO community (community, created) VALUES (%s, '')", (team,))


@pytest.fixture
def database(postgres: Callable[[str], str], request: pytest.FixtureRequest) -> Iterator[Database]:
    address = postgres(request.node.name[:60])
    migrate(address)
    make(address)
    opened = Database(address)
    opened.open()
    yield opened
    opened.close()


class Walk:
    """Changes one community at random, as members and moderators do."""

    def __init__(self, seed: int) -> None:
        self._draw, self._made = random.Random(seed), [""]

    def step(self, traces: Traces, revision: int) -> None:
        what, key = self._draw.randrange(6), self._draw.choice(self._made)
        if what < 3:
            tags = tuple(self._draw.choices(TAGS, k=self._draw.randrange(5)))  # one may come twice
            trace = active_trace(f"problem {len(self._made)}", tags=tags)
            state = ACTIVE if self._draw.random() < 0.8 else QUARANTINED
            traces.put(replace(trace, status=state, supersedes=key if what == 2 else ""), revision)
            self._made.append(trace.key)
        elif what == 3:
            traces.withhold(key, self._draw.choice((QUARANTINED, REMOVED)), revision)
        elif what == 4:
            traces.restore(key, revision)
        else:
            traces.withdraw_votes("ann", withdrawn=True)


def test_after_any_changes_the_counts_are_those_of_all_active_traces(database: Database):
    walks = {team: Walk(seed) for seed, team in enumerate(TEAMS)}
    for turn in range(120):
        team = TEAMS[turn % 2]
        with database.tenant(team) as connection:
            traces = Traces(connection, team)
            walks[team].step(traces, traces.next_revision())
        counts = found(database, team)
        assert counts == oracle(database.url, team)
        assert list(counts.values()) == sorted(counts.values(), reverse=True)
    with psycopg.connect(database.url) as connection:
        connection.execute("DELETE FROM trace WHERE number % 5 = 0")
        connection.execute("UPDATE trace SET tags = '{other}' WHERE number % 3 = 0")
    for team in TEAMS:
        assert found(database, team) == oracle(database.url, team) != {}


def test_a_transaction_that_fails_counts_nothing_and_those_of_a_crowd_all_count(database: Database):
    def contribute(member: int) -> None:
        for number in range(12):
            tags = ("docker", "vite") if member % 2 else ("vite", "docker")
            with database.tenant("team") as connection:
                traces = Traces(connection, "team")
                traces.put(active_trace(f"{member} {number}", tags=tags), traces.next_revision())

    crowd = [threading.Thread(target=contribute, args=(member,)) for member in range(4)]
    for one in crowd:
        one.start()
    with suppress(psycopg.errors.UniqueViolation), database.tenant("rivals") as connection:
        traces = Traces(connection, "rivals")
        traces.put(active_trace("the same", tags=("lost",)), traces.next_revision())
        assert traces.tags() == {"lost": 1}
        traces.put(active_trace("the same", tags=("lost",)), traces.next_revision())
    for one in crowd:
        one.join(60)
    assert found(database, "team") == {"docker": 48, "vite": 48}
    assert found(database, "rivals") == {}


def test_traces_of_before_are_counted_by_the_step_also_where_the_owner_is_no_superuser(
    postgres: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
):
    address = postgres("untagged")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE ROLE curator LOGIN")
        connection.execute("GRANT ALL ON SCHEMA public TO curator; GRANT CREATE ON DATABASE untagged TO curator")
        connection.execute("CREATE EXTENSION vector")
    own = address.replace("postgres:@", "curator:@")
    monkeypatch.setattr("repertoire.commons.migrations.STEPS", STEPS[:BEFORE])
    migrate(own)
    make(own)
    walk = Walk(7)
    with psycopg.connect(own) as connection:
        connection.execute("SELECT set_config('repertoire.community', 'team', false)")
        traces = Traces(connection, "team")
        for _ in range(40):
            walk.step(traces, traces.next_revision())
    monkeypatch.undo()
    migrate(own)
    opened = Database(own)
    opened.open()
    try:
        assert found(opened, "team") == oracle(address, "team") != {}
    finally:
        opened.close()
