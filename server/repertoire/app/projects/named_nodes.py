"""Finds the entries, files, sections and symbols of a project that a text names."""

from __future__ import annotations

from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.project import ENTRIES, SECTION
from repertoire.projects.mentions import mentions

_MOST = 8  # nodes of a text: more would make it about everything


def named_nodes(project: OpenProject, text: str) -> list[str]:
    """Return the keys of what a text names, in order; a name that leads to several things leads to none."""
    found = (_key_of(project, name) for name in mentions(text))
    return [*dict.fromkeys(key for key in found if key)][:_MOST]


def file_part_named(project: OpenProject, name: str) -> str:
    """Return the key of the one file, symbol or section with this name or key; empty if there is none, or several."""
    item = project.store.items.by_key(name)
    key = item.key if item is not None else _key_of(project, name)
    return "" if key.startswith(ENTRIES) else key


def _key_of(project: OpenProject, name: str) -> str:
    store = project.store
    if name.partition(":")[0] in ENTRIES:
        entries = store.entries.starting(name)
        return entries[0].key if len(entries) == 1 else ""
    if "#" in name and (section := store.items.by_key(f"{SECTION}:{name}")) is not None:
        return section.key
    if "/" in name or "." in name:
        files = store.items.files_ending(name.removeprefix("./"), limit=2)
        if files and (len(files) == 1 or files[0].path == name):
            return files[0].key
    symbols = store.items.spelt(name, limit=2)
    return symbols[0].key if len(symbols) == 1 else ""
