"""Renders which components require packages that advisories concern."""

from __future__ import annotations

from typing import Any

from repertoire.app.sources.advisories import Advisories, AdvisoryMatch
from repertoire.domain.text import clean_line
from repertoire.ingestion.advisories import AFFECTED
from repertoire.rendering.answers import LINE


def advisories_text(found: Advisories) -> str:
    """Render the matches, what is installed first, and what could not be read."""
    heading = f"{found.records} records against {found.packages} required packages: {len(found.matches)} matches."
    if found.kept:
        heading += f" {found.kept} advisories are kept, and matched again whenever a component changes."
    lines = [line for match in found.matches for line in _match(match)]
    return "\n".join([heading, *lines, *(f"Note: {clean_line(note, 300)}" for note in found.unread)])


def advisories_data(found: Advisories) -> dict[str, Any]:
    """Return the matches as data."""
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
        told = f"requires {match.requirement} in no certain version"
    fixed = f"; fixed in {', '.join(match.fixed[:4])}" if match.fixed else "; no fixed version is stated"
    return [
        f"{clean_line(match.component, 300)} ({state})",
        f"   {clean_line(told + fixed, 2 * LINE)} ({match.ecosystem})",
        f"   {clean_line(f'{names}{severity}: {match.summary}', 2 * LINE)}",
    ]


def forgotten_advisories_text(gone: int) -> str:
    """Render that kept advisories were dropped."""
    return f"{gone} advisories forgotten." if gone else "No advisories were kept."
