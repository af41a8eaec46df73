"""Deletes recorded data for good: past requests or one, the data and memory of a project, a trace, or everything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.commons import membership
from repertoire.app.health.rescue import discard_unfinished_rescue
from repertoire.app.packs.places import packs_folder
from repertoire.app.projects.index import forget_memory
from repertoire.app.projects.places import mirrored_in, root_of
from repertoire.app.session.spool import take_in
from repertoire.app.session.unmet_needs import NEED
from repertoire.app.sources.patterns import renew_patterns
from repertoire.app.traces.naming import trace_named
from repertoire.app.upkeep.refresh_attempts import forget_attempts, forget_project_attempt
from repertoire.app.usage.learned_requests import request_named
from repertoire.app.usage.review import renew_learned
from repertoire.boot import session_files
from repertoire.boot.home import clones_path, environment_path, projects_path
from repertoire.domain.errors import InvalidRequest, RepertoireError, StoreError, UnknownComponent
from repertoire.domain.trace import DRAFT
from repertoire.sources.scratch import remove
from repertoire.store.database import Store
from repertoire.store.project_file import ProjectStore
from repertoire.store.requests import PastRequest
from repertoire.store.rescue import set_aside

REQUESTS, REQUEST, PROJECT, TRACE, ALL = "requests", "request", "project", "trace", "all"
_NEEDED = {
    REQUEST: "the id of the request",
    PROJECT: "the folder of the project",
    TRACE: "the id of the trace",
}


@dataclass(frozen=True)
class Forgotten:
    """The result of a deletion: its kind, how many events and memories were deleted, and the files that remain."""

    what: str
    events: int
    memories: int  # projects whose memory, notes and tasks with it, was deleted
    home: str
    aside: tuple[str, ...]  # damaged databases that were set aside; nothing is deleted from them
    environment: str  # path of the Python environment, which remains when all is forgotten; else empty
    commons: str = ""  # address of the commons of which the home stays a member, or which has a trace that is forgotten
    undeleted: tuple[str, ...] = ()  # folders that could not be deleted as a whole
    installs: str = ""  # folder of what installations replaced, which remains when all is forgotten; else empty
    mirror: str = ""  # folder of a project with the files of its memory, which remains; else empty
    unknown: str = ""  # a project's folder of which nothing was recorded; else empty
    muted: bool = False  # whether something stays muted in a project that is forgotten
    within: str = ""  # folder of the project that the named folder is a part of, and whose memory stays; else empty


def forget(store: Store, what: str, *, project: str = "", trace: str = "", request: str = "") -> Forgotten:
    """Delete recorded data of one kind from the database and its backup, and scrub its traces from the file.

    Raises:
        InvalidRequest: the kind is unknown, or the project's folder or the key of the trace or request is missing.
        UnknownComponent: there is no such trace or request.
        StoreError: nothing is deleted; or the data is, but traces of it remain: the message says which and what to do.
    """
    take_in(store)  # spooled events must be deleted too
    if not {REQUESTS: "all", REQUEST: request, PROJECT: project, TRACE: trace, ALL: "all"}.get(what):
        message = f"cannot forget {what!r} without {_NEEDED.get(what, 'knowing what it is')}"
        raise InvalidRequest(message)
    versions = _versions(store, trace) if what == TRACE else ()
    asked = _asked(store, request) if what == REQUEST else None
    known = what == PROJECT and store.privacy.knows_project(project)
    home = store.path.parent
    sent = {key for key in _sent(home) if store.traces.state(key)}
    discard_unfinished_rescue(home)
    with store.backup.deleted():
        gone = _forget(store, what, project, versions, asked)
    _forget_sessions(store, what, project)
    _forget_sentences(home, what, asked)
    memories = _forget_memories(home, what, project)
    aside = tuple(map(str, set_aside(store.path)))
    undeleted = _delete_folders(home) if what == ALL else ()
    steps: dict[str, Callable[[], object]] = {"": store.privacy.scrub}
    if what in (PROJECT, REQUEST):
        steps["patterns are not found anew before the next refresh: "] = lambda: renew_patterns(store)
        steps["what was learned is not renewed before the next refresh: "] = lambda: renew_learned(store)
    if what == PROJECT:
        steps["that the project was read is not forgotten: "] = lambda: forget_project_attempt(home, project)
    if what == ALL:
        # else projects that were read would not be read again, and running sessions would wait for the next refresh
        steps["which projects were read is not forgotten: "] = lambda: forget_attempts(home)
        steps["not every skill of a pack was taken away: "] = lambda: _withdraw_skills(home)
    else:
        steps["there is no backup before the next refresh: "] = lambda: store.backup.write(now=now())
    _take(steps, gone)
    done = Forgotten(what, gone, memories, str(home), aside, "")
    if what != ALL and not all(map(store.traces.state, sent)):
        done = replace(done, commons=_commons(home))
    if what == PROJECT:
        unknown, mirror = "" if known or gone or memories else project, mirrored_in(project)
        muted = any(project in (mute.target, mute.project) for mute in store.preferences.mutes())
        return replace(done, mirror=mirror, unknown=unknown, muted=muted, within=root_of(home, project))
    if what != ALL:
        return done
    kept = (environment_path(home), home / "installs")
    environment, installs = (str(folder) if folder.exists() else "" for folder in kept)
    return replace(done, environment=environment, installs=installs, commons=_commons(home), undeleted=undeleted)


def _take(steps: Mapping[str, Callable[[], object]], gone: int) -> None:
    """Take the steps that follow a deletion, each whatever became of the others, and then say which failed.

    Raises:
        StoreError: one failed.
    """
    failed = []
    for what, step in steps.items():
        try:
            step()
        except (RepertoireError, OSError) as error:  # noqa: PERF203 - the others are taken all the same
            failed.append(f"{what}{error}")
    if failed:
        message = f"what was named is deleted ({gone} recorded events), but not all is done: {'; '.join(failed)}"
        raise StoreError(message)


def _delete_folders(home: Path) -> tuple[str, ...]:
    """Delete packs, clones, and folders that lie among the memories; return what could not be deleted as a whole."""
    memories = projects_path(home)
    strange = [path for path in memories.iterdir() if path.is_dir()] if memories.is_dir() else []
    folders = (packs_folder(home), clones_path(home), *strange)
    for folder in folders:
        remove(folder)
    return tuple(str(folder) for folder in folders if folder.exists())


def _withdraw_skills(home: Path) -> None:
    """Take away the skills of packs that are gone."""
    from repertoire.app.packs.shelf import PackShelf  # noqa: PLC0415 - needed where all is forgotten alone
    from repertoire.app.packs.skills import renew_skills  # noqa: PLC0415
    from repertoire.store.pack_file import PackStore  # noqa: PLC0415

    renew_skills(PackShelf(packs_folder(home), PackStore.open))


def _commons(home: Path) -> str:
    """Return the address of the commons that the home has joined, its file where that is damaged, or nothing."""
    try:
        joined = membership.read(home)
    except InvalidRequest:
        return str(membership.folder(home))
    return "" if joined is None else joined.url


def _sent(home: Path) -> Collection[str]:
    """Return the keys of the traces that a commons has of this home's person."""
    with suppress(InvalidRequest):  # its file is damaged
        joined = membership.read(home)
        return () if joined is None else joined.there()
    return ()


def _forget(store: Store, what: str, project: str, traces: Sequence[str], asked: PastRequest | None) -> int:
    if what == TRACE:
        return store.privacy.forget_traces(traces)
    if asked is not None:
        return store.privacy.forget_request(asked.key, needs=(asked.text, asked.text[:NEED]))
    if what == REQUESTS:
        return store.privacy.forget_requests()
    if what == ALL:
        return store.privacy.forget_all()
    return store.privacy.forget_project(project)


def _forget_sessions(store: Store, what: str, project: str) -> None:
    """Delete the stored states of sessions with failing commands, unless one trace or request alone is forgotten."""
    if what not in (TRACE, REQUEST):
        session_files.remove_all(store.path.parent, project=project if what == PROJECT else "")


def _forget_sentences(home: Path, what: str, asked: PastRequest | None) -> None:
    """Delete in each memory the sentences of past requests, or of one, that wait to become notes."""
    if what not in (REQUESTS, REQUEST) or not projects_path(home).is_dir():
        return
    for file in projects_path(home).glob("*.db"):
        with suppress(StoreError), ProjectStore.open(file) as memory:  # a damaged one is mended by whoever needs it
            if asked is None:
                memory.candidates.clear()
            else:
                words = " ".join(asked.text.split())
                said = [one.name for one in memory.candidates.waiting() if " ".join(one.said.split()) in words]
                memory.candidates.settle(said, now=now())


def _forget_memories(home: Path, what: str, project: str) -> int:
    """Delete the memory of a project, or all memories; return how many."""
    if what == ALL and projects_path(home).is_dir():
        memories = len(list(projects_path(home).glob("*.db")))
        for file in projects_path(home).iterdir():
            if file.is_symlink() or not file.is_dir():
                file.unlink(missing_ok=True)
        return memories
    if what == PROJECT:
        return forget_memory(home, project).memories
    return 0


def _asked(store: Store, request: str) -> PastRequest:
    """Return the past request with a key or the beginning of one."""
    try:
        return request_named(store, request)
    except UnknownComponent:
        store.privacy.scrub()  # it may be gone since a command that could not end what it began
        raise


def _versions(store: Store, asked: str) -> tuple[str, ...]:
    """Return the keys of a trace, of its former versions, and of drafts of a next one: they say nearly the same."""
    try:
        found = trace_named(store, asked)
    except UnknownComponent:
        store.privacy.scrub()  # it may be gone since a command that could not end what it began
        raise
    keys = {found.key: None}
    while found.supersedes not in keys and (before := store.traces.get(found.supersedes)) is not None:
        keys[before.key], found = None, before
    waiting = store.traces.all(DRAFT)
    while drafts := {draft.key: None for draft in waiting if draft.supersedes in keys and draft.key not in keys}:
        keys |= drafts  # a draft can amend another draft
    return tuple(keys)
