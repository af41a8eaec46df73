"""Reranks the head of an answer with a cross-encoder, where one is configured, by bounded log-odds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from repertoire.domain.answer import BODY_SPACE
from repertoire.ports import Reranker, StoredComponent
from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.embedded_text import passage
from repertoire.retrieval.ranking import ComponentRun

STAGE = "cross-encoder"
MOST = 30  # rows at the head that are reranked
_BATCH = 8  # texts per call; the deadline is checked between two calls
_BOUND = 1.5  # log-odds, up or down: as much as a good match of words
_CHARACTERS = 2000  # of a component's text that the model reads


def cross_encode(run: ComponentRun, rows: Rows, stored: Sequence[StoredComponent], reranker: Reranker) -> str:
    """Add a cross-encoder's log-odds to these rows, whose components are given; return a line for the stage report.

    Raises:
        ModelUnavailable: the cross-encoder cannot be loaded.
    """
    with run.stage_log.aside():
        reranker.load()
    scores = _scores(run, stored, reranker)
    if scores is not None:
        odds = np.zeros(len(run.snapshot))
        odds[rows] = _BOUND * np.tanh(_standard(scores))
        run.add(STAGE, odds)
    return f"{len(rows)} looked at" if scores is not None else "without effect: no time for all of the head"


def _scores(run: ComponentRun, stored: Sequence[StoredComponent], reranker: Reranker) -> Floats | None:
    texts = [passage(BODY_SPACE, entry.component)[:_CHARACTERS] for entry in stored]
    found: list[Floats] = []
    for start in range(0, len(texts), _BATCH):
        # Scores of a part of the head would only lift it above the rest: without time for all, none is used.
        if start and not run.stage_log.in_time(STAGE):
            return None
        found.append(reranker.score(run.plan.query.text, texts[start : start + _BATCH]))
    return np.concatenate(found) if found else None


def _standard(scores: Floats) -> Floats:
    """Return standardised scores, because some models give logits and others probabilities."""
    spread = float(scores.std())
    return np.asarray((scores - scores.mean()) / spread) if np.isfinite(spread) and spread > 0.0 else scores * 0.0
