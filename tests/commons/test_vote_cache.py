"""The cache of votes: it holds what a reading of all votes would find, and puts off what takes long."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date

import psycopg
import pytest

from commons.conftest import active_trace
from repertoire.app.traces.cache import VoteSummary
from repertoire.commons.migrations import migrate
from repertoire.commons.traces import Traces
from repertoire.commons.vote_cache import CachedVotes, updated
from repertoire.domain.trace import Vote

TODAY = date(2026, 6, 1)
MEMBERS = ("ann", "ben", "cem", "dee")


class Community:
    """A community whose members vote."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self.db = connection
        connection.execute("INSERT INTO community (community, created) VALUES ('team', '')")
        for member in MEMBERS:
            connection.execute("INSERT INTO member VALUES ('team', %s, %s, '')", (member, member == "ann"))
        self.traces = Traces(connection, "team")
        self.keys = [self._contribute(number) for number in range(12)]

    def _contribute(self, number: int) -> str:
        trace = active_trace(f"problem {number}", tags=(f"tag{number % 3}",), author=MEMBERS[number % 4])
        self.traces.put(trace, self.traces.next_revision())
        return trace.key

    def vote(self, draw: random.Random) -> None:
        at = f"2026-05-{draw.randrange(1, 29):02}T00:00:00Z"
        said = Vote(draw.choice(self.keys), draw.choice(MEMBERS), draw.random() < 0.6, at)
        self.traces.vote(said, self.traces.next_revision())

    def withdraw(self, draw: random.Random) -> None:
        self.traces.withdraw_votes(draw.choice(MEMBERS), withdrawn=draw.random() < 0.5)

    def read(self, kept: CachedVotes) -> CachedVotes:
        revision, votes = self.db.execute("SELECT revision, votes FROM community").fetchone() or (0, 0)
        return updated(kept, self.traces, revision, (votes, TODAY), TODAY)


@pytest.fixture
def community(postgres: Callable[[str], str], request: pytest.FixtureRequest) -> Iterator[Community]:
    database = postgres(request.node.name)
    migrate(database)
    with psycopg.connect(database) as connection:
        yield Community(connection)


def content(summary: VoteSummary) -> tuple[object, ...]:
    votes = {key: sorted(map(repr, own)) for key, own in summary.votes.items() if own}
    return votes, dict(summary.reputation.weights), summary.reputation.trusted


def test_after_any_votes_and_bans_it_holds_what_a_reading_of_all_finds(community: Community) -> None:
    draw, kept = random.Random(5), CachedVotes()
    for _ in range(150):
        for _ in range(draw.randrange(3)):
            community.vote(draw)
        if draw.random() < 0.2:
            community.withdraw(draw)
        kept = community.read(replace(kept, due=0.0))  # a busy machine would put the reputations off
        assert content(kept.summary()) == content(community.read(CachedVotes()).summary())
    assert len(set(kept.reputation.weights.values())) > 3


def test_what_a_restored_backup_forgot_is_forgotten(community: Community) -> None:
    community.vote(random.Random(1))
    kept = community.read(CachedVotes())
    community.db.execute("DELETE FROM vote")
    community.db.execute("UPDATE community SET revision = revision - 1, votes = votes - 1")
    assert not any(community.read(kept).by_trace.values())


def test_long_computations_are_put_off_and_the_votes_are_read_all_the_same(community: Community) -> None:
    draw = random.Random(2)
    for _ in range(60):
        community.vote(draw)
    kept = community.read(CachedVotes())
    for _ in range(20):
        community.vote(draw)
    late = community.read(replace(kept, due=math.inf))
    fresh = community.read(CachedVotes())
    assert late.by_trace.keys() == fresh.by_trace.keys()
    assert late.reputation == kept.reputation != fresh.reputation
    assert content(community.read(replace(late, due=0.0)).summary()) == content(fresh.summary())
