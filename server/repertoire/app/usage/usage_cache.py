"""Computes the usage of components from the log, caches it while the log grows little, and gives ranking a prior."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from repertoire.app.clock import now
from repertoire.domain.event import COUNTED, LEARNED_KINDS
from repertoire.domain.experience import CONTRADICTION_DISCOUNT, Experience, Experiences
from repertoire.learning.hints import PROMPT, demands
from repertoire.learning.outcomes import Trial, trials
from repertoire.learning.shared_use import TeamUse
from repertoire.learning.usage import Decay, Usage, summarize_usage
from repertoire.learning.usage_score import usage_scores
from repertoire.retrieval.arrays import Floats
from repertoire.retrieval.priors import MOST, Prior
from repertoire.retrieval.snapshot import Snapshot
from repertoire.store.database import Store

USE = "use"  # name of the prior among the parts of a score
_PATIENCE = 50  # the log is read again once it has grown by 1/50


def known_trials(store: Store) -> list[Trial]:
    """Return the log's trials: every offer and every use with its outcome."""
    return trials(store.events.every(LEARNED_KINDS))


def copies_among(store: Store, found: Iterable[Trial]) -> dict[str, str]:
    """Map each exact copy of a tried component to the copy that represents all of them, an installed one if any."""
    groups = store.graph.copies({trial.node for trial in found})
    return {copy: group[0] for group in groups for copy in group}


def usage(store: Store, *, half_life: float, project: str = "") -> Usage:
    """Return the usage of each distinct content; with a project, trials in other projects count half."""
    found, clock = known_trials(store), Decay(now(), half_life, project)
    found_usage = summarize_usage(found, clock, same=copies_among(store, found))
    if not store.events.count(COUNTED):
        return found_usage
    return replace(found_usage, experiences=_with_counted(store, found_usage, clock))


def _with_counted(store: Store, found: Usage, clock: Decay) -> Experiences:
    """Return the experiences with the selections of which compaction dropped the request.

    The graph still counts them; they are as old as the newest selection for their request, or older.
    """
    known = {request: dict(own) for request, own in found.experiences.items()}
    for one in store.requests.past():
        weight, own = clock.weight(Trial("", clock.project, selected_at=one.last)), known.setdefault(one.key, {})
        logged = Counter[str]()
        for node, experience in own.items():
            logged[found.same.get(node, node)] += experience.selected
        for node, times in one.selected.items():
            counted = max(round(times) - logged[found.same.get(node, node)], 0)
            logged[found.same.get(node, node)] -= round(times) - counted
            if not counted:
                continue
            was = own.get(node, Experience())
            accepted = was.accepted + counted * weight * CONTRADICTION_DISCOUNT**was.refused
            own[node] = replace(was, selected=was.selected + counted, accepted=accepted)
    return known


class UsageCache:
    """A cache of the usage of components for ranking and hints, renewed with a snapshot if the log has grown.

    `size` returns the length of the log, which is read again only after it has grown by 1/50, or if `said` has changed:
    how many events count at once, as feedback and failed calls do. `team` returns what a team tells of each component.
    """

    def __init__(
        self,
        read: Callable[[], Usage],
        *,
        size: Callable[[], int] | None = None,
        said: Callable[[], int] = int,
        team: Callable[[], Mapping[str, TeamUse]] = dict,
    ) -> None:
        self._read, self._team = read, team
        self._size, self._said = size, said
        self._kept: tuple[int, Usage] | None = None
        self._heard = 0

    @property
    def usage(self) -> Usage:
        """The usage as of the newest renewal."""
        return self._kept[1] if self._kept is not None else self.renewed()

    @property
    def prior(self) -> Prior:
        """The bounded prior that usage adds to ranking."""
        return Prior(USE, MOST, self._values)

    def experiences(self) -> Experiences:
        """Return the accepted and refused components of past requests, renewed if the log has grown."""
        return self.renewed().experiences

    def demoted(self, key: str) -> str:
        """Return the text that a component is demoted for harm in use, with the evidence; "" if it is not."""
        record = self.usage.of(key)
        return record.lift.demoted if record is not None else ""

    def demands(self) -> Mapping[str, float]:
        """Map each type to the factor on the odds that a hint on a prompt needs, as such hints are rarely followed."""
        return demands(self.usage.hints, PROMPT)

    def weary(self) -> Mapping[str, float]:
        """Map each component to its hint fatigue: the factor on the odds that a hint needs after ignored ones."""
        return self.usage.of_each(self.usage.weary)

    def looks(self) -> Mapping[str, float]:
        """Map each offered component to its impressions: how often a user probably looked at it."""
        usage = self.usage
        return usage.of_each({key: record.looks for key, record in usage.records.items() if record.looks})

    def harmful(self) -> frozenset[str]:
        """Return the ids of harmful components, with their exact copies."""
        usage = self.usage
        return frozenset(usage.of_each({key: 1.0 for key, record in usage.records.items() if record.lift.harmful}))

    def renewed(self) -> Usage:
        """Return the usage, computed again if the log has grown enough."""
        size, said = self._size() if self._size is not None else 0, self._said()
        if self._kept is not None and self._size is not None and said == self._heard:
            read, usage = self._kept
            if 0 <= size - read <= read // _PATIENCE:  # a shorter log: events were deleted
                return usage
        self._kept, self._heard = (size, self._read()), said
        return self._kept[1]

    def _values(self, snapshot: Snapshot) -> Floats:
        usage = self.renewed()
        team = self._team()
        if not (team or usage.records):
            return np.zeros(len(snapshot))
        # the snapshot may hold newer copies
        same = {**usage.same, **_copies_in(snapshot, team), **_copies_in(snapshot, usage.records)}
        usage = replace(usage, same=same)
        self._kept = (self._kept[0] if self._kept is not None else 0), usage
        leaning = usage_scores(usage, team)
        ids = (same.get(summary.id, summary.id) for summary in snapshot.summaries)
        return np.fromiter((leaning.get(key, 0.0) for key in ids), dtype=np.float64, count=len(snapshot))


def _copies_in(snapshot: Snapshot, keys: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in keys:
        row = snapshot.row_of(key)
        for copy in snapshot.copies.of(row) if row >= 0 else ():
            found.setdefault(snapshot.summaries[copy].id, key)
    return found
