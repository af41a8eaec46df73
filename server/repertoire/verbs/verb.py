"""Defines `Verb`, and `Context`, which fills in the project, the mutes and the machine of a question once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from repertoire.app.clock import now
from repertoire.app.current_project import resolve_project
from repertoire.app.kernel import Repertoire
from repertoire.domain.event import Event, Moment

Q = TypeVar("Q")
A = TypeVar("A")


@dataclass(frozen=True)
class Context:
    """The context of a question: the opened home, the project, and the environment of the machine."""

    repertoire: Repertoire
    project: str
    environment: Mapping[str, str]
    session: str = ""  # id of Claude Code's session that asks; empty where none does, or before its first hook

    @classmethod
    def of(
        cls,
        repertoire: Repertoire,
        *,
        project: str = "",
        environment: Mapping[str, str] = os.environ,
        session: str = "",
    ) -> Context:
        """Return the context of a question in a project, by default the current one."""
        return cls(repertoire, resolve_project(project), environment, session)

    @cached_property
    def muted(self) -> frozenset[str]:
        """Return the ids that are muted in the project."""
        return self.repertoire.muted(self.project)

    @cached_property
    def refused(self) -> frozenset[str]:
        """Return the ids of what settings deny to the model in the project, or turn off there."""
        return self.repertoire.refused(self.project)

    @cached_property
    def unfit(self) -> frozenset[str]:
        """Return the ids that no recommended set in the project may contain."""
        return self.repertoire.unfit_for_sets(self.project)

    @property
    def moment(self) -> Moment:
        """Return the time, session and project of the question."""
        return Moment(now(), self.session, self.project)


def _nothing(_context: Context, _question: Any, _answer: Any) -> Sequence[Event]:
    return ()


@dataclass(frozen=True)
class Verb(Generic[Q, A]):
    """A verb: the function that answers a question, those that render the answer, and the one that logs it."""

    run: Callable[[Context, Q], A]
    text: Callable[[A], str]
    data: Callable[[A], dict[str, Any]]
    events: Callable[[Context, Q, A], Sequence[Event]] = _nothing
