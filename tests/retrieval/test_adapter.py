"""The turn of questions: for one model alone, gentle, and kept in a file."""

import numpy as np

from repertoire.inference.weights import bundled
from repertoire.retrieval.adapter import Adapter, adapter_for


def test_the_bundled_model_has_a_turn_and_no_other(tmp_path):
    adapter = adapter_for(bundled().model)
    assert adapter is not None
    assert adapter.down.shape[0] == adapter.up.shape[1] == bundled().dimensions
    assert adapter_for("sentence-transformers/all-MiniLM-L6-v2@000000000000") is None
    assert adapter_for(bundled().model, tmp_path / "none.npz") is None


def test_turned_vectors_are_unit_vectors_near_to_what_they_were(embedder):
    vectors = embedder.embed_queries(["our pods crash on each rollout", "x", "fill in a PDF"])
    turned = adapter_for(embedder.model).turn(vectors)
    assert turned.dtype == np.float32
    assert np.allclose(np.linalg.norm(turned, axis=1), 1.0, atol=1e-5)
    assert (vectors * turned).sum(axis=1).min() > 0.4


def test_a_turn_survives_its_file(tmp_path):
    rng = np.random.default_rng(0)
    made = Adapter("m", rng.normal(0, 0.1, (8, 2)).astype(np.float32), rng.normal(0, 0.1, (2, 8)).astype(np.float32))
    made.save(tmp_path / "turn.npz")
    kept = adapter_for("m", tmp_path / "turn.npz")
    vectors = rng.normal(size=(3, 8)).astype(np.float32)
    assert np.allclose(kept.turn(vectors), made.turn(vectors), atol=1e-3)
