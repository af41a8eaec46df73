"""Keeps the entries of a project's memory and the Markdown files in its folder `.repertoire` the same, both ways.

Each side is compared with what it was when both were last the same (table `mirror`): who changed since gives, and
where both did, both are kept: the file's words in the entry, the memory's in a second entry that says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.projects.entries import changed_entry, new_entry
from repertoire.app.projects.entry_requests import SaveRequest
from repertoire.app.projects.entry_writing import back_up, put_entry
from repertoire.app.projects.mirror_folder import HISTORY, FolderFile, MirrorFolder
from repertoire.app.projects.mirror_history import bring_back, history_of
from repertoire.app.projects.mirror_links import keep_links_to, link_waiting, take_links
from repertoire.app.projects.mirror_text import (
    FIELDS,
    OTHERS,
    WAITING,
    EntryFile,
    differ_in_links_alone,
    digest_of_entry,
    file_of_entry,
    holder,
    name_of_file,
    read_entry_file,
    turned,
    waiting_links,
)
from repertoire.app.projects.places import MIRROR_FOLDER, mirrored_in
from repertoire.app.projects.shelf import OpenProject
from repertoire.boot.filelock import only_one
from repertoire.domain.errors import InvalidRequest, StoreBusy, StoreError
from repertoire.domain.project import ENTRIES, KNOWLEDGE, RELATES_TO, Entry, EntryLink, MirroredFile
from repertoire.ports import Embedder

CONFLICT = "conflict"  # the tag of an entry that holds the memory's words where both sides were changed
GONE = "its folder is gone, as on another branch: nothing is written until `repertoire project mirror`, or it is back"
_RULES = "2"  # of reading files; those that others read are read again once, for what these passed over
READ_BUT = "read, but "  # begins what is said of a file that was read
_WAIT_S, _OWN_TITLE = 10, 150  # seconds; characters of a title that another one repeats


@dataclass
class MirrorReport:
    """What a comparison changed: paths of files by what became of them, and why files were not read."""

    folder: str = ""
    written: list[str] = field(default_factory=list)  # from the memory
    read: list[str] = field(default_factory=list)  # into the memory
    deleted: list[str] = field(default_factory=list)  # on the one side, since it was deleted on the other
    conflicts: list[str] = field(default_factory=list)  # ids of the entries that hold the memory's words
    skipped: dict[str, str] = field(default_factory=dict)
    on: bool = True  # whether the memory is mirrored from now on
    was_on: bool = True  # where it is no more: whether it was until now


@dataclass
class _State:
    """Both sides while they are compared."""

    project: OpenProject
    folder: MirrorFolder
    report: MirrorReport
    base: dict[str, MirroredFile]
    files: dict[str, FolderFile]
    held: set[str]  # paths of files that cannot be read: left as they are
    whole: bool  # every file was listed, so that a missing one was deleted
    entries: dict[str, Entry] = field(default_factory=dict)
    links: dict[str, list[EntryLink]] = field(default_factory=dict)  # by the entry whose file tells them
    read: dict[str, tuple[FolderFile, EntryFile]] = field(default_factory=dict)  # files that were changed, by entry
    now_at: dict[str, MirroredFile] = field(default_factory=dict)

    def told(self, key: str) -> str:
        """Return the text that an entry's file should have."""
        return file_of_entry(self.entries[key], self.links.get(key, ()))

    def digest(self, key: str) -> str:
        """Return the hash of that text."""
        return digest_of_entry(self.entries[key], self.links.get(key, ()))


def mark_of(memory: Path) -> Path:
    """Return the file whose presence says that a person wants the mirror; it outlives the memory's own file."""
    return memory.with_name(f"{memory.name}.mirror")


def is_mirrored(memory: Path) -> bool:
    """Tell whether a person wants the memory in this file to be mirrored."""
    return mark_of(memory).exists()


def lying_entries(project: OpenProject) -> int:
    """Return how many files of entries lie beside a memory that has no entry and no mirror, as in a fresh clone."""
    if not mirrored_in(project.root) or is_mirrored(project.store.path) or project.store.entries.nodes(ENTRIES):
        return 0
    return sum(path.endswith(".md") for path, *_ in folder_of(project).seen())


def begin_mirror(project: OpenProject) -> None:
    """Record that the project's memory is mirrored from now on."""
    mark_of(project.store.path).touch(mode=0o600)
    _note_rules(project)


def end_mirror(project: OpenProject) -> bool:
    """Mirror the memory no more; the files stay. Tell whether it was mirrored."""
    was = is_mirrored(project.store.path)
    mark_of(project.store.path).unlink(missing_ok=True)
    project.store.entries.set_mirrored({})
    return was


def follow_mirror(project: OpenProject, *, embedder: Embedder | None = None, write: bool = True) -> MirrorReport | None:
    """Do as `compare_mirror` if the memory is mirrored and one of both sides changed since this process looked last.

    Where the folder is gone whole, as on another branch, nothing is done: what was written there would stand in the
    way of the branch that has it. Without `write`, as for a question, files are only read; into a memory that cannot
    be written, nothing is.
    """
    if project.store.read_only or not is_mirrored(project.store.path):
        return None
    folder = folder_of(project)
    if not folder.root.exists() and project.store.entries.mirrored():
        return MirrorReport(str(folder.root), skipped={".": GONE})
    state = (folder.seen(), project.store.graph.revision(KNOWLEDGE))
    if state == project.mirrored:
        return None
    report = compare_mirror(project, embedder=embedder, write=write)
    project.mirrored = (folder_of(project).seen(), project.store.graph.revision(KNOWLEDGE))
    project.unread = {path: why for path, why in report.skipped.items() if not why.startswith(READ_BUT)}
    return report


def compare_mirror(project: OpenProject, *, embedder: Embedder | None = None, write: bool = True) -> MirrorReport:
    """Bring both sides to the same state, and record it; without `write` only the memory.

    A file that cannot be read as an entry is left as it is, with the reason. If the folder is gone whole, it is written
    again: nothing is deleted then.

    Raises:
        StoreError: a file cannot be written, or lies behind a link; what was saved in the memory is safe.
        StoreBusy: another process compares them.
    """
    folder = folder_of(project)
    folder.refuse_links()
    with _alone(project.store.path):
        try:
            return _compared(project, folder, embedder, write=write)
        except OSError as error:
            message = (
                f"{error.filename or folder.root} could not be written ({error.strerror}); the memory holds "
                "everything: free space or correct the folder's mode, and run `repertoire project mirror`"
            )
            raise StoreError(message) from error


def folder_of(project: OpenProject) -> MirrorFolder:
    """Return the folder of a project's mirror."""
    return MirrorFolder(Path(project.root) / MIRROR_FOLDER)


def _compared(project: OpenProject, folder: MirrorFolder, embedder: Embedder | None, *, write: bool) -> MirrorReport:
    entries, listed = project.store.entries, folder.read()
    report = MirrorReport(str(folder.root), skipped=listed.unread)
    with project.store.transaction():
        held = {*listed.unread} - {*listed.files}
        state = _State(project, folder, report, entries.mirrored(), listed.files, held, listed.whole)
        _reload(state)
        _read_changed(state)
        _delete_in_memory(state)
        changed = {key: one.changed for key, one in state.entries.items()}
        kept = {key: changed.get(key, "") for key in state.read if _take(state, key, embedder)}
        _reload(state)
        for key in kept:
            _take_links(state, key)
        history = folder.history()
        if history and kept:  # of a memory that is lost, of another's, or of another branch
            bring_back(project, history, kept)
        _reload(state)
        # a link that is made may be written otherwise: not where the file cannot follow at once
        link_waiting(project, [one for one in state.entries.values() if one.key not in kept], as_written=not write)
        _reload(state)
    back_up(project)
    if _are_rules_other(project):
        _note_rules(project)
    if not write:
        entries.set_mirrored({**state.base, **_in_step(state)})
        return report
    _write_all(state)
    if history is None:
        report.skipped[HISTORY] = "it is too large or no text: left as it is, and not read"
    elif (told := history_of(project, history)) != history:
        folder.write_history(told)
    entries.set_mirrored(state.now_at)
    return report


def _reload(state: _State) -> None:
    """Read the memory's side again."""
    entries = state.project.store.entries
    state.entries = {one.key: one for one in entries.all(ENTRIES)}
    state.links = {}
    for link in entries.links():
        state.links.setdefault(holder(link), []).append(link)


def _read_changed(state: _State) -> None:
    """Read the files that are new or changed, and find out which entry each is of."""
    at = {known.path: (key, known) for key, known in state.base.items()}
    again = _are_rules_other(state.project)
    for path, file in sorted(state.files.items()):
        key, known = at.get(path, ("", None))
        if known is not None and file.digest == known.file and not (again and _is_as_told(state, key, known)):
            continue
        try:
            key, told = _entry_of(state, file, key)
        except InvalidRequest as error:
            state.report.skipped[path] = str(error)
            state.held.add(path)
            continue
        state.read[key] = (file, told)


def _is_as_told(state: _State, key: str, known: MirroredFile) -> bool:
    """Tell whether the memory's side of an entry is as it was when both sides were last the same."""
    return key in state.entries and state.digest(key) == known.told


def _are_rules_other(project: OpenProject) -> bool:
    return mark_of(project.store.path).read_text(encoding="utf-8") != _RULES


def _note_rules(project: OpenProject) -> None:
    mark_of(project.store.path).write_text(_RULES, encoding="utf-8")


def _entry_of(state: _State, file: FolderFile, known: str) -> tuple[str, EntryFile]:
    """Return which entry a changed file is of, and what it says; `known` is whose file it was before.

    Raises:
        InvalidRequest: it is no file of an entry, or another file is of the same.
    """
    message = state.report.skipped.get(file.path, "")
    if not file.digest:
        raise InvalidRequest(message)
    told = read_entry_file(file.text, file.path.partition("/")[0])
    key = told.key or known or new_entry(SaveRequest(told.kind, title=told.title, body=told.body)).key
    base, other = state.base.get(key), state.read[key][0].path if key in state.read else ""
    if base is not None and base.path != file.path and state.files.get(base.path, file).digest == base.file:
        other = base.path if base.path in state.files else other
    if other:
        message = f"it has the id of {other}; leave the id out, and it becomes an entry of its own"
        raise InvalidRequest(message)
    return key, told


def _delete_in_memory(state: _State) -> None:
    """Delete the entries whose files were deleted, unless they changed meanwhile or the folder is gone whole."""
    if not (state.files and state.whole):
        return
    for key, known in [*state.base.items()]:
        there = known.path in state.files or known.path in state.held or key in state.read
        if there or key not in state.entries:
            continue
        if _is_as_told(state, key, known):
            keep_links_to(state.project, key)
            state.project.store.entries.delete([key], now=now())
            state.report.deleted.append(known.path)
            del state.base[key]


def _take(state: _State, key: str, embedder: Embedder | None) -> bool:
    """Bring what a changed file says into the memory; tell whether its links are to be read too."""
    file, told = state.read[key]
    before, known = state.entries.get(key), state.base.get(key)
    asked = SaveRequest(told.kind, "", told.title, told.body, told.tags, told.status, told.priority, told.data)
    try:
        made = changed_entry(before, asked) if before is not None else new_entry(asked)
    except InvalidRequest as error:
        state.report.skipped[file.path] = str(error)
        state.held.add(file.path)
        return False
    status = told.status or (before.status if before is not None else made.status)
    created = before.created if before is not None else told.created[:40] or made.created
    kept = {
        name: value for name, value in (before.data if before else {}).items() if name not in (*FIELDS, OTHERS, WAITING)
    }
    data = {**kept, **{name: made.data[name] for name in told.data}}
    entry = replace(made, key=key, data=data, status=status, created=created)
    if before is not None and _same(state, before, entry, told):
        return False
    if before is not None and differ_in_links_alone(before, entry):  # a link is no change here either
        entry = replace(entry, version=before.version, changed=before.changed)
    if before is not None and (known is None or state.digest(key) != known.told):
        _keep_both(state, before, embedder)
    put_entry(state.project, entry, embedder)
    state.report.read.append(file.path)
    return True


def _same(state: _State, before: Entry, entry: Entry, told: EntryFile) -> bool:
    """Tell whether a file says what the memory says."""
    waiting = [one for one in waiting_links(before) if one in told.links]
    waits = {WAITING: [" ".join(one) for one in waiting]}
    wanted = [turned(before.key, *one) for one in told.links if one not in waiting]
    return state.told(before.key) == file_of_entry(replace(entry, data={**entry.data, **waits}), wanted)


def _keep_both(state: _State, before: Entry, embedder: Embedder | None) -> None:
    """Keep the memory's words beside those of the file that replaces them."""
    tags = tuple(dict.fromkeys((*before.tags, CONFLICT)))
    asked = SaveRequest(before.kind, "", before.title, before.body, tags, before.status, before.priority, before.data)
    kept = new_entry(
        replace(asked, title=f"{before.title[:_OWN_TITLE]} (as the memory had it at version {before.version})")
    )
    put_entry(state.project, kept, embedder)
    state.project.store.entries.link([EntryLink(kept.key, RELATES_TO, before.key)], now=now())
    state.report.conflicts.append(kept.key)


def _take_links(state: _State, key: str) -> None:
    """Bring the links of a changed file into the memory; one that cannot be made waits, and is named."""
    file, told = state.read[key]
    made, why = take_links(state.project, key, told.links)
    if why:
        state.report.skipped[file.path] = f"{READ_BUT}{'; '.join(why)}"
    for link in state.links.get(key, ()):
        conflicting = link.relation == RELATES_TO and CONFLICT in state.entries[link.source].tags
        if link not in made and not conflicting:
            state.project.store.entries.unlink(link, now=now())


def _in_step(state: _State) -> dict[str, MirroredFile]:
    """Return how both sides are of the entries whose files were read."""
    return {
        key: MirroredFile(file.path, state.digest(key), file.digest)
        for key, (file, _) in state.read.items()
        if key in state.entries and file.path not in state.held
    }


def _write_all(state: _State) -> None:
    """Write the files whose entries changed, delete those whose entries are gone, and note how both are now."""
    taken = {file.path for file, _ in state.read.values()} | state.held
    for key in sorted(state.entries):
        known, digest = state.base.get(key), state.digest(key)
        if key in state.read:
            file, told = state.read[key]
            if told.key and file.path not in state.held:
                state.now_at[key] = MirroredFile(file.path, digest, file.digest)
                continue
            path = file.path
        else:
            path = known.path if known is not None else _free(state, key, taken)
        taken.add(path)
        unlisted = not state.whole and path not in state.files and state.folder.has(path)
        if path in state.held or unlisted:  # what nobody read may have been edited by hand
            if known is not None:
                state.now_at[key] = known
            continue
        there = state.files[path].text if path in state.files else ""
        same = known is not None and key in there and known.told == digest
        if not same:
            state.folder.write(path, state.told(key))
            state.report.written.append(path)
            kept = known is None and CONFLICT in state.entries[key].tags
            state.folder.log("kept beside a changed file" if kept else "written", key)
        state.now_at[key] = MirroredFile(path, digest, digest if not same else state.files[path].digest)
    for key, known in state.base.items():
        if key not in state.entries and known.path in state.files and known.path not in taken:
            state.folder.delete(known.path)
            state.report.deleted.append(known.path)
            state.folder.log("deleted", key)


def _free(state: _State, key: str, taken: set[str]) -> str:
    """Return a path that no other entry and no file has."""
    entry = state.entries[key]
    path = name_of_file(entry)
    if path in taken or path in state.files:
        path = f"{path.removesuffix('.md')}-{key.partition(':')[2][6:]}.md"
    return path


@contextlib.contextmanager
def _alone(memory: Path) -> Iterator[None]:
    def wait(seconds: int) -> None:
        if seconds >= _WAIT_S:
            message = "another process compares the mirror of this project; try again when it has ended"
            raise StoreBusy(message)

    with only_one(memory.with_name(f"{memory.name}.mirror.lock"), wait):
        yield
