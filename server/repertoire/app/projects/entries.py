"""Saves, lists, moves, links and deletes the notes, tasks, epics and procedures of a project's memory."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from repertoire.app.clock import local_today, now, today
from repertoire.app.projects.checked import flagged_in
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
from repertoire.app.projects.entry_writing import add_links, back_up, found_entry, key_of, put_entry, resolved_link
from repertoire.app.projects.merging import merged, split, twin_of
from repertoire.app.projects.named_nodes import named_nodes
from repertoire.app.projects.remarks import left_alone, remarks_on
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.digest import digest_of
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.project import (
    ABOUT,
    CLOSED,
    DONE,
    ENTRIES,
    EPIC,
    LOWEST,
    NOTE,
    RELATES_TO,
    STATES,
    SUPERSEDED,
    TASK,
    TODO,
    Entry,
    EntryLink,
    due_day,
    pressing_day,
)
from repertoire.ports import Embedder
from repertoire.projects.freshness import USES, unconfirmed_days, uses_of
from repertoire.projects.sameness import SAME
from repertoire.projects.tasks import ready
from repertoire.store.project_entries import ProjectEntries
from repertoire.trust.redaction import redact

TITLE, _BODY, _WORD = 200, 20_000, 60  # characters
_BULK = 100
ENDED = (*CLOSED, SUPERSEDED)
MERGED, THERE = "merged", "was there already"


def save_entry(project: OpenProject, asked: SaveRequest, *, embedder: Embedder | None) -> Saved:
    """Save a new entry or change one; what was saved before in the same words is not saved twice.

    A note that says what another one says becomes one with it, unless it is asked to stay apart. The entry is linked
    with what its text names in the project.

    Raises:
        InvalidRequest: a field is invalid, the kind or the version is another, or a link would close a circle.
    """
    if asked.key and asked.apart:
        return _split(project, asked, embedder)
    with project.store.transaction():
        before = found_entry(project.store.entries, asked.key) if asked.key else None
        if before is not None and asked.kind not in ("", before.kind):
            message = f"{before.key} is a {before.kind} and stays one; save the {asked.kind} without an id"
            raise InvalidRequest(message)
        entry, what, remarks = _put(project, before, asked, embedder)
        links = [resolved_link(project, entry.key, relation, target) for relation, target in asked.links]
        if before is None or (before.title, before.body) != (entry.title, entry.body):
            links += _links_by_name(project, entry, {link.target for link in links})
        known = {*project.store.entries.links(entry.key)}
        superseded = add_links(project, links)
        if what == MERGED:
            brought = [link for link in links if link not in known]
            project.store.merges.add_links(entry.key, brought, [link for link in links if link in known])
        if asked.used:
            credit(project, [entry.key])
        remarks += remarks_on(project, [entry])
    back_up(project)
    return Saved((entry,), what, tuple(links), tuple(superseded), tuple(remarks))


def _split(project: OpenProject, asked: SaveRequest, embedder: Embedder | None) -> Saved:
    """Take the note that was merged last out of an entry again, with the links that it brought."""
    if asked != SaveRequest(asked.kind, asked.key, expected_version=asked.expected_version, apart=True):
        message = "with an id, `apart` takes out what was merged and changes nothing else; send the changes afterwards"
        raise InvalidRequest(message)
    entries = project.store.entries
    with project.store.transaction():
        before = found_entry(entries, asked.key)
        _check_version(before, asked.expected_version)
        merge = project.store.merges.last(before.key)
        if merge is None:
            message = f"{before.key} was merged with nothing that can be taken out again"
            raise InvalidRequest(message)
        kept, taken = split(before, merge)
        put_entry(project, kept, embedder)
        put_entry(project, taken, embedder)
        project.store.merges.drop_last(before.key)
        moved = [*(link for link in merge.links if entries.unlink(link, now=now())), *merge.shared]
        links = [
            replace(one, source=taken.key) if one.source == kept.key else replace(one, target=taken.key)
            for one in moved
        ]
        links += _links_by_name(project, taken, {link.target for link in links})
        add_links(project, links)
        remarks = remarks_on(project, [kept, taken])
    back_up(project)
    return Saved((kept, taken), "split", tuple(links), remarks=tuple(remarks))


def _put(
    project: OpenProject, before: Entry | None, asked: SaveRequest, embedder: Embedder | None
) -> tuple[Entry, str, list[str]]:
    """Write what is asked; return the entry, what was done, and what to say of it."""
    entry = changed_entry(before, asked) if before else new_entry(asked)
    known = None if before else project.store.entries.get(entry.key)
    if known is not None and known.status in ENDED and not asked.apart:  # a task that recurs, a decision taken back
        entry, known = _once_more(project.store.entries, entry)
    if known is not None:
        return _said_again(project, known, asked)
    twin, how = (None, "") if before or asked.apart else twin_of(project, entry)
    if twin is not None and how == SAME:
        entry, merge = merged(twin, entry)
        put_entry(project, entry, embedder)
        project.store.merges.add(entry.key, merge)
        said = (
            f"{entry.key} said the same: it has the fuller of both texts now; save it with `apart` to have both again"
        )
        return entry, MERGED, [said]
    put_entry(project, entry, embedder)
    asks = (
        f"{twin.key} says nearly the same ({twin.title}): if this replaces it, link this with supersedes"
        if twin
        else ""
    )
    return entry, "changed" if before else "saved", [asks] if asks else []


def _once_more(entries: ProjectEntries, entry: Entry) -> tuple[Entry, Entry | None]:
    """Return an entry under the first key of its words that no ended entry has, and the open one that has it."""
    for times in range(2, _BULK):
        key = f"{entry.kind}:{_name(entry.kind, entry.title, entry.body, str(times))}"
        known = entries.get(key)
        if known is None or known.status not in ENDED:
            return replace(entry, key=key), known
    message = f"{entry.title} was saved and ended {_BULK} times; say what is new about it"
    raise InvalidRequest(message)


def _said_again(project: OpenProject, known: Entry, asked: SaveRequest) -> tuple[Entry, str, list[str]]:
    """Give an open entry the fields with which it is saved once more; an import leaves it as it is."""
    tags = None if asked.tags is None else (*known.tags, *asked.tags)
    again = changed_entry(known, replace(asked, title=None, body=None, tags=tags))
    if asked.apart or replace(again, version=known.version, changed=known.changed) == known:
        return known, THERE, []
    put_entry(project, again, None)
    return again, "changed", []


def _links_by_name(project: OpenProject, entry: Entry, known: AbstractSet[str]) -> list[EntryLink]:
    """Return links with what the text of an entry names and is not linked with yet."""
    store = project.store.entries
    linked = {entry.key, *known, *(end for link in store.links(entry.key) for end in (link.source, link.target))}
    named = [key for key in named_nodes(project, f"{entry.title}\n{entry.body}") if key not in linked]
    return [EntryLink(entry.key, RELATES_TO if key.startswith(ENTRIES) else ABOUT, key) for key in named]


def list_entries(project: OpenProject, wanted: ListQuery) -> EntryListing:
    """Return entries: overdue ones and those due within a week, then the most urgent, the newest; and which are ready.

    Raises:
        InvalidRequest: an id is unknown.
    """
    entries = project.store.entries
    day, every = local_today(), entries.all((wanted.kind,) if wanted.kind else ENTRIES)
    found = sorted(every, key=lambda one: pressing_day(due_day(one.status, one.data), day))
    blocking = entries.blocking()
    states = {one.key: one.status for one in entries.all((TASK,))}
    free = ready(states, blocking)
    near = None if not wanted.linked else _near(project, wanted.linked.strip())
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
    passed = min(wanted.offset, len(kept))
    shown = tuple(kept[passed : passed + wanted.limit])
    waiting = {
        one.key: tuple(a for a, b in blocking if b == one.key and states.get(a) not in (None, "done", "dropped"))
        for one in shown  # of all that were found it would take minutes where thousands wait for thousands
        if one.kind == TASK
    }
    unconfirmed = {one.key: days for one in shown if (days := unconfirmed_days(one, today()))}
    waits = {key: by for key, by in waiting.items() if by}
    overdue = {one.key for one in shown if due_day(one.status, one.data) < day.isoformat()}
    remarks = flagged_in(shown)
    return EntryListing(shown, len(kept), frozenset(free), waits, unconfirmed, frozenset(overdue), remarks, passed)


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
        credit(project, [one.key for one, old in zip(moved, before, strict=True) if one.status == DONE != old.status])
        remarks = remarks_on(project, moved)
    back_up(project)
    return Saved(tuple(moved), "moved", remarks=tuple(remarks))


def link_entries(project: OpenProject, asked: LinkRequest) -> Saved:
    """Link an entry with another, or with a symbol, file, section, trace or component; or take a link away.

    Raises:
        InvalidRequest: an end or the relation is unknown, or tasks would wait for each other in a circle.
    """
    entries = project.store.entries
    source = found_entry(entries, asked.source)
    link = resolved_link(project, source.key, asked.relation, asked.target)
    if asked.remove:
        if not entries.unlink(link, now=now()):
            message = (
                f"{link.source} has no link {link.relation} to {link.target}; "
                "memory_get, or `repertoire project get` in a shell, shows its links"
            )
            raise InvalidRequest(message)
        back_up(project)
        return Saved((source,), "unlinked", (link,))
    with project.store.transaction():
        superseded = add_links(project, [link])
    back_up(project)
    return Saved((source,), "linked", (link,), tuple(superseded), tuple(remarks_on(project, [source])))


def deletable_entries(project: OpenProject, asked: DeleteRequest) -> list[Entry]:
    """Return the entries that a request would delete.

    Raises:
        InvalidRequest: an id is unknown, or the version is another.
    """
    return _all_found(project, asked.keys, asked.expected_version)


def delete_entries(project: OpenProject, asked: DeleteRequest) -> Saved:
    """Delete entries with their links, all or none, from the backup too.

    Raises:
        InvalidRequest: an id is unknown, or the version is another.
        StoreError: the backup cannot be deleted; nothing is deleted then.
    """
    deletable_entries(project, asked)  # a wrong id must not cost the backup
    with project.store.backup.deleted(), project.store.transaction():
        gone = deletable_entries(project, asked)
        near = {
            end for one in gone for link in project.store.entries.links(one.key) for end in (link.source, link.target)
        }
        project.store.entries.delete([one.key for one in gone], now=now())
        remarks = left_alone(project, sorted(near))
    back_up(project)
    return Saved(tuple(gone), "deleted", remarks=tuple(remarks))


def new_entry(asked: SaveRequest) -> Entry:
    """Return the entry that a request describes, named by its words.

    Raises:
        InvalidRequest: a field is invalid.
    """
    kind = asked.kind or NOTE
    if kind not in ENTRIES:
        message = f"{kind[:40]!r} is no kind of entry; it is one of {', '.join(ENTRIES)}"
        raise InvalidRequest(message)
    title = _title(kind, asked.title or "")
    body = _body(kind, asked.body or "")
    name, at = _name(kind, title, body), now()
    status = TODO if kind in (TASK, EPIC) else STATES[kind][0]
    bare = Entry(f"{kind}:{name}", kind, title, body, status=status, created=at, changed=at)
    return replace(changed_entry(bare, replace(asked, title=None, body=None, expected_version=None)), version=1)


def _name(*said: str) -> str:
    """Return a name made from words, so that two branches name the same entry alike and different ones differently."""
    return digest_of("\0".join(said))[:12]


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
        title=entry.title if asked.title is None else _title(entry.kind, asked.title),
        body=entry.body if asked.body is None else _body(entry.kind, asked.body),
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


def _title(kind: str, asked: str) -> str:
    title = " ".join(asked.split())
    if not title:
        message = f"the {kind} has no title; send one in a few words"
        raise InvalidRequest(message)
    if len(title) > TITLE:
        message = f"the {kind}'s title has {len(title):,} characters of at most {TITLE}; put the rest into its text"
        raise InvalidRequest(message)
    return redact(title)


def _body(kind: str, asked: str) -> str:
    if len(asked) > _BODY:
        message = (
            f"the {kind}'s text has {len(asked):,} characters of at most {_BODY:,}; split it, or keep it as a document "
            "of the project and note where it is"
        )
        raise InvalidRequest(message)
    return redact(asked)


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


def _all_found(project: OpenProject, keys: Sequence[str], expected: int | None) -> list[Entry]:
    if not 0 < len(keys) <= _BULK:
        message = f"send 1 to {_BULK} ids"
        raise InvalidRequest(message)
    found = [found_entry(project.store.entries, key) for key in dict.fromkeys(keys)]
    for one in found:
        _check_version(one, expected)
    return found


def _near(project: OpenProject, wanted: str) -> set[str]:
    known = project.store.items.node_id(wanted) is not None  # as what is gone, and is linked all the same
    key = wanted if known else key_of(project, wanted)
    return {end for link in project.store.entries.links(key) for end in (link.source, link.target)} - {key}
