"""Deletes recorded data for good: past requests, the data and memory of one project, one trace, or everything."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.commons import membership
from repertoire.app.health.rescue import discard_unfinished_rescue
from repertoire.app.packs.places import packs_folder
from repertoire.app.projects.index import forget_memory
from repertoire.app.session.spool import take_in
from repertoire.app.sources.patterns import renew_patterns
from repertoire.app.traces.naming import trace_named
from repertoire.app.usage.review import renew_learned
from repertoire.boot import session_files
from repertoire.boot.home import clones_path, environment_path, projects_path
from repertoire.domain.errors import InvalidRequest, StoreError
from repertoire.sources.scratch import remove
from repertoire.store.database import Store
from repertoire.store.project_file import ProjectStore
from repertoire.store.rescue import set_aside

REQUESTS, PROJECT, TRACE, ALL = "requests", "project", "trace", "all"


@dataclass(frozen=True)
class Forgotten:
    """The result of a deletion: its kind, how many events and memories were deleted, and the files that remain."""

    what: str
    events: int
    memories: int  # projects whose memory, notes and tasks with it, was deleted
    home: str
    aside: tuple[str, ...]  # damaged databases that were set aside; nothing is deleted from them
    environment: str  # path of the Python environment, which remains when all is forgotten; else empty
    commons: str = ""  # address of the commons of which the home stays a member when all is forgotten; else empty
    undeleted: tuple[str, ...] = ()  # folders that could not be deleted as a whole


def forget(store: Store, what: str, *, project: str = "", trace: str = "") -> Forgotten:
    """Delete recorded data of one kind from the database and its backup, and scrub its traces from the file.

    Raises:
        InvalidRequest: the kind is unknown, or the project's folder or the trace's key is missing.
        UnknownComponent: there is no such trace.
        StoreBusy: the data is deleted, but another session still holds traces; the message says what to do.
    """
    take_in(store)  # spooled events must be deleted too
    if what not in (REQUESTS, ALL) and not (what == PROJECT and project) and not (what == TRACE and trace):
        message = (
            f"cannot forget {what!r}: it is `requests`, `project` with the project's folder, `trace` with its id, "
            "or `all`"
        )
        raise InvalidRequest(message)
    versions = _versions(store, trace) if what == TRACE else ()
    home = store.path.parent
    discard_unfinished_rescue(home)
    with store.backup.deleted():
        gone = store.privacy.forget_traces(versions) if versions else _forget(store, what, project)
    _forget_sessions(store, what, project)
    memories = _forget_memories(home, what, project)
    aside = tuple(map(str, set_aside(store.path)))
    if what != ALL:
        store.backup.write(now=now())
        return Forgotten(what, gone, memories, str(home), aside, "")
    folders = (packs_folder(home), clones_path(home))
    for folder in folders:
        remove(folder)
    undeleted = tuple(str(folder) for folder in folders if folder.exists())
    environments = environment_path(home)
    left = str(environments) if environments.exists() else ""
    return Forgotten(what, gone, memories, str(home), aside, left, _commons(home), undeleted)


def _commons(home: Path) -> str:
    """Return the address of the commons that the home has joined, its file where that is damaged, or nothing."""
    try:
        joined = membership.read(home)
    except InvalidRequest:
        return str(membership.folder(home))
    return "" if joined is None else joined.url


def _forget(store: Store, what: str, project: str) -> int:
    if what == REQUESTS:
        return store.privacy.forget_requests()
    if what == ALL:
        return store.privacy.forget_all()
    gone = store.privacy.forget_project(project)
    renew_patterns(store)  # patterns of the remaining requests
    renew_learned(store)
    return gone


def _forget_sessions(store: Store, what: str, project: str) -> None:
    """Delete the stored states of sessions with failing commands, unless one trace alone is forgotten."""
    if what != TRACE:
        session_files.remove_all(store.path.parent, project=project if what == PROJECT else "")


def _forget_memories(home: Path, what: str, project: str) -> int:
    """Delete the memory of a project, or all memories; return how many.

    Of past requests, it deletes in each memory the sentences that wait to become notes.
    """
    if what == ALL and projects_path(home).is_dir():
        memories = len(list(projects_path(home).glob("*.db")))
        for file in projects_path(home).iterdir():
            file.unlink(missing_ok=True)
        return memories
    if what == REQUESTS and projects_path(home).is_dir():
        for file in projects_path(home).glob("*.db"):
            with suppress(StoreError), ProjectStore.open(file) as memory:  # a damaged one is mended by whoever needs it
                memory.candidates.clear()
    if what == PROJECT:
        return int(bool(forget_memory(home, project)))
    return 0


def _versions(store: Store, asked: str) -> tuple[str, ...]:
    """Return the keys of a trace and of its former versions, which say nearly the same."""
    found = trace_named(store, asked)
    keys = {found.key: None}
    while found.supersedes not in keys and (before := store.traces.get(found.supersedes)) is not None:
        keys[before.key], found = None, before
    return tuple(keys)
