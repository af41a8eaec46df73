"""What speaks for a component whatever is asked: popularity, freshness, trust, being installed, the stack; in bounds.

A prior breaks ties between components that fit alike. None may exceed `MOST` log-odds, about what one common word
in a description is worth, so that no favourite is offered for a task that another serves better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from repertoire.domain.component import PROVIDES
from repertoire.domain.freshness import Ageing
from repertoire.domain.freshness import freshness as freshness_of
from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.plan import QueryPlan
from repertoire.retrieval.snapshot import Snapshot

MOST = 0.5
POPULARITY, FRESHNESS, TRUST, STACK, INSTALLED = "popularity", "freshness", "trust", "stack", "installed"
# On cc_native and cc_bundles popularity moved no figure beyond chance at any weight; no labels tell of the others.
_POPULARITY, _FRESHNESS, _STACK, _INSTALLED = 0.1, 0.1, 0.25, 0.25
_POPULAR = 4.0  # carried by sixteen sources

Values = Callable[[Snapshot], Floats]
_Kept = tuple[Snapshot, tuple[tuple[str, Floats], ...], dict[str, Rows]]


@dataclass(frozen=True)
class Prior:
    """One prior: its values, from -1 to 1 a row and 0 where nothing is known, times `most` log-odds."""

    name: str
    most: float
    values: Values

    def odds(self, snapshot: Snapshot) -> Floats:
        """Return the log-odds that it adds to each row, always within its bounds."""
        return min(self.most, MOST) * np.clip(np.nan_to_num(self.values(snapshot)), -1.0, 1.0)


def usual_priors(today: Callable[[], date], *, ageing: Ageing | None = None) -> tuple[Prior, ...]:
    """Return the priors that the graph itself holds the data for."""
    return (
        Prior(POPULARITY, _POPULARITY, popularity),
        Prior(FRESHNESS, _FRESHNESS, lambda snapshot: freshness(snapshot, today(), ageing)),
        Prior(TRUST, MOST, trust),
        Prior(INSTALLED, _INSTALLED, installed),
    )


def popularity(snapshot: Snapshot) -> Floats:
    """Return popularity: 0 for a component in one place that nothing names, up to 1; all copies have the same."""
    carried = snapshot.copies.shared(snapshot.column("popularity").astype(np.float64))
    return np.asarray(np.minimum(carried / _POPULAR, 1.0))


def installed(snapshot: Snapshot) -> Floats:
    """Return 1 for installed components: of two that fit alike, they cost nothing."""
    return snapshot.column("installed").astype(np.float64)


def trust(snapshot: Snapshot) -> Floats:
    """Return -1 for components with a flag of severity high or worse, half of it for medium, else 0."""
    return np.asarray(-np.clip(snapshot.column("risk").astype(np.float64) - 1.0, 0.0, 2.0) / 2.0)


def freshness(snapshot: Snapshot, today: date, ageing: Ageing | None = None) -> Floats:
    """Return 1 for a component that changed today, falling towards -1 with age; 0 where no copy has a date."""
    known: dict[tuple[str, str], float] = {}  # many share a day
    found = np.zeros(len(snapshot))
    for row, (changed, kind) in enumerate(zip(snapshot.changed, snapshot.column("type"), strict=True)):
        if changed:
            key = str(kind), str(changed)
            if key not in known:
                judged = freshness_of(*key, today, ageing=ageing)
                known[key] = 2.0 * judged.score - 1.0 if judged is not None else 0.0
            found[row] = known[key]
    return found


class Priors:
    """Keeps the priors of the newest snapshot."""

    def __init__(self, priors: Sequence[Prior]) -> None:
        self._priors = priors
        self._kept: _Kept | None = None

    def odds(self, snapshot: Snapshot, plan: QueryPlan) -> Iterator[tuple[str, Floats]]:
        """Yield the priors that say anything, each with what it adds to every row's log-odds."""
        _, known, providers = self.read(snapshot)
        yield from known
        if plan.stack.uses:
            yield STACK, _STACK * _fit(plan, providers, len(snapshot))

    def read(self, snapshot: Snapshot) -> _Kept:
        """Work them out, where the snapshot is another one."""
        if self._kept is None or self._kept[0] is not snapshot:
            every = ((prior.name, prior.odds(snapshot)) for prior in self._priors)
            self._kept = snapshot, tuple((name, odds) for name, odds in every if odds.any()), _providers(snapshot)
        return self._kept


def _fit(plan: QueryPlan, providers: dict[str, Rows], size: int) -> Floats:
    """Return 1 for components of the project's stack, -1 for those that provide only what the project lacks."""
    found = np.zeros(size)
    for name in plan.stack.lacks.difference(plan.capabilities):  # what is asked for by name is not held against it
        found[providers.get(name, [])] = -1.0
    for name in plan.stack.uses.union(plan.capabilities):
        found[providers.get(name, [])] = 0.0
    for name in plan.stack.uses:
        found[providers.get(name, [])] = 1.0
    return found


def _providers(snapshot: Snapshot) -> dict[str, Rows]:
    """Return the rows that provide each capability, by its name."""
    rows: dict[str, list[int]] = {}
    names, row_at = snapshot.topology.names, snapshot.row_at
    for position, ends in snapshot.edges(PROVIDES).items():
        if row_at[position] >= 0:
            for end in ends:
                rows.setdefault(names[end], []).append(int(row_at[position]))
    return {name: np.array(found, dtype=np.int64) for name, found in rows.items()}
