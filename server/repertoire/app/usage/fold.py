"""Folds the log into the usage of components when asked, and gives ranking a bounded prior from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from repertoire.app.clock import now
from repertoire.domain.event import LEARNED_KINDS
from repertoire.domain.experience import Experiences
from repertoire.learning.hints import PROMPT, demands
from repertoire.learning.outcomes import Trial, trials
from repertoire.learning.usage import Decay, Usage, summarize_usage
from repertoire.learning.usage_score import usage_scores
from repertoire.retrieval.arrays import Floats
from repertoire.retrieval.priors import MOST, Prior
from repertoire.retrieval.snapshot import Snapshot
from repertoire.store.database import Store

USE = "use"
_PATIENCE = 50


def known_trials(store: Store) -> list[Trial]:
    """Return the trials in the log: every offer and every use with its outcome."""
    return trials(store.events.every(LEARNED_KINDS))


def copies_among(store: Store, found: Iterable[Trial]) -> dict[str, str]:
    """Map every exact copy of a tried component to the one that stands for all of them, an installed one first."""
    groups = store.graph.copies({trial.node for trial in found})
    return {copy: group[0] for group in groups for copy in group}


def usage(store: Store, *, half_life: float, project: str = "") -> Usage:
    """Return the usage of every content; with a project given, trials elsewhere count half."""
    found = known_trials(store)
    return summarize_usage(found, Decay(now(), half_life, project), same=copies_among(store, found))


class Use:
    """The usage of components as ranking sees it; read again with a snapshot where the log has grown.

    `size` tells how long the log is: it must have grown by a fiftieth, so that a long one is not read for each event.
    """

    def __init__(self, read: Callable[[], Usage], *, size: Callable[[], int] | None = None) -> None:
        self._read = read
        self._size = size
        self._kept: tuple[int, Usage] | None = None

    @property
    def usage(self) -> Usage:
        """The usage, as of the newest snapshot or renewal."""
        return self._kept[1] if self._kept is not None else self.renewed()

    @property
    def prior(self) -> Prior:
        """The prior that usage adds to ranking."""
        return Prior(USE, MOST, self._values)

    def experiences(self) -> Experiences:
        """Return which components past requests accepted and refused, read again where the log has grown."""
        return self.renewed().experiences

    def demoted(self, key: str) -> str:
        """Say of a component that does harm that it is demoted, and on what evidence."""
        record = self.usage.of(key)
        return record.lift.demoted if record is not None else ""

    def demands(self, moment: str = PROMPT) -> Mapping[str, float]:
        """Return by type how many times the usual odds a hint at a moment needs, since such are rarely followed."""
        return demands(self.usage.hints, moment)

    def weary(self) -> Mapping[str, float]:
        """Return by component how many times the usual odds a hint of it needs, since it was seen and not followed."""
        return self.usage.of_each(self.usage.weary)

    def looks(self) -> Mapping[str, float]:
        """Return how often each component that was offered was looked at."""
        usage = self.usage
        return usage.of_each({key: record.looks for key, record in usage.records.items() if record.looks})

    def harmful(self) -> frozenset[str]:
        """Return the ids of harmful components, with their exact copies."""
        usage = self.usage
        return frozenset(usage.of_each({key: 1.0 for key, record in usage.records.items() if record.lift.harmful}))

    def renewed(self) -> Usage:
        """Return the usage, read again where the log has grown by enough."""
        size = self._size() if self._size is not None else 0
        if self._kept is not None and self._size is not None:
            read, usage = self._kept
            if 0 <= size - read <= read // _PATIENCE:  # shorter: something was forgotten
                return usage
        self._kept = size, self._read()
        return self._kept[1]

    def _values(self, snapshot: Snapshot) -> Floats:
        usage = self.renewed()
        leaning = usage_scores(usage)
        if not leaning:
            return np.zeros(len(snapshot))
        same = {**usage.same, **_copies_in(snapshot, usage)}  # a copy may have come since the log was read
        self._kept = (self._kept[0] if self._kept is not None else 0), replace(usage, same=same)
        ids = (same.get(summary.id, summary.id) for summary in snapshot.summaries)
        return np.fromiter((leaning.get(key, 0.0) for key in ids), dtype=np.float64, count=len(snapshot))


def _copies_in(snapshot: Snapshot, usage: Usage) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in usage.records:
        row = snapshot.row_of(key)
        for copy in snapshot.copies.of(row) if row >= 0 else ():
            found.setdefault(snapshot.summaries[copy].id, key)
    return found


def use_prior(read: Callable[[], Usage]) -> Prior:
    """Return a prior from usage, computed once a snapshot; zero without usage."""
    return Use(read).prior
