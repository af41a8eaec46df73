"""Folds the event log into trials: which components were offered and selected, and with which outcome.

*Offered*: named in a hint or in a recommended set. *Selected*: used (skill, agent, slash command, MCP tool, even if
the call failed), or installed. *Outcome* of a selection:

- what a person said last, before all other evidence;
- failed: its call failed and no later call succeeded, an edit was undone, or the next prompt corrects it;
- ok: a check (tests, types, linter) passed after it, within the same request or, without one, the same turn;
- unknown: all other cases.

Outcome of a *request*, even without a selection: failed if one of its selections failed, or its work was undone or
corrected; else ok if one of its selections was, or a check passed in it; else unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

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
    SLOTTED,
    TAKEN_BACK,
    UNDONE,
    UNKNOWN,
    Event,
)
from repertoire.learning.session import SessionEvent

SET = "set"  # moment of an offer in a recommended set, the answer to a person's question
NEXT = "next"  # what the first offer of a set holds: the ids of what was shown beside the set, the likeliest first
BEGINS = "begins"  # the first use in a turn that has no request says so
LAPSE = timedelta(days=1)  # time after which a use no longer belongs to an offer without a session
_USED, INSTALLED, TOLD = "used", "installed", "told"
CALL_FAILED, SAID = "its call failed", "somebody said so"


class Dated(SessionEvent, Protocol):
    """The properties that learning reads of an event with time and place."""

    @property
    def id(self) -> int:
        """The event's number."""

    @property
    def at(self) -> str:
        """The time of the event."""

    @property
    def session(self) -> str:
        """The session of the event; empty if it is unknown."""

    @property
    def project(self) -> str:
        """The folder of the project in which it happened."""


@dataclass(frozen=True, **SLOTTED)
class Trial:
    """One offer of a component, or one selection, or both, with its outcome."""

    node: str
    project: str = ""
    session: str = ""
    request: str = ""
    offered_at: str = ""  # time of the offer; empty if it was used without one
    rank: int = 0  # rank of the offer from 1; 0 without an offer
    selected_at: str = ""  # time of the selection; empty if it was not selected
    how: str = ""  # used, installed or told
    outcome: str = UNKNOWN
    because: str = ""  # evidence for the outcome
    moment: str = ""  # occasion of the offer: prompt, session_start or set
    type: str = ""
    apart: str = UNKNOWN  # outcome of the request for which it was offered and not selected

    @property
    def used(self) -> bool:
        """Whether its use was seen; who says how it went may have used it where nobody looks."""
        return bool(self.selected_at) and self.how != TOLD

    @property
    def at(self) -> str:
        """The time of its selection, else of its offer."""
        return self.selected_at or self.offered_at

    @property
    def look(self) -> float:
        """The chance that somebody looked at the offer at its rank (impression)."""
        return propensity(self.rank)


def propensity(rank: int) -> float:
    """Return the chance that somebody looks at a rank (position bias); ranks begin at 1."""
    return 1.0 / max(rank, 1)


def trials(events: Iterable[Dated]) -> list[Trial]:
    """Fold the log, oldest event first, into trials, including those that the log only counts."""
    counted: list[Trial] = []
    fold = _Fold()
    for event in events:
        if event.kind == COUNTED:
            counted.extend(trials_of_count(event.node, event.project, event.data))
        else:
            fold.add(event)
    return [*counted, *(trial for trial in fold.trials() if trial.at)]


@dataclass(frozen=True)
class IndexedTrials:
    """Trials, and by event number the indices of those that the event changed; withdrawn ones have no time."""

    trials: list[Trial]
    by_event: Mapping[int, Sequence[int]]


def indexed_trials(events: Iterable[Dated]) -> IndexedTrials:
    """Fold the log, oldest event first, into indexed trials, without those that the log only counts."""
    fold = _Fold()
    for event in events:
        fold.add(event)
    return IndexedTrials(fold.trials(), fold.told_by)


def trials_of_count(node: str, project: str, counted: Mapping[str, Any]) -> Iterator[Trial]:
    """Yield the trials of a component in a project that the data of a count stands for; they have no session."""
    for times, told in counted.get("trials", ()):
        yield from [Trial(node, project, **told)] * int(times)


class _Fold:
    """The state of folding the log: trials so far, with look-ups by component, event and session."""

    def __init__(self) -> None:
        self.found: list[Trial] = []
        self._of_node: dict[str, list[int]] = {}
        self._of_event: dict[int, int] = {}
        self._by_person: set[int] = set()  # trials whose outcome a person told
        self._present: dict[str, list[int]] = {}  # by session: trials that its present request selected
        self._before: dict[str, list[int]] = {}  # by session: trials that the request before selected
        self._asked: dict[str, str] = {}  # by session: its present request
        self._installed: dict[str, int] = {}  # by component: the trial of its newest installation
        self._answers: dict[tuple[str, str, str], list[int]] = {}  # by session, project and request: the newest set
        self._apart: dict[tuple[str, str], str] = {}  # outcomes of requests without a selection
        self.told_by: dict[int, tuple[int, ...]] = {}  # tuples, which take far less memory than sets
        self._event = 0

    def add(self, event: Dated) -> None:
        """Update the trials with one event."""
        self._event = event.id
        if event.kind == ASKED:
            self._next_request(event)
        elif event.kind == OFFERED and event.node:
            self._take_offer(event)
        elif event.kind in (SELECTED, FAILED):
            self._take_selection(event)
        elif event.kind == OUTCOME and event.node:
            self._take_feedback(event)
        elif event.kind == TAKEN_BACK:
            self._take_back(event)
        elif event.kind == CHECKED:
            self._set_outcomes(event, self._present.get(event.session, ()), OK, "a check passed after it")
        elif event.kind == UNDONE:
            self._set_outcomes(event, self._last(event.session), BAD, "an edit was undone after it")
        elif event.kind == CORRECTED:
            self._set_outcomes(event, self._last(event.session), BAD, "the next prompt corrected it")

    def trials(self) -> list[Trial]:
        """Return the trials; an offer that was not selected gets the outcome of its request as `apart`."""
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

    def _set_outcomes(self, event: Dated, indices: Iterable[int], outcome: str, because: str) -> None:
        """Set the outcome of selected trials; if there are none, of the present request."""
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

    def _take_offer(self, event: Dated) -> None:
        rank = max(int(event.data.get("rank", 1) or 1), 1)
        where, kind = str(event.data.get("where", "")), str(event.data.get("type", ""))
        # Who installs another component of a set passes over none that is there already.
        request = "" if where == SET and event.data.get("installed") else event.request
        trial = Trial(event.node, event.project, event.session, request, offered_at=event.at, rank=rank)
        index = self._add(replace(trial, moment=where, type=kind))
        self._of_event[event.id] = index
        if where == SET and event.request:
            self._follow_answer(event, index, first=rank == 1)

    def _follow_answer(self, event: Dated, index: int, *, first: bool) -> None:
        """Let an answer to the same question replace the one before: who asks again passes over nothing of that."""
        asked = event.session, event.project, event.request
        for before in self._answers.pop(asked, ()) if first else ():
            if not self.found[before].selected_at:
                self.found[before] = replace(self.found[before], request="")
                self._trace(before)
        self._answers.setdefault(asked, []).append(index)

    def _take_selection(self, event: Dated) -> None:
        if event.data.get(BEGINS):
            self._next_request(event)
        if not event.node or self._was_used_since(event):
            return
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
            if event.data.get("how") == INSTALLED:
                self._installed[event.node] = index
        if event.kind == FAILED:
            self._signal([index], BAD, CALL_FAILED)
        elif self.found[index].because == CALL_FAILED:  # a later call succeeded
            self.found[index] = replace(self.found[index], outcome=UNKNOWN, because="")

    def _was_used_since(self, event: Dated) -> bool:
        """Tell whether an installation is noticed only after a use of what was offered, which has its trial already."""
        offer = self._of_event.get(event.data.get("offer", -1))  # which only an installation names
        return offer is not None and bool(self.found[offer].selected_at) and self.found[offer].how != INSTALLED

    def _same_selection(self, event: Dated) -> int | None:
        """Return the trial of an earlier call, or of the installation, in this request: once in it it is selected."""
        if not event.session:
            return None
        of_session = self._present.setdefault(event.session, [])
        index = self._installed.get(event.node)
        if index is not None and index not in of_session and self._is_of_request(self.found[index], event):
            self.found[index] = replace(self.found[index], how=_USED)  # which no undo of the installation withdraws
            of_session.append(index)
            self._trace(index)
            return index
        return next((index for index in of_session if self.found[index].node == event.node), None)

    @staticmethod
    def _is_of_request(trial: Trial, event: Dated) -> bool:
        same = bool(event.request) and (trial.session, trial.request) == (event.session, event.request)
        return same and bool(trial.selected_at) and trial.how == INSTALLED

    def _offer_of(self, event: Dated) -> int | None:
        """Return the newest offer that a selection may belong to: of its session, or within a day in its project."""
        named = self._of_event.get(event.data.get("offer", -1))
        if named is not None and not self.found[named].selected_at:  # it may have been installed before, by itself
            return named
        for index in reversed(self._of_node.get(event.node, ())):
            trial = self.found[index]
            if trial.selected_at or not trial.offered_at:
                continue
            if trial.session == event.session and event.session:
                return index
            if not trial.session and trial.project == event.project and _within(trial.offered_at, event.at):
                return index
        return None

    def _take_feedback(self, event: Dated) -> None:
        outcome = str(event.data.get("outcome", UNKNOWN))
        chosen = [index for index in self._of_node.get(event.node, ()) if self.found[index].selected_at]
        same = [index for index in chosen if event.session and self.found[index].session == event.session]
        here = [index for index in chosen if self.found[index].project == event.project]
        if chosen:
            index = (same or here or chosen)[-1]
        else:  # whoever gives feedback has used the component, even if no hook saw it
            index = self._add(
                Trial(event.node, event.project, event.session, event.request, selected_at=event.at, how=TOLD)
            )
        self._by_person.add(index)
        self._trace(index)
        self.found[index] = replace(self.found[index], outcome=outcome, because=SAID)

    def _take_back(self, event: Dated) -> None:
        """Withdraw the selection that an undone installation was; what a person said of the component stays."""
        for index in self._of_node.get(event.node, ()):
            trial = self.found[index]
            if trial.how == INSTALLED and trial.selected_at == event.data.get(INSTALLED):
                self._trace(index)
                said = index in self._by_person
                self.found[index] = replace(trial, how=TOLD) if said else replace(trial, how="", selected_at="")

    def _signal(self, indices: Iterable[int], outcome: str, because: str) -> None:
        for index in indices:
            self._trace(index)
            trial = self.found[index]
            if index not in self._by_person and not (outcome == OK and trial.outcome == BAD):
                self.found[index] = replace(trial, outcome=outcome, because=because)


def standing(events: Iterable[Event]) -> list[Event]:
    """Return events without the selections that installations were which were undone since."""
    events = [*events]
    undone = {(event.node, event.data.get(INSTALLED)) for event in events if event.kind == TAKEN_BACK}
    return [
        event
        for event in events
        if event.kind != TAKEN_BACK and not (event.data.get("how") == INSTALLED and (event.node, event.at) in undone)
    ]


def _within(offered: str, selected: str) -> bool:
    return abs(moment(selected) - moment(offered)) <= LAPSE  # absolute, since a clock may be set back


def moment(at: str) -> datetime:
    """Parse a time of the log."""
    return datetime.fromisoformat(at.replace("Z", "+00:00"))


def together(found: Iterable[Trial]) -> Iterator[list[Trial]]:
    """Yield the trials that were selected for the same request, for requests with several."""
    groups: dict[tuple[str, str], dict[str, Trial]] = {}
    for trial in found:
        if trial.selected_at and trial.request:
            groups.setdefault((trial.session, trial.request), {})[trial.node] = trial
    for group in groups.values():
        if len(group) > 1:
            yield [group[node] for node in sorted(group)]
