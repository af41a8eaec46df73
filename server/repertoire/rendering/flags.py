"""Renders what static checks found: one short line in answers, all of it for a person; orders are never passed on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from repertoire.domain.component import Component
from repertoire.domain.text import clean_line
from repertoire.domain.trust import HIGH, Flag, rank

if TYPE_CHECKING:  # a server words flags too, and does not measure the checks, for which it would import the ingest
    from repertoire.app.measure.trust_eval import TrustScores
    from repertoire.app.person.trust import Accepted, FlagReport
    from repertoire.store.flags import Flagged
    from repertoire.trust.measure import Score

WITHHELD = "text withheld: it gives a model orders; `repertoire trust show` has it"
_TO_A_MODEL = frozenset(("order-to-model", "comment-order", "hidden-text", "exfiltration"))
_REASON, _LINE, _NAME, _ID = 120, 160, 80, 300
_EXAMPLES = 12


def description_of(component: Component, limit: int) -> str:
    """Return a description as one line; nothing of a text that was found to give a model orders."""
    return WITHHELD if is_withheld(component) else clean_line(component.description, limit)


def is_withheld(component: Component) -> bool:
    """Tell whether a component's words are kept from models."""
    return gives_orders(component.flags)


def gives_orders(flags: Iterable[Flag]) -> bool:
    """Tell whether what was found in a text is that it gives a model orders."""
    return any(flag.rule in _TO_A_MODEL and rank(flag.severity) >= rank(HIGH) for flag in flags)


def without_orders(component: Component) -> Component:
    """Return a component without its words, where they were found to give a model orders."""
    if not is_withheld(component):
        return component
    flags = tuple(replace(flag, text="") for flag in component.flags)
    return replace(component, description=WITHHELD, body="", code="", examples=(), front_matter={}, flags=flags)


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


def scores_text(scores: Iterable[TrustScores]) -> str:
    """Render precision and recall with their counts, a file at a time, and what was wrong or missed."""
    lines = []
    for score in scores:
        unknown = f", {score.unknown} about contents that are not known here" if score.unknown else ""
        lines.append(f"{score.file}: {score.cases} cases{unknown}")
        lines += [_score(row) for row in (*score.severities, *score.rules) if row.flagged or row.expected]
        wrong = [case for row in score.severities for case in row.wrong]
        missed = [case for row in score.severities for case in row.missed]
        lines += [f"  wrong: {clean_line(case, _LINE)}" for case in wrong[:_EXAMPLES]]
        lines += [f"  missed: {clean_line(case, _LINE)}" for case in missed[:_EXAMPLES]]
    return "\n".join(lines)


def _score(row: Score) -> str:
    precision = f"{row.precision:.2f}" if row.precision is not None else "-"
    recall = f"{row.recall:.2f}" if row.recall is not None else "-"
    counts = f"({row.right}/{row.flagged})", f"({row.found}/{row.expected})"
    return f"  {row.name:20} precision {precision} {counts[0]:10} recall {recall} {counts[1]}"


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
