"""A second opinion on an answer's head by a cross-encoder, where one is configured: bounded, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from repertoire.domain.answer import BODY_SPACE
from repertoire.ports import Reranker, StoredComponent
from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.embedded_text import passage
from repertoire.retrieval.ranking import Run

STAGE = "cross-encoder"
MOST = 30  # rows at the head that are looked at
_BATCH = 8  # between batches the time is looked at
_BOUND = 1.5  # log-odds, up or down: as much as a good match of words
_CHARACTERS = 2000


def cross_encode(run: Run, rows: Rows, stored: Sequence[StoredComponent], reranker: Reranker) -> str:
    """Let a cross-encoder move the rows, whose components are given, up or down; return what it did.

    Raises:
        ModelUnavailable: it cannot be read.
    """
    with run.stage_log.aside():
        reranker.load()
    scores = _scores(run, stored, reranker)
    if scores is not None:
        odds = np.zeros(len(run.snapshot))
        odds[rows] = _BOUND * np.tanh(_standard(scores))
        run.add(STAGE, odds)
    return f"{len(rows)} looked at"


def _scores(run: Run, stored: Sequence[StoredComponent], reranker: Reranker) -> Floats | None:
    texts = [passage(BODY_SPACE, entry.component)[:_CHARACTERS] for entry in stored]
    found: list[Floats] = []
    for start in range(0, len(texts), _BATCH):
        # Part of the head cannot be compared with the rest of it: a score would say when it was looked at.
        if start and not run.stage_log.in_time(STAGE):
            return None
        found.append(reranker.score(run.plan.query.text, texts[start : start + _BATCH]))
    return np.concatenate(found) if found else None


def _standard(scores: Floats) -> Floats:
    """Return scores as deviations: models differ in what they give, some logits, some probabilities."""
    spread = float(scores.std())
    return np.asarray((scores - scores.mean()) / spread) if np.isfinite(spread) and spread > 0.0 else scores * 0.0
