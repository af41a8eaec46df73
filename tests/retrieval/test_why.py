"""The reasons of a hit are about the task, not about what lies around it."""

from __future__ import annotations

import pytest

from repertoire.domain.answer import Query
from repertoire.domain.component import DEPENDS_ON, Edge
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH
from repertoire.store.database import Store
from sample_home import NOW, component, fill

HELPER = component("skill", "backdrop", "Paints what is at the back of a stage.")


def reasons(store: Store, text: str, name: str) -> list[str]:
    pipeline = Pipeline(store.graph, store.vectors, embedder=None)
    ranking = pipeline.rank(Query(text), intent=SEARCH)
    hits = {hit.component.name: hit for hit in pipeline.hits(ranking, ranking.rows)}
    return [why.text for why in hits[name].whys]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("roll back the CrashLoopBackOff of a stage", "words: back, stage"),
        ("the CrashLoopBackOff of a stage", "words: stage"),
    ],
)
def test_a_short_part_of_a_name_is_no_reason(store: Store, asked: str, told: str) -> None:
    fill(store, HELPER)
    assert reasons(store, asked, "backdrop") == [told]


def test_a_way_over_others_is_a_reason_only_beside_more_than_words(store: Store) -> None:
    fill(store, HELPER)
    ids = {one.name: one.id for one in store.graph.summaries()}
    links = [(ids["ship"], ids["pdf-forms"]), (ids["pdf-forms"], HELPER.id)]
    store.sources.set_edges([Edge(one, other, DEPENDS_ON) for one, other in links], now=NOW, file="test")
    assert reasons(store, "ship the release", "pdf-forms") == ["path: ship → this"]
    assert reasons(store, "ship the release", "backdrop") == []
