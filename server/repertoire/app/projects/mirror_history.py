"""Keeps beside the mirrored files what none of them tells: times, counts, credit and merges, for a memory that is lost.

A line is about one entry, symbol, section or file. Of two lines about the same, as a merge of branches leaves them, the
higher counts and the later times hold. It is read for entries whose files are new or come from another branch.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from repertoire.app.clock import now
from repertoire.app.projects.entries import new_entry
from repertoire.app.projects.entry_requests import SaveRequest
from repertoire.app.projects.entry_texts import texts_of_entry
from repertoire.app.projects.merging import merged
from repertoire.app.projects.mirror_text import file_of_entry, read_entry_file
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.project import ENTRIES, ENTRY_LINKS, Entry, EntryLink, Merge
from repertoire.projects.freshness import CREDIT, TIMES_SAID, USES

_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.+Z-]{5,30}")
_COUNTS, _CHANGED, _MERGES = (USES, TIMES_SAID, CREDIT), "changed", "merges"
_HIGHEST, _MOST_MERGES, _MOST_LINKS, _LONGEST = 1_000, 20, 100, 400
Told = dict[str, dict[str, Any]]


def history_of(project: OpenProject, text: str) -> str:
    """Return what the file should say: what is known here, and what it says already of what is still there."""
    known, store = _read(text), project.store
    here: Told = {entry.key: _told(entry) for entry in store.entries.all(ENTRIES)}
    for key, merges in store.merges.all().items():
        if key in here:
            here[key][_MERGES] = [_told_merge(one) for one in merges]
    here |= {key: {CREDIT: worth} for key, worth in store.credits.all().items()}
    for key, said in known.items():
        if key in here or store.items.node_id(key) is not None:
            not_undone = [one for one in said.get(_MERGES, ()) if one.get("id") not in here]
            here[key] = _both(here.get(key, {}), {**said, _MERGES: not_undone})
    lines = ({"id": key, **{name: value for name, value in here[key].items() if value}} for key in sorted(here))
    return "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines)


def bring_back(project: OpenProject, text: str, keys: Mapping[str, str]) -> None:
    """Give entries that were read from files, and what the project's files hold, what another memory knew of them.

    `keys` tells when each was changed last before it was read. A file that a person changed by hand has no news here.
    """
    known, store = _read(text), project.store
    for key, before in keys.items():
        entry, said = store.entries.get(key), known.get(key)
        if entry is None or said is None or said.get(_CHANGED) == before:
            continue
        counts = {name: max(said[name], entry.data.get(name) or 0) for name in _COUNTS if name in said}
        entry = replace(entry, data={**entry.data, **counts}, changed=min(said.get(_CHANGED) or now(), now()))
        store.entries.put(entry, texts_of_entry(entry).values(), now=now())
        for one in said.get(_MERGES, ()) if store.merges.last(key) is None else ():
            if (merge := _merge(one)) is not None:
                store.merges.add(key, merge)
    have = store.credits.all()
    worths = {key: said[CREDIT] - have.get(key, 0.0) for key, said in known.items() if said.get(CREDIT)}
    nodes = {store.items.node_id(key): worth for key, worth in worths.items() if worth > 0.0}
    store.credits.add({node: worth for node, worth in nodes.items() if node is not None}, most=_HIGHEST)


def _told(entry: Entry) -> dict[str, Any]:
    return {_CHANGED: entry.changed, **{name: entry.data[name] for name in _COUNTS if entry.data.get(name)}}


def _told_merge(merge: Merge) -> dict[str, Any]:
    links = {"links": merge.links, "shared": merge.shared}
    return {
        "id": merge.new.key,
        **{name: file_of_entry(entry, ()) for name, entry in (("kept", merge.kept), ("new", merge.new))},
        **{name: [[one.source, one.relation, one.target] for one in of] for name, of in links.items() if of},
    }


def _read(text: str) -> Told:
    """Return what a file says, by whom it is about; a line or field that is wrong is passed over."""
    found: Told = {}
    for line in text.split("\n"):
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(told, dict) and isinstance(key := told.get("id"), str) and len(key) <= _LONGEST:
            found[key] = _both(found.get(key, {}), dict(_sound(told)))
    return found


def _sound(told: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in _COUNTS:
        value: Any = told.get(name)
        number = isinstance(value, (int, float) if name == CREDIT else int) and not isinstance(value, bool)
        if number and 0 < value < math.inf:
            yield name, min(value, _HIGHEST)
    if isinstance(changed := told.get(_CHANGED), str) and _TIME.fullmatch(changed):
        yield _CHANGED, changed
    if isinstance(merges := told.get(_MERGES), list):
        yield _MERGES, [one for one in merges if isinstance(one, dict)][-_MOST_MERGES:]


def _both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return what two lines about the same say together."""
    highest = {name: max(one.get(name) or 0, other.get(name) or 0) for name in _COUNTS}
    changed = max(one.get(_CHANGED) or "", other.get(_CHANGED) or "")
    merges = max(one.get(_MERGES) or [], other.get(_MERGES) or [], key=len)
    return {name: value for name, value in {**highest, _CHANGED: changed, _MERGES: merges}.items() if value}


def _merge(told: Mapping[str, Any]) -> Merge | None:
    """Return a merge as it is kept; None if it is told wrongly."""
    try:
        kept, new = (_note(told.get(name)) for name in ("kept", "new"))
    except InvalidRequest:
        return None
    links, shared = (tuple(_links(told.get(name))) for name in ("links", "shared"))
    return replace(merged(kept, new)[1], links=links, shared=shared)


def _note(text: object) -> Entry:
    """Return a note as the text of its file tells it.

    Raises:
        InvalidRequest: it is no such text.
    """
    told = read_entry_file(text if isinstance(text, str) else "", "notes")
    asked = SaveRequest(told.kind, "", told.title, told.body, told.tags, told.status, told.priority, told.data)
    made = new_entry(asked)
    return replace(made, key=told.key or made.key, created=told.created[:40] or made.created)


def _links(told: object) -> Iterator[EntryLink]:
    for one in (told if isinstance(told, Sequence) else ())[:_MOST_LINKS]:
        three = isinstance(one, list) and len(one) == 3 and all(isinstance(part, str) for part in one)
        if three and one[1] in ENTRY_LINKS:
            yield EntryLink(*(part[:_LONGEST] for part in one))
