"""Sums up the log for a session start, which has no time to fold it: looks at hints and outcomes, as of one day.

Everything that is summed fades alike, so sums of one day are those of a later one but for a factor. They reach to an
event that no session spans, and what happened since is folded and added: the same comes out as from the whole log. They
are kept where the log is condensed, go when something is forgotten, and nobody but a session's start reads them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields

from repertoire.learning.hints import HintRate, Key, Kind, Looks, looks_of, rates, seen_of, weariness
from repertoire.learning.lift import NONE, LiftArm, compare, sides_of
from repertoire.learning.outcomes import Dated, Trial
from repertoire.learning.usage import Decay

_BACK = 1_000  # events from the end, among which a place that no session spans is looked for
_SIDE = len(astuple(NONE))
Sides = tuple[LiftArm, LiftArm]


@dataclass(frozen=True)
class LogSummary:
    """The sums of the log up to and including the event `through`, by project, as of a time."""

    at: str
    half_life: float
    through: int
    looks: Mapping[str, Mapping[Kind, Looks]] = field(default_factory=dict)
    sides: Mapping[str, Mapping[str, Sides]] = field(default_factory=dict)  # by project, then component
    seen: Mapping[str, Mapping[str, Looks]] = field(default_factory=dict)  # by project, then component

    def as_text(self) -> str:
        """Return it as it is stored."""
        looks = [[place, *kind, *astuple(one)] for place, kinds in self.looks.items() for kind, one in kinds.items()]
        sides = [
            [place, node, *astuple(used), *astuple(unused)]
            for place, nodes in self.sides.items()
            for node, (used, unused) in nodes.items()
        ]
        seen = [[place, node, *astuple(one)] for place, nodes in self.seen.items() for node, one in nodes.items()]
        return json.dumps([self.at, self.half_life, self.through, looks, sides, seen])


@dataclass(frozen=True)
class StartUsage:
    """The usage that a session start needs: how hints of each kind and component fared, and harmful components."""

    hints: tuple[HintRate, ...]
    weary: Mapping[str, float]
    harmful: frozenset[str]


def _no(_nodes: Iterable[str]) -> Mapping[str, str]:
    return {}


def read_summary(text: str) -> LogSummary | None:
    """Return the stored sums; None where another version stored other sums."""
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
    """Sum up trials by project, as of a clock's time and as fast as it fades."""
    fading = Decay(clock.now, clock.half_life)
    of_project: dict[str, list[Trial]] = defaultdict(list)
    for trial in found:
        of_project[trial.project].append(trial)
    looks = {place: looks_of(own, fading.weight) for place, own in of_project.items()}
    sides = {place: _sides(own, fading) for place, own in of_project.items()}
    seen = {place: seen_of(own, fading.weight) for place, own in of_project.items()}
    return LogSummary(clock.now, clock.half_life, through, looks, sides, seen)


def recall(
    kept: LogSummary | None,
    since: Sequence[Trial],
    clock: Decay,
    *,
    copies: Callable[[Iterable[str]], Mapping[str, str]] = _no,
) -> StartUsage:
    """Return usage as of a time, from the stored sums and the trials since.

    `copies` maps every exact copy of components to one of its copies: what they did is counted together.
    """
    looks, sides, seen = looks_of(since, clock.weight), _sides(since, clock), seen_of(since, clock.weight)
    if kept is not None:
        _add(looks, kept.looks, lambda place: _factor(kept, place, clock))
        _add(seen, kept.seen, lambda place: _factor(kept, place, clock))
        for place, nodes in kept.sides.items():
            factor = _factor(kept, place, clock)
            for node, (used, unused) in nodes.items():
                had = sides.get(node, (NONE, NONE))
                sides[node] = had[0].plus(used, factor), had[1].plus(unused, factor)
    same = copies({*sides, *seen})
    both, shown_of = dict[str, Sides](), dict[str, Looks]()
    for node, (used, unused) in sides.items():
        had = both.get(same.get(node, node), (NONE, NONE))
        both[same.get(node, node)] = had[0].plus(used), had[1].plus(unused)
    for node, more in seen.items():
        shown_of[same.get(node, node)] = shown_of.get(same.get(node, node), Looks()).plus(more)
    harmful = {content for content, sums in both.items() if compare(*sums).harmful}
    weary = weariness(shown_of)
    return StartUsage(
        rates(looks),
        {**weary, **{node: weary[content] for node, content in same.items() if content in weary}},
        frozenset(harmful.union(node for node, content in same.items() if content in harmful)),
    )


def through(events: Sequence[Dated]) -> int:
    """Return the newest event of a log, oldest first, that no session spans; its last where there is none lately."""
    first = {event.session: event.id for event in reversed(events) if event.session}
    last = earliest = events[-1].id if events else 0
    for place in range(len(events) - 1, max(len(events) - _BACK, 0), -1):
        event = events[place]
        earliest = min(earliest, event.id, first.get(event.session, event.id))
        if events[place - 1].id < earliest:
            return events[place - 1].id
    return last


def _sides(found: Iterable[Trial], clock: Decay) -> dict[str, Sides]:
    """Count by component the requests with and without it whose outcome is known."""
    of_node: dict[str, list[Trial]] = defaultdict(list)
    for trial in found:
        of_node[trial.node].append(trial)
    counted = {node: sides_of(own, clock.weight) for node, own in of_node.items()}
    return {node: both for node, both in counted.items() if both != (NONE, NONE)}


def _add(counted: dict[Key, Looks], kept: Mapping[str, Mapping[Key, Looks]], factor: Callable[[str], float]) -> None:
    for place, looks in kept.items():
        faded = factor(place)
        for key, more in looks.items():
            counted[key] = counted.get(key, Looks()).plus(more, faded)


def _factor(kept: LogSummary, place: str, clock: Decay) -> float:
    return clock.weight(Trial("", place, offered_at=kept.at))
