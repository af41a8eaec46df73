"""Fuses rankings by reciprocal ranks with equal votes: the plain search beside which every measurement stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

_K = 60  # the constant of Cormack, Clarke and Buettcher (2009)


def fuse_equally(rankings: Iterable[Sequence[int]]) -> list[int]:
    """Return the ids of all rankings, best first; of equal sums the one that was met first."""
    scores = defaultdict[int, float](float)
    for ranking in rankings:
        for rank, one in enumerate(ranking, 1):
            scores[one] += 1 / (_K + rank)
    return sorted(scores, key=lambda one: -scores[one])
