"""Makes the links that an entry's file names; one whose other end is not there waits in the entry, and in its file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from repertoire.app.projects.entry_writing import add_links, put_entry, resolved_link
from repertoire.app.projects.mirror_text import WAITING, as_told, holder, waiting_links
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.project import Entry, EntryLink
from repertoire.trust.redaction import redact


def take_links(
    project: OpenProject, key: str, told: Sequence[tuple[str, str]], *, as_written: bool = False
) -> tuple[list[EntryLink], list[str]]:
    """Make the links, (relation, target), of an entry; return them, and why others wait.

    With `as_written`, only those are made that a file would tell in the same words: to an entry by its whole id.
    """
    made, waiting, why = list[EntryLink](), list[str](), list[str]()
    for relation, target in told:
        may = not as_written or project.store.entries.get(target) is not None
        link = _made(project, key, relation, target) if may else "it may be written otherwise"
        if isinstance(link, EntryLink):
            made.append(link)
        else:
            waiting.append(redact(f"{relation} {target}"))
            why.append(f"its link {relation} waits: {link}")
    _let_wait(project, key, waiting)
    return made, why


def link_waiting(project: OpenProject, entries: Iterable[Entry], *, as_written: bool) -> None:
    """Make the links of some entries whose other ends came meanwhile, as `take_links` does."""
    for entry in entries:
        if told := waiting_links(entry):
            take_links(project, entry.key, told, as_written=as_written)


def keep_links_to(project: OpenProject, key: str) -> None:
    """Let links to an entry that goes with its file wait in the entries whose files still tell them.

    It may come back, as on another branch, where these files are the same.
    """
    for link in project.store.entries.links(key):
        if holder(link) != key and (other := project.store.entries.get(holder(link))) is not None:
            _let_wait(project, other.key, [*other.data.get(WAITING, ()), " ".join(as_told(link))])


def _let_wait(project: OpenProject, key: str, waiting: Sequence[str]) -> None:
    entry = project.store.entries.get(key)
    if entry is not None and list(entry.data.get(WAITING, ())) != waiting:
        data = {name: value for name, value in entry.data.items() if name != WAITING}
        put_entry(project, replace(entry, data={**data, **({WAITING: waiting} if waiting else {})}), None)


def _made(project: OpenProject, key: str, relation: str, target: str) -> EntryLink | str:
    """Make a link and return it, or why it cannot be made."""
    try:
        link = resolved_link(project, key, relation, target)
        if link not in project.store.entries.links(key):
            add_links(project, [link])
    except InvalidRequest as error:
        return str(error).partition(";")[0]  # where ids are found is no news in an answer about the mirror
    return link
