"""The stage reports of one answer: what each stage did, its time, stages that were skipped, and what was missing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from repertoire.domain.answer import StageReport


@dataclass(frozen=True)
class TimeLimit:
    """How long an answer may take, and by which clock."""

    budget_ms: float = math.inf
    clock: Callable[[], float] = perf_counter

    def stage_log(self) -> StageLog:
        """Return the trace of an answer that begins now."""
        return StageLog(budget_ms=self.budget_ms, clock=self.clock)


class StageLog:
    """Collects the reports of one answer, and keeps its time: what has not begun when it is spent is skipped."""

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
        """Time a stage; what it adds to the list becomes its detail."""
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
        """Tell whether a stage may begin; where the time is spent, report that it was skipped."""
        if 1000.0 * (self._clock() - self._began - self._aside) < self._budget_ms:
            return True
        self.skip(name, f"the {self._budget_ms:.0f} ms for this answer were spent")
        self._skipped.append(name)
        return False

    def skip(self, name: str, why: str) -> None:
        """Report a stage that was not run."""
        self._reports.append(StageReport(name, 0.0, f"skipped: {why}"))

    def missing(self, note: str) -> None:
        """Note that something was missing for the answer."""
        self._degraded[note] = None

    @property
    def reports(self) -> tuple[StageReport, ...]:
        """The stages in their order."""
        return tuple(self._reports)

    @property
    def degraded(self) -> tuple[str, ...]:
        """The notes on what was missing, each once."""
        if not self._skipped:
            return tuple(self._degraded)
        return (*self._degraded, f"no time left after {self._budget_ms:.0f} ms for {', '.join(self._skipped)}")
