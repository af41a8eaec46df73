"""Priors only break ties: bounded, 0 where nothing is known, and cached with the snapshot."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.answer import Query
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH, Stack
from repertoire.retrieval.priors import MOST, Prior, usual_priors
from repertoire.retrieval.resources import Options
from repertoire.store.database import Store
from sample_home import component, fill

TODAY = date(2026, 11, 22)
TWINS = "Rotates the keys of a vault."


def ask(store, text, *, options=None, **more):
    pipeline = Pipeline(
        store.graph,
        store.vectors,
        embedder=None,
        capabilities=lambda words: [word for word in ("helm", "sql") if word in words],
        options=options,
    )
    ranking = pipeline.rank(Query(text, **more), intent=SEARCH)
    return ranking, [hit.component.name for hit in pipeline.hits(ranking, ranking.rows)]


@pytest.fixture
def twins(tmp_path):
    with Store.open(tmp_path / "twins.db") as store:
        fill(
            store,
            component("skill", "vault-first", TWINS, last_commit="2019-03-01"),
            component("skill", "vault-other", TWINS, last_commit="2026-11-01T10:00:00Z"),
        )
        yield store


def test_of_equals_the_fresher_comes_first(twins):
    assert ask(twins, "rotate vault keys")[1][:2] == ["vault-first", "vault-other"]
    ranking, names = ask(twins, "rotate vault keys", options=Options(priors=usual_priors(lambda: TODAY)))
    assert names[:2] == ["vault-other", "vault-first"]
    unknown = ranking.snapshot.column("last_commit") == ""
    assert not ranking.parts["freshness"][unknown].any()


def test_of_equals_the_more_popular_comes_first(twins):
    (row,) = [entry.node_id for entry in twins.graph.by_name("vault-other")]
    twins.sources.set_popularity({row: 9.0})
    prior = [prior for prior in usual_priors(lambda: TODAY) if prior.name == "popularity"]
    assert ask(twins, "rotate vault keys", options=Options(priors=tuple(prior)))[1][:2] == [
        "vault-other",
        "vault-first",
    ]


def test_of_equals_a_persons_own_comes_before_what_a_plugin_brought_and_that_before_what_is_not_installed(tmp_path):
    with Store.open(tmp_path / "three.db") as store:
        fill(
            store,
            component("skill", "vault-first", TWINS),
            component("skill", "vault-kit", f"{TWINS} ", installed=True, plugin="kit"),
            component("skill", "vault-own", f" {TWINS}", installed=True),
        )
        prior = tuple(prior for prior in usual_priors(lambda: TODAY) if prior.name == "installed")
        names = ask(store, "rotate vault keys", options=Options(priors=prior))[1]
    assert names[:3] == ["vault-own", "vault-kit", "vault-first"]


def test_no_favourite_outweighs_what_serves_better(store):
    favourite = Prior("trust", 1e9, lambda snapshot: 1e9 * (snapshot.column("name") == "ship"))
    plain = ask(store, "audit the ledger and fill PDF forms")[1]
    ranking, names = ask(store, "audit the ledger and fill PDF forms", options=Options(priors=(favourite,)))
    assert names == plain
    assert ranking.parts["trust"].max() == MOST


@given(st.lists(st.floats(width=32), min_size=2, max_size=2), st.floats(0, 1e6))
def test_a_prior_stays_within_its_bounds_whatever_it_says(values, most):
    odds = Prior("any", most, lambda _: np.array(values)).odds(None)
    assert np.isfinite(odds).all()
    assert (np.abs(odds) <= min(most, MOST)).all()


def test_what_provides_the_projects_stack_is_preferred_and_what_it_lacks_is_not(store):
    stack = Stack(frozenset({"helm"}), frozenset({"sql", "browser-automation"}))
    options = Options(stack=lambda _: stack)
    parts = ask(store, "help me", options=options, project="/somewhere")[0].parts["stack"]
    names = ask(store, "help me")[0].snapshot.column("name").tolist()
    assert parts[names.index("kubernetes-deploy")] == 0.5
    assert parts[names.index("postgres")] == parts[names.index("browser-kit")] == -0.5
    assert parts[names.index("changelog")] == 0.0
    asked = ask(store, "explain my slow sql", options=options, project="/somewhere")[0].parts["stack"]
    assert asked[names.index("postgres")] == 0.0
    assert "stack" not in ask(store, "help me", options=options)[0].parts


def test_age_has_a_floor_and_an_unreadable_date_says_nothing(tmp_path):
    with Store.open(tmp_path / "old.db") as store:
        fill(
            store,
            component("skill", "vault-old", TWINS, last_commit="1999-01-01"),
            component("skill", "vault-odd", TWINS, last_commit="292277026596-12-04"),
        )
        ranking, _ = ask(store, "rotate vault keys", options=Options(priors=usual_priors(lambda: TODAY)))
        parts = dict(zip(ranking.snapshot.column("name").tolist(), ranking.parts["freshness"].tolist(), strict=True))
    assert parts["vault-odd"] == 0.0
    assert -0.1 < parts["vault-old"] <= -0.075
