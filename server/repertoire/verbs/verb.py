"""What a verb is, and what is filled in around a question once, whoever asks it: project, mutes, machine."""

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
    """Where a question is asked: of which home, in which project, on which machine."""

    repertoire: Repertoire
    project: str
    environment: Mapping[str, str]

    @classmethod
    def of(cls, repertoire: Repertoire, *, project: str = "", environment: Mapping[str, str] = os.environ) -> Context:
        """Return the context of a question about a project, the one at hand if none is named."""
        return cls(repertoire, resolve_project(project), environment)

    @cached_property
    def muted(self) -> frozenset[str]:
        """What a person silenced in the project."""
        return self.repertoire.muted(self.project)

    @cached_property
    def unfit(self) -> frozenset[str]:
        """What no set in the project may hold."""
        return self.repertoire.unfit_for_sets(self.project)

    @property
    def moment(self) -> Moment:
        """When and where it is asked."""
        return Moment(now(), "", self.project)


def _nothing(_context: Context, _question: Any, _answer: Any) -> Sequence[Event]:
    return ()


@dataclass(frozen=True)
class Verb(Generic[Q, A]):
    """How a typed question becomes an answer, what the log keeps of it, and the answer's two forms."""

    run: Callable[[Context, Q], A]
    text: Callable[[A], str]
    data: Callable[[A], dict[str, Any]]
    events: Callable[[Context, Q, A], Sequence[Event]] = _nothing
