"""Postings: written as traces come or by a migration they are the same, and scores are those of the plain formula."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable

import psycopg
import pytest

from commons.conftest import active_trace
from repertoire.commons.migrations import STEPS, migrate
from repertoire.commons.reading import Cache, CommunityTraces
from repertoire.commons.traces import Traces
from repertoire.domain.graph import TRACES
from repertoire.domain.trace import Trace
from repertoire.store.stemming import stems
from repertoire.store.writing import words_of

COUNT = 300  # more than two blocks hold
VOCABULARY = ("timeout", "docker", "module.exports", "exports", "pytest", "segfault", "ENOENT", "modules", "a-b-c")
BEFORE_COUNTS = next(place for place, step in enumerate(STEPS) if step.name == "counts of words")


def traces() -> list[Trace]:
    draw = random.Random(8)
    made = []
    for number in range(COUNT):
        problem = " ".join(draw.choices(VOCABULARY, range(9, 0, -1), k=draw.randint(1, 30)))
        made.append(active_trace(f"problem {number}", problem))
    return made


def contribute(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("SELECT set_config('repertoire.community', 'team', false)")
        connection.execute("INSERT INTO community (community, created) VALUES ('team', '')")
        kept = Traces(connection, "team")
        for trace in traces():
            kept.put(trace, kept.next_revision())


@pytest.fixture(scope="module")
def database(postgres: Callable[[str], str]) -> str:
    made = postgres("postings")
    migrate(made)
    contribute(made)
    return made


def test_a_migration_makes_the_postings_that_contributions_would_have_made(
    database: str, postgres: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
):
    older = postgres("unposted")
    with psycopg.connect(older, autocommit=True) as connection:
        connection.execute("CREATE ROLE steward LOGIN")  # as a hosted PostgreSQL gives one: it owns and is no superuser
        connection.execute("GRANT ALL ON SCHEMA public TO steward; GRANT CREATE ON DATABASE unposted TO steward")
        connection.execute("CREATE EXTENSION vector")
    older = older.replace("postgres:@", "steward:@")
    monkeypatch.setattr("repertoire.commons.migrations.STEPS", STEPS[:BEFORE_COUNTS])
    migrate(older)
    contribute(older)
    monkeypatch.undo()
    migrate(older)
    for table in ("posting", "word_count"):
        rows = []
        for address in (database, older):
            with psycopg.connect(address) as connection:
                connection.execute("SELECT set_config('repertoire.community', 'team', false)")
                rows.append(connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall())
        assert rows[0] == rows[1]
        assert len(rows[0]) > COUNT


def test_the_scores_of_a_question_are_those_of_bm25_over_all_traces(database: str):
    texts = [stems(" ".join(words_of(trace.title, trace.context, trace.solution))) for trace in traces()]
    held, average = [Counter(text) for text in texts], sum(map(len, texts)) / COUNT
    expected = [0.0] * COUNT
    asked = ["module.exports", "segfault", "timeout", "nowhere"]
    for word in asked:
        times = [min(counts[stem] for stem in stems(word)) for counts in held]
        holding = sum(map(bool, times))
        rarity = max(math.log((COUNT - holding + 0.5) / (holding + 0.5)), 1e-6)
        for place, often in enumerate(times):
            relative = 1.2 * (0.25 + 0.75 * len(texts[place]) / average)
            expected[place] += rarity * often * 2.2 / (often + relative)
    with psycopg.connect(database) as connection:
        reader = CommunityTraces(connection, "team", Cache())
        found = dict(reader.store.graph.match(asked, limit=COUNT, weights=(1, 1, 1), view=TRACES))
    assert found == pytest.approx({number: score for number, score in enumerate(expected, 1) if score})


def test_only_the_traces_asked_among_are_scored(database: str):
    with psycopg.connect(database) as connection:
        reader = CommunityTraces(connection, "team", Cache())
        every = dict(reader.store.graph.match(["docker"], limit=COUNT, weights=(1, 1, 1)))
        allowed = sorted(every)[::7]
        numbers, scores = reader.bm25([tuple(stems("docker"))], [*allowed, 10**9])
    assert dict(zip(numbers.tolist(), scores.tolist(), strict=True)) == {number: every[number] for number in allowed}


def test_a_word_that_no_trace_holds_finds_none(database: str):
    with psycopg.connect(database) as connection:
        reader = CommunityTraces(connection, "team", Cache())
        assert reader.store.graph.match(["kubernetes", ""], limit=5, weights=(1, 1, 1)) == []
        assert reader.frequencies(["kubernetes", "exports"])["kubernetes"] == 0
