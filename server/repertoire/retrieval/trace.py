"""What each stage of an answer did and how long it took, and what the answer had to do without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from repertoire.domain.answer import StageReport


class Trace:
    """Collects the reports of one answer."""

    def __init__(self) -> None:
        self._reports: list[StageReport] = []
        self._degraded: dict[str, None] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[list[str]]:
        """Time a stage; what it adds to the list becomes its detail."""
        detail: list[str] = []
        start = perf_counter()
        yield detail
        self._reports.append(StageReport(name, 1000.0 * (perf_counter() - start), ", ".join(detail)))

    def missing(self, note: str) -> None:
        """Note what the answer has to do without."""
        self._degraded[note] = None

    @property
    def reports(self) -> tuple[StageReport, ...]:
        """The stages in their order."""
        return tuple(self._reports)

    @property
    def degraded(self) -> tuple[str, ...]:
        """What was missing, each once."""
        return tuple(self._degraded)
