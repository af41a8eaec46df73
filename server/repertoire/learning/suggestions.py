"""Suggests edges between components that were selected together: those that go together, and those in conflict.

A strong suggestion may be applied automatically: seen often, in several sessions, with a high Wilson lower bound. A
weak one was seen at least twice and waits for a person. Two components that fail apart as often as together do not
conflict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from repertoire.domain.confidence_intervals import wilson
from repertoire.domain.digest import digest_of
from repertoire.domain.event import BAD
from repertoire.learning.outcomes import Trial, together

TOGETHER, AGAINST = "co_occurs_with", "conflicts_with"
_SEEN, _STRONG_TOGETHER, _STRONG_AGAINST = 2, 5, 4  # least requests: for any, a strong companion, a strong conflict
_SESSIONS = 2  # sessions at least
_LIKELY, _SURE = 0.1, 0.3  # least Wilson lower bound of the share of requests with both: weak, strong
_MAX_WEIGHT = 0.5  # largest weight of a suggested edge; edges from authors weigh more


@dataclass(frozen=True)
class Suggestion:
    """A suggested edge between two components, the lower id first."""

    first: str
    second: str
    relation: str
    weight: float
    strong: bool
    evidence: str

    @property
    def id(self) -> str:
        """A short hash that depends only on the two components and the relation."""
        return suggestion_id(self.first, self.second, self.relation)


def suggestion_id(first: str, second: str, relation: str) -> str:
    """Return the short hash of a suggested edge, whatever the order of its ends."""
    return digest_of("\0".join((relation, *sorted((first, second)))))[:8]


@dataclass(frozen=True)
class _PairTrials:
    """The selections of two components for the same requests (both), and of either alone."""

    both: list[list[Trial]]
    alone: list[Trial]

    @property
    def failed(self) -> list[list[Trial]]:
        return [pair for pair in self.both if all(trial.outcome == BAD for trial in pair)]

    @property
    def worked(self) -> list[list[Trial]]:
        return [pair for pair in self.both if all(trial.outcome != BAD for trial in pair)]


def suggestions(found: Iterable[Trial]) -> list[Suggestion]:
    """Return the suggested edges from trials, strong ones first, then by falling weight."""
    selected = [trial for trial in found if trial.selected_at]
    made: list[Suggestion] = []
    for (first, second), pair in _pairs(selected):
        made.extend(
            suggestion
            for suggestion in (_conflict(first, second, pair), _companions(first, second, pair))
            if suggestion is not None
        )
    return sorted(
        made, key=lambda suggestion: (not suggestion.strong, -suggestion.weight, suggestion.first, suggestion.second)
    )


def _pairs(selected: list[Trial]) -> Iterator[tuple[tuple[str, str], _PairTrials]]:
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
            yield ends, _PairTrials(pairs, alone)


def _companions(first: str, second: str, pair: _PairTrials) -> Suggestion | None:
    times, sessions = len(pair.worked), _sessions(pair.worked)
    either = len(pair.both) + len(pair.alone)
    sure = wilson(times, either).low
    if times < _SEEN or sessions < _SESSIONS or sure < _LIKELY:
        return None
    evidence = f"selected together for {times} of {either} requests with either, in {sessions} sessions"
    strong = times >= _STRONG_TOGETHER and sure >= _SURE
    return Suggestion(first, second, TOGETHER, round(_MAX_WEIGHT * sure, 2), strong, evidence)


def _conflict(first: str, second: str, pair: _PairTrials) -> Suggestion | None:
    times, sessions = len(pair.failed), _sessions(pair.failed)
    failed_alone = sum(trial.outcome == BAD for trial in pair.alone)
    apart = failed_alone / len(pair.alone) if pair.alone else 0.0
    sure = wilson(times, len(pair.both)).low
    if times < _SEEN or sessions < _SESSIONS or sure <= apart:
        return None
    evidence = (
        f"failed together in {times} of {len(pair.both)} requests with both, in {sessions} sessions; "
        f"apart {failed_alone} of {len(pair.alone)} failed"
    )
    strong = (
        times >= _STRONG_AGAINST
        and len(pair.alone) >= _STRONG_AGAINST
        and sure > wilson(failed_alone, len(pair.alone)).high
    )
    return Suggestion(first, second, AGAINST, round(_MAX_WEIGHT * sure, 2), strong, evidence)


def _sessions(pairs: list[list[Trial]]) -> int:
    return len({pair[0].session for pair in pairs})
