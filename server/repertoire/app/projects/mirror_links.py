"""Makes the links that an entry's file names; one whose other end is not there waits in the entry, and in its file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from repertoire.app.projects.entry_writing import add_links, put_entry, resolved_link
from repertoire.app.projects.mirror_text import WAITING, waiting_links
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.project import Entry, EntryLink
from repertoire.trust.redaction import redact


def take_links(project: OpenProject, key: str, told: Sequence[tuple[str, str]]) -> tuple[list[EntryLink], list[str]]:
    """Make the links, (relation, target), of an entry; return them, and why others wait."""
    made, waiting, why = list[EntryLink](), list[str](), list[str]()
    for relation, target in told:
        link = _made(project, key, relation, target)
        if isinstance(link, EntryLink):
            made.append(link)
        else:
            waiting.append(redact(f"{relation} {target}"))
            why.append(f"its link {relation} waits: {link}")
    entry = project.store.entries.get(key)
    if entry is not None and list(entry.data.get(WAITING, ())) != waiting:
        data = {name: value for name, value in entry.data.items() if name != WAITING}
        put_entry(project, replace(entry, data={**data, **({WAITING: waiting} if waiting else {})}), None)
    return made, why


def link_waiting(project: OpenProject, entries: Iterable[Entry]) -> None:
    """Make the links of some entries whose other ends came meanwhile."""
    for entry in entries:
        if told := waiting_links(entry):
            take_links(project, entry.key, told)


def _made(project: OpenProject, key: str, relation: str, target: str) -> EntryLink | str:
    """Make a link and return it, or why it cannot be made."""
    try:
        link = resolved_link(project, key, relation, target)
        if link not in project.store.entries.links(key):
            add_links(project, [link])
    except InvalidRequest as error:
        return str(error).partition(";")[0]  # where ids are found is no news in an answer about the mirror
    return link
