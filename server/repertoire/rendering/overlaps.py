"""Renders what overlaps: which two, on what evidence, which to keep, what to do; strangers' words on capped lines."""

from __future__ import annotations

from collections.abc import Sequence

from repertoire.app.ask.overlaps import Overlap, Overlaps, OverlapSide
from repertoire.domain.component import ALTERNATIVE_TO, CONFLICTS_WITH, TWIN_OF
from repertoire.domain.text import clean_line
from repertoire.rendering.answers import NAME

_KINDS = {CONFLICTS_WITH: "conflict", TWIN_OF: "copies of one thing", ALTERNATIVE_TO: "same job"}
_EVIDENCE, _ID, _ADVICE = 200, 200, 300


def overlaps_text(found: Overlaps) -> str:
    """Render overlaps, the most pressing first, and how to see or silence more."""
    lines = [line for overlap in found.shown for line in _lines(overlap)]
    if not found.shown:
        lines = ["Nothing overlaps with what is installed."]
    if found.more:
        lines.append(f"{found.more} more: --limit shows them")
    if found.elsewhere:
        lines.append(f"{found.elsewhere} touch nothing that is installed: --all lists them")
    if found.dismissed:
        lines.append(f"{found.dismissed} dismissed")
    if found.shown:
        lines.append("--dismiss ID silences one for as long as both stay as they are")
    return "\n".join(lines)


def dismissed_text(done: Sequence[Overlap], *, undone: bool) -> str:
    """Render dismissals or their undoing."""
    told = "Listed again" if undone else "Not listed again until one of the two changes"
    return "\n".join(f"{told}: {_title(overlap)}" for overlap in done)


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
