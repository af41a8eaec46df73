"""A question is near to a capability's components even if it names no capability."""

import pytest

from repertoire.app.sources.embed import embed_pending
from repertoire.domain.answer import Query
from repertoire.domain.component import PROVIDES, Edge
from repertoire.retrieval.nearest_capabilities import NearestCapabilities
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH
from repertoire.store.database import Store
from sample_home import NOW, component, fill

PROVIDERS = {
    "containers": (
        "Builds Docker images and pushes them to a registry.",
        "Makes container images smaller and faster to build.",
        "Runs services in containers on a developer's machine.",
    ),
    "accounting": (
        "Reconciles bank statements with the ledger.",
        "Prepares the month-end closing of the books.",
        "Checks invoices against postings in the ledger.",
    ),
    "poetry": ("Writes sonnets.", "Finds rhymes."),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory, embedder):
    with Store.open(tmp_path_factory.mktemp("near") / "near.db") as opened:
        made = {
            f"{term}-{index}": (term, component("skill", f"{term}-{index}", text))
            for term, texts in PROVIDERS.items()
            for index, text in enumerate(texts)
        }
        fill(opened, *(one for _, one in made.values()))
        edges = [Edge(one.id, f"capability:{term}", PROVIDES) for term, one in made.values()]
        opened.sources.set_edges(edges, now=NOW, file="provided")
        embed_pending(opened, embedder)
        yield opened


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("build a Docker image and push it to our registry", "containers"),
        ("reconcile the bank statement with the ledger postings", "accounting"),
        ("what will the weather be in Oslo", ""),
    ],
)
def test_a_question_is_about_what_its_neighbours_provide(store, embedder, text, near):
    pipeline = Pipeline(store.graph, store.vectors, embedder=embedder)
    ranking = pipeline.rank(Query(text), intent=SEARCH)
    assert ranking.plan.capabilities == ()
    assert (near in ranking.plan.near) if near else ranking.plan.near == ()
    if near:
        (first, *_) = pipeline.hits(ranking, ranking.rows)
        assert f"provides {near}" in [why.text for why in first.whys]
    switched_off = pipeline.rank(Query(text, without=frozenset({"capabilities"})), intent=SEARCH)
    assert switched_off.plan.near == ()


def test_what_few_provide_is_no_neighbourhood(store, embedder):
    ranking = Pipeline(store.graph, store.vectors, embedder=embedder).rank(Query("write a sonnet"), intent=SEARCH)
    assert "poetry" not in ranking.plan.near


def test_without_vectors_nothing_is_near(store, embedder):
    ranking = Pipeline(store.graph, store.vectors, embedder=None).rank(Query("shrink a docker image"), intent=SEARCH)
    assert ranking.plan.near == ()
    assert NearestCapabilities().of(ranking.snapshot, embedder.embed_queries(["docker"])[0]) == ()
