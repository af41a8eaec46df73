"""Bounds the log and loses nothing that is learned from it: old sessions are counted by the day in their events' stead.

The newest events stay as they are. Of what is older, a session in which something was selected stays whole as long as
there is room, since which components were used together is read from it. All other old sessions go: what was offered
in them is counted, so many times on that day at that rank with that outcome, which is all that memory and lift read of
it. When the sessions with selections outgrow their room, the oldest are counted too, and are remembered from then on
without what they were used together with; when the counts do, the oldest are added up by the month, then let go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from repertoire.domain.event import (
    COUNTED,
    LASTING_KINDS,
    SESSION_KINDS,
)
from repertoire.learning.outcomes import Dated, Trial, traced, trials

_OF_SESSIONS = frozenset(SESSION_KINDS)
_DAY, _MONTH = len("2026-01-01"), len("2026-01")
_SOME = "some time"
_SLACK = 20  # where there are too many counts, one in so many more goes at once, so that it need not be done each time
_STANDARD = Trial("")
_TOLD = tuple(field.name for field in fields(Trial) if field.name not in ("node", "project", "session", "request"))


@dataclass(frozen=True)
class LogBounds:
    """How many events may stay."""

    newest: int = 5_000  # of sessions, as they are
    selected: int = 10_000  # older ones, of sessions in which something was selected
    counts: int = 10_000
    others: int = 5_000  # of each kind that belongs to no session: no reader looks at more


@dataclass(frozen=True)
class Count:
    """What became of one component in one project on one day, as the event that is written of it."""

    at: str  # when the last of it happened
    project: str
    node: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class CompactedLog:
    """The numbers of the events to remove, and the counts that replace them."""

    gone: tuple[int, ...] = ()
    counts: tuple[Count, ...] = ()


def condense(events: Sequence[Dated], room: LogBounds) -> CompactedLog:
    """Return the events of a log that may go, and counts from which the same is learned as before."""
    of_sessions = [event for event in events if event.kind in _OF_SESSIONS]
    counted = [event for event in events if event.kind == COUNTED]
    gone, found = _old_sessions(of_sessions, room)
    days = {(trial.node, trial.project, trial.at[:_DAY]) for trial in found}
    same = [event for event in counted if (event.node, event.project, event.at[:_DAY]) in days]
    counts = _counts([*trials(same), *found], _DAY)
    if len(counted) - len(same) + len(counts) > room.counts:
        same, counts = counted, _fewer([*trials(counted), *found], room.counts - room.counts // _SLACK)
    had = {_place(event): event.data for event in same}
    equal = {_place(count) for count in counts if had.get(_place(count)) == count.data}
    gone += [event.id for event in same if _place(event) not in equal]
    gone += _old_others([event for event in events if event.kind not in _OF_SESSIONS and event.kind != COUNTED], room)
    return CompactedLog(tuple(gone), tuple(count for count in counts if _place(count) not in equal))


def _place(count: Dated | Count) -> tuple[str, str, str]:
    return count.at, count.project, count.node


def _old_others(events: Sequence[Dated], room: LogBounds) -> list[int]:
    by_kind: dict[str, list[int]] = defaultdict(list)
    for event in events:
        if event.kind not in LASTING_KINDS:
            by_kind[event.kind].append(event.id)
    return [number for numbers in by_kind.values() for number in numbers[: -room.others]]


def _old_sessions(events: Sequence[Dated], room: LogBounds) -> tuple[list[int], list[Trial]]:
    """Return the events of the sessions that go, and the trials that they told of."""
    if len(events) <= room.newest:
        return [], []
    folded = traced(events)
    old = [group for group in _groups(events, folded.told) if group[-1] < events[-room.newest].id]
    kept, gone, told = 0, list[int](), list[Trial]()
    for group in sorted(old, key=lambda numbers: -numbers[-1]):
        indices = {index for number in group for index in folded.told.get(number, ())}
        found = [folded.trials[index] for index in sorted(indices)]
        if any(trial.selected_at for trial in found):
            kept += len(group)
            if kept <= room.selected:
                continue
        gone += group
        told += found
    return gone, told


def _groups(events: Sequence[Dated], told: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Put together, by number, the events of each session, and with them all that tell of the same trials."""
    above: dict[int | str, int | str] = {}  # events by number, trials by their index below 0, sessions

    def top(one: int | str) -> int | str:
        while (following := above.setdefault(one, one)) != one:
            above[one] = above.setdefault(following, following)
            one = following
        return one

    for event in events:
        beside: list[int | str] = [-1 - index for index in told.get(event.id, ())]
        for one in [*beside, *([event.session] if event.session else [])]:
            above[top(one)] = top(event.id)
    groups: dict[int | str, list[int]] = defaultdict(list)
    for event in events:
        groups[top(event.id)].append(event.id)
    return list(groups.values())


def _fewer(found: Iterable[Trial], most: int) -> list[Count]:
    """Count the older half by the month instead; should that be too many still, the oldest go."""
    by_day = _counts(found, _DAY)
    older, newer = by_day[: -most // 2], by_day[-most // 2 :]
    return [*_counts(_trials_of(older), _MONTH), *newer][-most:]


def _trials_of(counts: Iterable[Count]) -> Iterator[Trial]:
    for count in counts:
        for times, told in count.data["trials"]:
            yield from [Trial(count.node, count.project, **told)] * times


def _counts(found: Iterable[Trial], span: int) -> list[Count]:
    """Count trials that differ in nothing but the time within one span; the newest of their times stands for all."""
    places: dict[tuple[str, str, str], dict[Trial, list[Trial]]] = defaultdict(lambda: defaultdict(list))
    for trial in found:
        offered_at, selected_at = trial.offered_at and _SOME, trial.selected_at and _SOME
        kind = replace(trial, session="", request="", offered_at=offered_at, selected_at=selected_at)
        places[trial.node, trial.project, trial.at[:span]][kind].append(trial)
    counts = [_count(node, project, kinds) for (node, project, _), kinds in places.items()]
    return sorted(counts, key=lambda count: count.at)


def _count(node: str, project: str, kinds: Mapping[Trial, list[Trial]]) -> Count:
    told = []
    for kind, same in kinds.items():
        offered_at, selected_at = max(one.offered_at for one in same), max(one.selected_at for one in same)
        told.append([len(same), _told(replace(kind, offered_at=offered_at, selected_at=selected_at))])
    return Count(max(one.at for same in kinds.values() for one in same), project, node, {"trials": told})


def _told(trial: Trial) -> dict[str, Any]:
    return {name: value for name in _TOLD if (value := getattr(trial, name)) != getattr(_STANDARD, name)}
