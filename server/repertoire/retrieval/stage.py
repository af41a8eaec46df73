"""Defines a stage of a ranking: its name, the switch that turns it off, its function, and its conditions.

Each system writes a literal tuple of stages, in the order in which they run, over a run type of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from repertoire.domain.errors import ModelUnavailable
from repertoire.retrieval.stage_reports import StageLog


class StageRun(Protocol):
    """The properties that stages need of the run of any system."""

    @property
    def stage_log(self) -> StageLog:
        """The log that collects the stages' reports."""

    @property
    def without(self) -> frozenset[str]:
        """The names of the parts that are switched off."""

    @property
    def effort(self) -> str:
        """The effort of the question in words, for reports on skipped stages."""


R_contra = TypeVar("R_contra", bound=StageRun, contravariant=True)


def always(_run: Any) -> bool:
    """Return True: the default condition of a stage."""
    return True


@dataclass(frozen=True)
class Stage(Generic[R_contra]):
    """One stage of a ranking; `work` returns a line for its report.

    A stage without a `part` cannot be switched off. A `cheap` stage runs even after the time limit. If `on` is false
    the stage is skipped without a report, if `worth` is false with a report.
    """

    name: str
    part: str
    work: Callable[[R_contra], str]
    on: Callable[[R_contra], bool] = always
    worth: Callable[[R_contra], bool] = always
    cheap: bool = False

    def take(self, run: R_contra) -> None:
        """Run this stage, or report why it is skipped; a missing model is noted in the answer."""
        if not self.on(run) or not self._may(run):
            return
        try:
            with run.stage_log.stage(self.name) as detail:
                detail.append(self.work(run))
        except ModelUnavailable as error:
            run.stage_log.missing(f"no {self.name}: {error}")

    def _may(self, run: R_contra) -> bool:
        if not self.worth(run):
            run.stage_log.skip(self.name, run.effort)
            return False
        if self.part in run.without:
            run.stage_log.skip(self.name, "switched off")
            return False
        return self.cheap or run.stage_log.in_time(self.name)


def take_all(stages: Sequence[Stage[R_contra]], run: R_contra) -> None:
    """Run the stages in order; one that does not apply is skipped, a missing model is noted in the answer."""
    for stage in stages:
        stage.take(run)
