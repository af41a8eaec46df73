"""Finds the components that an id or a name means: one rule, whatever is to be done with them."""

from __future__ import annotations

from difflib import get_close_matches

from repertoire.domain.errors import InvalidRequest, UnknownComponent
from repertoire.domain.text import clean_line
from repertoire.ports import StoredComponent
from repertoire.retrieval.naming import meant
from repertoire.store.database import Store

_NEAR, _LIKE = 3, 0.6  # names that are told to be like an unknown one, and how like they must be
_TOLD = 5  # ids of those that share a name
_LONGEST = 120  # characters of a name that are compared


def named(store: Store, asked: str) -> list[StoredComponent]:
    """Return what an id or a name means, the installed first.

    Raises:
        UnknownComponent: nothing answers to it; the message says what is spelled nearly so.
    """
    found = meant(store.graph, asked)
    if not found:
        raise UnknownComponent(unknown(store, asked))
    return found


def only_named(store: Store, asked: str) -> StoredComponent:
    """Return the one component that an id or a name means; of exact copies, the installed one first.

    Raises:
        UnknownComponent: nothing answers to it.
        InvalidRequest: several that differ do.
    """
    found = named(store, asked)
    if len({(entry.component.type, entry.component.content_hash) for entry in found}) > 1:
        listed = ", ".join(entry.component.id for entry in found[:_TOLD])
        message = f"several are called {clean_line(asked, 80)!r}: name one by its id ({listed})"
        raise InvalidRequest(message)
    return found[0]


def unknown(store: Store, asked: str, *, also: str = "") -> str:
    """Say that nothing answers to an id or name, and what is spelled nearly so; `also` is what else could be named."""
    listed = ", ".join(clean_line(name, 80) for name in spelled_like(asked, [r.name for r in store.graph.summaries()]))
    hint = (
        f"did you mean {listed}?" if listed else "`repertoire search`, or search_components, finds one by what it does"
    )
    return f"nothing has the id or name {clean_line(asked, 80)!r}{also}; {hint}"


def no_source(asked: str, keys: list[str]) -> str:
    """Say that no source has this key, and which there are, what is spelled nearly so first."""
    listed = ", ".join(spelled_like(asked, keys))
    hint = f"did you mean {listed}?" if listed else f"there are {', '.join(keys) or 'none yet'}"
    return f"there is no source {clean_line(asked, 120)!r}; {hint}"


def spelled_like(asked: str, names: list[str]) -> list[str]:
    """Return the names that are spelled nearly like what was asked for, the likest first."""
    known = {name.lower()[:_LONGEST]: name for name in names}
    wanted = asked.strip().removeprefix("/").lower()[:_LONGEST]
    near = get_close_matches(wanted, known, n=_NEAR, cutoff=_LIKE)
    return [known[name] for name in near or get_close_matches(wanted.rpartition(":")[2], known, n=_NEAR, cutoff=_LIKE)]
