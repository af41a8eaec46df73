"""Joins a project's memory with the home: traces that solved a problem in it, packs of what it imports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from repertoire.app.clock import now
from repertoire.app.projects.named_nodes import file_part_named
from repertoire.app.projects.shelf import OpenProject, ProjectShelf
from repertoire.app.projects.show import ShownItem
from repertoire.domain.project import ABOUT, EntryLink
from repertoire.domain.trace import IN_PROJECT, TRACE, Trace

_PACKS = 5


def resolver(shelf: ProjectShelf, folder: str) -> Callable[[str], str]:
    """Return a function that resolves names of files, symbols and sections of the project that a folder lies in."""

    def in_project(name: str) -> str:
        return file_part_named(shelf.open(folder), name) if shelf.has(folder) else ""

    return in_project


def link_trace(shelf: ProjectShelf, folder: str, trace: Trace) -> None:
    """Link a kept trace with what it used of the project that a folder lies in; the links follow renames there."""
    used = [key for key in trace.uses if key.startswith(IN_PROJECT)]
    if used and shelf.has(folder):
        links = [EntryLink(trace.key, ABOUT, key) for key in used]
        shelf.open(folder).store.entries.link(links, now=now())


def joined(
    project: OpenProject, shown: ShownItem, *, is_trace: Callable[[str], bool], packs: Iterable[tuple[str, str]]
) -> ShownItem:
    """Return what is shown with the traces that solved a problem in it, and the packs of packages that it imports.

    `packs` are names of packs, each with the words of its name and topics.
    """
    if shown.entry is not None:
        return shown
    noted = shown.related.get("noted in", ())
    related = {name: keys for name, keys in shown.related.items() if name != "noted in"}
    parts = {
        "noted in": tuple(key for key in noted if not key.startswith(TRACE)),
        "solved by": tuple(key for key in noted if key.startswith(TRACE) and is_trace(key)),
        "documented in": tuple(_documenting(project, shown.item.path, packs)),
    }
    return replace(shown, related={**related, **{name: keys for name, keys in parts.items() if keys}})


def drop_lost_traces(project: OpenProject, is_trace: Callable[[str], bool]) -> int:
    """Delete the links with traces that the home has no more; return how many traces these were."""
    lost = [key for key in project.store.entries.stand_ins(TRACE) if not is_trace(key)]
    for key in lost:
        project.store.entries.unlink_all(key, now=now())
    return len(lost)


def _documenting(project: OpenProject, path: str, packs: Iterable[tuple[str, str]]) -> list[str]:
    imported = {_plain(name) for name in project.store.imported_packages(path)}
    return [f"pack {name}" for name, word in packs if _plain(word) in imported][:_PACKS]


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")
