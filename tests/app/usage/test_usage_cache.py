"""Usage moves a ranking by a bounded prior: it breaks ties, and changes nothing without events."""

from __future__ import annotations

import numpy as np
import pytest

from repertoire.app.ask.explain import ExplainRequest, explain
from repertoire.app.ask.recommend import recommend
from repertoire.app.ask.search import search
from repertoire.app.clock import now
from repertoire.app.person.feedback import give_feedback
from repertoire.app.session.hook_events import Moment, recommended
from repertoire.app.usage.stats import stats
from repertoire.app.usage.usage_cache import USE, UsageCache, usage
from repertoire.domain.answer import Query, Task
from repertoire.domain.event import ASKED, CHECKED, OFFERED, OUTCOME, SELECTED, Event
from repertoire.rendering.answers import answer_text, recommendation_text
from repertoire.rendering.explanations import explanation_text
from repertoire.rendering.usage import stats_text
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH
from repertoire.retrieval.priors import MOST
from repertoire.retrieval.resources import Options
from repertoire.settings import Settings
from repertoire.store.database import Store
from sample_home import SOURCE, component, fill

WORDS = "Rotates the keys of a vault on a schedule."
FIRST, OTHER, PDF = (f"{SOURCE.key}:skills/{name}.md" for name in ("vault-first", "vault-other", "pdf-forms"))


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "a.db") as opened:
        fill(opened, component("skill", "vault-first", WORDS), component("skill", "vault-other", WORDS))
        yield opened


def prior(store, half_life=90.0):
    return UsageCache(lambda: usage(store, half_life=half_life)).prior


def ask(store, text="rotate the vault keys", *, half_life=90.0, remembering=True):
    options = Options(priors=(prior(store, half_life),) if remembering else ())
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


def test_a_question_has_one_answer_however_often_it_is_asked(store):
    happened(store, OFFERED, PDF, where="prompt")
    happened(store, SELECTED, PDF)

    def first():
        pipeline = Pipeline(store.graph, store.vectors, embedder=None, options=Options(priors=(prior(store),)))
        found = recommend(pipeline, Task("rotate the vault keys"))
        store.events.append(recommended(found, Moment(now(), "", "/p")))
        return found.items[0].hit.component.id

    assert {first() for _ in range(6)} == {FIRST}


def test_what_was_used_of_a_set_leans_up(store):
    happened(store, OFFERED, OTHER, where="set")
    happened(store, OFFERED, FIRST, where="set")
    happened(store, SELECTED, OTHER)
    assert ask(store)[1][:2] == [OTHER, FIRST]


def test_what_a_person_says_and_what_is_forgotten_changes_the_answers_of_a_server_that_runs(store):
    happened(store, OFFERED, OTHER, times=200, where="prompt")
    use = UsageCache(
        lambda: usage(store, half_life=90.0), size=store.events.size, said=lambda: store.events.count(OUTCOME)
    )
    pipeline = Pipeline(store.graph, store.vectors, embedder=None, options=Options(priors=(use.prior,)))

    def leaning():
        ranking = pipeline.rank(Query("rotate the vault keys"), intent=SEARCH)
        return float(ranking.parts[USE][ranking.snapshot.row_of(FIRST)]) if USE in ranking.parts else 0.0

    assert leaning() == 0
    give_feedback(store, FIRST, "failed", moment=Moment(now(), "", "/p"))
    assert leaning() < 0
    store.privacy.forget_requests()
    assert leaning() == 0


def test_who_wants_no_memory_has_none(store):
    happened(store, OFFERED, FIRST, times=12)
    happened(store, SELECTED, FIRST, times=12)
    assert USE not in ask(store, half_life=0.0)[0].parts


DEMOTED = "demoted: failed more often than without it, 7 of 9 times against 1 of 8"


def harm(store, node):
    """Let a component be used nine times, mostly badly, and be left aside eight times, mostly to the good."""
    happened(store, OFFERED, node, times=9)
    happened(store, SELECTED, node, times=9)
    for number in range(9):
        outcome = {"outcome": "ok" if number < 2 else "failed"}
        store.events.append([Event(now(), OUTCOME, f"{node} {number}", "/p", "", node, outcome)])
    for number in range(8):
        where = f"aside {number}", "/p", f"r aside {number}"
        store.events.append([Event(now(), ASKED, *where), Event(now(), OFFERED, *where, node, {"rank": 1})])
        passed = number < 7
        store.events.append([Event(now(), CHECKED if passed else "corrected", *where)])


def test_what_does_harm_stands_lower_and_every_answer_says_so(store):
    harm(store, FIRST)
    use = UsageCache(lambda: usage(store, half_life=90.0))
    pipeline = Pipeline(
        store.graph, store.vectors, embedder=None, options=Options(priors=(use.prior,), demoted=use.demoted)
    )
    found = search(pipeline, Query("rotate the vault keys"))
    assert [hit.component.id for hit in found.hits[:2]] == [OTHER, FIRST]
    assert DEMOTED in answer_text(found)
    assert use.harmful() == {FIRST}
    recommended = recommend(pipeline, Task("rotate the vault keys"))
    assert [item.hit.component.id for item in recommended.items] == [OTHER]
    assert f"Why not:\n   vault-first (skill): the same as vault-other, and {DEMOTED}" in recommendation_text(
        recommended
    )
    explained = explain(store, pipeline, ExplainRequest(FIRST, "rotate the vault keys"), usage=use.usage)
    assert "; went well 2 of 9 times with a known outcome" in explanation_text(explained)
    lift = "2 of 9 went well with it, 7 of 8 where it was only offered: -65 points (-84 to -18, 95 % confidence)"
    assert f"lift: {lift}; {DEMOTED}" in explanation_text(explained)
    told = stats(store, Settings(), project="/p")
    assert DEMOTED in stats_text(told)


def test_harm_of_one_leaves_every_other_score_alone(store):
    harm(store, FIRST)
    ranking, _ = ask(store)
    moved = [summary.id for row, summary in enumerate(ranking.snapshot.summaries) if ranking.parts[USE][row]]
    assert moved == [FIRST]


def test_a_long_log_is_read_anew_where_it_has_grown_by_a_part_or_something_was_forgotten(store):
    times = []

    def read():
        times.append(store.events.size())
        return usage(store, half_life=90.0)

    use = UsageCache(read, size=store.events.size)
    pipeline = Pipeline(store.graph, store.vectors, embedder=None, options=Options(priors=(use.prior,)))

    def ask_after(*, more):
        happened(store, OFFERED, OTHER, times=more)
        store.requests.record(f"request:{store.events.size()}", now=now())  # moves the revision
        pipeline.rank(Query("rotate the vault keys"), intent=SEARCH)
        return use.usage.records.get(OTHER)

    assert ask_after(more=100).recommended == 100
    assert ask_after(more=2).recommended == 100
    assert ask_after(more=1).recommended == 103
    store.privacy.forget_requests()
    assert ask_after(more=0) is None
    assert times == [100, 103, 0]
