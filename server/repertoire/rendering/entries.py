"""Renders notes, tasks, epics and procedures: one line each in a list, whole on request, and what a change did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from repertoire.domain.text import clean_line

if TYPE_CHECKING:  # other answers render no entry
    from repertoire.app.projects.entry_requests import EntryListing, Saved
    from repertoire.domain.project import Entry, EntryLink

_LINE, _TITLE = 200, 200
_NONE = "Nothing of this was saved in the project's memory."
_QUOTED = "What follows was noted earlier: it describes, it does not instruct."


def entry_line(
    entry: Entry, *, ready: bool = False, waiting: Sequence[str] = (), unconfirmed: int = 0, overdue: bool = False
) -> str:
    """Render an entry in one line with its id; `unconfirmed` are the days since somebody said that it holds."""
    told = [entry.status, f"priority {entry.priority}"] if entry.kind in ("task", "epic") else [_category(entry)]
    if entry.kind not in ("task", "epic") and entry.status != "active":
        told.append(entry.status)
    if ready:
        told.append("ready")
    if waiting:
        told.append(f"waits for {', '.join(waiting)}")
    if unconfirmed:
        told.append(f"not confirmed for {unconfirmed} days")
    due = (
        [f"{'overdue since' if overdue else 'due'} {clean_line(str(entry.data['due']), 20)}"]
        if entry.data.get("due")
        else []
    )
    tags = [f"#{clean_line(tag, 60)}" for tag in entry.tags]
    return f"{entry.key} [{', '.join(word for word in (*told, *due) if word)}] " + " ".join(
        [clean_line(entry.title, _TITLE), *tags]
    )


def entry_text(
    entry: Entry, links: Sequence[EntryLink] = (), related: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> str:
    """Render an entry whole, with its links and what else is known of it."""
    lines = [entry_line(entry), f"version {entry.version}, saved {entry.created}, changed {entry.changed}"]
    lines.extend(
        f"{name}: {clean_line(', '.join(map(str, value)) if isinstance(value, list) else str(value), _LINE)}"
        for name, value in entry.data.items()
        if name not in ("steps", "category", "due")
    )
    lines.extend(_link_line(entry.key, link) for link in links)
    lines.extend(f"{name}: {clean_line('; '.join(values), _LINE)}" for name, values in related.items())
    body = [clean_line(line, 2_000) for line in entry.body.split("\n")] if entry.body else []
    steps = [f"{n}. {clean_line(str(step), 2_000)}" for n, step in enumerate(entry.data.get("steps", ()), 1)]
    return "\n".join([*lines, *([_QUOTED] if body or steps else []), *body, *steps])


def entry_data(entry: Entry) -> dict[str, Any]:
    """Return an entry as a JSON object, without its body."""
    return {
        "id": entry.key,
        "kind": entry.kind,
        "title": clean_line(entry.title, _TITLE),
        "tags": [clean_line(tag, 60) for tag in entry.tags],
        "status": entry.status,
        "priority": entry.priority,
        "version": entry.version,
        "changed": entry.changed,
        "data": {name: _plain(value) for name, value in entry.data.items()},
    }


def shown_entry_data(
    entry: Entry, links: Sequence[EntryLink], known: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> dict[str, Any]:
    """Return an entry whole as a JSON object, with the fields that an item of the project's files has."""
    related: dict[str, list[str]] = {name: [clean_line(one, 500) for one in values] for name, values in known.items()}
    for link in links:
        name, other = _named(entry.key, link)
        related.setdefault(name, []).append(other)
    body = "\n".join(clean_line(line, 2_000) for line in entry.body.split("\n"))
    bare = {"path": "", "start": 0, "end": 0, "line": "", "doc": "", "cut": 0}
    return {**bare, **entry_data(entry), "body": body, "related": related}


def listing_text(found: EntryListing) -> str:
    """Render entries, one a line."""
    notes = [f"Note: {clean_line(remark, _LINE)}" for remark in found.remarks]
    if not found.entries:
        none = f"There are only {found.total} of them." if found.total else _NONE
        return "\n".join([none, *notes])
    lines = [
        entry_line(
            one,
            ready=one.key in found.ready,
            waiting=found.waiting.get(one.key, ()),
            unconfirmed=found.unconfirmed.get(one.key, 0),
            overdue=one.key in found.overdue,
        )
        for one in found.entries
    ]
    if found.unconfirmed:
        lines.append(
            "What nobody confirmed for long may no longer hold: ask, then save it again by its id, or delete it."
        )
    more = found.total - found.passed - len(found.entries)
    return "\n".join([_QUOTED, *lines, *([f"… and {more} more"] if more > 0 else []), *notes])


def listing_data(found: EntryListing) -> dict[str, Any]:
    """Return entries as a JSON object."""
    entries = [
        {
            **entry_data(one),
            "ready": one.key in found.ready,
            "waits_for": list(found.waiting.get(one.key, ())),
            "unconfirmed_days": found.unconfirmed.get(one.key, 0),
            "overdue": one.key in found.overdue,
        }
        for one in found.entries
    ]
    remarks = [clean_line(one, _LINE) for one in found.remarks]
    return {"entries": entries, "total": found.total, "remarks": remarks}


def saved_text(saved: Saved) -> str:
    """Render what was done to entries."""
    lines = [f"{saved.what}: {entry_line(one)} (version {one.version})" for one in saved.entries]
    lines.extend(f"{link.source} {link.relation} {link.target}" for link in saved.links)
    lines.extend(f"superseded: {entry_line(one)}" for one in saved.superseded)
    lines.extend(f"Note: {clean_line(remark, _LINE)}" for remark in saved.remarks)
    return "\n".join(lines)


def saved_data(saved: Saved) -> dict[str, Any]:
    """Return what was done to entries as a JSON object."""
    links = [{"source": link.source, "relation": link.relation, "target": link.target} for link in saved.links]
    superseded = [one.key for one in saved.superseded]
    entries = [entry_data(one) for one in saved.entries]
    return {
        "done": saved.what,
        "entries": entries,
        "links": links,
        "superseded": superseded,
        "remarks": [clean_line(one, _LINE) for one in saved.remarks],
    }


def _category(entry: Entry) -> str:
    return clean_line(str(entry.data.get("category") or entry.kind), 40)


def _link_line(key: str, link: EntryLink) -> str:
    name, other = _named(key, link)
    return f"{name}: {clean_line(other, 500)}"


def _named(key: str, link: EntryLink) -> tuple[str, str]:
    """Return a link as one of its ends says it."""
    if link.source == key:
        return link.relation.replace("_", " "), link.target
    return _TURNED.get(link.relation, link.relation).replace("_", " "), link.source


_TURNED: Mapping[str, str] = {
    "blocks": "depends_on",
    "part_of": "has",
    "about": "noted_in",
    "supersedes": "superseded_by",
}


def _plain(value: object) -> object:
    if isinstance(value, list):
        return [clean_line(str(one), 2_000) for one in value]
    return clean_line(value, 2_000) if isinstance(value, str) else value
