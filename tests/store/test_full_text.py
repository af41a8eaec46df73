"""Full text: questions of some of the components only, and how often words stand in all of them."""

import pytest

from repertoire.ports import Among
from repertoire.store.database import Store
from sample_home import component, fill

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


def test_merging_the_index_may_end_anywhere_and_lets_others_write_between_its_steps(tmp_path):
    path, prose = tmp_path / "repertoire.db", " ".join(f"word{number}" for number in range(2_000))
    with Store.open(path) as store:
        for number in range(15):
            fill(store, *(component("skill", f"s{number}-{n}", f"{n} {prose} of{number}-{n}") for n in range(6)))
        words = ["word7", "of3"]
        before, pieces = store.graph.match(words, limit=999, weights=WEIGHTS), _pieces(store)
        assert store.text.merge()
    with Store.open(path) as store, Store.open(path, wait=0.0) as other:
        _whole(store)
        steps = 0
        while store.text.merge():
            fill(other, component("skill", "meanwhile", f"Revision {steps}."))
            steps += 1
        assert steps > 1
        assert _pieces(store) <= 3 < pieces
        _whole(store)
        assert [found for found, _ in store.graph.match(words, limit=999, weights=WEIGHTS)] == [
            found for found, _ in before
        ]
        assert not store.text.merge()


def _pieces(store):
    return store._connection.value("SELECT count(DISTINCT segid) FROM component_text_idx")


def _whole(store):
    store._connection.execute("INSERT INTO component_text(component_text) VALUES ('integrity-check')")


def test_how_often_a_word_is_held_is_counted_anew_when_the_graph_changes(shelf):
    assert shelf.graph.document_frequency(["changelog", "zeppelin"]) == {"changelog": 1, "zeppelin": 0}
    fill(shelf, component("skill", "airship", "Flies a zeppelin."))
    assert shelf.graph.document_frequency(["changelog", "zeppelin"]) == {"changelog": 1, "zeppelin": 1}


def test_the_nodes_that_hold_a_word_are_told_by_their_ids(shelf):
    assert [shelf.graph.holders(word).tolist() for word in ("changelog", "zeppelin")] == [
        [found for found, _ in shelf.graph.match(["changelog"], limit=9, weights=WEIGHTS)],
        [],
    ]
