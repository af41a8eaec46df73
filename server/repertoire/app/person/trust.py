"""Lists the flags that static checks raised, and keeps a person's acceptance of exactly the checked content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from repertoire.app.lookup import find_meant
from repertoire.app.traces.naming import trace_named
from repertoire.domain.component import CATALOGUE
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.trace import TRACE
from repertoire.domain.trust import rank
from repertoire.store.database import Store
from repertoire.store.flags import Flagged

_MOST = 200  # components that one report lists


@dataclass(frozen=True)
class FlagReport:
    """The flags of the asked component, or of every flagged one, gravest first.

    `unread` is the repository of an asked component of which the catalogue's entry alone is known: nothing is checked.
    """

    asked: str
    counts: Mapping[str, int]
    flagged: tuple[Flagged, ...]
    unread: str = ""


@dataclass(frozen=True)
class Accepted:
    """The ids of components whose content was accepted, or whose acceptance was withdrawn if `undone`."""

    ids: tuple[str, ...]
    undone: bool = False


def show_flags(store: Store, asked: str = "", *, least: str = "medium") -> FlagReport:
    """Return the flags of one component or trace, or of all components with a flag of at least severity `least`.

    Raises:
        UnknownComponent: nothing has this id or name.
    """
    counts = store.flags.counts()
    if asked.startswith(f"{TRACE}:"):
        trace = trace_named(store, asked)
        found = Flagged(trace.key, trace.title, TRACE, "", trace.flags)
        return FlagReport(asked, counts, (found,) if trace.flags else ())
    if not asked:
        return FlagReport("", counts, tuple(store.flags.flagged(least=max(rank(least), 1), limit=_MOST)))
    meant = find_meant(store, asked)
    ids = {found.component.id for found in meant}
    flagged = tuple(entry for entry in store.flags.flagged(limit=1_000_000) if entry.id in ids)
    unread = "" if flagged or any(found.source_kind != CATALOGUE for found in meant) else meant[0].component.repository
    return FlagReport(asked, counts, flagged, unread)


def accept(store: Store, asked: str, *, now: str) -> Accepted:
    """Accept the flags of a component for its present content.

    Raises:
        UnknownComponent: no component has this id or name.
        InvalidRequest: several different components have this name, or the component has no flag.
    """
    ids = {key for key, _ in _contents(store, asked)}
    flagged = [entry for entry in store.flags.flagged(limit=1_000_000) if entry.id in ids]
    if not flagged:
        message = (
            f"nothing was found in {asked!r}, so there is nothing to accept; `repertoire trust show` lists what was"
        )
        raise InvalidRequest(message)
    with store.transaction():
        for entry in flagged:
            store.flags.accept(entry.content_hash, entry.id, now=now)
    return Accepted(tuple(entry.id for entry in flagged))


def withdraw(store: Store, asked: str) -> Accepted:
    """Withdraw the acceptance of a component's flags.

    Raises:
        UnknownComponent: no component has this id or name.
        InvalidRequest: several different components have this name, or its present content was not accepted.
    """
    with store.transaction():
        undone = [key for key, content_hash in _contents(store, asked) if store.flags.withdraw(content_hash)]
    if not undone:
        message = f"the present content of {asked!r} was not accepted"
        raise InvalidRequest(message)
    return Accepted(tuple(undone), undone=True)


def _contents(store: Store, asked: str) -> list[tuple[str, str]]:
    """Return the ids and content hashes of the component with an id or name, and of its exact copies."""
    return [(found.component.id, found.component.content_hash) for found in find_meant(store, asked)]
