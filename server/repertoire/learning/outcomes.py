"""Defines what was offered, selected and came of it, and folds the log into it: pure, so that it can be had anew.

*Offered*: named in a hint or in a recommended set. *Selected*: used (skill, agent, slash command, MCP tool, also where
the call failed), or installed after the offer. *Outcome* of a selection:

- what somebody said of it, the last word counting, before everything else;
- failed: its call failed and no later one did better, an edit was undone, or the next prompt corrects it;
- ok: a check (tests, types, linter) passed after it, within the same request;
- unknown: everything else, which says neither.

What came of a *request*, also where nothing was selected for it: failed where one of its selections did, or what was
done for it was undone or corrected; else ok where one of its selections was, or a check passed in it; else unknown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from repertoire.domain.event import (
    ASKED,
    BAD,
    CHECKED,
    CORRECTED,
    COUNTED,
    FAILED,
    OFFERED,
    OK,
    OUTCOME,
    SELECTED,
    UNDONE,
    UNKNOWN,
)
from repertoire.learning.session import SessionEvent

LAPSE = timedelta(days=1)  # after which a use no longer follows from an offer that names no session
# there are as many as the log has offers; a session's start, with one process a time, may run on Python 3.9
_SLOTTED: dict[str, bool] = {"slots": True} if sys.version_info >= (3, 10) else {}
_USED, CALL_FAILED = "used", "its call failed"


class Dated(SessionEvent, Protocol):
    """What is read of an event that has a time and a place."""

    @property
    def id(self) -> int:
        """Its number."""

    @property
    def at(self) -> str:
        """When."""

    @property
    def session(self) -> str:
        """In which session; empty where none is known."""

    @property
    def project(self) -> str:
        """In which project's folder."""


@dataclass(frozen=True, **_SLOTTED)
class Trial:
    """One offer of a component, or one selection, or both, with the outcome."""

    node: str
    project: str = ""
    session: str = ""
    request: str = ""
    offered_at: str = ""  # empty: used without an offer
    rank: int = 0  # from 1; 0: not offered
    selected_at: str = ""  # empty: not selected
    how: str = ""  # used, installed
    outcome: str = UNKNOWN
    because: str = ""  # what told the outcome
    moment: str = ""  # where it was offered: prompt, session_start, set
    type: str = ""
    apart: str = UNKNOWN  # what came of its request, where it was offered for one and not selected

    @property
    def at(self) -> str:
        """When something last happened to it."""
        return self.selected_at or self.offered_at

    @property
    def look(self) -> float:
        """How likely somebody looked at it where it stood."""
        return propensity(self.rank)


def propensity(rank: int) -> float:
    """Return the chance that somebody looks at this rank (position bias); the first rank is 1."""
    return 1.0 / max(rank, 1)


def trials(events: Iterable[Dated]) -> list[Trial]:
    """Fold the log, oldest first, into one trial for each component that was offered or selected."""
    counted: list[Trial] = []
    fold = _Fold()
    for event in events:
        if event.kind == COUNTED:
            counted.extend(of_count(event))
        else:
            fold.add(event)
    return [*counted, *fold.trials()]


@dataclass(frozen=True)
class IndexedTrials:
    """Trials, and for each event number the indices of the trials that it changed."""

    trials: list[Trial]
    told: Mapping[int, Sequence[int]]


def traced(events: Iterable[Dated]) -> IndexedTrials:
    """Fold the log, oldest first, without what is counted in it."""
    fold = _Fold()
    for event in events:
        fold.add(event)
    return IndexedTrials(fold.trials(), fold.told_by)


def of_count(event: Dated) -> Iterator[Trial]:
    """Yield the trials that an event counts: as many as there were, none of them of a session."""
    for times, told in event.data.get("trials", ()):
        yield from [Trial(event.node, event.project, **told)] * int(times)


class _Fold:
    """What is known after the events so far."""

    def __init__(self) -> None:
        self.found: list[Trial] = []
        self._of_node: dict[str, list[int]] = {}
        self._of_event: dict[int, int] = {}
        self._told: set[int] = set()  # trials whose outcome somebody told
        self._present: dict[str, list[int]] = {}  # by session: what its present request selected
        self._before: dict[str, list[int]] = {}  # and the one before
        self._asked: dict[str, str] = {}  # by session: its present request
        self._apart: dict[tuple[str, str], str] = {}  # what a request without a selection came to
        self.told_by: dict[int, tuple[int, ...]] = {}  # of a long log many times smaller than sets
        self._event = 0

    def add(self, event: Dated) -> None:
        """Take in one event."""
        self._event = event.id
        if event.kind == ASKED:
            self._next_request(event)
        elif event.kind == OFFERED and event.node:
            self._offered(event)
        elif event.kind in (SELECTED, FAILED) and event.node:
            self._selected(event)
        elif event.kind == OUTCOME and event.node:
            self._said(event)
        elif event.kind == CHECKED:
            self._told_of(event, self._present.get(event.session, ()), OK, "a check passed after it")
        elif event.kind == UNDONE:
            self._told_of(event, self._last(event.session), BAD, "an edit was undone after it")
        elif event.kind == CORRECTED:
            self._told_of(event, self._last(event.session), BAD, "the next prompt corrected it")

    def trials(self) -> list[Trial]:
        """Return the trials, each offer that was passed over with the outcome of its request."""
        came: dict[tuple[str, str], str] = dict(self._apart)
        for trial in self.found:
            where = trial.session, trial.request
            if trial.selected_at and trial.request and came.get(where) != BAD and trial.outcome != UNKNOWN:
                came[where] = trial.outcome
        return [self._beside(trial, came) for trial in self.found]

    def _beside(self, trial: Trial, came: Mapping[tuple[str, str], str]) -> Trial:
        outcome = UNKNOWN if trial.selected_at else came.get((trial.session, trial.request), UNKNOWN)
        return trial if outcome == UNKNOWN else replace(trial, apart=outcome)

    def _next_request(self, event: Dated) -> None:
        session = event.session
        self._before[session] = self._present.pop(session, [])
        self._asked[session] = event.request

    def _told_of(self, event: Dated, indices: Iterable[int], outcome: str, because: str) -> None:
        """Set the outcome of selections; without a selection, of the present request."""
        indices = list(indices)
        self._signal(indices, outcome, because)
        request = self._asked.get(event.session, "")
        if request and not indices and self._apart.get((event.session, request)) != BAD:
            self._apart[event.session, request] = outcome

    def _last(self, session: str) -> list[int]:
        return self._present.get(session) or self._before.get(session, [])

    def _add(self, trial: Trial) -> int:
        self.found.append(trial)
        index = len(self.found) - 1
        self._of_node.setdefault(trial.node, []).append(index)
        self._trace(index)
        return index

    def _trace(self, index: int) -> None:
        self.told_by[self._event] = (*self.told_by.get(self._event, ()), index)

    def _offered(self, event: Dated) -> None:
        rank = max(int(event.data.get("rank", 1) or 1), 1)
        where, kind = str(event.data.get("where", "")), str(event.data.get("type", ""))
        trial = Trial(event.node, event.project, event.session, event.request, offered_at=event.at, rank=rank)
        self._of_event[event.id] = self._add(replace(trial, moment=where, type=kind))

    def _selected(self, event: Dated) -> None:
        index = self._same_selection(event)
        if index is None:
            offer = self._offer_of(event)
            index = self._add(Trial(event.node, event.project, event.session)) if offer is None else offer
            self._trace(index)
            self.found[index] = replace(
                self.found[index],
                session=event.session or self.found[index].session,
                request=event.request or self.found[index].request,
                selected_at=event.at,
                how=str(event.data.get("how", _USED)),
            )
            if event.session:
                self._present.setdefault(event.session, []).append(index)
        if event.kind == FAILED:
            self._signal([index], BAD, CALL_FAILED)
        elif self.found[index].because == CALL_FAILED:  # the second attempt did it
            self.found[index] = replace(self.found[index], outcome=UNKNOWN, because="")

    def _same_selection(self, event: Dated) -> int | None:
        """Return the trial that this call belongs to already: a component is selected once a request."""
        of_session = self._present.get(event.session, ()) if event.session else ()
        return next((index for index in of_session if self.found[index].node == event.node), None)

    def _offer_of(self, event: Dated) -> int | None:
        """Return the newest offer that a selection may follow from: of its session, or lately in its project."""
        if event.data.get("offer") in self._of_event:
            return self._of_event[event.data["offer"]]
        for index in reversed(self._of_node.get(event.node, ())):
            trial = self.found[index]
            if trial.selected_at or not trial.offered_at:
                continue
            if trial.session == event.session and event.session:
                return index
            if not trial.session and trial.project == event.project and _within(trial.offered_at, event.at):
                return index
        return None

    def _said(self, event: Dated) -> None:
        outcome = str(event.data.get("outcome", UNKNOWN))
        chosen = [index for index in self._of_node.get(event.node, ()) if self.found[index].selected_at]
        same = [index for index in chosen if event.session and self.found[index].session == event.session]
        here = [index for index in chosen if self.found[index].project == event.project]
        if chosen:
            index = (same or here or chosen)[-1]
        else:  # who tells how it went has used it, be it where no hook could see it
            index = self._add(
                Trial(event.node, event.project, event.session, event.request, selected_at=event.at, how="told")
            )
        self._told.add(index)
        self._trace(index)
        self.found[index] = replace(self.found[index], outcome=outcome, because="somebody said so")

    def _signal(self, indices: Iterable[int], outcome: str, because: str) -> None:
        for index in indices:
            self._trace(index)
            trial = self.found[index]
            if index not in self._told and not (outcome == OK and trial.outcome == BAD):
                self.found[index] = replace(trial, outcome=outcome, because=because)


def _within(offered: str, selected: str) -> bool:
    return abs(moment(selected) - moment(offered)) <= LAPSE  # the log tells the order, a clock may be put back


def moment(at: str) -> datetime:
    """Return a time of the log as a point in time."""
    return datetime.fromisoformat(at.replace("Z", "+00:00"))


def together(found: Iterable[Trial]) -> Iterator[list[Trial]]:
    """Yield the components that were selected for one request, where there were several."""
    groups: dict[tuple[str, str], dict[str, Trial]] = {}
    for trial in found:
        if trial.selected_at and trial.request:
            groups.setdefault((trial.session, trial.request), {})[trial.node] = trial
    for group in groups.values():
        if len(group) > 1:
            yield [group[node] for node in sorted(group)]
