"""Puts a set together: as few components as cover the task, closed under what they depend on, within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """A component that may enter the set. `needs` are keys of others; `twin` is equal for two that do the same."""

    key: str
    name: str
    score: float
    tokens: int
    twin: str
    installed: bool = False
    covers: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limits:
    """What a set may cost. A candidate enters with `near` of the best score, or with less where it covers more."""

    budget: int = 2000
    size: int = 3
    near: float = 0.8
    least: float = 0.45


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
    """Choose from the ranked candidates, best first; `others` are what these may need."""
    ranked = without_twins(ranked)
    known = {candidate.key: candidate for candidate in [*others, *ranked]}
    roles: dict[str, str] = {}
    covered: set[str] = set()
    too_large = []
    wanted = 0
    for candidate in ranked:
        if wanted == limits.size:
            break
        if candidate.key in roles or not _enters(candidate, ranked[0].score, covered, limits):
            continue
        closure = _closure(candidate.key, known)
        added = [key for key in closure if key not in roles]
        if sum(known[key].tokens for key in {*roles, *added}) > limits.budget:
            too_large.append(candidate.key)
            continue
        for key in added:
            roles[key] = f"needed by {candidate.name}" if key != candidate.key else _role(candidate, covered)
            covered |= known[key].covers | known[key].capabilities
        wanted += 1
    return Assembly(tuple(Chosen(key, roles[key]) for key in _in_order(roles, known)), tuple(too_large))


def without_twins(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Keep one of those that do the same, at the place of the best of them: the installed one, else the first."""
    kept: dict[str, Candidate] = {}
    for candidate in ranked:
        first = kept.setdefault(candidate.twin, candidate)
        if candidate.installed and not first.installed:
            kept[candidate.twin] = candidate
    return list(kept.values())


def _enters(candidate: Candidate, best: float, covered: set[str], limits: Limits) -> bool:
    if not covered:
        return True
    new = (candidate.covers | candidate.capabilities) - covered
    return candidate.score >= limits.near * best or (bool(new) and candidate.score >= limits.least * best)


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
