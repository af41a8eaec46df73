"""Known combinations raise their other members and are named as reasons, and can be switched off."""

from __future__ import annotations

import hashlib
import shutil
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.patterns import renew_patterns
from repertoire.app.wiring import capabilities_in
from repertoire.domain.answer import Query
from repertoire.domain.component import DEPENDS_ON, PART_OF, PROVIDES, Component, Edge, FileRecord, SourceInfo
from repertoire.ports import Summary, Topology
from repertoire.retrieval.patterns import PATTERNS, Patterns
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH, make_plan
from repertoire.retrieval.snapshot import Snapshot
from repertoire.store.database import Store
from repertoire.store.requests import Request, Selection
from sample_home import NOW

KIT = {
    "seed-bed": "Prepares a seed bed in the garden.",
    "sow-rows": "Sows vegetable seed in rows of the garden.",
    "harvest-log": "Keeps a record of weights.",
    "tool-shed": "Lends implements by the day.",
    "almanac": "Tells moon phases.",
}
ASKED = "prepare a garden seed bed and sow vegetable seed in rows"


def shelve(store, skills, *, plugin="", declared_by=(), source="folder:/kit"):
    """Put skills into a store, in a plugin or declared by agents."""
    items = [
        Component(
            f"{source}:{name}", "skill", name, text, path=name, content_hash=hashlib.sha256(text.encode()).hexdigest()
        )
        for name, text in skills.items()
    ]
    edges = []
    if plugin:
        items.append(Component(f"{source}:plugin", "plugin", plugin, path="plugin", content_hash=plugin))
        edges += [Edge(f"{source}:{name}", f"{source}:plugin", PART_OF) for name in skills]
    for agent, names in declared_by:
        items.append(Component(f"{source}:{agent}", "agent", agent, path=agent, content_hash=agent))
        edges += [Edge(f"{source}:{agent}", f"{source}:{name}", DEPENDS_ON) for name in names]
    records = [FileRecord(item.path, item.content_hash, (item,)) for item in items]
    store.sources.write(SourceInfo(source, "folder", source), records, (), derived=edges, now=NOW)
    renew_patterns(store)


@pytest.fixture(scope="module")
def embedded_garden(tmp_path_factory, embedded_shelf, embedder):
    path = shutil.copy(embedded_shelf, tmp_path_factory.mktemp("garden") / "repertoire.db")
    with Store.open(path) as store:
        shelve(store, KIT, plugin="garden-kit")
        embed_pending(store, embedder)
    return path


@pytest.fixture
def planted(tmp_path, embedded_garden):
    with Store.open(shutil.copy(embedded_garden, tmp_path / "garden.db")) as store:
        yield store


@pytest.fixture
def garden(planted, embedder):
    return Pipeline(planted.graph, planted.vectors, embedder=embedder, capabilities=capabilities_in())


def asked(pipeline, text, **more):
    ranking = pipeline.rank(Query(text, **more), intent=SEARCH)
    return ranking, {hit.component.name: hit for hit in pipeline.hits(ranking, ranking.rows)}


def row_of(ranking, name):
    return next(row for row, one in enumerate(ranking.snapshot.summaries) if one.name == name)


def test_a_plugin_of_which_two_skills_fit_brings_its_others_along(garden):
    ranking, hits = asked(garden, ASKED)
    assert {"seed-bed", "sow-rows"} == set(list(hits)[:2])
    assert {"harvest-log", "tool-shed", "almanac"} <= set(list(hits)[:6])
    assert [known.name for known in ranking.matched.first] == ["garden-kit"]
    (why,) = [why.text for why in hits["almanac"].whys if why.kind == "pattern"]
    assert why.startswith("part of garden-kit's set, with s")
    found = ranking.matched.companions([row_of(ranking, "seed-bed"), row_of(ranking, "sow-rows")])
    assert {ranking.snapshot.summaries[one.row].name for one in found} == {"harvest-log", "tool-shed", "almanac"}
    assert {one.strength for one in found} == {1.0}
    assert all(len(one.beside) == 2 for one in found)


def test_what_is_added_is_bounded_and_one_of_the_parts_of_the_score(garden):
    ranking, hits = asked(garden, ASKED)
    assert 0.5 < hits["almanac"].parts[PATTERNS] <= 2.0
    part = ranking.parts[PATTERNS]
    assert part.min() == 0.0
    assert part.max() <= 2.0


def test_without_patterns_they_are_neither_weighed_nor_told(garden):
    ranking, hits = asked(garden, ASKED, without=frozenset({"patterns"}))
    assert PATTERNS not in ranking.parts
    assert [report.detail for report in ranking.report if report.stage == "patterns"] == ["skipped: switched off"]
    assert not [why for hit in hits.values() for why in hit.whys if why.kind == "pattern"]
    assert ranking.matched.first == ()
    assert ranking.matched.companions([row_of(ranking, "seed-bed")]) == []


def test_what_is_in_use_speaks_for_the_others_of_its_set(garden):
    _, alone = asked(garden, "audit the ledger")
    _, hits = asked(garden, "audit the ledger", using=("seed-bed", "folder:/kit:sow-rows"))
    assert "almanac" not in alone or alone["almanac"].parts[PATTERNS] == 0.0
    assert hits["almanac"].parts[PATTERNS] == pytest.approx(2.0)


def test_a_name_in_use_that_many_bear_says_little_of_each(garden, planted):
    for number in range(9):
        shelve(planted, {"seed-bed": "x", f"other-{number}": "x"}, plugin=f"kit-{number}", source=f"folder:/{number}")
    _, hits = asked(garden, "audit the ledger", using=("seed-bed",))
    assert hits["other-3"].parts[PATTERNS] == pytest.approx(0.1)


def test_a_question_that_names_the_set_matches_it(garden):
    ranking, hits = asked(garden, "which implements does the garden kit lend by the day?")
    assert ranking.matched.first[0].name == "garden-kit"
    assert hits["almanac"].parts[PATTERNS] >= 0.5


def test_what_agents_declare_together_again_and_again_says_how_often(store):
    names = ["sow-rows", "harvest-log"]
    others = [(f"agent-{one}", ["seed-bed", one]) for one in ("tool-shed", "almanac")]
    shelve(store, KIT, declared_by=[("sower", names), ("grower", names), *others])
    pipeline = Pipeline(store.graph, store.vectors, embedder=None)
    ranking, hits = asked(pipeline, "sow vegetable seed in rows", types=("skill",))
    (why,) = [why.text for why in hits["harvest-log"].whys if why.kind == "pattern"]
    assert why == "often together with sow-rows (support 2, lift 2.0)"
    (found, *_) = ranking.matched.companions([row_of(ranking, "sow-rows")])
    assert ranking.snapshot.summaries[found.row].name == "harvest-log"


def test_what_was_used_together_is_a_companion_but_adds_nothing_to_the_score(store):
    shelve(store, KIT)
    pairs = [("sow-rows", "almanac"), ("sow-rows", "almanac"), ("tool-shed", "harvest-log"), ("seed-bed", "tool-shed")]
    store.requests.record_many(
        [
            Request(f"request:{number}", "x", selected=tuple(Selection(f"folder:/kit:{name}") for name in pair))
            for number, pair in enumerate(pairs)
        ],
        now=NOW,
    )
    renew_patterns(store)
    ranking, _ = asked(Pipeline(store.graph, store.vectors, embedder=None), "sow vegetable seed in rows")
    assert not ranking.parts[PATTERNS].any()
    (found,) = ranking.matched.companions([row_of(ranking, "sow-rows")])
    assert ranking.snapshot.summaries[found.row].name == "almanac"
    assert ranking.matched.patterns.sentence(found.known, found.beside) == (
        "often used together with sow-rows (support 2, lift 2.0)"
    )


def test_companions_are_only_among_what_is_allowed(garden):
    ranking, _ = asked(garden, ASKED)
    among = np.ones(len(ranking.snapshot), dtype=np.bool_)
    among[row_of(ranking, "almanac")] = False
    rows = [row_of(ranking, "seed-bed"), row_of(ranking, "sow-rows")]
    found = ranking.matched.companions(rows, among=among)
    assert {ranking.snapshot.summaries[one.row].name for one in found} == {"harvest-log", "tool-shed"}
    assert ranking.matched.companions([]) == []


def test_patterns_do_not_change_where_the_walk_goes(store):
    shelve(store, KIT, plugin="garden-kit")
    pipeline = Pipeline(store.graph, store.vectors, embedder=None)
    with_patterns, _ = asked(pipeline, ASKED)
    store.sources.set_edges([], now=NOW, file="patterns")
    without, _ = asked(pipeline, ASKED)
    assert not len(without.matched.first)
    np.testing.assert_allclose(with_patterns.walk.ranks, without.walk.ranks, atol=1e-3)


def test_capabilities_that_go_together_are_known(store):
    for number in range(8):
        terms = ("api-design", "openapi") if number < 4 else (f"left-{number}", f"right-{number}")
        source = f"folder:/k{number}"
        shelve(store, {"one": "One.", "two": "Two."}, plugin=f"kit-{number}", source=source)
        edges = [
            Edge(f"{source}:{name}", f"capability:{term}", PROVIDES)
            for name, term in zip(("one", "two"), terms, strict=True)
        ]
        store.sources.set_edges(edges, now=NOW, file=source)
    renew_patterns(store)
    ranking, _ = asked(Pipeline(store.graph, store.vectors, embedder=None), "one")
    (known,) = ranking.matched.patterns.of_capabilities(["api-design"], limit=5)
    assert (set(known.capabilities), known.support, known.lift) == ({"api-design", "openapi"}, 4, 2.0)


# The arithmetic against a plain loop over every combination and member.
ROWS = 7
SETS = st.lists(st.frozensets(st.integers(0, ROWS - 1), min_size=2, max_size=5), max_size=6)


def snapshot_of(sets, origin):
    keys = [f"c{row}" for row in range(ROWS)] + [f"pattern:{index}" for index in range(len(sets))]
    edges = sorted((row, ROWS + index) for index, members in enumerate(sets) for row in members)
    topology = Topology(
        1,
        np.arange(1, len(keys) + 1),
        tuple(keys),
        ("component",) * ROWS + ("pattern",) * len(sets),
        tuple(keys),
        np.array([source for source, _ in edges], dtype=np.int64),
        np.array([target for _, target in edges], dtype=np.int64),
        np.full(len(edges), 0.5, dtype=np.float32),
        ("member_of",) * len(edges),
    )
    summaries = tuple(
        Summary(row + 1, f"c{row}", f"c{row}", "skill", "s", "", "", "", False, 0.0) for row in range(ROWS)
    )
    data = {ROWS + index + 1: {"origin": origin, "support": 2, "lift": 3.0} for index in range(len(sets))}
    return Snapshot(1, topology, {}, summaries, patterns=data)


@given(SETS, st.lists(st.floats(-6.0, 6.0), min_size=ROWS, max_size=ROWS))
def test_a_member_gets_what_the_others_of_its_best_set_vouch_for(sets, odds):
    scores = np.array(odds)
    found = Patterns(snapshot_of(sets, "plugin")).match(make_plan(Query("anything"), SEARCH), scores)
    likely = [float(np.exp(odd - max(odds))) for odd in odds]
    likely = [value if value >= 0.02 else 0.0 for value in likely]
    for row in range(ROWS):
        vouched = [
            0.5 * min(1.0, sum(likely[other] for other in members if other != row) / 2.0)
            for members in sets
            if row in members
        ]
        best = max(vouched, default=0.0)
        assert found.score[row] == pytest.approx(2.0 * best if best >= 0.05 else 0.0)


@given(SETS, st.sets(st.integers(0, ROWS - 1), max_size=3))
def test_companions_are_the_others_of_sets_with_what_is_chosen(sets, chosen):
    found = Patterns(snapshot_of(sets, "request")).companions(sorted(chosen))
    strength = {}
    for members in sets:
        count = len(members & chosen)
        for row in members - chosen:
            share = 0.5 * min(1.0, count / min(2, len(members) - 1))
            strength[row] = max(strength.get(row, 0.0), share)
    assert {one.row: one.strength for one in found} == pytest.approx({r: s for r, s in strength.items() if s > 0.0})
    assert all(first.strength >= second.strength for first, second in combinations(found, 2))
    assert all(set(one.beside) <= chosen for one in found)
