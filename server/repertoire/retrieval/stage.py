"""A ranking as a tuple of stages: each has a name, the part that switches it off, and the function that does it.

A system writes a tuple of its own over a run of its own: a literal, in the order in which the stages are done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from repertoire.domain.errors import ModelUnavailable
from repertoire.retrieval.stage_reports import StageLog


class Run(Protocol):
    """What every system's run tells its stages; what else it holds is the system's own."""

    @property
    def stage_log(self) -> StageLog:
        """Where each stage leaves its report."""

    @property
    def without(self) -> frozenset[str]:
        """The parts that are switched off."""

    @property
    def effort(self) -> str:
        """How much work the question is given, in words."""


R = TypeVar("R", bound=Run)


def always(_run: Any) -> bool:
    """Tell that a stage has something to do."""
    return True


@dataclass(frozen=True)
class Stage(Generic[R]):
    """One stage. `work` returns what it did, for the report; a stage without a `part` cannot be switched off.

    A `cheap` stage is done however late it is. Where there is nothing to do (`on`) no report tells of it; where it is
    not worth the effort (`worth`) one does.
    """

    name: str
    part: str
    work: Callable[[R], str]
    on: Callable[[R], bool] = always
    worth: Callable[[R], bool] = always
    cheap: bool = False

    def take(self, run: R) -> None:
        """Do this stage, or report why it is not done; an answer lacks what needs a model that is not there."""
        if not self.on(run) or not self._may(run):
            return
        try:
            with run.stage_log.stage(self.name) as detail:
                detail.append(self.work(run))
        except ModelUnavailable as error:
            run.stage_log.missing(f"no {self.name}: {error}")

    def _may(self, run: R) -> bool:
        if not self.worth(run):
            run.stage_log.skip(self.name, run.effort)
            return False
        if self.part in run.without:
            run.stage_log.skip(self.name, "switched off")
            return False
        return self.cheap or run.stage_log.in_time(self.name)


def take_all(stages: Sequence[Stage[R]], run: R) -> None:
    """Do the stages in their order."""
    for stage in stages:
        stage.take(run)
