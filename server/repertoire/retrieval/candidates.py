"""What a set may be chosen from, twins told apart from those that stand for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Candidate:
    """A component that may enter the set. `needs` are keys of others; two that share one of `twins` do the same.

    `covers` are words of the task, `capabilities` those of the needed ones that it provides, and `surely` how sure that
    is of each, 0 to 1 (fully, where nothing is told); `alike` tells by key how far others do its job, 0 to 1; `lacking`
    what it requires and this machine has not; `disputes` by key what it wants in a version that another cannot live
    with; `bundle` what it comes with; `stale`, of one that is, since when; `demoted`, of one that does harm, on what
    evidence.
    """

    key: str
    name: str
    score: float
    tokens: int
    twins: frozenset[str] = frozenset()
    installed: bool = False
    covers: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()
    surely: Mapping[str, float] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    conflicts: frozenset[str] = frozenset()
    disputes: Mapping[str, str] = field(default_factory=dict)
    lacking: tuple[str, ...] = ()
    alike: Mapping[str, float] = field(default_factory=dict)
    bundle: str = ""
    stale: str = ""
    demoted: str = ""


def without_twins(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Keep one of those that do the same, at the place of the best of them.

    It is the one that lacks nothing, else one that does no harm, else the installed one, else one that is not stale,
    else the first.
    """
    return list(merged(ranked)[0])


def merged(ranked: Sequence[Candidate]) -> tuple[list[Candidate], dict[str, str]]:
    """Return one of those that do the same for each, and by key which stands for which."""
    kept: list[Candidate] = []
    at: dict[str, int] = {}
    place: dict[str, int] = {}
    for candidate in ranked:
        where = next((place[twin] for twin in sorted(candidate.twins) if twin in place), len(kept))
        place.update(dict.fromkeys(candidate.twins, where))
        at[candidate.key] = where
        if where == len(kept):
            kept.append(candidate)
        elif _standing(candidate) < _standing(kept[where]):
            kept[where] = replace(candidate, score=max(candidate.score, kept[where].score))
    return kept, {key: kept[where].key for key, where in at.items()}


def _standing(candidate: Candidate) -> tuple[bool, bool, bool, bool]:
    return bool(candidate.lacking), bool(candidate.demoted), not candidate.installed, bool(candidate.stale)
