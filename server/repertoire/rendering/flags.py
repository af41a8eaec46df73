"""Renders what static checks found: one short line in answers, all of it for a person; orders are never passed on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from repertoire.domain.component import Component
from repertoire.domain.text import clean_line
from repertoire.domain.trust import HIGH, Flag, rank

if TYPE_CHECKING:  # what needs a short line of a flag needs none of these
    from repertoire.app.person.trust import Accepted, FlagReport
    from repertoire.store.flags import Flagged

WITHHELD = "text withheld: it gives a model orders; `repertoire trust show` has it"
_TO_A_MODEL = frozenset(("order-to-model", "comment-order", "hidden-text", "exfiltration"))
_REASON, _LINE, _NAME, _ID = 120, 160, 80, 300


def description_of(component: Component, limit: int) -> str:
    """Return a description as one line; nothing of a text that was found to give a model orders."""
    return WITHHELD if is_withheld(component) else clean_line(component.description, limit)


def is_withheld(component: Component) -> bool:
    """Tell whether a component's words are kept from models."""
    return any(flag.rule in _TO_A_MODEL and rank(flag.severity) >= rank(HIGH) for flag in component.flags)


def flag_lines(flags: Sequence[Flag]) -> list[str]:
    """Render the gravest flag as one line, and how many more there are; the flagged text itself stays out."""
    if not flags:
        return []
    more = f"; and {len(flags) - 1} more" if len(flags) > 1 else ""
    return [f"checks: {_headline(flags[0])}{more}"]


def report_text(report: FlagReport) -> str:
    """Render what was found in every flagged component, or in one."""
    if not report.flagged:
        return "The checks found nothing." if report.asked else "No component has a flag of this severity."
    blocks = [_flagged(entry, whole=bool(report.asked)) for entry in report.flagged]
    counts = ", ".join(f"{count} {name}" for name, count in report.counts.items())
    return "\n".join(
        [*([] if report.asked else [f"flagged: {counts or 'none'}"]), *(line for b in blocks for line in b)]
    )


def accepted_text(accepted: Accepted) -> str:
    """Render an acceptance or its undoing."""
    listed = ", ".join(clean_line(key, _ID) for key in accepted.ids)
    if accepted.undone:
        return f"Flagged again: {listed}."
    return f"Accepted as it is now: {listed}. What changes is checked again; --undo takes it back."


def report_data(report: FlagReport) -> dict[str, Any]:
    """Return what was found as data, with the lines that are flagged: a person asked for them."""
    return {
        "asked": report.asked,
        "counts": dict(report.counts),
        "flagged": [
            {
                "id": entry.id,
                "name": clean_line(entry.name, _NAME),
                "type": entry.type,
                "content_hash": entry.content_hash,
                "flags": [_flag_data(flag) for flag in entry.flags],
                "accepted": entry.accepted,
            }
            for entry in report.flagged
        ],
    }


def accepted_data(accepted: Accepted) -> dict[str, Any]:
    """Return an acceptance or its undoing as data."""
    return {"ids": list(accepted.ids), "undone": accepted.undone}


def _flag_data(flag: Flag) -> dict[str, Any]:
    return {
        "rule": flag.rule,
        "severity": flag.severity,
        "line": flag.line,
        "file": flag.file,
        "reason": clean_line(flag.reason, _REASON),
        "text": clean_line(flag.text, _LINE),
    }


def _flagged(entry: Flagged, *, whole: bool) -> list[str]:
    state = f", accepted {entry.accepted[:10]}" if entry.accepted else ""
    lines = [f"{clean_line(entry.name, _NAME)} ({entry.type.replace('_', ' ')}{state})"]
    if whole:
        for flag in entry.flags:
            lines += [f"  {_headline(flag)}", *([f"    > {clean_line(flag.text, _LINE)}"] if flag.text else [])]
    else:
        lines += [f"  {line}" for line in flag_lines(entry.flags)]
    return [*lines, f"  id: {clean_line(entry.id, _ID)}"]


def _headline(flag: Flag) -> str:
    place = f"line {flag.line}" if flag.line else ""
    if flag.file:
        place = f"{place} of {clean_line(flag.file, _NAME)}" if place else clean_line(flag.file, _NAME)
    return f"{flag.severity} {flag.rule}" + (f" ({place})" if place else "") + f": {clean_line(flag.reason, _REASON)}"
