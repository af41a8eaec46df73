"""Puts a set together: as few components as cover the task, closed under what they depend on, within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """A component that may enter the set. `needs` are keys of others; two that share one of `twins` do the same.

    `covers` are words of the task, `capabilities` those of the needed ones that it provides.
    """

    key: str
    name: str
    score: float
    tokens: int
    twins: frozenset[str] = frozenset()
    installed: bool = False
    covers: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limits:
    """What a set may cost, and how far from the best score a candidate may be.

    With `covering` of it a candidate enters where it adds a capability that the task needs; where all needs that are
    known are covered, the set is whole. Where none are known, `least` is enough to add words of the task, and `near`
    in any case.
    """

    budget: int = 2000
    size: int = 3
    near: float = 0.6
    least: float = 0.45
    covering: float = 0.15


_COVERING = 0.5  # of the best score: what covering all that is still needed is worth beside relevance


@dataclass(frozen=True)
class Chosen:
    """A member of the set with the part it plays."""

    key: str
    role: str


@dataclass(frozen=True)
class Assembly:
    """The set in the order of its dependencies, and what was too large for the budget."""

    chosen: tuple[Chosen, ...]
    too_large: tuple[str, ...]


def assemble(ranked: Sequence[Candidate], others: Iterable[Candidate], limits: Limits) -> Assembly:
    """Choose from the ranked candidates, best first; `others` are what these may need.

    Greedy weighted cover: what enters next is worth its relevance plus its share of the capabilities still needed.
    """
    ranked = without_twins(ranked)
    known = {candidate.key: candidate for candidate in [*others, *ranked]}
    needed = frozenset().union(*(candidate.capabilities for candidate in ranked))
    roles: dict[str, str] = {}
    covered: set[str] = set()  # capabilities by name, words after a blank: a word is no proof of a capability
    left, too_large = list(ranked), []
    for _ in range(limits.size):
        left = [candidate for candidate in left if candidate.key not in roles]
        worth = {c.key: _worth(c, ranked[0].score, needed, covered, limits) for c in left}
        while left:
            best = max(left, key=lambda candidate: worth[candidate.key])
            added = [key for key in _closure(best.key, known) if key not in roles]
            if worth[best.key] == 0 or sum(known[key].tokens for key in {*roles, *added}) <= limits.budget:
                break
            too_large.append(best.key)
            left.remove(best)
        if not left or worth[best.key] == 0:
            break
        for key in added:
            roles[key] = f"needed by {best.name}" if key != best.key else _role(best, covered)
            covered |= _marks(known[key])
    return Assembly(tuple(Chosen(key, roles[key]) for key in _in_order(roles, known)), tuple(too_large))


def without_twins(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Keep one of those that do the same, at the place of the best of them: the installed one, else the first."""
    kept: list[Candidate] = []
    place: dict[str, int] = {}
    for candidate in ranked:
        at = next((place[twin] for twin in candidate.twins if twin in place), len(kept))
        place.update(dict.fromkeys(candidate.twins, at))
        if at == len(kept):
            kept.append(candidate)
        elif candidate.installed and not kept[at].installed:
            kept[at] = candidate
    return kept


def _worth(candidate: Candidate, best: float, needed: frozenset[str], covered: set[str], limits: Limits) -> float:
    """Return what a candidate adds to a set; 0 where it may not enter."""
    relevance = candidate.score / best if best > 0 else 1.0
    open_needs = needed - covered
    share = len(candidate.capabilities & open_needs) / len(open_needs) if open_needs else 0.0
    if not covered or (share and relevance >= limits.covering):
        return relevance + _COVERING * share
    enough = limits.near if needed or not _marks(candidate) - candidate.capabilities - covered else limits.least
    return relevance if relevance >= enough and not (needed and not open_needs) else 0.0


def _marks(candidate: Candidate) -> set[str]:
    return {*candidate.capabilities, *(f" {word}" for word in candidate.covers)}


def _role(candidate: Candidate, covered: set[str]) -> str:
    return ", ".join(sorted(candidate.capabilities - covered) or sorted(candidate.capabilities))


def _closure(key: str, known: Mapping[str, Candidate]) -> list[str]:
    """Return a key with all that it needs, needs first; what is not known is left out."""
    order: list[str] = []
    seen: set[str] = set()

    def visit(current: str) -> None:
        if current in seen or current not in known:
            return
        seen.add(current)
        for need in known[current].needs:
            visit(need)
        order.append(current)

    visit(key)
    return order


def _in_order(roles: Mapping[str, str], known: Mapping[str, Candidate]) -> list[str]:
    """Return the members so that each stands after what it needs; a circle is cut where it is entered."""
    order: list[str] = []
    for key in roles:
        order += [member for member in _closure(key, known) if member in roles and member not in order]
    return order
