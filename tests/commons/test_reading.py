"""What a search reads in a commons: filters leave nothing out, and the nearest vectors are found by their index."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import psycopg
import pytest

from commons.conftest import active_trace
from repertoire.app.traces.embed import SPACES
from repertoire.app.traces.search import TraceQuery, search_traces
from repertoire.commons.database import Database
from repertoire.commons.migrations import migrate
from repertoire.commons.reading import Cache, CommunityTraces
from repertoire.commons.traces import Traces
from repertoire.commons.vectors import FIRST, as_vector, store

COUNT, RARE = 6_000, 6  # traces, and those of the rare tag: a thousandth
INDEXES = ("trace_problem", "trace_solution")


class PlacedEmbedder:
    """An embedder whose every question lies in one corner of the space."""

    model, dimensions = "placed", 384

    def embed_passages(self, texts: list[str]) -> np.ndarray:
        corner = np.zeros((len(texts), 384), dtype=np.float32)
        corner[:, 0] = 1.0
        return corner


@pytest.fixture(scope="module")
def database(postgres: Callable[[str], str]) -> str:
    """Return a community whose traces of the rare tag lie farthest from the question and share no word with it."""
    address = postgres("filtered")
    migrate(address)
    draw = np.random.default_rng(4)
    first = active_trace("one")
    with psycopg.connect(address) as connection:
        connection.execute("INSERT INTO community (community, created) VALUES ('team', '')")
        built = connection.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE indexname = ANY(%s)", (list(INDEXES),)
        ).fetchall()
        for name, _ in built:  # built at the end they take two seconds, and twenty row by row
            connection.execute(f"DROP INDEX {name}")
        traces = Traces(connection, "team")
        for number in range(COUNT):
            rare = number % (COUNT // RARE) == 7
            trace = replace(first, key=f"trace:{number}", title=f"no {number}", tags=("rare",) if rare else ("usual",))
            revision = traces.next_revision()
            traces.put(trace, revision)
            vector = draw.normal(0, 1, 384)
            vector[0] = -30 if rare else 10 + abs(vector[0])
            told_vector = as_vector(vector / np.linalg.norm(vector))
            store(connection, "team", FIRST, "placed", {revision: (told_vector,) * len(SPACES)})
            if number % 100 == 99:  # rows that one transaction updates again and again are read through all versions
                connection.commit()
        for _, definition in built:
            connection.execute(definition)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("ANALYZE")
    return address


def search(address: str, wanted: TraceQuery) -> list[str]:
    database = Database(address)
    database.open()
    try:
        with database.tenant("team") as connection:
            reader = CommunityTraces(connection, "team", Cache())
            answer = search_traces(reader, wanted, embedder=PlacedEmbedder())
        return [key for hit in answer.hits for key in (hit.trace.key, *hit.twins)]
    finally:
        database.close()


def scans(address: str, index: str) -> int:
    with psycopg.connect(address) as connection:
        row = connection.execute(
            "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = %s", (index,)
        ).fetchone()
    assert row is not None, f"there is no index {index}"
    return int(row[0])


def test_a_tag_that_a_thousandth_of_the_traces_bears_finds_all_of_them(database: str) -> None:
    found = search(database, TraceQuery("unheard of", tags=("rare",), limit=10))
    assert sorted(found) == sorted(f"trace:{7 + n * COUNT // RARE}" for n in range(RARE))


def test_a_search_finds_the_nearest_by_their_index_under_row_level_security(database: str) -> None:
    before = [scans(database, index) for index in INDEXES]
    assert search(database, TraceQuery("unheard of"))
    end = time.monotonic() + 20
    while not all(scans(database, index) > count for index, count in zip(INDEXES, before, strict=True)):
        assert time.monotonic() < end, "a search read the table and not the index of its vectors"
        time.sleep(0.2)


def test_a_community_with_few_of_the_traces_finds_its_nearest_exactly_although_others_lie_nearer(database: str) -> None:
    draw = np.random.default_rng(5)
    vectors = draw.normal(0, 1, (60, 384)).astype(np.float16).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    pool = Database(database)
    pool.open()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("INSERT INTO community (community, created) VALUES ('few', '')")
    try:
        with pool.tenant("few") as connection:
            traces = Traces(connection, "few")
            for number, vector in enumerate(vectors):
                traces.put(replace(active_trace(f"{number}"), key=f"trace:few{number}"), traces.next_revision())
                store(connection, "few", FIRST, "placed", {number + 1: (as_vector(vector),) * len(SPACES)})
        question = np.eye(1, 384, dtype=np.float32)[0]  # where the other community's traces lie
        with pool.tenant("few") as connection:
            space = CommunityTraces(connection, "few", Cache()).spaces("placed")[0]
            near = space.nearest(question, space.active, 20)
        with pool.tenant("team") as connection:
            assert not CommunityTraces(connection, "team", Cache()).spaces("placed")[0].exact
    finally:
        pool.close()
    assert space.exact
    nearest = (np.argsort(-(vectors @ question), kind="stable")[:20] + 1).tolist()
    assert sorted(near, key=lambda number: -near[number]) == nearest
