"""The state of a project's memory as text."""

from __future__ import annotations

from repertoire.app.projects.status import ProjectStatus
from repertoire.domain.project import ProjectCounts
from repertoire.rendering.projects import project_status_text

COUNTS = ProjectCounts(files=134, symbols=768, sections=6, calls=0, entries=0, skipped=10, embedded=0, to_embed=1_678)


def test_a_reading_that_was_interrupted_is_not_told_as_none() -> None:
    told = project_status_text(ProjectStatus("/kiln", COUNTS, file="/home/kiln.db"))
    assert told.startswith(
        "/kiln: not read to its end yet, `repertoire project index` goes on; 0.0 MB in /home/kiln.db\n"
    )


def test_the_time_of_the_last_reading_is_told() -> None:
    told = project_status_text(ProjectStatus("/kiln", COUNTS, indexed_at="2026-01-02T03:04:05Z", file="/home/kiln.db"))
    assert told.startswith("/kiln: read 2026-01-02T03:04:05Z; 0.0 MB in /home/kiln.db\n")
