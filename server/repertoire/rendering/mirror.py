"""Renders what the comparison of a project's memory with its mirror changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repertoire.domain.text import clean_line

if TYPE_CHECKING:  # other answers render no mirror
    from repertoire.app.projects.mirror import MirrorReport

_SHOWN = 20


def mirror_text(report: MirrorReport) -> str:
    """Render what was written, read and deleted, which changes met, and which files were not read."""
    lines = [
        f"{report.folder}: {len(report.written)} files written, {len(report.read)} read, {len(report.deleted)} deleted"
    ]
    lines.extend(
        f"changed on both sides: the file's words were taken, the memory's are kept as {key}"
        for key in report.conflicts
    )
    skipped = [f"{clean_line(path, 200)}: {clean_line(why, 300)}" for path, why in sorted(report.skipped.items())]
    lines.extend(skipped[:_SHOWN])
    if len(skipped) > _SHOWN:
        lines.append(f"and {len(skipped) - _SHOWN} more files; --json shows them")
    return "\n".join(lines)


def mirror_data(report: MirrorReport) -> dict[str, Any]:
    """Return the report as a JSON object."""
    return {
        "folder": report.folder,
        "written": [clean_line(path, 300) for path in report.written],
        "read": [clean_line(path, 300) for path in report.read],
        "deleted": [clean_line(path, 300) for path in report.deleted],
        "conflicts": list(report.conflicts),
        "skipped": {clean_line(path, 300): clean_line(why, 300) for path, why in sorted(report.skipped.items())},
    }
