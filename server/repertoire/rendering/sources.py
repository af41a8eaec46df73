"""Renders sources: the result of an ingest, what became of each file, and advisories on required packages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from repertoire.app.sources.advisories import Advisories, AdvisoryMatch
from repertoire.app.sources.unreachable import LostSource
from repertoire.domain.component import CATALOGUE, FileFate, IngestReport
from repertoire.domain.text import clean_line, counted
from repertoire.ingestion.advisories import AFFECTED
from repertoire.rendering.answers import LINE
from repertoire.rendering.freshness import lost_data, lost_text
from repertoire.sources.address import without_password
from repertoire.store.sources import SourceRow
from repertoire.trust.hidden import suspicion

_REASONS = 12
_LINE = 160
_UNQUOTED = str.maketrans(dict.fromkeys("'\"`", " "))  # a note itself quotes a file's words
_WITHHELD = "  Note: a note is withheld, since a file in it gives a model orders by its name or words"
_NONE = "  Note: no file in it is a component, such as a skill, agent, command, hook, MCP server or plugin"


def ingest_text(reports: Sequence[IngestReport]) -> str:
    """Render the result of ingesting sources, with skipped files grouped by reason."""
    blocks = []
    for report in reports:
        blocks.append(
            f"{clean_line(report.source, 200)}: {counted(report.components, 'component')} "
            f"({report.changed} changed, {report.unchanged} unchanged, {report.removed} removed) "
            f"in {report.seconds:.1f} s"
        )
        notes = (*_notes(report.warnings), *_skipped(report))
        blocks += [_WITHHELD if suspicion(line.translate(_UNQUOTED)) else line for line in notes]
        blocks += [] if report.components or report.skipped else [_NONE]
    return "\n".join(blocks) or "Nothing was read."


def ingest_data(report: IngestReport) -> dict[str, Any]:
    """Return the result of ingesting one source as a JSON object."""
    return {
        "source": report.source,
        "components": report.components,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "skipped": [{"path": file.path, "reason": clean_line(file.reason, 300)} for file in report.skipped],
        "seconds": round(report.seconds, 3),
        "warnings": [clean_line(warning, 300) for warning in report.warnings],
    }


def sources_text(rows: Sequence[SourceRow], lost: Mapping[str, LostSource]) -> str:
    """Render every source, and why some could not be read again."""
    lines = [
        f"{row.info.key} ({row.info.kind}): {counted(row.components, 'component')}, read {row.ingested_at or 'not yet'}"
        + (f"; {lost_text(lost[row.info.key])}" if row.info.key in lost else "")
        + ("; what another source holds is left out of it" if row.info.kind == CATALOGUE and len(rows) > 1 else "")
        for row in rows
    ]
    return "\n".join(lines) or "no sources yet; `repertoire refresh` reads the installed components"


def source_data(row: SourceRow, lost: LostSource | None) -> dict[str, Any]:
    """Return a source as a JSON object."""
    return {
        "key": row.info.key,
        "kind": row.info.kind,
        "location": without_password(row.info.location),
        "repository": row.info.repository,
        "commit": row.info.commit,
        "added_at": row.added_at,
        "ingested_at": row.ingested_at,
        "components": row.components,
        "skipped": row.skipped,
        "lost": lost_data(lost) if lost is not None else None,
    }


def fate_data(fate: FileFate) -> dict[str, Any]:
    """Return what became of one file as a JSON object."""
    notes = [clean_line(note, 300) for note in fate.notes]
    return {"path": fate.path, "became": fate.became, "of": clean_line(fate.of, 300), "notes": notes}


def fates_text(fates: Sequence[FileFate]) -> str:
    """Render what became of the files of a source, grouped and counted by reason, with examples."""
    groups: dict[tuple[str, str], list[str]] = {}
    for fate in fates:
        of = clean_line(fate.of, _LINE) if fate.became != "part" else "read with another"
        groups.setdefault((fate.became, of), []).append(fate.path)
    lines = [counted(len(fates), "file")]
    for (became, of), paths in sorted(groups.items(), key=lambda group: (group[0][0], -len(group[1]))):
        lines.append(f"  {became} {len(paths)}: {of} ({_examples(paths)})")
    lines += _notes([f"{fate.path}: {note}" for fate in fates for note in fate.notes])
    return "\n".join(_WITHHELD if suspicion(line.translate(_UNQUOTED)) else line for line in lines)


def _notes(warnings: Iterable[str]) -> list[str]:
    """Render the warnings in their order; those that say the same of several files are one line."""
    by_reason: dict[str, list[str]] = {}
    for warning in warnings:
        about, _, reason = warning.partition(": ")
        by_reason.setdefault(reason or warning, []).append(about if reason else "")
    return [
        f"  Note on {len(about)}: {clean_line(reason, 300)} ({_examples(about)})"
        if len(about) > 1
        else f"  Note: {clean_line(f'{about[0]}: {reason}' if about[0] else reason, 300)}"
        for reason, about in by_reason.items()
    ]


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


def advisories_text(found: Advisories) -> str:
    """Render the advisories that match, installed components first, and the records that could not be read."""
    against = f"{counted(found.records, 'record')} against {counted(found.packages, 'required package')}"
    heading = f"{against}: {len(found.matches)} {'match' if len(found.matches) == 1 else 'matches'}."
    if found.kept:
        heading += f" Stored, and matched again when a component changes: {found.kept}."
    lines = [line for match in found.matches for line in _match(match)]
    return "\n".join([heading, *lines, *(f"Note: {clean_line(note, 300)}" for note in found.unread)])


def advisories_data(found: Advisories) -> dict[str, Any]:
    """Return the security advisories that components match, with counts and reading problems, as a JSON object."""
    return {
        "matches": [_match_data(match) for match in found.matches],
        "records": found.records,
        "packages": found.packages,
        "kept": found.kept,
        "unread": [clean_line(note, 300) for note in found.unread],
    }


def _match_data(match: AdvisoryMatch) -> dict[str, Any]:
    return {
        "component": match.component,
        "installed": match.installed,
        "requirement": clean_line(match.requirement, LINE),
        "ecosystem": match.ecosystem,
        "certainty": match.certainty,
        "version": clean_line(match.version, LINE),
        "id": clean_line(match.id, LINE),
        "aliases": [clean_line(alias, LINE) for alias in match.aliases],
        "severity": clean_line(match.severity, LINE),
        "summary": clean_line(match.summary, 2 * LINE),
        "fixed": [clean_line(version, LINE) for version in match.fixed],
    }


def _match(match: AdvisoryMatch) -> list[str]:
    state = "installed" if match.installed else "available"
    names = ", ".join([match.id, *match.aliases[:3]])
    severity = f", severity {match.severity}" if match.severity else ""
    if match.certainty == AFFECTED:
        told = f"requires {match.requirement}, which is affected"
    elif match.version:
        told = f"requires {match.requirement}, which allows {match.version}, which is affected"
    else:
        told = f"requires {match.requirement} without a fixed version"
    fixed = f"; fixed in {', '.join(match.fixed[:4])}" if match.fixed else "; no fixed version is stated"
    return [
        f"{clean_line(match.component, 300)} ({state})",
        f"   {clean_line(told + fixed, 2 * LINE)} ({match.ecosystem})",
        f"   {clean_line(f'{names}{severity}: {match.summary}', 2 * LINE)}",
    ]


def forgotten_advisories_text(gone: int) -> str:
    """Render how many stored advisories were deleted."""
    return f"Advisories deleted: {gone}." if gone else "No advisories were stored."
