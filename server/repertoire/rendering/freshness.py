"""Renders freshness: of one component, of what is stale, of installed copies, and of sources that could not be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from repertoire.app.health.stale import StaleComponent, StaleReport, Unsound
from repertoire.app.sources.freshness import reasons
from repertoire.app.sources.unreachable import Lost
from repertoire.domain.freshness import Freshness
from repertoire.domain.text import clean_line
from repertoire.rendering.answers import LINE, NAME
from repertoire.sources.plugin_diff import CURRENT, GONE, MODIFIED, OUTDATED, UNKNOWN, InstalledCopy

_STATES = {
    CURRENT: "current",
    OUTDATED: "outdated",
    MODIFIED: "modified here",
    GONE: "gone",
    UNKNOWN: "cannot be compared",
}


def freshness_text(judged: Freshness | None) -> str:
    """Render how fresh one component is, and what its score is made of."""
    if judged is None:
        return ""
    parts = ", ".join(f"{name} {value:.2f}" for name, value in judged.parts.items())
    stale = "stale: " if judged.stale else ""
    return f"{stale}{clean_line('; '.join(reasons(judged)), 2 * LINE)} (score {judged.score:.2f}: {parts})"


def copy_text(copy: InstalledCopy | None) -> str:
    """Render how an installed plugin stands to its marketplace."""
    if copy is None:
        return ""
    unsure = "" if copy.sure else ", or changed here: the clone's history is too short to tell"
    detail = f" ({clean_line(copy.detail, 2 * LINE)})" if copy.detail else ""
    return f"{_STATES[copy.state]}{unsure}{detail}"


def lost_text(lost: Lost | None) -> str:
    """Render that a source could not be read, and that what was known of it stays."""
    if lost is None:
        return ""
    if lost.moved:
        return f"has moved to {clean_line(lost.moved, 2 * LINE)}, which its old place still sends to"
    return f"could not be read since {lost.since[:10]} and is kept as it was: {clean_line(lost.reason, 2 * LINE)}"


def ageing_lines(stale: int, copies: Mapping[str, int], lost: int, moved: int = 0) -> list[str]:
    """Render what a status says of it: counts, and where the rest is."""
    odd = [f"{copies[state]} {_STATES[state]}" for state in (OUTDATED, MODIFIED, GONE) if copies.get(state)]
    told = [f"{stale} installed components are stale"] if stale else []
    told += [f"installed plugins: {', '.join(odd)}"] if odd else []
    told += [f"{lost} sources could not be read and are kept as they were"] if lost else []
    told += [f"{moved} sources have moved"] if moved else []
    return [f"freshness: {'; '.join(told)}; `repertoire stale` tells why"] if told else []


def stale_text(report: StaleReport) -> str:
    """Render what is stale with reasons and what to do; nothing is done by itself."""
    lines: list[str] = []
    for odd in report.copies:
        lines += [f"{clean_line(odd.copy.name, NAME)}: {copy_text(odd.copy)}", f"   to do: {odd.advice}"]
    for lost in report.lost:
        lines += [f"{clean_line(lost.source, LINE)}: {lost_text(lost)}", f"   to do: {_MOVE if lost.moved else _FIND}"]
    for component in report.shown:
        lines += _component(component)
    for unsound in report.unsound:
        lines += _unsound(unsound)
    if not lines:
        lines = ["Nothing is stale, and every plugin is as its marketplace has it."]
    return "\n".join([*lines, *_rest(report)])


def stale_data(report: StaleReport) -> dict[str, Any]:
    """Return what is stale as data."""
    return {
        "shown": [_component_data(component) for component in report.shown],
        "more": report.more,
        "copies": [{**_copy_data(odd.copy), "advice": odd.advice} for odd in report.copies],
        "lost": [lost_data(lost) for lost in report.lost],
        "undated": report.undated,
        "current": report.current,
        "unsound": [_unsound_data(component) for component in report.unsound],
    }


def lost_data(lost: Lost) -> dict[str, Any]:
    """Return a source that could not be read as data."""
    return {
        "source": lost.source,
        "since": lost.since,
        "reason": clean_line(lost.reason, 2 * LINE),
        "components": lost.components,
        "moved": clean_line(lost.moved, 2 * LINE),
    }


def _component_data(component: StaleComponent) -> dict[str, Any]:
    judged = component.freshness
    return {
        "id": component.id,
        "name": clean_line(component.name, NAME),
        "type": component.type,
        "source": component.source,
        "installed": component.installed,
        "freshness": {
            "score": round(judged.score, 4),
            "parts": {name: round(value, 4) for name, value in judged.parts.items()},
            "changed": judged.changed,
            "days": judged.days,
            "stale": judged.stale,
        },
        "reasons": [clean_line(reason, 2 * LINE) for reason in component.reasons],
        "advice": clean_line(component.advice, 2 * LINE),
        "recommended": component.recommended,
        "used": component.used,
    }


def _copy_data(copy: InstalledCopy) -> dict[str, Any]:
    return {"name": copy.name, "state": copy.state, "detail": clean_line(copy.detail, 2 * LINE), "sure": copy.sure}


def _unsound_data(component: Unsound) -> dict[str, Any]:
    return {
        "id": component.id,
        "name": clean_line(component.name, NAME),
        "type": component.type,
        "installed": component.installed,
        "troubles": [
            {"kind": trouble.kind, "text": clean_line(trouble.text, 2 * LINE)} for trouble in component.troubles
        ],
    }


_MOVE = "read it from there with `repertoire ingest`, then `repertoire remove` this one"
_FIND = "put it back, read it from where it is now with `repertoire ingest`, or `repertoire remove` it"


def _component(component: StaleComponent) -> list[str]:
    state = "installed" if component.installed else "available"
    used = [f"{what} {at[:10]}" for what, at in (("suggested", component.recommended), ("used", component.used)) if at]
    what = f"{component.type.replace('_', ' ')}, {state}, freshness {component.freshness.score:.2f}"
    return [
        f"{clean_line(component.name, NAME)} ({what})",
        f"   why: {clean_line('; '.join(component.reasons), 2 * LINE)}",
        *([f"   last {', last '.join(used)}"] if used else []),
        f"   to do: {clean_line(component.advice, 2 * LINE)}",
        f"   id: {clean_line(component.id, 300)}",
    ]


def _unsound(component: Unsound) -> list[str]:
    state = "installed" if component.installed else "available"
    return [
        f"{clean_line(component.name, NAME)} ({component.type.replace('_', ' ')}, {state})",
        *(f"   beware: {clean_line(trouble.text, 2 * LINE)}" for trouble in component.troubles),
        f"   id: {clean_line(component.id, 300)}",
    ]


def _rest(report: StaleReport) -> Sequence[str]:
    more = [f"and {report.more} more; --limit shows them"] if report.more else []
    undated = [f"Of {report.undated} components no history tells when they changed."] if report.undated else []
    current = [f"{report.current} installed plugins are as their marketplace has them."] if report.current else []
    return [*more, *undated, *current]
