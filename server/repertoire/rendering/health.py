"""Renders the answers of `status` and `stale`: contents, recent events, and stale components with advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from repertoire.app.health.stale import StaleComponent, StaleReport, Unsound
from repertoire.app.health.status import Status
from repertoire.app.session.unmet_needs import Gap
from repertoire.domain.component import COMPONENT_TYPES
from repertoire.domain.event import Event
from repertoire.domain.text import clean_line, counted
from repertoire.domain.trust import LOW
from repertoire.learning.outcomes import INSTALLED
from repertoire.rendering.answers import LINE, NAME
from repertoire.rendering.freshness import ageing_lines, copy_text, lost_data, lost_text
from repertoire.sources.plugin_diff import InstalledCopy
from repertoire.store.sources import SourceRow

_SOURCES, _UNDESCRIBED = 20, 8
_WHERE = {
    "session_start": "at session start",
    "failure": "at a failing command",
    "before_command": "before a command",
    "set": "for a task",
}


def status_text(status: Status) -> str:
    """Render the status: problems first, then the contents of the graph, then recent events."""
    return "\n".join(
        [
            *(f"Note: {clean_line(note, 300)}" for note in status.notes),
            *(["Note: a refresh is running now; its changes appear when it is done"] if status.refreshing else []),
            f"Repertoire {status.version}, data in {status.home} ({status.megabytes} MB)",
            _known(status),
            f"vectors: {_vectors(status)}",
            *_traces(status),
            *([f"commons: {clean_line(status.commons, 300)}"] if status.commons else []),
            *_block(
                "sources", [_source(row) for row in status.sources[:_SOURCES]], more=len(status.sources) - _SOURCES
            ),
            f"hints: {'on' if status.hints else 'off'}; stored of each prompt: {_KEPT[status.store_prompts]}",
            *_block("recently suggested", [_offered(event) for event in status.offered]),
            *_block("recently held back", [_held(event) for event in status.held]),
            *_block("recently used or installed", [_used(event) for event in status.selected]),
            *_block(
                "recently failed",
                [f"{_when(event)} {_name(event)}: {_text(event, 'error')}" for event in status.failed],
            ),
            *_block("needs that no component covers", [_gap(gap) for gap in status.gaps]),
            *_block(
                "components without a known capability (only words and vectors find them)",
                status.undescribed[:_UNDESCRIBED],
                more=len(status.undescribed) - _UNDESCRIBED,
            ),
            *(
                [f"overlaps among installed components: {status.overlaps}; `repertoire overlaps` lists them"]
                if status.overlaps
                else []
            ),
            *ageing_lines(
                status.stale,
                status.copies,
                sum(not lost.moved for lost in status.lost),
                sum(bool(lost.moved) for lost in status.lost),
            ),
            *_flagged(status.flagged),
            *_block("muted", [f"{clean_line(target, 200)} ({scope})" for target, scope in status.muted.items()]),
        ]
    )


_KEPT = {"redacted": "its text without secrets", "vectors": "its vector only", "off": "nothing"}


def status_data(status: Status) -> dict[str, Any]:
    """Return the status as a JSON object: its text, and the numbers that a program may watch."""
    return {
        "version": status.version,
        "home": status.home,
        "revision": status.revision,
        "components": status.counts.get("components", 0),
        "sources": len(status.sources),
        "counts": dict(status.counts),
        "vectors": {"done": status.vectors.done, "total": status.vectors.total, "model": status.model},
        "requests": status.requests,
        "overlaps": status.overlaps,
        "stale": status.stale,
        "refreshing": status.refreshing,
        "notes": [clean_line(note, 300) for note in status.notes],
        "text": status_text(status),
    }


def _known(status: Status) -> str:
    counts = status.counts
    types = ", ".join(counted(counts[kind], kind.replace("_", " ")) for kind in COMPONENT_TYPES if counts.get(kind))
    return (
        f"known: {counted(counts.get('components', 0), 'component')} ({types or 'none'}), "
        f"{counts.get('capabilities', 0)} capabilities, {counted(counts.get('edges', 0), 'edge')}, "
        f"{counted(status.requests, 'past request')}; revision {status.revision}"
    )


def _traces(status: Status) -> list[str]:
    if not status.traces:
        return []
    states = ", ".join(f"{count} {state}" for state, count in status.traces.items())
    return [f"traces: {states}; {counted(status.votes, 'vote')}"]


def _vectors(status: Status) -> str:
    if not status.model:
        return "none, answers come from words and the graph"
    loaded = "loaded" if status.model_loaded else "not loaded now"
    return f"{status.vectors.done}/{status.vectors.total} by {status.model} ({loaded})"


def _source(row: SourceRow) -> str:
    skipped = f", {counted(row.skipped, 'file')} skipped" if row.skipped else ""
    commit = f", commit {row.info.commit[:10]}" if row.info.commit else ""
    key = clean_line(row.info.key, 160)
    held = counted(row.components, "component")
    return f"{key} ({row.info.kind}): {held}{skipped}, read {row.ingested_at or 'not yet'}{commit}"


def _offered(event: Event) -> str:
    why = clean_line(_text(event, "why"), LINE)
    where = _WHERE.get(_text(event, "where"), "for a prompt")
    return f"{_when(event)} {_name(event)} {where}" + (f": {why}" if why else "")


def _held(event: Event) -> str:
    where = _WHERE.get(_text(event, "where"), "for a prompt")
    return f"{_when(event)} {_name(event)} ({_text(event, 'type').replace('_', ' ')}) {where}: {_text(event, 'why')}"


def _used(event: Event) -> str:
    known = "" if event.node else "not in the graph"
    installed = "installed" if event.data.get("how") == INSTALLED else ""
    after = "after it was suggested" if event.data.get("offered") else ""
    told = ", ".join(part for part in (_text(event, "type").replace("_", " "), known, installed, after) if part)
    return f"{_when(event)} {_name(event)}" + (f" ({told})" if told else "")


def _gap(gap: Gap) -> str:
    often = f" ({gap.times} times, last {gap.last[:10]})" if gap.times > 1 else ""
    return clean_line(gap.need, LINE) + often


def _name(event: Event) -> str:
    return clean_line(_text(event, "name") or event.node, NAME)


def _when(event: Event) -> str:
    return event.at[:16].replace("T", " ")


def _text(event: Event, key: str) -> str:
    return clean_line(str(event.data.get(key, "")), LINE)


def _flagged(counts: Mapping[str, int]) -> list[str]:
    """Count the components by their gravest flag; flags of low severity do not count."""
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if name != LOW)
    return [f"flagged by the static checks: {told}; `repertoire trust show` shows why"] if told else []


def _block(label: str, lines: Sequence[str], *, more: int = 0) -> list[str]:
    if not lines:
        return []
    return [f"{label}:", *(f"  - {line}" for line in lines), *([f"  - and {more} more"] if more > 0 else [])]


def stale_text(report: StaleReport) -> str:
    """Render stale components, plugins and sources with reasons and advice; nothing is changed."""
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
        lines = ["Nothing is stale, and every plugin is the same as in its marketplace."]
    return "\n".join([*lines, *_rest(report)])


def stale_data(report: StaleReport) -> dict[str, Any]:
    """Return stale components, plugins and sources as a JSON object."""
    return {
        "shown": [_component_data(component) for component in report.shown],
        "more": report.more,
        "copies": [{**_copy_data(odd.copy), "advice": odd.advice} for odd in report.copies],
        "lost": [lost_data(lost) for lost in report.lost],
        "undated": report.undated,
        "current": report.current,
        "unsound": [_unsound_data(component) for component in report.unsound],
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


_MOVE = "run `repertoire ingest` with the new address, then `repertoire remove` this one"
_FIND = (
    "nothing if it comes back, since the next refresh reads it; else run `repertoire ingest` with its new place, "
    "or `repertoire remove` it"
)


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
        *(f"   warning: {clean_line(trouble.text, 2 * LINE)}" for trouble in component.troubles),
        f"   id: {clean_line(component.id, 300)}",
    ]


def _rest(report: StaleReport) -> Sequence[str]:
    more = [f"and {report.more} more; --limit shows them"] if report.more else []
    undated = [f"{report.undated} components have no date of their last change."] if report.undated else []
    current = [f"{report.current} installed plugins are the same as in their marketplace."] if report.current else []
    return [*more, *undated, *current]
