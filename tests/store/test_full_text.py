"""Full text: questions of some of the components only, and how often words stand in all of them."""

import pytest

from repertoire.ports import Among
from repertoire.store.database import Store
from shelf import component, fill

WEIGHTS = (2.0, 1.0, 1.0)


@pytest.fixture
def shelf(tmp_path):
    with Store.open(tmp_path / "repertoire.db") as store:
        fill(store)
        yield store


def test_a_question_of_some_components_scores_them_as_a_question_of_all_does(shelf):
    words, graph = ["release", "notes", "git"], shelf.graph
    every = dict(graph.match(words, limit=99, weights=WEIGHTS))
    fields = {node_id: rest for node_id, *rest in graph.match_fields(words, limit=99)}
    for among in (Among(["git"]), Among(node_ids=list(every)[1:])):
        found = dict(graph.match(words, limit=99, weights=WEIGHTS, among=among))
        assert 0 < len(found) < len(every)
        assert found.items() <= every.items()
        assert {node_id: rest for node_id, *rest in graph.match_fields(words, limit=99, among=among)} == {
            node_id: fields[node_id] for node_id in found
        }
    assert graph.match(words, limit=99, weights=WEIGHTS, among=Among(node_ids=[])) == []


def test_how_often_a_word_is_held_is_counted_anew_when_the_graph_changes(shelf):
    assert shelf.graph.document_frequency(["changelog", "zeppelin"]) == {"changelog": 1, "zeppelin": 0}
    fill(shelf, component("skill", "airship", "Flies a zeppelin."))
    assert shelf.graph.document_frequency(["changelog", "zeppelin"]) == {"changelog": 1, "zeppelin": 1}
