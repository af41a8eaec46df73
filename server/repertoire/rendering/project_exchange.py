"""Renders what a mirror or an import brought into a project's memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from repertoire.domain.text import clean_line, counted

if TYPE_CHECKING:  # other answers render no mirror
    from repertoire.app.projects.import_entries import ImportReport
    from repertoire.app.projects.mirror import MirrorReport

_SHOWN = 20


def lying_text(count: int) -> str:
    """Say that files of entries lie in the project, and how they come into its memory."""
    files = counted(count, "file")
    return f".repertoire holds {files} of entries that are not in this memory: `repertoire project mirror` reads them"


def mirror_text(report: MirrorReport) -> str:
    """Render what was written, read and deleted, which changes met, which files were not read; or that it is off."""
    if not report.on:
        return f"The mirror is off; the files in {report.folder} stay" if report.was_on else "The mirror was not on"
    written = counted(len(report.written), "file")
    lines = [f"{report.folder}: {written} written, {len(report.read)} read, {len(report.deleted)} deleted"]
    lines.extend(
        f"changed on both sides: the file's words were taken, the memory's are kept as {key}"
        for key in report.conflicts
    )
    return "\n".join([*lines, *_skipped(report.skipped)])


def _skipped(reasons: Mapping[str, str]) -> list[str]:
    return _first([f"{clean_line(path, 200)}: {clean_line(why, 300)}" for path, why in sorted(reasons.items())])


def _first(lines: Sequence[str]) -> list[str]:
    more = [f"and {len(lines) - _SHOWN} more; --json shows them"] if len(lines) > _SHOWN else []
    return [*lines[:_SHOWN], *more]


def mirror_data(report: MirrorReport) -> dict[str, Any]:
    """Return the report as a JSON object."""
    return {
        "folder": report.folder,
        "written": [clean_line(path, 300) for path in report.written],
        "read": [clean_line(path, 300) for path in report.read],
        "deleted": [clean_line(path, 300) for path in report.deleted],
        "conflicts": list(report.conflicts),
        "skipped": {clean_line(path, 300): clean_line(why, 300) for path, why in sorted(report.skipped.items())},
        "on": report.on,
    }


def import_text(report: ImportReport) -> str:
    """Render how many entries came, their titles, and what was left out."""
    entries = "entry" if len(report.added) == 1 else "entries"
    done = f"{len(report.added)} {entries} imported, {len(report.changed)} changed, {report.same} as before"
    lines = [f"reworded: {' → '.join(clean_line(one, 200) for one in both)}" for both in report.reworded.values()]
    reworded = {title for _, title in report.reworded.values()}
    new = [f"new: {clean_line(title, 200)}" for title in report.added]
    changed = [f"changed: {clean_line(title, 200)}" for title in report.changed if title not in reworded]
    return "\n".join([done, *_first(new), *_first(changed), *lines, *_skipped(report.skipped)])


def import_data(report: ImportReport) -> dict[str, Any]:
    """Return the report of an import as a JSON object."""
    return {
        "added": [clean_line(title, 300) for title in report.added],
        "changed": [clean_line(title, 300) for title in report.changed],
        "reworded": {key: clean_line(before, 300) for key, (before, _) in report.reworded.items()},
        "same": report.same,
        "skipped": {clean_line(path, 300): clean_line(why, 300) for path, why in sorted(report.skipped.items())},
    }
