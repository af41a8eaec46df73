"""Compacts the event log without loss for learning: events of old sessions are replaced by counts for each day.

The newest events stay unchanged. An older session with a selection stays whole while there is room, because suggestions
read from it which components were used together. All other old sessions are replaced by counts of trials by day, rank
and outcome, which is all that usage and lift read. When sessions with selections exceed their limit, the oldest are
counted too, and lose which components were used together. When the counts exceed theirs, the oldest are summed by
month, then dropped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from repertoire.domain.event import (
    COUNTED,
    LASTING_KINDS,
    SESSION_KINDS,
)
from repertoire.learning.outcomes import Dated, Trial, indexed_trials, trials, trials_of_count

_OF_SESSIONS = frozenset(SESSION_KINDS)
_DAY, _MONTH = len("2026-01-01"), len("2026-01")
_SOME = "some time"  # placeholder for a time while equal trials are grouped
_SLACK = 20  # where counts exceed their limit, one in this many more is dropped, so that it is not done each time
_STANDARD = Trial("")
_TOLD = tuple(field.name for field in fields(Trial) if field.name not in ("node", "project", "session", "request"))


@dataclass(frozen=True)
class LogBounds:
    """The largest numbers of events of each sort that stay in the log."""

    newest: int = 5_000  # newest events of sessions, which stay unchanged
    selected: int = 10_000  # older events of sessions with a selection
    counts: int = 10_000  # counts of older events
    others: int = 5_000  # events of each kind that belongs to no session; no reader needs more


@dataclass(frozen=True)
class Count:
    """The counted trials of one component in one project on one day, as they are written as an event."""

    at: str  # time of the newest counted trial
    project: str
    node: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class CompactedLog:
    """The result of compaction: the numbers of events to remove, and the counts that replace them."""

    gone: tuple[int, ...] = ()
    counts: tuple[Count, ...] = ()


def compact(events: Sequence[Dated], room: LogBounds) -> CompactedLog:
    """Return which events of a log to remove, and counts from which learning gives the same results."""
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
    """Return the event numbers of the sessions to remove, and the trials of these sessions."""
    if len(events) <= room.newest:
        return [], []
    folded = indexed_trials(events)
    old = [group for group in _groups(events, folded.by_event) if group[-1] < events[-room.newest].id]
    kept, gone, removed = 0, list[int](), list[Trial]()
    for group in sorted(old, key=lambda numbers: -numbers[-1]):
        indices = {index for number in group for index in folded.by_event.get(number, ())}
        found = [folded.trials[index] for index in sorted(indices) if folded.trials[index].at]
        if any(trial.selected_at for trial in found):
            kept += len(group)
            if kept <= room.selected:
                continue
        gone += group
        removed += found
    return gone, removed


def _groups(events: Sequence[Dated], trials_of: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Group event numbers by session, and join groups whose events changed the same trial."""
    above: dict[int | str, int | str] = {}  # union-find parents: event numbers, negative trial indices, session names

    def top(entry: int | str) -> int | str:
        while (following := above.setdefault(entry, entry)) != entry:
            above[entry] = above.setdefault(following, following)
            entry = following
        return entry

    for event in events:
        beside: list[int | str] = [-1 - index for index in trials_of.get(event.id, ())]
        for entry in [*beside, *([event.session] if event.session else [])]:
            above[top(entry)] = top(event.id)
    groups: dict[int | str, list[int]] = defaultdict(list)
    for event in events:
        groups[top(event.id)].append(event.id)
    return list(groups.values())


def _fewer(found: Iterable[Trial], most: int) -> list[Count]:
    """Return at most `most` counts: the older half summed by month, and the oldest dropped if these are too many."""
    by_day = _counts(found, _DAY)
    older, newer = by_day[: -most // 2], by_day[-most // 2 :]
    counted = (trial for count in older for trial in trials_of_count(count.node, count.project, count.data))
    return [*_counts(counted, _MONTH), *newer][-most:]


def _counts(found: Iterable[Trial], span: int) -> list[Count]:
    """Count trials that are equal except for their time within one day or month, under the newest of these times."""
    places: dict[tuple[str, str, str], dict[Trial, list[Trial]]] = defaultdict(lambda: defaultdict(list))
    for trial in found:
        offered_at, selected_at = trial.offered_at and _SOME, trial.selected_at and _SOME
        kind = replace(trial, session="", request="", offered_at=offered_at, selected_at=selected_at)
        places[trial.node, trial.project, trial.at[:span]][kind].append(trial)
    counts = [_count(node, project, kinds) for (node, project, _), kinds in places.items()]
    return sorted(counts, key=lambda count: count.at)


def _count(node: str, project: str, kinds: Mapping[Trial, list[Trial]]) -> Count:
    counted = []
    for kind, same in kinds.items():
        offered_at, selected_at = max(trial.offered_at for trial in same), max(trial.selected_at for trial in same)
        counted.append([len(same), _fields_of(replace(kind, offered_at=offered_at, selected_at=selected_at))])
    return Count(max(trial.at for same in kinds.values() for trial in same), project, node, {"trials": counted})


def _fields_of(trial: Trial) -> dict[str, Any]:
    return {name: value for name in _TOLD if (value := getattr(trial, name)) != getattr(_STANDARD, name)}
