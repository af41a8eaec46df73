"""Finds dependency cycles: groups of components that all depend on each other, directly or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def cycles(needs: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the cycles among components, from the direct dependencies of each; each cycle and all of them sorted."""
    reached = {key: _reached(key, needs) for key in needs}
    groups = {
        tuple(sorted(other for other in needs if key in reached[other] and other in reached[key]))
        for key in needs
        if key in reached[key]
    }
    return sorted(groups)


def _reached(key: str, needs: Mapping[str, Sequence[str]]) -> frozenset[str]:
    seen: set[str] = set()
    waiting = [key]
    while waiting:
        new = [need for need in needs[waiting.pop()] if need not in seen]
        seen.update(new)
        waiting += new
    return frozenset(seen)
