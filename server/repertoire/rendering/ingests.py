"""Renders what reading a source did, the files that were left out by their reasons, and what became of every file."""

from __future__ import annotations

from collections.abc import Sequence

from repertoire.domain.component import FileFate, IngestReport
from repertoire.domain.text import clean_line

_REASONS = 12
_LINE = 160


def ingest_text(reports: Sequence[IngestReport]) -> str:
    """Render what reading one or more sources did, skipped files by reason."""
    blocks = []
    for report in reports:
        blocks.append(
            f"{clean_line(report.source, 200)}: {report.components} components "
            f"({report.changed} changed, {report.unchanged} unchanged, {report.removed} removed) "
            f"in {report.seconds:.1f} s"
        )
        blocks += [f"  Note: {clean_line(warning, 300)}" for warning in report.warnings]
        blocks += _skipped(report)
    return "\n".join(blocks) or "Nothing was read."


def fates_text(fates: Sequence[FileFate]) -> str:
    """Render what became of the files of a source: how many each, by reason, with examples."""
    groups: dict[tuple[str, str], list[str]] = {}
    for fate in fates:
        of = clean_line(fate.of, _LINE) if fate.became != "part" else "read with another"
        groups.setdefault((fate.became, of), []).append(fate.path)
    lines = [f"{len(fates)} files"]
    for (became, of), paths in sorted(groups.items(), key=lambda group: (group[0][0], -len(group[1]))):
        lines.append(f"  {became} {len(paths)}: {of} ({_examples(paths)})")
    return "\n".join(lines)


def _skipped(report: IngestReport) -> list[str]:
    by_reason: dict[str, list[str]] = {}
    for skipped in report.skipped:
        by_reason.setdefault(clean_line(skipped.reason, _LINE), []).append(skipped.path)
    lines = []
    for reason, paths in list(by_reason.items())[:_REASONS]:
        lines.append(f"  skipped {len(paths)}: {reason} ({_examples(paths)})")
    return lines


def _examples(paths: Sequence[str]) -> str:
    return ", ".join(clean_line(path, 100) for path in paths[:3]) + (", …" if len(paths) > 3 else "")
