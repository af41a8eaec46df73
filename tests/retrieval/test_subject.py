"""What a prompt is about is told by the reading it was learned for, and by no other."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from repertoire.inference.weights import bundled
from repertoire.ports import Embedder
from repertoire.retrieval.subject import Subject, subject_for


def test_it_was_learned_for_the_shipped_reading_of_questions(embedder: Embedder, tmp_path: Path):
    subject = subject_for(bundled().reading)

    assert subject is not None
    assert subject_for(bundled().model) is None
    assert subject_for(bundled().reading, tmp_path / "none.npz") is None
    work, leisure = embedder.embed_queries(["refactor this module", "book me a flight to Rome"])
    assert subject.odds(work) > 0 > subject.odds(leisure)


def test_what_is_saved_is_read_again(tmp_path: Path):
    subject = Subject("m+q", np.array([1.0, -2.0], dtype=np.float32), 0.5)
    subject.save(tmp_path / "s.npz")
    kept = subject_for("m+q", tmp_path / "s.npz")

    assert kept is not None
    assert kept.odds(np.array([1.0, 1.0], dtype=np.float32)) == -0.5
