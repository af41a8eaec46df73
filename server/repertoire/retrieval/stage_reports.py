"""Collects the stage reports of one answer (details, times, skipped stages, missing models) within a time limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from repertoire.domain.answer import StageReport


@dataclass(frozen=True)
class TimeLimit:
    """The time limit of an answer, and the clock that measures it."""

    budget_ms: float = math.inf
    clock: Callable[[], float] = perf_counter

    def stage_log(self) -> StageLog:
        """Return the log of an answer that begins now."""
        return StageLog(budget_ms=self.budget_ms, clock=self.clock)


class StageLog:
    """Collects the stage reports of one answer, and tells stages whether its time limit allows them to begin."""

    def __init__(self, *, budget_ms: float = math.inf, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._budget_ms = budget_ms
        self._began = clock()
        self._aside = 0.0
        self._reports: list[StageReport] = []
        self._degraded: dict[str, None] = {}
        self._skipped: list[str] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[list[str]]:
        """Measure the time of a stage; the strings it appends to the list become its detail."""
        detail: list[str] = []
        start = self._clock()
        yield detail
        self._reports.append(StageReport(name, 1000.0 * (self._clock() - start), ", ".join(detail)))

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Exclude one-time work, such as loading a model, from the question's time."""
        start = self._clock()
        try:
            yield
        finally:
            self._aside += self._clock() - start

    def in_time(self, name: str) -> bool:
        """Tell whether a stage may begin; if the time is over, report that it was skipped."""
        if 1000.0 * (self._clock() - self._began - self._aside) < self._budget_ms:
            return True
        self.skip(name, f"the {self._budget_ms:.0f} ms for this answer were spent")
        self._skipped.append(name)
        return False

    def skip(self, name: str, why: str) -> None:
        """Report a skipped stage and the reason."""
        self._reports.append(StageReport(name, 0.0, f"skipped: {why}"))

    def missing(self, note: str) -> None:
        """Note something that was missing for the answer, such as a model."""
        self._degraded[note] = None

    @property
    def reports(self) -> tuple[StageReport, ...]:
        """The stage reports in order."""
        return tuple(self._reports)

    @property
    def degraded(self) -> tuple[str, ...]:
        """The notes on what was missing, each once, with the stages that the time limit skipped."""
        if not self._skipped:
            return tuple(self._degraded)
        return (*self._degraded, f"no time left after {self._budget_ms:.0f} ms for {', '.join(self._skipped)}")
