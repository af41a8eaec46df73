"""Remembers what became of offers: folds the log when it is asked, and lends ranking a bounded leaning from it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from repertoire.app.clock import now
from repertoire.learning.leaning import leanings
from repertoire.learning.memory import Clock, Memory, remember
from repertoire.learning.outcomes import Trial, trials
from repertoire.retrieval.priors import MOST, Prior
from repertoire.retrieval.snapshot import Floats, Snapshot
from repertoire.store.database import Store
from repertoire.store.events import ASKED, CHECKED, CORRECTED, FAILED, OFFERED, OUTCOME, SELECTED, UNDONE

USE = "use"
_READ = 20_000  # of the newest events: what is older has faded
_KINDS = (ASKED, OFFERED, SELECTED, FAILED, OUTCOME, CHECKED, UNDONE, CORRECTED)


def known_trials(store: Store) -> list[Trial]:
    """Return what became of each offer and each use, from the log."""
    return trials(store.events.latest(_KINDS, limit=_READ))


def memory(store: Store, *, half_life: float, project: str = "") -> Memory:
    """Return what is remembered of components; with a project, what happened elsewhere counts half."""
    return remember(known_trials(store), Clock(now(), half_life, project))


def use_prior(read: Callable[[], Memory]) -> Prior:
    """Return the prior of what is remembered, which a snapshot reads once; silent where nothing is."""

    def values(snapshot: Snapshot) -> Floats:
        leaning = leanings(read())
        if not leaning:
            return np.zeros(len(snapshot))
        return np.array([leaning.get(summary.id, 0.0) for summary in snapshot.summaries], dtype=np.float64)

    return Prior(USE, MOST, values)
