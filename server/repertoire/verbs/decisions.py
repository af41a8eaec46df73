"""The verbs by which a person decides: mute, say how a component did, correct what it provides, forget."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.app.clock import now
from repertoire.app.person.correct import Corrected, set_capabilities
from repertoire.app.person.feedback import Feedback, give_feedback
from repertoire.app.person.forget import Forgotten, forget
from repertoire.app.person.mute import Muted, mute, unmute
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
class Silence:
    """What is to be silent, in the project at hand alone if told so; or, undone, to be heard again."""

    target: str
    here: bool = False
    undo: bool = False


@dataclass(frozen=True)
class Saying:
    """How a component, named by id or name, did."""

    target: str
    outcome: str
    note: str = ""


@dataclass(frozen=True)
class Correction:
    """What a component, named by id or name, provides."""

    target: str
    capabilities: tuple[str, ...]


@dataclass(frozen=True)
class Deletion:
    """What to delete for good, and which trace where it is one."""

    what: str
    trace: str = ""


def _mute(context: Context, asked: Silence) -> Muted:
    store = context.repertoire.store
    if asked.undo:
        return unmute(store, asked.target, project=context.project)
    return mute(store, asked.target, project=context.project, now=now(), here=asked.here)


def _report(context: Context, asked: Saying) -> Feedback:
    store = context.repertoire.store
    return give_feedback(store, asked.target, asked.outcome, moment=context.moment, note=asked.note)


def _correct(context: Context, asked: Correction) -> Corrected:
    return set_capabilities(context.repertoire.store, asked.target, asked.capabilities, now=now())


def _forget(context: Context, asked: Deletion) -> Forgotten:
    return forget(context.repertoire.store, asked.what, project=context.project, trace=asked.trace)


MUTE = Verb(_mute, muted_text, muted_data)
REPORT = Verb(_report, feedback_text, feedback_data)
CORRECT = Verb(_correct, corrected_text, corrected_data)
FORGET = Verb(_forget, forgotten_text, forgotten_data)
