"""Tells which capabilities a task asks for: those that it names in earnest, and those that it plainly implies."""

from __future__ import annotations

from collections.abc import Iterable

from repertoire.retrieval.implied_capabilities import ImpliedCapabilities
from repertoire.retrieval.ranking import Ranking

# Share of the likeliest capability's chance below which one that is named is named in passing: "checkout" is payments,
# and "set SLOs for checkout" asks for none.
_IN_PASSING = 0.03
_IMPLIED, _LIKELY = 2, 0.15  # so many of the likeliest are implied, from this chance on


def asked_capabilities(ranking: Ranking) -> tuple[str, ...]:
    """Return the capabilities that the task of a ranking asks for, those that it names first."""
    implied = ranking.implied
    if implied is None:
        return tuple(ranking.plan.capabilities)
    likeliest = (name for name in implied.likeliest(_IMPLIED) if implied.likely[name] >= _LIKELY)
    return tuple(dict.fromkeys((*in_earnest(ranking.plan.capabilities, implied), *likeliest)))


def in_earnest(names: Iterable[str], implied: ImpliedCapabilities | None) -> tuple[str, ...]:
    """Return those of the named capabilities that are not named in passing; one without a chance is not."""
    if implied is None:
        return tuple(names)
    least = _IN_PASSING * max(implied.likely.values(), default=0.0)
    return tuple(name for name in names if implied.likely.get(name, 1.0) >= least)
