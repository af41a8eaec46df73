"""Saves, lists, moves, links and deletes the notes, tasks, epics and procedures of a project's memory."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from repertoire.app.clock import now, today
from repertoire.app.projects.credit import credit
from repertoire.app.projects.entry_requests import (
    DeleteRequest,
    EntryListing,
    LinkRequest,
    ListQuery,
    MoveRequest,
    Saved,
    SaveRequest,
)
from repertoire.app.projects.entry_texts import texts_of_entry
from repertoire.app.projects.merging import merged, twin_of
from repertoire.app.projects.named_nodes import named_nodes
from repertoire.app.projects.remarks import left_alone, remarks_on
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.errors import InvalidRequest, StoreError
from repertoire.domain.project import (
    ABOUT,
    BLOCKS,
    DEPENDS_ON,
    DONE,
    ENTRIES,
    EPIC,
    LOWEST,
    NOTE,
    PART_OF,
    RELATES_TO,
    STATES,
    SUPERSEDED,
    SUPERSEDES,
    TASK,
    TODO,
    Entry,
    EntryLink,
    file_key,
)
from repertoire.ports import Embedder
from repertoire.projects.freshness import USES, unconfirmed_days, uses_of
from repertoire.projects.sameness import SAME
from repertoire.projects.tasks import circle, ready
from repertoire.store.project_entries import ProjectEntries
from repertoire.store.project_texts import text_hash
from repertoire.trust.redaction import redact

TITLE, _BODY, _WORD = 200, 20_000, 60  # characters
_ELSEWHERE = ("trace", "component", "pack", "source")  # kinds of keys that lie in other files
_BULK = 100


def save_entry(project: OpenProject, asked: SaveRequest, *, embedder: Embedder | None) -> Saved:
    """Save a new entry or change one; what was saved before in the same words is not saved twice.

    A note that says what another one says becomes one with it, unless it is asked to stay apart. The entry is linked
    with what its text names in the project.

    Raises:
        InvalidRequest: a field is invalid, the version is another, or a link would close a circle.
    """
    with project.store.transaction():
        before = _found(project.store.entries, asked.key) if asked.key else None
        entry, what, remarks = _put(project, before, asked, embedder)
        links = [resolved_link(project, entry.key, relation, target) for relation, target in asked.links]
        if before is None or (before.title, before.body) != (entry.title, entry.body):
            links += _links_by_name(project, entry, {link.target for link in links})
        superseded = add_links(project, links)
        if asked.used:
            credit(project, [entry])
        remarks += remarks_on(project, [entry])
    back_up(project)
    return Saved((entry,), what, tuple(links), tuple(superseded), tuple(remarks))


def _put(
    project: OpenProject, before: Entry | None, asked: SaveRequest, embedder: Embedder | None
) -> tuple[Entry, str, list[str]]:
    """Write what is asked; return the entry, what was done, and what to say of it."""
    entry = changed_entry(before, asked) if before else new_entry(asked)
    known = None if before else project.store.entries.get(entry.key)
    if known is not None:
        return known, "was there already", []
    twin, how = (None, "") if before or asked.apart else twin_of(project, entry)
    if twin is not None and how == SAME:
        entry = merged(twin, entry)
        put_entry(project, entry, embedder)
        said = f"{entry.key} said the same: it has the fuller of both texts now; save with `apart` to keep both"
        return entry, "merged", [said]
    put_entry(project, entry, embedder)
    asks = (
        f"{twin.key} says nearly the same ({twin.title}): if this replaces it, link this with supersedes"
        if twin
        else ""
    )
    return entry, "changed" if before else "saved", [asks] if asks else []


def _links_by_name(project: OpenProject, entry: Entry, known: AbstractSet[str]) -> list[EntryLink]:
    """Return links with what the text of an entry names and is not linked with yet."""
    store = project.store.entries
    linked = {entry.key, *known, *(end for link in store.links(entry.key) for end in (link.source, link.target))}
    named = [key for key in named_nodes(project, f"{entry.title}\n{entry.body}") if key not in linked]
    return [EntryLink(entry.key, RELATES_TO if key.startswith(ENTRIES) else ABOUT, key) for key in named]


def list_entries(project: OpenProject, wanted: ListQuery) -> EntryListing:
    """Return entries, the most urgent first, then the newest; and which tasks are ready.

    Raises:
        InvalidRequest: an id is unknown.
    """
    entries = project.store.entries
    found = entries.all((wanted.kind,) if wanted.kind else ENTRIES)
    blocking = entries.blocking()
    states = {one.key: one.status for one in entries.all((TASK,))}
    free = ready(states, blocking)
    near = None if not wanted.linked else _near(entries, wanted.linked)
    words = wanted.words.lower().split()
    kept = [
        one
        for one in found
        if wanted.status in ("", one.status)
        and (not wanted.tag or wanted.tag.lower() in one.tags)
        and (not wanted.ready or one.key in free)
        and (near is None or one.key in near)
        and (not wanted.stale or unconfirmed_days(one, today()))
        and all(word in f"{one.title} {one.body}".lower() for word in words)
    ]
    waiting = {
        one.key: tuple(a for a, b in blocking if b == one.key and states.get(a) not in (None, "done", "dropped"))
        for one in kept
        if one.kind == TASK
    }
    shown = tuple(kept[wanted.offset : wanted.offset + wanted.limit])
    unconfirmed = {one.key: days for one in shown if (days := unconfirmed_days(one, today()))}
    waits = {key: by for key, by in waiting.items() if by}
    return EntryListing(shown, len(kept), frozenset(free), waits, unconfirmed)


def move_entries(project: OpenProject, asked: MoveRequest) -> Saved:
    """Give entries another status or priority, all or none.

    Raises:
        InvalidRequest: an id, status or priority is invalid, or the version is another.
    """
    if not asked.status and asked.priority is None:
        message = "nothing is to be changed; send a status or a priority"
        raise InvalidRequest(message)
    with project.store.transaction():
        before = _all_found(project, asked.keys, asked.expected_version)
        moved = [changed_entry(one, SaveRequest(status=asked.status, priority=asked.priority)) for one in before]
        for entry in moved:
            put_entry(project, entry, None)
        credit(project, [one for one, old in zip(moved, before, strict=True) if one.status == DONE != old.status])
    back_up(project)
    return Saved(tuple(moved), "moved")


def link_entries(project: OpenProject, asked: LinkRequest) -> Saved:
    """Link an entry with another, or with a symbol, file, section, trace or component; or take a link away.

    Raises:
        InvalidRequest: an end or the relation is unknown, or tasks would wait for each other in a circle.
    """
    entries = project.store.entries
    source = _found(entries, asked.source)
    link = resolved_link(project, source.key, asked.relation, asked.target)
    if asked.remove:
        if not entries.unlink(link, now=now()):
            message = f"{link.source} has no link {link.relation} to {link.target}; memory_get shows its links"
            raise InvalidRequest(message)
        back_up(project)
        return Saved((source,), "unlinked", (link,))
    with project.store.transaction():
        superseded = add_links(project, [link])
    back_up(project)
    return Saved((source,), "linked", (link,), tuple(superseded), tuple(remarks_on(project, [source])))


def delete_entries(project: OpenProject, asked: DeleteRequest) -> Saved:
    """Delete entries with their links, all or none, from the backup too.

    Raises:
        InvalidRequest: an id is unknown, or the version is another.
        StoreError: the backup cannot be deleted; nothing is deleted then.
    """
    _all_found(project, asked.keys, asked.expected_version)  # a wrong id must not cost the backup
    with project.store.backup.deleted(), project.store.transaction():
        gone = _all_found(project, asked.keys, asked.expected_version)
        near = {
            end for one in gone for link in project.store.entries.links(one.key) for end in (link.source, link.target)
        }
        project.store.entries.delete([one.key for one in gone], now=now())
        remarks = left_alone(project, sorted(near))
    back_up(project)
    return Saved(tuple(gone), "deleted", remarks=tuple(remarks))


def back_up(project: OpenProject) -> None:
    """Write the backup of what was saved, if it can be written."""
    if project.store.in_transaction:  # whoever opened it backs up at its end
        return
    # What was saved is on the disk already, so that a full disk must not call it failed; `doctor` misses the backup.
    with contextlib.suppress(StoreError):
        project.store.backup.write(now=now())


def put_entry(project: OpenProject, entry: Entry, embedder: Embedder | None) -> None:
    """Write an entry with its texts; without an embedder its vectors follow at the next index."""
    texts = texts_of_entry(entry)
    project.store.entries.put(entry, [text_hash(text) for text in texts.values()], now=now())
    if embedder is not None:
        project.store.embed_texts(texts, embedder.model, embedder.embed_passages([*texts.values()]))


def new_entry(asked: SaveRequest) -> Entry:
    """Return the entry that a request describes, named by its words.

    Raises:
        InvalidRequest: a field is invalid.
    """
    kind = asked.kind or NOTE
    if kind not in ENTRIES:
        message = f"{kind[:40]!r} is no kind of entry; it is one of {', '.join(ENTRIES)}"
        raise InvalidRequest(message)
    title = _clean(asked.title or "", TITLE)
    if not title:
        message = f"the {kind} has no title; send one in a few words"
        raise InvalidRequest(message)
    body = redact(asked.body or "")[:_BODY]
    # from its words, so that two branches name the same entry alike and different ones differently
    name = hashlib.sha256(f"{kind}\0{title}\0{body}".encode("utf-8", "replace")).hexdigest()[:12]
    at = now()
    status = TODO if kind in (TASK, EPIC) else STATES[kind][0]
    bare = Entry(f"{kind}:{name}", kind, title, body, status=status, created=at, changed=at)
    return replace(changed_entry(bare, replace(asked, title=None, body=None, expected_version=None)), version=1)


def changed_entry(entry: Entry, asked: SaveRequest) -> Entry:
    """Return an entry with the changed fields of a request.

    Raises:
        InvalidRequest: a field is invalid, or the version is another.
    """
    _check_version(entry, asked.expected_version)
    if asked.status and asked.status not in STATES[entry.kind]:
        message = f"a {entry.kind} cannot be {asked.status[:40]!r}; it is one of {', '.join(STATES[entry.kind])}"
        raise InvalidRequest(message)
    if asked.priority is not None and not 0 <= asked.priority <= LOWEST:
        message = f"priority {asked.priority} is none; it goes from 0, the most urgent, to {LOWEST}"
        raise InvalidRequest(message)
    tags = entry.tags if asked.tags is None else tuple(dict.fromkeys(_clean(tag, _WORD).lower() for tag in asked.tags))
    return replace(
        entry,
        title=entry.title if asked.title is None else _clean(asked.title, TITLE),
        body=entry.body if asked.body is None else redact(asked.body)[:_BODY],
        tags=tags,
        status=asked.status or entry.status,
        priority=entry.priority if asked.priority is None else asked.priority,
        data={
            **entry.data,
            **{name: _redacted(value) for name, value in asked.data.items()},
            **({USES: uses_of(entry) + 1} if asked.used else {}),
        },
        version=entry.version + 1,
        changed=now(),
    )


def _check_version(entry: Entry, expected: int | None) -> None:
    if expected is not None and expected != entry.version:
        message = f"{entry.key} is at version {entry.version}, not {expected}: read it again and repeat the change"
        raise InvalidRequest(message)


def _redacted(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [redact(str(one))[:_BODY] for one in value]
    return redact(value)[:_BODY] if isinstance(value, str) else value


def _clean(text: str, limit: int) -> str:
    return " ".join(redact(text).split())[:limit]


def _found(entries: ProjectEntries, key: str) -> Entry:
    """Return the entry with this id, or the only one whose id begins with it."""
    known = entries.get(key.strip())
    if known is not None:
        return known
    near = entries.starting(key.strip()) if len(key.strip()) >= 4 else []
    if len(near) == 1:
        return near[0]
    told = f"; it may be {', '.join(one.key for one in near)}" if near else "; memory_list shows ids"
    message = f"no note, task or procedure has the id {key[:80]!r}{told}"
    raise InvalidRequest(message)


def _all_found(project: OpenProject, keys: Sequence[str], expected: int | None) -> list[Entry]:
    if not 0 < len(keys) <= _BULK:
        message = f"send 1 to {_BULK} ids"
        raise InvalidRequest(message)
    found = [_found(project.store.entries, key) for key in dict.fromkeys(keys)]
    for one in found:
        _check_version(one, expected)
    return found


def _near(entries: ProjectEntries, key: str) -> set[str]:
    known = entries.get(key)
    name = known.key if known is not None else key
    return {end for link in entries.links(name) for end in (link.source, link.target)} - {name}


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
        other = _found(store.entries, wanted)
        if relation in (BLOCKS, DEPENDS_ON) and not (source.startswith(TASK) and other.kind == TASK):
            message = f"only a task blocks a task; {source} and {other.key} are not both tasks"
            raise InvalidRequest(message)
        if relation == PART_OF and other.kind != EPIC:
            message = f"{other.key} is no epic; save one with kind epic"
            raise InvalidRequest(message)
        ends = (other.key, source) if relation == DEPENDS_ON else (source, other.key)
        return EntryLink(ends[0], BLOCKS if relation == DEPENDS_ON else relation, ends[1])
    kind = wanted.partition(":")[0]
    if kind in _ELSEWHERE:
        return EntryLink(source, relation, wanted)
    item = store.items.by_key(wanted) or store.items.by_key(file_key(wanted.removeprefix("./")))
    if item is None and not kind.startswith(ENTRIES):
        named = store.items.named(wanted, limit=2)
        item = named[0] if len(named) == 1 else None
    key = item.key if item is not None else _found(store.entries, wanted).key
    return EntryLink(source, relation, key)


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
        same = [(one.source, one.target) for one in entries.links(relation=link.relation)]
        around = circle(same, link.source, link.target) if link.relation in (BLOCKS, SUPERSEDES, PART_OF) else ()
        if around:
            message = f"{link.relation} would go round in a circle: {' -> '.join((link.source, *around))}"
            raise InvalidRequest(message)
        entries.link([link], now=now())
        old = entries.get(link.target) if link.relation == SUPERSEDES else None
        if old is not None and SUPERSEDED in STATES[old.kind] and old.status != SUPERSEDED:
            superseded.append(replace(old, status=SUPERSEDED, version=old.version + 1, changed=now()))
            put_entry(project, superseded[-1], None)
    return superseded
