"""Finds a symbol or section in its file as that is now, where the file was changed after the memory read it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from repertoire.app.projects.lines import lines_of
from repertoire.app.projects.reading import read_file
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.project import FILE, Item, section_key, symbol_key
from repertoire.sources.crawl import FoundFile, changed_at
from repertoire.store.project_texts import first_line

GONE = "(its file was changed, and it is not there any more)"


def as_it_is(project: OpenProject, item: Item, *, worktree: str = "") -> tuple[Item, str]:
    """Return an item with its lines as they are now, and its text; the text is empty where its file cannot be read.

    Where the file is in the linked worktree from which it was asked for, it is read there.
    """
    root = Path(worktree if worktree and Path(worktree, item.path).is_file() else project.root)
    lines = lines_of(root, item.path)
    if not lines:
        return item, ""
    if item.kind == FILE:
        return item, "\n".join(lines)
    now = item if _is_as_read(project, root, item.path) else _found_again(root, item)
    return (item, GONE) if now is None else (now, "\n".join(lines[now.start - 1 : now.end]))


def _is_as_read(project: OpenProject, root: Path, path: str) -> bool:
    known, status = project.store.known([path]).get(path), (root / path).stat()
    return known is not None and (known.mtime, known.size) == (changed_at(status), status.st_size)


def _found_again(root: Path, item: Item) -> Item | None:
    location = root / item.path
    file, _ = read_file(FoundFile.at(location, item.path))
    for symbol in file.symbols:
        if symbol_key(file.path, symbol.qualname) == item.key:
            return replace(item, start=symbol.start, end=symbol.end, line=symbol.signature, doc=symbol.doc)
    for section in file.sections:
        if section_key(file.path, section.anchor) == item.key:
            return replace(item, start=section.start, end=section.end, line=first_line(section))
    return None
