"""The PageRank stage: where it starts, which rows it reaches, which paths it shows, and that it never fails."""

import numpy as np
import pytest

from repertoire.domain.component import DEPENDS_ON, PROVIDES, Edge
from repertoire.retrieval.similar_requests import RequestEvidence
from repertoire.retrieval.snapshot import Snapshots
from repertoire.retrieval.walk import WalkStart, damping, walk
from repertoire.store.database import Store
from sample_home import NOW, component, fill

IDS = {
    name: f"folder:/shelf:{place}/{name}.md"
    for name, place in {
        "ship": "commands",
        "changelog": "skills",
        "ledger-auditor": "agents",
        "pdf-forms": "skills",
        "format-on-save": "hooks",
    }.items()
}


def snapshot_with(store, *edges):
    store.sources.set_edges(
        [Edge(IDS.get(a, a), IDS.get(b, b), relation) for a, b, relation in edges], now=NOW, file="test"
    )
    return Snapshots(store.graph, store.vectors, model="m").current()


def row(snapshot, name):
    return [summary.name for summary in snapshot.summaries].index(name)


def scored(snapshot, **scores):
    given = np.full(len(snapshot), -np.inf)
    for name, score in scores.items():
        given[row(snapshot, name.replace("_", "-"))] = score
    return given


def test_rank_flows_from_the_first_hits_to_what_they_are_linked_with(store):
    snapshot = snapshot_with(store, ("ship", "changelog", DEPENDS_ON))
    walked = walk(snapshot, scored(snapshot, ship=3.0))
    assert walked.score[row(snapshot, "ship")] > 0
    assert walked.score[row(snapshot, "changelog")] > 0
    assert walked.score[row(snapshot, "pdf-forms")] == 0


def test_the_path_is_the_one_that_carried_most(store):
    snapshot = snapshot_with(
        store,
        ("ship", "changelog", DEPENDS_ON),
        ("changelog", "ledger-auditor", DEPENDS_ON),
        ("ship", "requirement:binary:git", DEPENDS_ON),
        ("requirement:binary:git", "ledger-auditor", DEPENDS_ON),
    )
    walked = walk(snapshot, scored(snapshot, ship=3.0))
    assert walked.path_to(row(snapshot, "changelog")) == ["ship"]
    assert walked.path_to(row(snapshot, "ledger-auditor")) == ["ship", "changelog"]
    assert walked.path_to(row(snapshot, "ship")) == []
    assert walked.path_to(row(snapshot, "pdf-forms")) == []


def test_a_capability_that_is_named_leads_to_what_provides_it_though_nothing_else_speaks_for_that(store):
    snapshot = snapshot_with(store, ("format-on-save", "capability:house-style", PROVIDES))
    asked = WalkStart(capabilities=("house-style", "unheard-of"))
    walked = walk(snapshot, scored(snapshot, ship=3.0), asked)
    assert walked.score[row(snapshot, "format-on-save")] > 0
    assert walk(snapshot, scored(snapshot, ship=3.0)).score[row(snapshot, "format-on-save")] == 0
    alone = walk(snapshot, scored(snapshot), asked)
    assert alone.score.argmax() == row(snapshot, "format-on-save")


def test_what_served_requests_like_this_is_set_out_from_as_far_as_it_is_to_be_trusted(store):
    snapshot = snapshot_with(store, ("ledger-auditor", "pdf-forms", DEPENDS_ON))
    share = np.zeros(len(snapshot))
    share[row(snapshot, "ledger-auditor")] = 1.0
    reached = [
        walk(snapshot, scored(snapshot, ship=3.0), WalkStart(past=RequestEvidence(share, trust, 3))).ranks[
            row(snapshot, "pdf-forms")
        ]
        for trust in (0.0, 0.1, 0.3)
    ]
    assert reached[0] == 0
    assert reached[0] < reached[1] < reached[2]


def test_what_is_in_use_is_set_out_from(store):
    snapshot = snapshot_with(store, ("ship", "changelog", DEPENDS_ON))
    walked = walk(snapshot, scored(snapshot, pdf_forms=3.0), WalkStart(using=("ship", "nobody")))
    assert walked.score[row(snapshot, "changelog")] > 0


def test_a_walk_counts_in_full_only_where_a_person_says_what_is_in_use(store):
    snapshot = snapshot_with(store, ("ship", "changelog", DEPENDS_ON))
    hits = scored(snapshot, ship=3.0)
    told, guessed = (walk(snapshot, hits, start) for start in (WalkStart(using=("ship",)), WalkStart()))
    beside = row(snapshot, "changelog")
    assert told.ranks[beside] == pytest.approx(guessed.ranks[beside], rel=0.01)
    assert 0 < guessed.score[beside] < told.score[beside] / 2


def test_a_name_that_belongs_to_no_component_changes_no_score(store):
    snapshot = snapshot_with(store, ("ship", "changelog", DEPENDS_ON))
    hits = scored(snapshot, ship=3.0)
    told, guessed = (walk(snapshot, hits, start) for start in (WalkStart(using=("nobody",)), WalkStart()))
    assert told.score.tolist() == guessed.score.tolist()


def test_the_walk_goes_farther_for_a_task_of_several_parts_and_less_far_where_the_past_knows():
    silent = RequestEvidence.silent(1)
    trusted = RequestEvidence(np.ones(1), 0.7, 1)
    assert damping(WalkStart(past=silent)) > damping(WalkStart(past=silent, compound=False))
    assert damping(WalkStart(past=silent)) > damping(WalkStart(past=trusted)) > 0
    assert damping(WalkStart(past=RequestEvidence(np.ones(1), 1.0, 1), compound=False)) > 0


@pytest.mark.parametrize(
    "start", [None, WalkStart(), WalkStart(("unheard-of",), ("nobody",))], ids=["nothing", "empty", "unknown"]
)
def test_a_walk_without_seeds_goes_nowhere(store, start):
    snapshot = snapshot_with(store, ("ship", "changelog", DEPENDS_ON))
    walked = walk(snapshot, scored(snapshot), start)
    assert not walked.score.any()
    assert not len(walked.seeds)
    assert walked.path_to(0) == []


def test_a_seed_on_an_island_stays_in_the_result(store):
    fill(store, component("skill", "hermit", "Alone."))
    snapshot = snapshot_with(store, ("ship", "changelog", DEPENDS_ON))
    walked = walk(snapshot, scored(snapshot, hermit=1.0))
    assert walked.ranks[row(snapshot, "hermit")] == pytest.approx(1.0)
    assert np.flatnonzero(walked.score).tolist() == [row(snapshot, "hermit")]


def test_an_empty_graph_is_walked_nowhere(tmp_path):
    with Store.open(tmp_path / "empty.db") as empty:
        snapshot = Snapshots(empty.graph, empty.vectors, model="m").current()
        assert walk(snapshot, np.zeros(0)).path_to is not None
        assert not len(walk(snapshot, np.zeros(0)).score)
