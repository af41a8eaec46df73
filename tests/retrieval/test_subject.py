"""A prompt's subject is estimated by the model of its query encoder, and by no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from repertoire.app.ask.recommend import recommend
from repertoire.app.sources.embed import embed_pending
from repertoire.domain.answer import Query, Task
from repertoire.inference.weights import bundled
from repertoire.ports import Embedder
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import RECOMMEND
from repertoire.retrieval.subject import SubjectModel, subject_model_for
from repertoire.store.database import Store
from sample_home import NOW, SOURCE, component, record_of

WEDDING = "plan my wedding"
WORK = (
    ("unit-tests", "Writes unit tests for a module and runs them until they pass."),
    ("refactor", "Refactors code in small steps that keep the tests green."),
    ("review", "Reviews a pull request for bugs before it is merged."),
    ("writing-plans", "Plans a feature in steps before any code is written."),
)
LEISURE = (
    ("flights", "Searches flights by date, price and airport."),
    ("hotels", "Books rooms in hotels near a place."),
    ("recipes", "Finds recipes for what is in the fridge."),
    ("caterer", "Finds caterers and bands for a wedding."),
)


def test_it_was_learned_for_the_shipped_reading_of_questions(embedder: Embedder, tmp_path: Path):
    subject = subject_model_for(bundled().query_encoder)

    assert subject is not None
    assert subject_model_for(bundled().model) is None
    assert subject_model_for(bundled().query_encoder, tmp_path / "none.npz") is None
    work, leisure = embedder.embed_queries(["refactor this module", "book me a flight to Rome"])
    assert subject.odds(work) > 0 > subject.odds(leisure)


def test_what_is_saved_is_read_again(tmp_path: Path):
    subject = SubjectModel("m+q", np.array([1.0, -2.0], dtype=np.float32), 0.5)
    subject.save(tmp_path / "s.npz")
    kept = subject_model_for("m+q", tmp_path / "s.npz")

    assert kept is not None
    assert kept.odds(np.array([1.0, 1.0], dtype=np.float32)) == -0.5


@pytest.fixture
def stocked(tmp_path: Path, embedder: Embedder) -> Iterator[Callable[..., Pipeline]]:
    with Store.open(tmp_path / "stocked.db") as store:

        def stock(kind: str, rows: Sequence[tuple[str, str]]) -> Pipeline:
            records = [record_of(component(kind, name, told)) for name, told in rows]
            store.sources.write(SOURCE, records, [], derived=[], now=NOW)
            embed_pending(store, embedder)
            return Pipeline(store.graph, store.vectors, embedder=embedder)

        yield stock


def test_a_task_from_elsewhere_gets_no_set_where_components_are_for_software(stocked: Callable[..., Pipeline]):
    pipeline = stocked("skill", WORK)

    assert pipeline.rank(Query(WEDDING), intent=RECOMMEND).beyond < -1.0
    assert pipeline.rank(Query("write unit tests for this module"), intent=RECOMMEND).beyond == 0.0
    assert not recommend(pipeline, Task(WEDDING)).items
    assert recommend(pipeline, Task("write unit tests for this module")).fits


def test_where_what_lies_here_is_for_other_things_no_task_is_from_elsewhere(stocked: Callable[..., Pipeline]):
    pipeline = stocked("tool", LEISURE)

    assert pipeline.rank(Query(WEDDING), intent=RECOMMEND).beyond == 0.0
    assert recommend(pipeline, Task(WEDDING)).items
