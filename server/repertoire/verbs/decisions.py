"""Defines the verbs of a person's decisions: mute, feedback on a component, correction of capabilities, forget."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.app.clock import now
from repertoire.app.person.correct import Corrected, set_capabilities
from repertoire.app.person.feedback import Feedback, give_feedback
from repertoire.app.person.forget import Forgotten, forget
from repertoire.app.person.mute import Muted, mute, unmute
from repertoire.app.projects.credit import credit_outcome
from repertoire.app.projects.joined import drop_lost_traces
from repertoire.domain.event import OK
from repertoire.rendering.person import (
    corrected_data,
    corrected_text,
    feedback_data,
    feedback_text,
    forgotten_data,
    forgotten_text,
    muted_data,
    muted_text,
)
from repertoire.verbs.verb import Context, Verb


@dataclass(frozen=True)
class MuteRequest:
    """The target to mute, everywhere or in this project only (`here`); or to unmute (`undo`)."""

    target: str
    here: bool = False
    undo: bool = False


@dataclass(frozen=True)
class FeedbackRequest:
    """A person's feedback: a component, by id or name, and the outcome of its use."""

    target: str
    outcome: str
    note: str = ""


@dataclass(frozen=True)
class CorrectionRequest:
    """A person's correction: a component, by id or name, and the capabilities that it provides."""

    target: str
    capabilities: tuple[str, ...]


@dataclass(frozen=True)
class DeletionRequest:
    """What to delete permanently; the ID of the trace or of the past request, if it is one."""

    what: str
    trace: str = ""
    request: str = ""


def _mute(context: Context, asked: MuteRequest) -> Muted:
    store = context.repertoire.store
    if asked.undo:
        return unmute(store, asked.target, project=context.project)
    return mute(store, asked.target, project=context.project, now=now(), here=asked.here)


def _report(context: Context, asked: FeedbackRequest) -> Feedback:
    store = context.repertoire.store
    given = give_feedback(store, asked.target, asked.outcome, moment=context.moment, note=asked.note)
    # an entry names a component by its id or its name
    keys = [f"component:{name}" for name in dict.fromkeys((given.component.id, given.component.name))]
    credit_outcome(context.repertoire.projects, context.project, keys, times=int(given.outcome == OK))
    return given


def _correct(context: Context, asked: CorrectionRequest) -> Corrected:
    return set_capabilities(context.repertoire.store, asked.target, asked.capabilities, now=now())


def _forget(context: Context, asked: DeletionRequest) -> Forgotten:
    store, projects = context.repertoire.store, context.repertoire.projects
    forgotten = forget(store, asked.what, project=context.project, trace=asked.trace, request=asked.request)
    if asked.trace and projects.has(context.project):
        drop_lost_traces(projects.open(context.project), lambda key: store.traces.get(key) is not None)
    return forgotten


MUTE = Verb(_mute, muted_text, muted_data)
REPORT = Verb(_report, feedback_text, feedback_data)
CORRECT = Verb(_correct, corrected_text, corrected_data)
FORGET = Verb(_forget, forgotten_text, forgotten_data)
