"""Pages of changes hold everything once, in order, whatever their bound; a long page ends before it is too long."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from commons.conftest import active_trace
from repertoire.commons.database import Database
from repertoire.commons.migrations import migrate
from repertoire.commons.traces import PAGE_BYTES, Traces
from repertoire.domain.trace import TEXT, Vote

LONG = "ü" * TEXT  # as many characters as are kept, of two bytes each


@pytest.fixture
def traces(postgres: Callable[[str], str], request: pytest.FixtureRequest) -> Iterator[Traces]:
    address = postgres(request.node.name[:60])
    migrate(address)
    database = Database(address)
    database.open()
    with database.tenant("team") as connection:
        connection.execute("INSERT INTO community (community, created) VALUES ('team', '')")
        connection.execute("INSERT INTO member VALUES ('team', 'ben', true, '')")
        yield Traces(connection, "team")
    database.close()


def test_all_pages_together_hold_each_change_once(traces: Traces, monkeypatch: pytest.MonkeyPatch):
    draw, keys = random.Random(3), [""]
    for number in range(60):
        trace = active_trace(f"no {number}", "x" * draw.randrange(1, 2_000))
        revision = traces.next_revision()
        traces.put(trace, revision)
        keys.append(trace.key)
        if number % 3 == 0:
            traces.vote(Vote(draw.choice(keys[1:]), "ben", True, "2026-01-01T00:00:00Z"), traces.next_revision())
        if number % 7 == 0:  # two traces of one revision
            traces.withhold(keys[number], "removed", revision)
    whole = traces.changes(0, 10_000)
    assert not whole.more
    for limit, most in ((3, PAGE_BYTES), (10_000, 1), (10_000, 5_000), (7, 3_000)):
        monkeypatch.setattr("repertoire.commons.traces.PAGE_BYTES", most)
        found, votes, cursor, more = [], [], 0, True
        while more:
            page = traces.changes(cursor, limit)
            assert page.cursor > cursor or not page.more
            found, votes = [*found, *page.traces], [*votes, *page.votes]
            cursor, more = page.cursor, page.more
        assert sorted(trace.key for trace in found) == sorted(trace.key for trace in whole.traces)
        assert votes == list(whole.votes)
        assert cursor == whole.cursor


def test_a_page_of_the_longest_traces_stays_within_its_bytes(traces: Traces):
    for number in range(120):
        traces.put(active_trace(f"no {number}", LONG), traces.next_revision())
    page = traces.changes(0, 2_000)
    assert page.more
    assert PAGE_BYTES * 0.9 < sum(len(trace.context.encode()) for trace in page.traces) <= PAGE_BYTES
