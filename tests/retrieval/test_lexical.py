"""Full text: scoring fewer rows changes no answer, and a filter loses no allowed row."""

import numpy as np
import pytest

from repertoire.retrieval import lexical as module
from repertoire.retrieval.arrays import best_rows
from repertoire.retrieval.lexical import lexical
from repertoire.retrieval.snapshot import Snapshots
from sample_home import component, fill

WORDS = ("rust", "review", "guide")


@pytest.fixture
def crowd(store):
    """Fill the shelf with many that hold common words, and few that hold a rare one beside."""
    fill(
        store,
        *(component("skill", f"guide-{n}", "A guide to review.") for n in range(40)),
        *(component("skill", f"rust-{n}", f"Rust review {'guide ' * n}.") for n in range(3)),
        *(component("skill", f"other-{n}", "Nothing of the kind.") for n in range(60)),
    )
    return store


def test_the_best_are_the_same_however_many_are_scored(crowd, monkeypatch):
    snapshot = Snapshots(crowd.graph, crowd.vectors, model="m").current()
    allowed = np.ones(len(snapshot), dtype=np.bool_)
    whole = lexical(crowd.graph, WORDS, (), snapshot, allowed)
    monkeypatch.setattr(module, "_DEPTH", 3)
    monkeypatch.setattr(module, "_ENOUGH", 1)
    narrowed = lexical(crowd.graph, WORDS, (), snapshot, allowed)
    best = best_rows(whole.whole, 3)
    assert best_rows(narrowed.whole, 3).tolist() == best.tolist()
    assert narrowed.whole[best] == pytest.approx(whole.whole[best])
    assert (narrowed.whole > 0).sum() == 3


@pytest.mark.parametrize(
    ("prefix", "all_but"), [("guide-1", False), ("rust-", True)], ids=["few allowed", "few left out"]
)
def test_what_a_filter_allows_is_scored_though_better_ones_are_left_out(crowd, monkeypatch, prefix, all_but):
    monkeypatch.setattr(module, "_DEPTH", 3)
    monkeypatch.setattr(module, "_ENOUGH", 1)
    snapshot = Snapshots(crowd.graph, crowd.vectors, model="m").current()
    allowed = np.array([summary.name.startswith(prefix) != all_but for summary in snapshot.summaries])
    scores = lexical(crowd.graph, WORDS, (), snapshot, allowed).whole
    assert scores.max() == 1.0
    assert not scores[~allowed].any()
    assert (scores > 0).sum() == 3
