"""Writes entries and their links, and backs up what was saved."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

from repertoire.app.clock import now
from repertoire.app.projects.entry_texts import texts_of_entry
from repertoire.app.projects.places import path_in
from repertoire.app.projects.said import keep_said
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.errors import InvalidRequest, StoreError
from repertoire.domain.project import (
    ABOUT,
    BLOCKS,
    DEPENDS_ON,
    ENTRIES,
    EPIC,
    PART_OF,
    RELATES_TO,
    STATES,
    SUPERSEDED,
    SUPERSEDES,
    TASK,
    Entry,
    EntryLink,
    file_key,
    unnumbered,
)
from repertoire.ports import Embedder
from repertoire.projects.tasks import circle
from repertoire.retrieval.translation import embed_in_english
from repertoire.store.project_entries import ProjectEntries

SHORTEST = 4  # characters of an id that stand for it
_OVERLOADS = 50  # definitions of one name that are read
_ANYTHING = "symbol, file, section, note, task or procedure"
_ELSEWHERE = ("trace", "component", "pack", "source")  # kinds of keys that lie in other files


def back_up(project: OpenProject) -> None:
    """Write the backup of what was saved, if it can be written."""
    if project.store.in_transaction:  # whoever opened it backs up at its end
        return
    # What was saved is on the disk already, so that a full disk must not call it failed; `doctor` misses the backup.
    with contextlib.suppress(StoreError):
        project.store.backup.write(now=now())


def put_entry(project: OpenProject, entry: Entry, embedder: Embedder | None) -> None:
    """Write an entry with its texts and what they say; without an embedder its vectors follow at the next index."""
    texts = texts_of_entry(entry)
    project.store.entries.put(entry, texts.values(), now=now())
    keep_said(project, entry)
    if embedder is not None:
        project.store.embed_texts(texts, embedder.model, embed_in_english(embedder, texts.values()))


def found_entry(entries: ProjectEntries, key: str, *, among: str = "note, task or procedure") -> Entry:
    """Return the entry with this id, or the only one whose id begins with it; a refusal says what was looked among.

    Raises:
        InvalidRequest: there is none, or there are several.
    """
    known = entries.get(key.strip())
    if known is not None:
        return known
    near = entries.starting(key.strip()) if len(key.strip()) >= SHORTEST else []
    if len(near) == 1:
        return near[0]
    told = (
        f"; it may be {', '.join(one.key for one in near)}"
        if near
        else "; memory_search and memory_list, or `repertoire project search` and `list` in a shell, show ids"
    )
    message = f"no {among} has the id {key[:80]!r}{told}"
    raise InvalidRequest(message)


def resolved_link(project: OpenProject, source: str, relation: str, target: str) -> EntryLink:
    """Return a link between keys; `depends_on` is turned round.

    Raises:
        InvalidRequest: the relation or the target is unknown.
    """
    known = (BLOCKS, DEPENDS_ON, PART_OF, ABOUT, RELATES_TO, SUPERSEDES)
    if relation not in known:
        message = f"{relation[:40]!r} is no relation; it is one of {', '.join(known)}"
        raise InvalidRequest(message)
    store, wanted = project.store, target.strip()
    if relation in (BLOCKS, DEPENDS_ON, PART_OF, SUPERSEDES):
        other = found_entry(store.entries, wanted)
        if relation in (BLOCKS, DEPENDS_ON) and not (source.startswith(TASK) and other.kind == TASK):
            message = f"only a task blocks a task; {source} and {other.key} are not both tasks"
            raise InvalidRequest(message)
        if relation == PART_OF and other.kind != EPIC:
            message = f"{other.key} is no epic; save one with kind epic"
            raise InvalidRequest(message)
        ends = (other.key, source) if relation == DEPENDS_ON else (source, other.key)
        return EntryLink(ends[0], BLOCKS if relation == DEPENDS_ON else relation, ends[1])
    return EntryLink(source, relation, key_of(project, wanted))


def key_of(project: OpenProject, wanted: str) -> str:
    """Return the key of what an id, its beginning, a path or a name means; what lies in other files is taken as said.

    Raises:
        InvalidRequest: it means nothing, or several things.
    """
    store, kind = project.store, wanted.partition(":")[0]
    if kind in _ELSEWHERE:
        return wanted
    item = store.items.by_key(wanted) or store.items.by_key(file_key(path_in(project.root, wanted)))
    if item is None and not kind.startswith(ENTRIES):
        named = store.items.named(wanted, limit=_OVERLOADS)
        item = named[-1] if len({unnumbered(one.key) for one in named}) == 1 else None
    return item.key if item is not None else found_entry(store.entries, wanted, among=_ANYTHING).key


def add_links(project: OpenProject, links: Sequence[EntryLink]) -> list[Entry]:
    """Add links, and mark what they replace; return the replaced entries.

    Raises:
        InvalidRequest: an entry is linked with itself, or round in a circle.
    """
    entries, superseded = project.store.entries, list[Entry]()
    for link in links:
        if link.source == link.target:
            message = f"{link.source} cannot be linked with itself"
            raise InvalidRequest(message)
        if link.relation in (BLOCKS, SUPERSEDES, PART_OF):
            _refuse_circle(entries, link)
        entries.link([link], now=now())
        old = entries.get(link.target) if link.relation == SUPERSEDES else None
        if old is not None and SUPERSEDED in STATES[old.kind] and old.status != SUPERSEDED:
            superseded.append(replace(old, status=SUPERSEDED, version=old.version + 1, changed=now()))
            put_entry(project, superseded[-1], None)
    return superseded


def _refuse_circle(entries: ProjectEntries, link: EntryLink) -> None:
    same = [(one.source, one.target) for one in entries.links(relation=link.relation)]
    around = circle(same, link.source, link.target)
    if around:
        message = f"{link.relation} would go round in a circle: {' -> '.join((link.source, *around))}"
        raise InvalidRequest(message)
