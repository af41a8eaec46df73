"""Vectors follow their components: missing or outdated ones are named, and models are kept apart."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import apsw
import numpy as np

from repertoire.domain.answer import REQUEST_SPACE
from repertoire.domain.pack import CHUNK_SPACE, PackArticle, PackSection
from repertoire.store.pack_file import PackStore
from repertoire.store.requests import Request
from repertoire.store.vectors import Progress
from store.samples import NOW, SOURCE, component, record

MODEL, SPACE = "a model", "body"


def unit(*rows):
    matrix = np.array(rows, dtype=np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def ingest(store, *texts):
    """Write components a0, a1, … with these texts and return their node ids."""
    records = [record(f"f{n}", component(f"acme:a{n}", text)) for n, text in enumerate(texts)]
    store.sources.write(SOURCE, records, (), derived=(), now=NOW)
    return [store.graph.by_key(f"acme:a{n}").node_id for n in range(len(texts))]


def embed(store, model=MODEL, space=SPACE):
    """Give everything that is pending a vector of its own direction."""
    rows = store.vectors.pending(space, model, limit=1000)
    vectors = np.zeros((len(rows), 8), dtype=np.float32)
    vectors[np.arange(len(rows)), [node_id % 8 for node_id, _ in rows]] = 1
    store.vectors.put(space, model, rows, vectors)
    return [node_id for node_id, _ in rows]


def test_what_has_no_vector_is_pending_the_installed_first(store):
    store.sources.write(
        SOURCE,
        [record("f", component("acme:a"), component("acme:b", installed=True))],
        (),
        derived=(),
        now=NOW,
    )
    ids = [store.graph.by_key(key).node_id for key in ("acme:b", "acme:a")]
    assert [node_id for node_id, _ in store.vectors.pending(SPACE, MODEL, limit=10)] == ids
    assert store.vectors.progress(SPACE, MODEL) == Progress(0, 2)
    assert embed(store) == ids
    assert store.vectors.pending(SPACE, MODEL, limit=10) == []
    assert store.vectors.progress(SPACE, MODEL) == Progress(2, 2)


def test_a_persons_own_components_can_be_asked_for_alone(store):
    own, bundled = component("acme:own", installed=True), component("acme:bundled", installed=True, plugin="kit")
    store.sources.write(SOURCE, [record("f", component("acme:a"), own, bundled)], (), derived=(), now=NOW)
    alone = [node_id for node_id, _ in store.vectors.pending(SPACE, MODEL, limit=10, own=True)]
    assert alone == [store.graph.by_key("acme:own").node_id]


def test_a_changed_content_is_pending_again_and_its_new_vector_takes_the_place(store):
    first, second = ingest(store, "one", "two")
    embed(store)
    ingest(store, "three", "two")
    assert store.vectors.pending(SPACE, MODEL, limit=10) == [(first, "hash of three")]
    assert store.vectors.progress(SPACE, MODEL) == Progress(1, 2)
    store.vectors.put(SPACE, MODEL, [(first, "hash of three")], unit([0, 0, 0, 0, 0, 0, 0, 1]))
    ids, matrix = store.vectors.matrix(SPACE, MODEL)
    assert ids.tolist() == [first, second]
    assert matrix[0].tolist() == [0, 0, 0, 0, 0, 0, 0, 1]


def test_a_vector_of_an_outdated_content_stays_pending(store):
    (node,) = ingest(store, "new")
    store.vectors.put(SPACE, MODEL, [(node, "hash of old")], unit([1, 0]))
    assert store.vectors.pending(SPACE, MODEL, limit=10) == [(node, "hash of new")]


def test_what_has_nothing_to_embed_is_marked_and_not_pending(store):
    first, second = ingest(store, "one", "two")
    store.vectors.mark(SPACE, MODEL, 8, [(first, "hash of one")])
    assert [node_id for node_id, _ in store.vectors.pending(SPACE, MODEL, limit=10)] == [second]
    assert store.vectors.matrix(SPACE, MODEL)[0].tolist() == []


def test_a_space_of_several_chunks_is_read_whole_in_the_order_of_its_ids_whatever_came_and_went(store):
    nodes = ingest(store, *(f"text {n}" for n in range(2100)))
    dice = np.random.default_rng(1)
    kept = {node: dice.normal(size=8).astype(np.float32) for node in nodes}
    store.vectors.put(SPACE, MODEL, [(node, "h") for node in kept], np.stack(list(kept.values())))
    for node in nodes[:1100:2]:
        store.vectors.drop(node)
    again = nodes[:300:4]
    store.vectors.put(SPACE, MODEL, [(node, "h") for node in again], np.stack([kept[node] for node in again]))
    left = sorted(set(nodes) - set(nodes[:1100:2]) | set(again))
    ids, vectors = store.vectors.matrix(SPACE, MODEL)
    assert ids.tolist() == left
    assert np.array_equal(vectors, np.stack([kept[node] for node in left]))


def test_a_space_that_is_not_there_answers_with_nothing(store):
    ids, matrix = store.vectors.matrix("code", MODEL)
    assert (ids.shape, matrix.shape) == ((0,), (0, 0))


def test_spaces_and_models_are_never_mixed(store):
    (node,) = ingest(store, "one")
    store.vectors.put("body", MODEL, [(node, "h")], unit([1, 0]))
    store.vectors.put("code", MODEL, [(node, "h")], unit([0, 1, 0]))
    store.vectors.put("body", "another", [(node, "h")], unit([0, 1]))
    assert store.vectors.matrix("body", MODEL)[1].tolist() == [[1, 0]]
    assert store.vectors.matrix("body", "another")[1].tolist() == [[0, 1]]
    store.vectors.drop_other_models("another")
    assert store.vectors.matrix("body", MODEL)[0].tolist() == []
    assert store.vectors.matrix("code", MODEL)[0].tolist() == []
    assert store.vectors.matrix("body", "another")[0].tolist() == [node]


def test_another_length_under_the_same_name_starts_the_space_anew(store):
    first, second = ingest(store, "one", "two")
    store.vectors.put(SPACE, MODEL, [(first, "hash of one"), (second, "hash of two")], unit([1, 0], [0, 1]))
    store.vectors.put(SPACE, MODEL, [(first, "hash of one")], unit([1, 0, 0]))
    assert [node_id for node_id, _ in store.vectors.pending(SPACE, MODEL, limit=10)] == [second]
    assert store.vectors.matrix(SPACE, MODEL)[1].tolist() == [[1, 0, 0]]


def test_a_component_that_went_takes_its_vectors_with_it_and_one_that_comes_late_is_left_out(store):
    (node,) = ingest(store, "one")
    embed(store)
    embed(store, space="code")
    store.sources.remove(SOURCE.key)
    store.vectors.put(SPACE, MODEL, [(node, "h")], unit([1, 0, 0, 0, 0, 0, 0, 0]))
    store.vectors.mark("code", MODEL, 8, [(node, "h")])
    for space in (SPACE, "code"):
        assert store.vectors.matrix(space, MODEL)[0].tolist() == []


def test_the_revision_of_vectors_moves_when_one_changes_and_only_then(store):
    ingest(store, "one")
    seen = [store.vectors.revision()]
    rows = store.vectors.pending(SPACE, MODEL, limit=1)
    store.vectors.put(SPACE, MODEL, [(99, "h")], unit([1, 0, 0, 0, 0, 0, 0, 0]))
    assert store.vectors.revision() == seen[-1]
    for change in (
        lambda: store.vectors.put(SPACE, MODEL, rows, unit([1, 0, 0, 0, 0, 0, 0, 0])),
        lambda: store.sources.remove(SOURCE.key),
        lambda: store.vectors.drop_other_models("another"),
    ):
        change()
        assert store.vectors.revision() > seen[-1]
        seen.append(store.vectors.revision())
    store.vectors.drop_other_models("another")
    assert store.vectors.revision() == seen[-1]


def test_each_space_tells_of_its_own_changes_and_all_of_what_nobody_names(store, tmp_path):
    ingest(store, "one")
    rows, vector = store.vectors.pending(SPACE, MODEL, limit=1), unit([1, 0, 0, 0, 0, 0, 0, 0])
    before = store.vectors.revisions((SPACE, "code"))
    store.vectors.put(SPACE, MODEL, rows, vector)
    after = store.vectors.revisions((SPACE, "code"))
    assert (after[SPACE] != before[SPACE], after["code"]) == (True, before["code"])
    with apsw.Connection(str(tmp_path / "repertoire.db")) as older:  # a version that counts for all spaces together
        older.execute("UPDATE meta SET value = value + 1 WHERE key = 'vectors'")
    moved = store.vectors.revisions((SPACE, "code"))
    assert all(moved[space] != after[space] for space in moved)


def test_where_vectors_come_and_go_the_table_is_not_left_full_of_holes(store, tmp_path):
    rng = np.random.default_rng(1)
    kept, most, chunk = {}, 1_200, 1_024
    for turn in range(8):
        fresh = store.requests.record_many([Request(f"request:{turn} {n}", "asked") for n in range(600)], now=NOW)
        vectors = rng.standard_normal((600, 4)).astype(np.float32)
        store.vectors.put(REQUEST_SPACE, MODEL, [(node, "h") for node in fresh], vectors)
        kept |= dict(zip(fresh, vectors, strict=True))
        gone = rng.choice(list(kept), max(len(kept) - most, 0), replace=False).tolist()
        store.requests.drop(gone)
        kept = {node: vector for node, vector in kept.items() if node not in gone}
    ids, matrix = store.vectors.matrix(REQUEST_SPACE, MODEL)
    assert (ids.tolist(), matrix.tolist()) == (sorted(kept), [kept[node].tolist() for node in sorted(kept)])
    with apsw.Connection(str(tmp_path / "repertoire.db")) as file:
        [(chunks,)] = file.execute("SELECT count(*) FROM vec_1_chunks").fetchall()
    assert chunks * chunk <= 1.25 * (most + 600) + 2 * chunk  # of the 4,800 that there were


def test_a_file_that_stores_bytes_returns_nearly_the_same_unit_vectors(tmp_path):
    rng = np.random.default_rng(7)
    exact = unit(*rng.normal(size=(200, 32)))
    article = PackArticle("a.md", "A", tuple(PackSection("", "", 1, "text", (), ((0, 4),)) for _ in exact))
    with PackStore.new(tmp_path / "pack.db") as pack:
        pack.add([article])
        ids = [node_id for node_id, _, _ in pack.chunks()]
        pack.vectors.put(CHUNK_SPACE, MODEL, [(node_id, "") for node_id in ids], exact)
        found, stored = pack.vectors.matrix(CHUNK_SPACE, MODEL)
    assert found.tolist() == ids
    np.testing.assert_allclose(np.linalg.norm(stored, axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(stored @ stored.T, exact @ exact.T, atol=0.02)


def test_a_component_that_is_translated_otherwise_is_embedded_anew(store):
    translated, other = (component(f"acme:{name}", "steht da", english="stands") for name in ("one", "other"))
    write = partial(store.sources.write, SOURCE, derived=(), now=NOW)
    write([record("f", translated, other)], ())
    ids = embed(store)
    write([record("f", replace(translated, english="is there"), other)], ())
    assert [node_id for node_id, _ in store.vectors.pending(SPACE, MODEL, limit=10)] == ids[:1]
