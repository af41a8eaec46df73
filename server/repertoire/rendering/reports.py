"""Renders the state of a home and what was done to it: status, mutes, deletions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from repertoire.app.health.status import Status
from repertoire.app.person.correct import Corrected
from repertoire.app.person.forget import Forgotten
from repertoire.app.person.mute import PROJECT, Muted
from repertoire.app.session.gaps import Gap
from repertoire.domain.component import COMPONENT_TYPES
from repertoire.domain.event import Event
from repertoire.domain.text import clean_line
from repertoire.domain.trust import LOW
from repertoire.rendering.answers import LINE, NAME
from repertoire.rendering.freshness import ageing_lines
from repertoire.store.sources import SourceRow

_SOURCES = 20


def status_text(status: Status) -> str:
    """Render the state: what is degraded first, then what is known, then what happened."""
    return "\n".join(
        [
            *(f"Note: {clean_line(note, 300)}" for note in status.notes),
            *(["Note: a refresh is running now; what changed is found when it is done"] if status.refreshing else []),
            f"Repertoire {status.version}, data in {status.home} ({status.megabytes} MB)",
            _known(status),
            f"vectors: {_vectors(status)}",
            *_traces(status),
            *_block(
                "sources", [_source(row) for row in status.sources[:_SOURCES]], more=len(status.sources) - _SOURCES
            ),
            f"hints: {'on' if status.hints else 'off'}; of a prompt is kept: {_KEPT[status.store_prompts]}",
            *_block("suggested lately", [_offered(event) for event in status.offered]),
            *_block("used lately", [_used(event) for event in status.selected]),
            *_block(
                "failed lately", [f"{_when(event)} {_name(event)}: {_text(event, 'error')}" for event in status.failed]
            ),
            *_block("needs that nothing covered", [_gap(gap) for gap in status.gaps]),
            *_block("described too poorly to be found by capability", status.undescribed),
            *(
                [f"overlaps among what is installed: {status.overlaps}; `repertoire overlaps` tells what to do"]
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


def muted_text(muted: Muted) -> str:
    """Render a mute or its undoing, and how to turn it round."""
    listed = ", ".join(clean_line(target, 200) for target in muted.targets)
    subject = f"the project {listed}" if muted.scope == PROJECT else f"{muted.scope} {listed}"
    if muted.undone:
        return f"Suggested again where it fits: {subject}."
    where = " in this project" if muted.project else ""
    return f"Never suggested{where} from now on: {subject}. mute with undo brings it back."


def corrected_text(kept: Corrected) -> str:
    """Render a correction."""
    return f"{clean_line(kept.component, 200)} now provides: {', '.join(kept.capabilities)}."


def forgotten_text(gone: Forgotten) -> str:
    """Render a deletion, and what is left: databases set aside when they were damaged, and the program's own."""
    things = {"requests": "every past request", "project": "what was recorded in this project"}
    told = f"Deleted {things.get(gone.what, 'everything, the graph included')}: {gone.events} recorded events."
    told += f" Data lie in {gone.home}."
    if gone.aside:
        told += f" Damaged databases set aside still hold what they held: delete {', '.join(gone.aside)}."
    if gone.environment:
        told += f" The environment that Repertoire runs in holds nothing of yours and stays: {gone.environment}."
    return told


def status_data(status: Status) -> dict[str, Any]:
    """Return the state as the text of it and the numbers that a program may watch."""
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


def muted_data(muted: Muted) -> dict[str, Any]:
    """Return a mute or its undoing as data."""
    return {
        "message": muted_text(muted),
        "targets": list(muted.targets),
        "scope": muted.scope,
        "project": muted.project,
        "undone": muted.undone,
    }


def corrected_data(kept: Corrected) -> dict[str, Any]:
    """Return a correction as data."""
    return {"message": corrected_text(kept), "id": kept.component, "provides": list(kept.capabilities)}


def forgotten_data(gone: Forgotten) -> dict[str, Any]:
    """Return a deletion as data."""
    return {
        "message": forgotten_text(gone),
        "what": gone.what,
        "events": gone.events,
        "home": gone.home,
        "set_aside": list(gone.aside),
        "environment": gone.environment,
    }


def _known(status: Status) -> str:
    counts = status.counts
    types = ", ".join(f"{counts[kind]} {kind.replace('_', ' ')}s" for kind in COMPONENT_TYPES if counts.get(kind))
    return (
        f"known: {counts.get('components', 0)} components ({types or 'none'}), "
        f"{counts.get('capabilities', 0)} capabilities, {counts.get('edges', 0)} edges, "
        f"{status.requests} past requests; revision {status.revision}"
    )


def _traces(status: Status) -> list[str]:
    if not status.traces:
        return []
    counted = ", ".join(f"{count} {state}" for state, count in status.traces.items())
    return [f"traces: {counted}; {status.votes} votes"]


def _vectors(status: Status) -> str:
    if not status.model:
        return "none, answers come from words and the graph"
    loaded = "loaded" if status.model_loaded else "not loaded now"
    return f"{status.vectors.done}/{status.vectors.total} by {status.model} ({loaded})"


def _source(row: SourceRow) -> str:
    skipped = f", {row.skipped} files skipped" if row.skipped else ""
    commit = f", commit {row.info.commit[:10]}" if row.info.commit else ""
    key = clean_line(row.info.key, 160)
    return f"{key} ({row.info.kind}): {row.components} components{skipped}, read {row.ingested_at or 'not yet'}{commit}"


def _offered(event: Event) -> str:
    why = clean_line(_text(event, "why"), LINE)
    where = {"session_start": "at session start"}.get(_text(event, "where"), "for a prompt")
    return f"{_when(event)} {_name(event)} {where}" + (f": {why}" if why else "")


def _used(event: Event) -> str:
    kind = _text(event, "type").replace("_", " ")
    known = "" if event.node else ", not in the graph"
    after = ", after it was suggested" if event.data.get("offered") else ""
    return f"{_when(event)} {_name(event)} ({kind}{known}{after})"


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
    """Name how many components have a flag worth a look; mere remarks are none."""
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if name != LOW)
    return [f"flagged by checks: {told}; `repertoire trust show` tells why"] if told else []


def _block(label: str, lines: Sequence[str], *, more: int = 0) -> list[str]:
    if not lines:
        return []
    return [f"{label}:", *(f"  - {line}" for line in lines), *([f"  - and {more} more"] if more > 0 else [])]
