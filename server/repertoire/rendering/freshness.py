"""Renders the freshness of components and installed plugins, and the sources that could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from repertoire.app.sources.freshness import reasons
from repertoire.app.sources.unreachable import LostSource
from repertoire.domain.freshness import Freshness
from repertoire.domain.text import clean_line
from repertoire.rendering.answers import LINE
from repertoire.sources.plugin_diff import CURRENT, GONE, MODIFIED, OUTDATED, UNKNOWN, InstalledCopy

_STATES = {
    CURRENT: "current",
    OUTDATED: "outdated",
    MODIFIED: "modified here",
    GONE: "gone",
    UNKNOWN: "cannot be compared",
}


def freshness_text(judged: Freshness | None) -> str:
    """Render the freshness of one component, and the parts of its score."""
    if judged is None:
        return ""
    parts = ", ".join(f"{name} {value:.2f}" for name, value in judged.parts.items())
    stale = "stale: " if judged.stale else ""
    return f"{stale}{clean_line('; '.join(reasons(judged)), 2 * LINE)} (score {judged.score:.2f}: {parts})"


def copy_text(copy: InstalledCopy | None) -> str:
    """Render how an installed plugin differs from its version in the marketplace."""
    if copy is None:
        return ""
    unsure = "" if copy.sure else ", or changed here: the clone's history is too short to tell"
    detail = f" ({clean_line(copy.detail, 2 * LINE)})" if copy.detail else ""
    return f"{_STATES[copy.state]}{unsure}{detail}"


def lost_text(lost: LostSource | None) -> str:
    """Render the reason why a source could not be read; its components stay in the graph."""
    if lost is None:
        return ""
    if lost.moved:
        return f"has moved to {clean_line(lost.moved, 2 * LINE)}; the old address redirects there"
    reason = clean_line(lost.reason, 2 * LINE)
    return f"could not be read since {lost.since[:10]}; its components stay as they were: {reason}"


def ageing_lines(stale: int, copies: Mapping[str, int], lost: int, moved: int = 0) -> list[str]:
    """Render the line of `status`: counts of stale components, changed plugins and unread sources."""
    odd = [f"{copies[state]} {_STATES[state]}" for state in (OUTDATED, MODIFIED, GONE) if copies.get(state)]
    told = [f"{stale} installed components are stale"] if stale else []
    told += [f"installed plugins: {', '.join(odd)}"] if odd else []
    told += [f"{lost} sources could not be read; their components stay as they were"] if lost else []
    told += [f"{moved} sources have moved"] if moved else []
    return [f"freshness: {'; '.join(told)}; `repertoire stale` says why"] if told else []


def lost_data(lost: LostSource) -> dict[str, Any]:
    """Return a source that could not be read as a JSON object."""
    return {
        "source": lost.source,
        "since": lost.since,
        "reason": clean_line(lost.reason, 2 * LINE),
        "components": lost.components,
        "moved": clean_line(lost.moved, 2 * LINE),
    }
