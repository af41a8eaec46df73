"""Passes scores on over the links between entries: what is linked with a good answer may answer too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from repertoire.domain.project import ABOUT, BLOCKS, PART_OF, RELATES_TO

# What a link passes on of its other end, and a second link of the first: by the turns of conversations, of which each
# is related to the one before (bench/projects). How the other relations stand to that is judged.
_SHARE, _SECOND = 0.4, 0.75
_DECAY: Mapping[str, float] = MappingProxyType({RELATES_TO: 1.0, ABOUT: 1.0, BLOCKS: 0.8, PART_OF: 0.8})
_HUB = 12  # links of a node from which on it passes nothing on: it would lift all of its ends alike
_SEEDS, _FIRST = 30, 100  # best nodes that pass on to what is near them, and that take from it
Link = tuple[int, str, int]  # from one node by a relation to another
Beside = Mapping[int, Mapping[int, float]]  # what each node is linked with, and how much of that passes on


def beside(links: Iterable[Link]) -> Beside:
    """Return what each node is linked with, in both directions."""
    found = defaultdict[int, dict[int, float]](dict)
    for source, relation, target in links:
        decay = _DECAY.get(relation, 0.0)
        if decay and source != target:
            found[source][target] = max(decay, found[source].get(target, 0.0))
            found[target][source] = max(decay, found[target].get(source, 0.0))
    return dict(found)


def spread(scores: Mapping[int, float], near: Beside) -> dict[int, float]:
    """Return the scores of the best nodes, each with a share of the best score at most two links away.

    A node without a score (a symbol that two notes are about) passes on what it gets.
    """
    order = sorted(scores, key=lambda node: (-scores[node], node))
    reached = {far for node in order[:_SEEDS] for far in _within_two(node, near) if far in scores}
    return {
        node: scores[node]
        + _SHARE * max((decay * scores.get(far, 0.0) for far, decay in _within_two(node, near).items()), default=0.0)
        for node in dict.fromkeys((*order[:_FIRST], *sorted(reached)))
    }


def _within_two(node: int, near: Beside) -> dict[int, float]:
    """Return what is at most two links away, and what of it passes on."""
    found = dict(near.get(node, {}))
    for middle, decay in near.get(node, {}).items():
        if len(near[middle]) <= _HUB:
            for far, further in near[middle].items():
                if far != node:
                    found[far] = max(found.get(far, 0.0), _SECOND * decay * further)
    return found
