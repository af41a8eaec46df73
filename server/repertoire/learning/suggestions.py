"""Reads from what was selected together which components go together, and which fail together: pure, with evidence.

Strong evidence may apply itself: seen often, in several sessions, and sure by Wilson's lower bound. Weak evidence is
seen at least twice and waits for a person. Two that fail apart as often as together are broken, not in conflict.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from repertoire.domain.confidence_intervals import wilson
from repertoire.learning.outcomes import BAD, Trial, together

TOGETHER, AGAINST = "co_occurs_with", "conflicts_with"
_SEEN, _STRONG_TOGETHER, _STRONG_AGAINST = 2, 5, 4  # requests
_SESSIONS = 2
_LIKELY, _SURE = 0.1, 0.3  # least share, surely, of the requests with either that had both
_MAX_WEIGHT = 0.5  # weight: an author's word counts for more


@dataclass(frozen=True)
class Suggestion:
    """An edge that use speaks for, low id first."""

    first: str
    second: str
    relation: str
    weight: float
    strong: bool
    evidence: str

    @property
    def id(self) -> str:
        """A short name that stays for as long as the two and the relation do."""
        return suggestion_id(self.first, self.second, self.relation)


def suggestion_id(first: str, second: str, relation: str) -> str:
    """Return the short name of an edge between two components."""
    return hashlib.sha256("\0".join((relation, *sorted((first, second)))).encode("utf-8", "replace")).hexdigest()[:8]


@dataclass(frozen=True)
class _Pair:
    """What happened to two together, and to either alone."""

    both: list[list[Trial]]
    alone: list[Trial]

    @property
    def failed(self) -> list[list[Trial]]:
        return [pair for pair in self.both if all(trial.outcome == BAD for trial in pair)]

    @property
    def worked(self) -> list[list[Trial]]:
        return [pair for pair in self.both if all(trial.outcome != BAD for trial in pair)]


def suggestions(found: Iterable[Trial]) -> list[Suggestion]:
    """Return the edges that use speaks for, the surest first."""
    selected = [trial for trial in found if trial.selected_at]
    made: list[Suggestion] = []
    for (first, second), pair in _pairs(selected):
        made.extend(one for one in (_against(first, second, pair), _together(first, second, pair)) if one is not None)
    return sorted(made, key=lambda one: (not one.strong, -one.weight, one.first, one.second))


def _pairs(selected: list[Trial]) -> Iterator[tuple[tuple[str, str], _Pair]]:
    both: dict[tuple[str, str], list[list[Trial]]] = defaultdict(list)
    for group in together(selected):
        for low, high in combinations(group, 2):
            both[low.node, high.node].append([low, high])
    of_node: dict[str, list[Trial]] = defaultdict(list)
    for trial in selected:
        of_node[trial.node].append(trial)
    for ends, pairs in sorted(both.items()):
        if len(pairs) >= _SEEN:
            taken = {(trial.session, trial.request) for pair in pairs for trial in pair}
            alone = [t for node in ends for t in of_node[node] if (t.session, t.request) not in taken]
            yield ends, _Pair(pairs, alone)


def _together(first: str, second: str, pair: _Pair) -> Suggestion | None:
    times, sessions = len(pair.worked), _sessions(pair.worked)
    either = len(pair.both) + len(pair.alone)
    sure = wilson(times, either).low
    if times < _SEEN or sessions < _SESSIONS or sure < _LIKELY:
        return None
    told = f"selected together for {times} of {either} requests with either, in {sessions} sessions"
    strong = times >= _STRONG_TOGETHER and sure >= _SURE
    return Suggestion(first, second, TOGETHER, round(_MAX_WEIGHT * sure, 2), strong, told)


def _against(first: str, second: str, pair: _Pair) -> Suggestion | None:
    times, sessions = len(pair.failed), _sessions(pair.failed)
    failed_alone = sum(trial.outcome == BAD for trial in pair.alone)
    apart = failed_alone / len(pair.alone) if pair.alone else 0.0
    sure = wilson(times, len(pair.both)).low
    if times < _SEEN or sessions < _SESSIONS or sure <= apart:
        return None
    told = (
        f"failed together in {times} of {len(pair.both)} requests with both, in {sessions} sessions; "
        f"apart {failed_alone} of {len(pair.alone)} failed"
    )
    strong = (
        times >= _STRONG_AGAINST
        and len(pair.alone) >= _STRONG_AGAINST
        and sure > wilson(failed_alone, len(pair.alone)).high
    )
    return Suggestion(first, second, AGAINST, round(_MAX_WEIGHT * sure, 2), strong, told)


def _sessions(pairs: list[list[Trial]]) -> int:
    return len({pair[0].session for pair in pairs})
