"""A plain request finds components by the capabilities that it implies, for the right query encoder alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from repertoire.app.sources.embed import embed_pending
from repertoire.domain.answer import Query
from repertoire.inference.weights import bundled
from repertoire.ports import Embedder
from repertoire.retrieval.implied_capabilities import MEANT, CapabilityModel, capability_model_for, save, stems
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import RECOMMEND
from repertoire.store.database import Store
from sample_home import fill_skills, two_units

SYMPTOM = "requests take forever since the last release"
ROWS = (
    ("alpha", "Looks after what teams agreed on and files it.", "project-management"),
    ("beta", "Looks into what happens inside and reports it.", "performance"),
    ("gamma", "Looks up what others wrote and quotes it.", "research"),
    ("delta", "Looks over what was drawn and corrects it.", "design-systems"),
)


@pytest.fixture
def stocked(tmp_path: Path, embedder: Embedder) -> Iterator[Callable[..., Pipeline]]:
    with Store.open(tmp_path / "stocked.db") as store:

        def stock(rows: Sequence[tuple[str, str, str]]) -> Pipeline:
            fill_skills(store, rows)
            embed_pending(store, embedder)
            return Pipeline(store.graph, store.vectors, embedder=embedder)

        yield stock


def test_it_was_learned_for_the_shipped_reading_of_questions_and_speaks_for_no_other(tmp_path: Path):
    assert capability_model_for(bundled().query_encoder) is not None
    assert capability_model_for(bundled().model) is None
    assert capability_model_for(bundled().query_encoder, tmp_path / "none.npz") is None


def of_two(words: tuple[str, ...]) -> CapabilityModel:
    """Return a model of two capabilities over vectors of two numbers."""
    return CapabilityModel("r", ("fast", "slow"), words, np.array([2.0]), two_units())


def test_how_likely_capabilities_are_is_a_softmax_over_what_vector_and_words_make_of_hidden_units():
    meant = of_two(tuple(stems("hurry")))
    said = meant.likely("hurry", np.array([0.6, 0.8], dtype=np.float32))
    unsaid = meant.likely("whatever", np.array([0.6, 0.8], dtype=np.float32))

    def odds(word: float) -> list[float]:
        first = max(0.0, 4 * (0.6 * 0.5 + 0.8 * 0.25) + 4 * word * 1.0)
        second = max(0.0, 4 * (0.6 * -0.5) + 4 * word * -0.5 + 1.5)
        fast, slow = first * 0.5 + second * 0.125, first * -0.25 + second * 1.0 + 0.5
        whole = math.exp(fast) + math.exp(slow)
        return [math.exp(fast) / whole, math.exp(slow) / whole]

    assert said.tolist() == pytest.approx(odds(1.0), rel=1e-5)
    assert unsaid.tolist() == pytest.approx(odds(0.0), rel=1e-5)


def test_what_is_saved_is_read_again(tmp_path: Path):
    written = of_two(("hurri",))
    save(written, tmp_path / "m.npz")
    kept = capability_model_for("r", tmp_path / "m.npz")

    assert kept is not None
    assert (kept.capabilities, kept.words) == (("fast", "slow"), ("hurri",))
    vector = np.array([0.6, 0.8], dtype=np.float32)
    assert kept.likely("hurri", vector) == pytest.approx(written.likely("hurri", vector), abs=0.02)


def test_a_symptom_finds_what_provides_the_capability_that_it_calls_for(stocked):
    pipeline = stocked(ROWS)
    found = pipeline.rank(Query(SYMPTOM), intent=RECOMMEND)
    first = found.reader.at(found.rows[:1])[0][1].component

    assert first.name == "beta"
    assert found.parts[MEANT][found.rows[0]] == max(found.parts[MEANT])
    assert MEANT not in pipeline.rank(Query(SYMPTOM, without=frozenset({MEANT})), intent=RECOMMEND).parts


def test_grades_tell_the_chance_only_where_most_components_are_known_by_what_they_provide(stocked):
    graded = stocked(ROWS).rank(Query(SYMPTOM), intent=RECOMMEND)
    assert (graded.grades is not None, 0.0 < graded.chance < 1.0) == (True, True)
    unknown = [(name, told, capability if name == "beta" else "") for name, told, capability in ROWS]
    ungraded = stocked(unknown).rank(Query(SYMPTOM), intent=RECOMMEND)
    assert (ungraded.grades, ungraded.chance) == (None, ungraded.confidence)
