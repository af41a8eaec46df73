"""Renders overlaps: the two components, the evidence, which one to keep, and advice; strangers' text is capped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from repertoire.app.ask.overlaps import Overlap, Overlaps, OverlapSide
from repertoire.domain.component import ALTERNATIVE_TO, CONFLICTS_WITH, TWIN_OF
from repertoire.domain.text import clean_line
from repertoire.rendering.answers import NAME

_KINDS = {CONFLICTS_WITH: "conflict", TWIN_OF: "copies", ALTERNATIVE_TO: "same job"}
_EVIDENCE, _ID, _ADVICE = 200, 200, 500  # advice may hold an id twice


def overlaps_text(found: Overlaps) -> str:
    """Render overlaps, the most important first, and how to list more or dismiss one."""
    lines = [line for overlap in found.shown for line in _lines(overlap)]
    if not found.shown:
        lines = [f"There are only {found.end}." if found.end else "No component overlaps with an installed one."]
    if found.more:
        lines.append(f"{found.more} more: --offset {found.end} lists the next")
    if found.elsewhere:
        lines.append(f"{found.elsewhere} concern no installed component: --all lists them")
    if found.dismissed:
        lines.append(f"{found.dismissed} dismissed")
    if found.shown:
        lines.append("--dismiss ID hides a pair until one of the two changes")
    return "\n".join(lines)


def dismissed_text(done: Sequence[Overlap], *, undone: bool) -> str:
    """Render the overlaps that were dismissed or are listed again."""
    told = "Listed again" if undone else "Not listed again until one of the two changes"
    return "\n".join(f"{told}: {_title(overlap)}" for overlap in done)


def overlaps_data(found: Overlaps) -> dict[str, Any]:
    """Return overlaps as a JSON object."""
    return {
        "shown": [overlap_data(overlap) for overlap in found.shown],
        "more": found.more,
        "dismissed": found.dismissed,
        "elsewhere": found.elsewhere,
    }


def overlap_data(overlap: Overlap) -> dict[str, Any]:
    """Return one overlap as a JSON object."""
    return {
        "id": overlap.id,
        "kind": overlap.kind,
        "first": _side_data(overlap.first),
        "second": _side_data(overlap.second),
        "evidence": clean_line(overlap.evidence, _EVIDENCE),
        "keep": overlap.keep,
        "why": clean_line(overlap.why, _EVIDENCE),
        "advice": clean_line(overlap.advice, _ADVICE),
    }


def _side_data(side: OverlapSide) -> dict[str, Any]:
    return {
        "id": side.id,
        "name": clean_line(side.name, NAME),
        "type": side.type,
        "source": side.source,
        "plugin": clean_line(side.plugin, NAME),
        "installed": side.installed,
        "muted": side.muted,
        "changed": side.changed,
        "size": side.size,
    }


def _lines(overlap: Overlap) -> list[str]:
    lines = [_title(overlap), f"    {_side(overlap.first)}", f"    {_side(overlap.second)}"]
    lines.append(f"    found: {clean_line(overlap.evidence, _EVIDENCE)}")
    if overlap.keep:
        kept = overlap.first if overlap.keep == overlap.first.id else overlap.second
        lines.append(f"    keep: {clean_line(kept.id, _ID)} ({overlap.why})")
    lines.append(f"    to do: {clean_line(overlap.advice, _ADVICE)}")
    return lines


def _title(overlap: Overlap) -> str:
    names = " and ".join(clean_line(side.name, NAME) for side in (overlap.first, overlap.second))
    return f"{overlap.id}  {_KINDS[overlap.kind]}: {names}"


def _side(side: OverlapSide) -> str:
    states = ["installed" if side.installed else "available", *(["muted"] if side.muted else [])]
    changed = f", changed {side.changed}" if side.changed else ""
    return f"{side.type.replace('_', ' ')} {clean_line(side.id, _ID)} ({', '.join(states)}{changed})"
