"""What use does to answers: it breaks ties, never more, and nothing at all where nothing happened."""

from __future__ import annotations

import numpy as np
import pytest

from repertoire.app.clock import now
from repertoire.app.memory import USE, memory, use_prior
from repertoire.domain.answer import Query
from repertoire.retrieval.pipeline import Options, Pipeline
from repertoire.retrieval.plan import SEARCH
from repertoire.retrieval.priors import MOST
from repertoire.store.database import Store
from repertoire.store.events import OFFERED, OUTCOME, SELECTED, Event
from shelf import SOURCE, component, fill

WORDS = "Rotates the keys of a vault."
FIRST, OTHER, PDF = (f"{SOURCE.key}:skills/{name}.md" for name in ("vault-first", "vault-other", "pdf-forms"))


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "a.db") as opened:
        fill(opened, component("skill", "vault-first", WORDS), component("skill", "vault-other", WORDS))
        yield opened


def ask(store, text="rotate the vault keys", *, half_life=90.0, remembering=True):
    prior = use_prior(lambda: memory(store, half_life=half_life))
    options = Options(priors=(prior,) if remembering else ())
    ranking = Pipeline(store.graph, store.vectors, embedder=None, options=options).rank(Query(text), intent=SEARCH)
    return ranking, [ranking.snapshot.summaries[row].id for row in ranking.rows]


def happened(store, kind, node, *, times=1, rank=1, **data):
    store.events.append(
        [
            Event(now(), kind, f"{node} {number}", "/p", f"r {node} {number}", node, {"rank": rank, **data})
            for number in range(times)
        ]
    )


def test_without_history_no_score_moves(store):
    ranking, ids = ask(store)
    plain, same = ask(store, remembering=False)
    assert ids == same
    assert np.array_equal(ranking.scores, plain.scores)
    assert USE not in ranking.parts


def test_of_equals_the_one_that_is_taken_comes_first_and_the_unseen_keeps_its_score(store):
    _, ids = ask(store)
    assert ids[:2] == [FIRST, OTHER]
    happened(store, OFFERED, FIRST, times=12)
    happened(store, OFFERED, OTHER, times=12)
    happened(store, SELECTED, OTHER, times=6)
    happened(store, OUTCOME, OTHER, times=6, outcome="ok")
    ranking, ids = ask(store)
    assert ids[:2] == [OTHER, FIRST]
    row = next(row for row, summary in enumerate(ranking.snapshot.summaries) if summary.id == PDF)
    assert ranking.parts[USE][row] == 0.0


def test_no_history_buries_a_better_fit(store):
    happened(store, OFFERED, PDF, times=200)
    happened(store, SELECTED, PDF, times=200)
    happened(store, OUTCOME, PDF, times=50, outcome="ok")
    ranking, ids = ask(store)
    assert set(ids[:2]) == {FIRST, OTHER}
    assert np.abs(ranking.parts[USE]).max() <= MOST


def test_who_wants_no_memory_has_none(store):
    happened(store, OFFERED, FIRST, times=12)
    happened(store, SELECTED, FIRST, times=12)
    assert USE not in ask(store, half_life=0.0)[0].parts
