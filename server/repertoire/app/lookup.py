"""Finds components by id or name, by the same rule for every verb, and suggests similar names for unknown ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from repertoire.domain.component import PLUGIN, Component
from repertoire.domain.errors import InvalidRequest, UnknownComponent
from repertoire.domain.event import OFFERED
from repertoire.domain.text import clean_line
from repertoire.ports import StoredComponent
from repertoire.retrieval.naming import find_by_name
from repertoire.store.database import Store

_MAX_NAMES, _MIN_SIMILARITY = (
    3,
    0.6,
)  # an error suggests at most so many names, of at least this similarity (difflib ratio)
_MAX_IDS = 5  # an error lists at most so many ids of components that share a name
_LONGEST = 120  # names are compared by so many first characters


def find_components(store: Store, asked: str, *, project: str = "") -> list[StoredComponent]:
    """Return the components with an id or name, installed ones first; none of another project's own beside others.

    Raises:
        UnknownComponent: no component has this id or name; the message suggests similar names.
    """
    found = find_by_name(store.graph, asked)
    if not found:
        raise UnknownComponent(unknown_component_text(store, asked))
    elsewhere = store.sources.elsewhere(project) if project and len(found) > 1 else frozenset[str]()
    return [entry for entry in found if entry.source not in elsewhere] or found


def find_meant(store: Store, asked: str, *, project: str = "") -> list[StoredComponent]:
    """Return the component with an id or name and its exact copies; a plugin precedes its own parts of that name.

    Raises:
        UnknownComponent: no component has this id or name.
        InvalidRequest: several different components have this name.
    """
    return _meant(find_components(store, asked, project=project), asked)


def find_suggested(store: Store, asked: str, *, project: str = "") -> list[StoredComponent]:
    """Return what `find_meant` returns; of several different components of a name, the one that was suggested last.

    A hint names no id, so whoever says something of it has the name alone.

    Raises:
        UnknownComponent: no component has this id or name.
        InvalidRequest: several different components have this name, and none was suggested.
    """
    found = find_components(store, asked, project=project)
    last = suggested_last(store, found)
    if last is None:
        return _meant(found, asked)
    whole = [entry for entry in found if entry.component.type == PLUGIN and _plugin_of(entry) == _plugin_of(last)]
    same = [entry for entry in found if not _differ((entry, *(whole[:1] or (last,))))]
    plugins = {_plugin_of(entry) for entry in whole}
    return [*same, *(entry for entry in found if entry not in same and _plugin_of(entry) in plugins)]


def suggested_last(store: Store, found: Sequence[StoredComponent]) -> StoredComponent | None:
    """Return which of several different components was suggested last; None if they are the same, or none was."""
    named = store.events.last(OFFERED) if _differ(found) else {}
    suggested = [entry for entry in found if entry.component.id in named]
    return max(suggested, key=lambda entry: named[entry.component.id], default=None)


def _meant(found: list[StoredComponent], asked: str) -> list[StoredComponent]:
    wholes = {_plugin_of(entry) for entry in found if entry.component.type == PLUGIN}
    parts = [entry for entry in found if entry.component.type != PLUGIN and _plugin_of(entry) in wholes]
    meant = [entry for entry in found if entry not in parts]
    if _differ(meant):
        listed = ", ".join(entry.component.id for entry in meant[:_MAX_IDS])
        more = f", and {len(meant) - _MAX_IDS} more" if len(meant) > _MAX_IDS else ""
        message = f"several are called {clean_line(asked, 80)!r}: name one by its id ({listed}{more})"
        raise InvalidRequest(message)
    return [*meant, *parts]


def _differ(found: Iterable[StoredComponent]) -> bool:
    return len({_sameness(entry.component) for entry in found}) > 1


def _sameness(component: Component) -> tuple[str, str]:
    """Return what copies have in common: the content, or of a plugin of a marketplace the name that installs it."""
    named = component.type == PLUGIN and component.marketplace
    return component.type, f"{component.plugin}@{component.marketplace}" if named else component.content_hash


def _plugin_of(entry: StoredComponent) -> tuple[str, str, str]:
    return entry.source, entry.component.repository, entry.component.plugin


def find_one_component(store: Store, asked: str) -> StoredComponent:
    """Return the component that an id or name means; of exact copies, an installed one.

    Raises:
        UnknownComponent: no component has this id or name.
        InvalidRequest: several different components have this name.
    """
    return find_meant(store, asked)[0]


def find_to_install(
    store: Store, asked: str, *, project: str = "", came: Collection[str] = frozenset()
) -> StoredComponent:
    """Return the component that an id or name means in a project; of several of a name, the one suggested last.

    Even of exact copies one may bring far more along than the other; one that is installed is meant before those. What
    is another client's is meant only where nothing else has the name. `came` are the ids of what was installed from
    its source: where that has another content now than the installed copy, the source's is meant.

    Raises:
        UnknownComponent: no component has this id or name.
        InvalidRequest: several different components have this name, and none was suggested.
    """
    known = find_components(store, asked, project=project)
    found = [entry for entry in known if not entry.component.client] or known
    named = store.events.last(OFFERED) if len(found) > 1 else {}
    suggested = [entry for entry in found if entry.component.id in named]
    if not suggested:
        offered = [entry for entry in found if not entry.component.installed]
        if len(offered) == 1 and offered[0].component.id in came and _differ(found):
            return offered[0]
        return _meant(found, asked)[0]
    last = max(suggested, key=lambda entry: named[entry.component.id])
    copies = (entry for entry in found if entry.component.content_hash == last.component.content_hash)
    return next((entry for entry in copies if entry.component.installed), last)


def unknown_component_text(store: Store, asked: str, *, also: str = "") -> str:
    """Return the error text for an unknown id or name, with similar names; `also` lists other allowed targets."""
    listed = ", ".join(clean_line(name, 80) for name in similar_names(asked, [r.name for r in store.graph.summaries()]))
    hint = (
        f"did you mean {listed}?" if listed else "`repertoire search`, or search_components, finds one by what it does"
    )
    return f"nothing has the id or name {clean_line(asked, 80)!r}{also}; {hint}"


def unknown_source_text(asked: str, keys: list[str]) -> str:
    """Return the error text for an unknown source key, with similar keys, or else all keys."""
    listed = ", ".join(similar_names(asked, keys))
    hint = f"did you mean {listed}?" if listed else f"there are {', '.join(keys) or 'none yet'}"
    return f"there is no source {clean_line(asked, 120)!r}; {hint}"


def similar_names(asked: str, names: list[str], *, least: float = _MIN_SIMILARITY) -> list[str]:
    """Return the names whose spelling is similar to a given text, most similar first; `least` so similar."""
    known = {name.lower()[:_LONGEST]: name for name in names}
    wanted = asked.strip().removeprefix("/").lower()[:_LONGEST]
    last = wanted.rpartition(":")[2]  # known, it was asked for under a wrong plugin
    near = [last] if last in known else get_close_matches(wanted, known, n=_MAX_NAMES, cutoff=least)
    return [known[name] for name in near or get_close_matches(last, known, n=_MAX_NAMES, cutoff=least)]
