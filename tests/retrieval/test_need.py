"""The wording of a prompt says whether it needs a component, for the right query encoder alone."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from repertoire.domain.answer import Query
from repertoire.inference.weights import bundled
from repertoire.ports import Embedder
from repertoire.retrieval.need import NeedModel, need_model_for, words_of
from repertoire.retrieval.perceptron import Perceptron
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import PROMPT
from repertoire.store.database import Store

# written for this test; none stands in what was learned from
STEPS = (
    "rename the second parameter too",
    "push it to my fork",
    "move that helper into utils",
    "bump the copyright year",
)
PRIVATE = (
    "plan my runs for a first half marathon",
    "the branch over our garage cracked in the storm",
    "my cousin's python will not eat its mouse",
    "debug my sourdough, it never rises",
)
REQUESTS = (
    "set up dashboards and alerts for our api",
    "our signup page is not accessible to screen readers",
    "translate the whole product into French and Polish",
    "find out why the nightly job runs out of memory",
    "the seat map of our theatre site shows the wrong row",
    "the firmware of our watering controller skips every second valve",
)


def test_it_was_learned_for_the_shipped_reading_of_questions_and_speaks_for_no_other(tmp_path: Path):
    assert need_model_for(bundled().query_encoder) is not None
    assert need_model_for(bundled().model) is None
    assert need_model_for(bundled().query_encoder, tmp_path / "none.npz") is None


def test_requests_need_a_component_but_steps_of_a_session_and_private_matters_do_not(embedder: Embedder):
    need = need_model_for(bundled().query_encoder)
    assert need is not None
    odds = {
        text: need.odds(text, vector)
        for text in STEPS + PRIVATE + REQUESTS
        for vector in embedder.embed_queries([text])
    }

    assert {text for text, value in odds.items() if value > 0.0} == set(REQUESTS)


def test_words_and_pairs_of_words_are_read_and_count_the_same():
    pair = Perceptron(
        of_vector=np.zeros((2, 1), dtype=np.float32),
        of_words=np.array([[50], [100]], dtype=np.int8),
        steps=np.full(2, 0.01, dtype=np.float32),
        hidden_offsets=np.zeros(1, dtype=np.float32),
        of_hidden=np.ones((1, 1), dtype=np.float32),
        offsets=np.array([0.25]),
    )
    need, vector = NeedModel("r", ("fix", "fix it"), pair), np.zeros(2, dtype=np.float32)

    assert need.odds("Fix it!", vector) == pytest.approx(4 / math.sqrt(2) * (0.5 + 1.0) + 0.25, rel=1e-5)
    assert need.odds("fix that", vector) == pytest.approx(4 * 0.5 + 0.25, rel=1e-5)
    assert need.odds("it", vector) == pytest.approx(0.25)
    assert words_of("Fix it, then fix it") == {"fix", "it", "then", "fix it", "it then", "then fix"}


def test_what_is_saved_is_read_again(tmp_path: Path, embedder: Embedder):
    need = need_model_for(bundled().query_encoder)
    assert need is not None
    need.save(tmp_path / "n.npz")
    kept = need_model_for(bundled().query_encoder, tmp_path / "n.npz")

    assert kept is not None
    assert kept.words == need.words
    vector = embedder.embed_queries([REQUESTS[0]])[0]
    assert kept.odds(REQUESTS[0], vector) == pytest.approx(need.odds(REQUESTS[0], vector), abs=1e-3)


def test_what_speaks_against_a_need_counts_by_half_where_words_were_translated_one_by_one(
    embedded: Store, embedder: Embedder
) -> None:
    pipeline = Pipeline(embedded.graph, embedded.vectors, embedder=embedder)
    asked = pipeline.rank(Query("ändere die Farbe des Knopfes"), intent=PROMPT)
    english = asked.plan.query.text
    need = need_model_for(bundled().query_encoder)
    assert need is not None
    assert asked.question is not None
    assert asked.plan.translation is not None
    odds = need.odds(english, asked.question.adapted)
    assert odds < 0.0
    assert asked.need == pytest.approx(odds / 2.0, rel=1e-4)
