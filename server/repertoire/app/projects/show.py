"""Shows one thing of a project's memory whole, the outline of a file, and what is known of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from repertoire.app.projects.checked import found_in
from repertoire.app.projects.current import as_it_is
from repertoire.app.projects.entry_writing import SHORTEST
from repertoire.app.projects.file_procedures import procedures_for
from repertoire.app.projects.places import path_in
from repertoire.app.projects.said import told
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.pack import LINKS_TO
from repertoire.domain.project import (
    CALLS,
    CONTAINS,
    ENTITY,
    EXTENDS,
    FILE,
    IMPLEMENTS,
    IMPORTS,
    Entry,
    EntryLink,
    Item,
    file_key,
)
from repertoire.store.project_entries import item_of

BODY = 6_000  # characters of a body
_BESIDE = 8  # related things that are named for each relation
_SHOWN = ((CALLS, "calls", "called by"), (EXTENDS, "extends", "extended by"), (IMPLEMENTS, "implements", "done by"))
_OF_FILES = ((IMPORTS, "imports", "imported by"), (LINKS_TO, "links to", "linked from"))
_OUTLINED = 300  # definitions or sections of a file


@dataclass(frozen=True)
class ShownItem:
    """A symbol, section, file or entry with its text, and the ids of what is related to it."""

    item: Item
    body: str
    cut: int = 0  # characters of the body that are left out
    related: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    entry: Entry | None = None  # what was saved, with its links; None for what the project's files hold
    links: tuple[EntryLink, ...] = ()


@dataclass(frozen=True)
class Outline:
    """A file with its definitions or sections, in its order."""

    file: Item
    items: tuple[Item, ...]


@dataclass(frozen=True)
class FileListing:
    """Files of a project, in the order of their paths, with what is known of each."""

    files: tuple[Item, ...]
    sizes: Mapping[str, int]
    total: int
    skipped: Mapping[str, str]
    outline: tuple[Item, ...] = ()
    related: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    passed: int = 0  # how many come before these


@dataclass(frozen=True)
class FileQuery:
    """A file, or a folder whose files are listed."""

    path: str = ""
    language: str = ""
    limit: int = 30
    offset: int = 0


def show_item(project: OpenProject, key: str, *, worktree: str = "") -> ShownItem:
    """Return a symbol, section or file with its text as it is now, in a linked worktree; or what was saved under an id.

    The beginning of an entry's id is enough, if no other begins so.

    Raises:
        InvalidRequest: nothing has this id, or it is a path outside of the project.
    """
    entry = project.store.entries.get(key)
    if entry is not None:
        links = tuple(project.store.entries.links(entry.key))
        flagged = found_in(entry.title, entry.body, *map(str, entry.data.values()))
        related = {**_history(project, entry), **({"checks": (flagged,)} if flagged else {})}
        return ShownItem(item_of(entry), entry.body, 0, related, entry, links)
    item = project.store.items.by_key(key) or project.store.items.by_key(file_key(path_in(project.root, key)))
    if item is None and key.startswith(f"{ENTITY}:") and (name := project.store.said.name_of(key)):
        return ShownItem(Item(key, ENTITY, name), "\n".join(told(project.store.said.of(key), by=True)))
    if item is None:
        return show_item(project, _begun(project, key))
    item, body = as_it_is(project, item, worktree=worktree)
    related = _related(project, item)
    noted = [link.source for link in project.store.entries.links(item.key)]
    said = told(project.store.said.of(item.key), by=True)
    related.update({"noted in": tuple(noted)} if noted else {})
    related.update({"notes say": said[:_BESIDE]} if said else {})
    worth = project.store.credits.of([project.store.items.node_id(item.key) or 0])
    related.update({"led to a good end": (f"{sum(worth.values()):g} times",)} if worth else {})
    flagged = found_in(item.title, body[:BODY])
    related.update({"checks": (flagged,)} if flagged else {})
    return ShownItem(item, body[:BODY], max(len(body) - BODY, 0), related)


def _begun(project: OpenProject, key: str) -> str:
    near = project.store.entries.starting(key) if len(key) >= SHORTEST else []
    if len(near) == 1:
        return near[0].key
    told = (
        f"it may be {', '.join(one.key for one in near)}"
        if near
        else "memory_search and code_symbols, or `repertoire project search` and `symbols` in a shell, tell ids"
    )
    message = f"nothing has the id {key[:120]!r}; {told}"
    raise InvalidRequest(message)


def _history(project: OpenProject, entry: Entry) -> dict[str, tuple[str, ...]]:
    """Return what an entry says of two things, and the title of the note that was merged into it last."""
    said, merge = told(project.store.said.by(entry.key)), project.store.merges.last(entry.key)
    parts = {"says": said, "merged with": (merge.new.title,) if merge is not None else ()}
    return {name: values for name, values in parts.items() if values}


def outline_of(project: OpenProject, path: str) -> Outline:
    """Return the headings or definitions of a file.

    Raises:
        InvalidRequest: the project has no such file.
    """
    file = project.store.items.by_key(file_key(path_in(project.root, path)))
    if file is None:
        message = (
            f"the project has no file {path[:120]!r}; file_info, or `repertoire project files` in a shell, lists files"
        )
        raise InvalidRequest(message)
    return Outline(file, tuple(project.store.items.in_file(file.path, limit=_OUTLINED)))


def files_in(project: OpenProject, wanted: FileQuery) -> FileListing:
    """Return what is known of a file, or of the files below a folder.

    Raises:
        InvalidRequest: it lies outside of the project.
    """
    below = path_in(project.root, wanted.path)
    files, total = project.store.items.files(
        below=below, language=wanted.language, limit=wanted.limit, offset=wanted.offset
    )
    sizes = {one.path: project.store.items.size_of(one.path)[0] for one in files}
    skipped = {
        path: why
        for path, why in project.store.skipped().items()
        if path == "." or not below or f"{path}/".startswith(f"{below}/")
    }
    alone = files[0] if len(files) == 1 and files[0].path == below else None
    if alone is None:
        return FileListing(tuple(files), sizes, total, skipped, passed=min(wanted.offset, total))
    outline = tuple(project.store.items.in_file(below, limit=_BESIDE * 4))
    return FileListing(tuple(files), sizes, total, skipped, outline, _related(project, alone))


def _related(project: OpenProject, item: Item) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    relations = _OF_FILES if item.kind == FILE else (*_SHOWN, (CONTAINS, "contains", "in"), *_OF_FILES)
    for relation, outgoing, incoming in relations:
        for name, comes in ((outgoing, False), (incoming, True)):
            others = project.store.items.related(item.key, (relation,), incoming=comes, limit=_BESIDE)
            if others:
                found[name] = tuple(other.key for other in others)
    if item.kind == FILE and (meant := procedures_for(project, item.path)):
        found["procedures for it"] = tuple(one.key for one in meant[:_BESIDE])
    return found
