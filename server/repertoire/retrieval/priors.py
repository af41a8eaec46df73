"""Computes the priors of components, within bounds: popularity, freshness, trust, installation, the project's stack.

A prior breaks ties between components that fit equally. None may exceed `MOST` log-odds, about the worth of one common
word in a description, so that no popular component displaces one that serves the task better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from repertoire.domain.freshness import Ageing
from repertoire.domain.freshness import freshness as freshness_of
from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.plan import QueryPlan
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.snapshot_cache import SnapshotCache

MOST = 0.5
POPULARITY, FRESHNESS, TRUST, STACK, INSTALLED = "popularity", "freshness", "trust", "stack", "installed"
# Log-odds at most. On cc_native and cc_bundles popularity moved no figure beyond chance at any weight; for the others
# there are no labels.
_POPULARITY, _FRESHNESS, _STACK, _INSTALLED = 0.1, 0.1, 0.5, 0.5
_POPULAR = 4.0  # stored popularity that counts in full, that of a component in sixteen sources

Values = Callable[[Snapshot], Floats]
_NamedOdds = tuple[tuple[str, Floats], ...]


@dataclass(frozen=True)
class Prior:
    """One prior: values from -1 to 1 for each row, 0 where nothing is known, times `bound` log-odds."""

    name: str
    bound: float
    values: Values

    def odds(self, snapshot: Snapshot) -> Floats:
        """Return the log-odds that the prior adds to each row, always within its bounds."""
        return min(self.bound, MOST) * np.clip(np.nan_to_num(self.values(snapshot)), -1.0, 1.0)


def usual_priors(today: Callable[[], date], *, ageing: Ageing | None = None) -> tuple[Prior, ...]:
    """Return the priors whose data the graph holds."""
    return (
        Prior(POPULARITY, _POPULARITY, popularity),
        Prior(FRESHNESS, _FRESHNESS, lambda snapshot: freshness(snapshot, today(), ageing)),
        Prior(TRUST, MOST, trust),
        Prior(INSTALLED, _INSTALLED, installed),
    )


def popularity(snapshot: Snapshot) -> Floats:
    """Return the popularity of each row, 0 to 1, the same for all exact copies."""
    carried = snapshot.copies.strongest(snapshot.column("popularity").astype(np.float64))
    return np.asarray(np.minimum(carried / _POPULAR, 1.0))


def installed(snapshot: Snapshot) -> Floats:
    """Return 1 for a person's own components, 0.5 for those of installed plugins, else 0."""
    return np.asarray(0.5 * snapshot.column("installed") + 0.5 * snapshot.own)


def trust(snapshot: Snapshot) -> Floats:
    """Return -1 for components with a flag of severity high or worse, -0.5 for medium, else 0."""
    return np.asarray(-np.clip(snapshot.column("risk").astype(np.float64) - 1.0, 0.0, 2.0) / 2.0)


def freshness(snapshot: Snapshot, today: date, ageing: Ageing | None = None) -> Floats:
    """Return 1 for a component that changed today, falling to -1 with age; 0 where no copy has a date."""
    values: dict[tuple[str, str], float] = {}  # many share a day
    found = np.zeros(len(snapshot))
    for row, (changed, kind) in enumerate(zip(snapshot.changed, snapshot.column("type"), strict=True)):
        if changed:
            key = str(kind), str(changed)
            if key not in values:
                judged = freshness_of(*key, today, ageing=ageing)
                values[key] = 2.0 * judged.score - 1.0 if judged is not None else 0.0
            found[row] = values[key]
    return found


class Priors:
    """Caches the priors of the newest snapshot."""

    def __init__(self, priors: Sequence[Prior]) -> None:
        self._priors = priors
        self._odds = SnapshotCache(self._odds_that_differ)
        self._providers = SnapshotCache(_providers)

    def odds(self, snapshot: Snapshot, plan: QueryPlan) -> Iterator[tuple[str, Floats]]:
        """Yield the name and every row's log-odds of each prior that is not 0 everywhere."""
        yield from self._odds.of(snapshot)
        if plan.stack.uses:
            yield STACK, _STACK * _fit(plan, self._providers.of(snapshot), len(snapshot))

    def read(self, snapshot: Snapshot) -> None:
        """Compute the priors, if the snapshot is not the cached one."""
        self._odds.of(snapshot)
        self._providers.of(snapshot)

    def _odds_that_differ(self, snapshot: Snapshot) -> _NamedOdds:
        every = ((prior.name, prior.odds(snapshot)) for prior in self._priors)
        return tuple((name, odds) for name, odds in every if odds.any())


def _fit(plan: QueryPlan, providers: dict[str, Rows], size: int) -> Floats:
    """Return 1 for components of the project's stack, -1 for those that provide only what the project lacks."""
    found = np.zeros(size)
    for name in plan.stack.lacks.difference(plan.capabilities):  # a capability that is asked for by name is no malus
        found[providers.get(name, [])] = -1.0
    for name in plan.stack.uses.union(plan.capabilities):
        found[providers.get(name, [])] = 0.0
    for name in plan.stack.uses:
        found[providers.get(name, [])] = 1.0
    return found


def _providers(snapshot: Snapshot) -> dict[str, Rows]:
    """Return the rows that provide each capability, by the capability's name."""
    rows: dict[str, list[int]] = {}
    for row, end, _ in snapshot.provisions.entries():
        if row >= 0:
            rows.setdefault(snapshot.topology.names[end], []).append(row)
    return {name: np.array(found, dtype=np.int64) for name, found in rows.items()}
