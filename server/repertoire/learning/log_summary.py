"""Stores sums of the log (looks at hints, requests with and without components) for a session start, which is short.

All sums decay alike, so that a factor turns the sums of one day into those of a later day. They reach up to an event
that no session spans. Trials since then are added, with the same result as from the whole log. The sums are written
when the log is compacted, deleted when anything is forgotten, and read by the session start alone.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from functools import partial
from typing import TypeVar

from repertoire.learning.hints import (
    HintRate,
    Key,
    Kind,
    Looks,
    hint_counts_by_component,
    hint_counts_by_kind,
    rates,
    weariness,
)
from repertoire.learning.lift import NONE, LiftArm, compare, count_arms
from repertoire.learning.outcomes import Dated, Trial
from repertoire.learning.usage import Decay

_BACK = 1_000  # newest events among which an event is looked for that no session spans
_SIDE = len(astuple(NONE))
Sides = tuple[LiftArm, LiftArm]  # requests with a component, and without it
Sums = TypeVar("Sums", Looks, Sides)


@dataclass(frozen=True)
class LogSummary:
    """The decayed sums of the log up to the event `through`, by project, as of the time `at`."""

    at: str
    half_life: float
    through: int
    looks: Mapping[str, Mapping[Kind, Looks]] = field(default_factory=dict)
    sides: Mapping[str, Mapping[str, Sides]] = field(default_factory=dict)  # by project, then component
    seen: Mapping[str, Mapping[str, Looks]] = field(default_factory=dict)  # by project, then component

    def as_text(self) -> str:
        """Return the sums as the JSON text that is stored."""
        looks = [
            [place, *kind, *astuple(counts)] for place, kinds in self.looks.items() for kind, counts in kinds.items()
        ]
        sides = [
            [place, node, *astuple(used), *astuple(unused)]
            for place, nodes in self.sides.items()
            for node, (used, unused) in nodes.items()
        ]
        seen = [[place, node, *astuple(counts)] for place, nodes in self.seen.items() for node, counts in nodes.items()]
        return json.dumps([self.at, self.half_life, self.through, looks, sides, seen])


@dataclass(frozen=True)
class StartUsage:
    """The usage that a session start needs: statistics of hints, ignored components, harmful components."""

    hints: tuple[HintRate, ...]
    weary: Mapping[str, float]
    harmful: frozenset[str]


def _no(_nodes: Iterable[str]) -> Mapping[str, str]:
    return {}


def read_summary(text: str) -> LogSummary | None:
    """Parse stored sums; return None if another version wrote them in another form."""
    stored = json.loads(text)
    if len(stored) != len(fields(LogSummary)):
        return None
    at, half_life, through, looks, sides, shown = stored
    kinds: dict[str, dict[Kind, Looks]] = defaultdict(dict)
    for place, moment, kind, *counts in looks:
        kinds[place][moment, kind] = Looks(*counts)
    nodes: dict[str, dict[str, Sides]] = defaultdict(dict)
    for place, node, *counts in sides:
        nodes[place][node] = LiftArm(*counts[:_SIDE]), LiftArm(*counts[_SIDE:])
    seen: dict[str, dict[str, Looks]] = defaultdict(dict)
    for place, node, *counts in shown:
        seen[place][node] = Looks(*counts)
    return LogSummary(at, half_life, through, kinds, nodes, seen)


def sum_up(found: Iterable[Trial], clock: Decay, *, through: int) -> LogSummary:
    """Sum up trials by project, with decay as of the clock's time."""
    fading = Decay(clock.now, clock.half_life)
    of_project: dict[str, list[Trial]] = defaultdict(list)
    for trial in found:
        of_project[trial.project].append(trial)
    looks = {place: hint_counts_by_kind(own, fading.weight) for place, own in of_project.items()}
    sides = {place: _counts_by_node(own, fading) for place, own in of_project.items()}
    seen = {place: hint_counts_by_component(own, fading.weight) for place, own in of_project.items()}
    return LogSummary(clock.now, clock.half_life, through, looks, sides, seen)


def recall(
    kept: LogSummary | None,
    since: Sequence[Trial],
    clock: Decay,
    *,
    copies: Callable[[Iterable[str]], Mapping[str, str]] = _no,
) -> StartUsage:
    """Return the usage as of the clock's time, from stored sums and the trials since.

    `copies` maps every exact copy to one representative, under which all copies are counted.
    """
    looks = hint_counts_by_kind(since, clock.weight)
    sides = _counts_by_node(since, clock)
    seen = hint_counts_by_component(since, clock.weight)
    if kept is not None:
        factor_of = partial(_factor, kept, clock)
        _add(looks, kept.looks, factor_of, Looks(), Looks.plus)
        _add(seen, kept.seen, factor_of, Looks(), Looks.plus)
        _add(sides, kept.sides, factor_of, (NONE, NONE), _plus)
    same = copies({*sides, *seen})
    harmful = {content for content, sums in _of_copies(sides, same, _plus).items() if compare(*sums).harmful}
    weary = weariness(_of_copies(seen, same, Looks.plus))
    return StartUsage(
        rates(looks),
        {**weary, **{node: weary[content] for node, content in same.items() if content in weary}},
        frozenset(harmful.union(node for node, content in same.items() if content in harmful)),
    )


def last_summed(events: Sequence[Dated]) -> int:
    """Return the number of the last event to sum up: no session has events before and after it; 0 for an empty log.

    It is one of the newest _BACK events; the very last event if a session spans each of these.
    """
    first = {event.session: event.id for event in reversed(events) if event.session}
    last = earliest = events[-1].id if events else 0
    for place in range(len(events) - 1, max(len(events) - _BACK, 0), -1):
        event = events[place]
        earliest = min(earliest, event.id, first.get(event.session, event.id))
        if events[place - 1].id < earliest:
            return events[place - 1].id
    return last


def _counts_by_node(found: Iterable[Trial], clock: Decay) -> dict[str, Sides]:
    """Count the requests of known outcome with and without each component."""
    of_node: dict[str, list[Trial]] = defaultdict(list)
    for trial in found:
        of_node[trial.node].append(trial)
    counted = {node: count_arms(own, clock.weight) for node, own in of_node.items()}
    return {node: both for node, both in counted.items() if both != (NONE, NONE)}


def _add(
    counted: dict[Key, Sums],
    kept: Mapping[str, Mapping[Key, Sums]],
    factor_of: Callable[[str], float],
    none: Sums,
    plus: Callable[[Sums, Sums, float], Sums],
) -> None:
    """Add the sums that are kept by project to what was counted since, faded by the factor of each project."""
    for place, sums in kept.items():
        factor = factor_of(place)
        for key, more in sums.items():
            counted[key] = plus(counted.get(key, none), more, factor)


def _of_copies(
    counted: Mapping[str, Sums], same: Mapping[str, str], plus: Callable[[Sums, Sums], Sums]
) -> dict[str, Sums]:
    """Return the sums of components under the one of their exact copies that `same` maps each to."""
    found: dict[str, Sums] = {}
    for node, sums in counted.items():
        content = same.get(node, node)
        found[content] = plus(found[content], sums) if content in found else sums
    return found


def _plus(one: Sides, other: Sides, factor: float = 1.0) -> Sides:
    return one[0].plus(other[0], factor), one[1].plus(other[1], factor)


def _factor(kept: LogSummary, clock: Decay, place: str) -> float:
    return clock.weight(Trial("", place, offered_at=kept.at))
