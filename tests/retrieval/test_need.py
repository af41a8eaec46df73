"""The wording of a prompt says whether it needs a component, for the right query encoder alone."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from repertoire.inference.weights import bundled
from repertoire.ports import Embedder
from repertoire.retrieval.need import NeedModel, need_model_for, words_of

# written for this test; none stands in what was learned from
STEPS = (
    "rename the second parameter too",
    "push it to my fork",
    "move that helper into utils",
    "bump the copyright year",
)
REQUESTS = (
    "set up dashboards and alerts for our api",
    "our signup page is not accessible to screen readers",
    "translate the whole product into French and Polish",
    "find out why the nightly job runs out of memory",
)


def test_it_was_learned_for_the_shipped_reading_of_questions_and_speaks_for_no_other(tmp_path: Path):
    assert need_model_for(bundled().query_encoder) is not None
    assert need_model_for(bundled().model) is None
    assert need_model_for(bundled().query_encoder, tmp_path / "none.npz") is None


def test_requests_need_a_component_and_steps_of_a_session_do_not(embedder: Embedder):
    need = need_model_for(bundled().query_encoder)
    assert need is not None
    odds = [need.odds(text, vector) for text in STEPS + REQUESTS for vector in embedder.embed_queries([text])]

    assert max(odds[: len(STEPS)]) < 0.0 < min(odds[len(STEPS) :])


def test_the_odds_are_a_weighted_sum_of_vector_words_and_pairs():
    need = NeedModel("r", ("fix", "fix it"), np.array([0.5, -1.0, 2.0, -3.0], dtype=np.float32), 0.25)
    adapted = np.array([0.6, 0.8], dtype=np.float32)

    assert need.odds("Fix it!", adapted) == pytest.approx(4 * (0.3 - 0.8) + 4 / math.sqrt(2) * (2.0 - 3.0) + 0.25)
    assert need.odds("it", adapted) == pytest.approx(4 * (0.3 - 0.8) + 0.25)
    assert words_of("Fix it, then fix it") == {"fix", "it", "then", "fix it", "it then", "then fix"}


def test_what_is_saved_is_read_again_in_eight_bits(tmp_path: Path):
    weights = np.array([1.0, -0.5, 0.25], dtype=np.float32)
    NeedModel("m+q", ("a", "b c"), weights, -0.5).save(tmp_path / "n.npz")
    kept = need_model_for("m+q", tmp_path / "n.npz")

    assert kept is not None
    assert (kept.words, kept.offset) == (("a", "b c"), -0.5)
    assert np.abs(kept.weights - weights).max() <= 1.0 / 254 + 1e-6
