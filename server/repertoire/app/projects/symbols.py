"""Finds symbols of a project by name, what they call, what calls or extends them, and what a change may break."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repertoire.app.projects.places import path_in
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.project import (
    EXTENDS,
    FILE,
    IMPLEMENTS,
    IMPORTS,
    METHOD,
    SECTION,
    Item,
    file_key,
    symbol_key,
    unnumbered,
)
from repertoire.domain.project_questions import BASES, CALLEES, CALLERS, DERIVED, FIND, IMPACT

_MOST = 5_000  # symbols of one name, or beside one symbol, that are read: what a folder has is sought among them
_ALIKE = 50  # symbols of one name that are told beside what was asked of one


@dataclass(frozen=True)
class SymbolQuery:
    """A question about a symbol: its name, its qualified name, or its id."""

    name: str
    action: str = FIND
    kind: str = ""
    below: str = ""
    depth: int = 2
    limit: int = 20


@dataclass(frozen=True)
class RelatedItem:
    """A symbol beside the one that was asked about: by how many steps, and how sure that is."""

    item: Item
    distance: int = 1
    sure: float = 1.0


@dataclass(frozen=True)
class SymbolAnswer:
    """The symbols of a name; of the first one, what was asked about it."""

    action: str
    symbols: tuple[Item, ...]
    related: tuple[RelatedItem, ...] = ()
    more: int = 0  # related ones that are not told
    unread: str = ""  # why none of the name may be known though there is one


def code_symbols(project: OpenProject, wanted: SymbolQuery) -> SymbolAnswer:
    """Return the symbols of a name, and what is related to the first of them, with its overloads in the same file.

    Raises:
        InvalidRequest: the name is empty, no symbol has it, or its folder lies outside of the project.
    """
    found = _named(project, wanted)
    if wanted.action == FIND:
        unread = "" if found else project.store.unread_rest()
        return SymbolAnswer(FIND, tuple(found[: wanted.limit]), (), max(len(found) - wanted.limit, 0), unread)
    if not found:
        message = (
            f"no symbol is called {wanted.name[:80]!r}; "
            "search the project's memory for what it does (memory_search, or `repertoire project search` in a shell)"
        )
        raise InvalidRequest(message)
    overloads = [one for one in found if unnumbered(one.key) == unnumbered(found[0].key)]
    related = _related(project, overloads, wanted)
    symbols = (overloads[-1], *(one for one in found if one not in overloads))  # the last one is what runs
    return SymbolAnswer(
        wanted.action, symbols[:_ALIKE], tuple(related[: wanted.limit]), max(len(related) - wanted.limit, 0)
    )


def _related(project: OpenProject, overloads: Sequence[Item], wanted: SymbolQuery) -> list[RelatedItem]:
    """Return what is related to one of the definitions of a name in a file, each once, the nearest first."""
    own, found = {one.key for one in overloads}, dict[str, RelatedItem]()
    for symbol in overloads:
        for one in _ACTIONS[wanted.action](project, symbol, wanted):
            known = found.get(one.item.key)
            if one.item.key not in own and (known is None or one.distance < known.distance):
                found[one.item.key] = one
    return sorted(found.values(), key=lambda one: one.distance)


def _named(project: OpenProject, wanted: SymbolQuery) -> list[Item]:
    name = wanted.name.strip()
    if not name:
        message = "nothing is asked; send the name or the id of a symbol"
        raise InvalidRequest(message)
    known = project.store.items.by_key(name)
    if known is not None and known.kind not in (FILE, SECTION):
        return [known]
    bare = unnumbered(name.removesuffix("()")).replace("::", ".").replace("#", ".")
    found = project.store.items.named(bare, limit=_MOST)
    if number := name[len(unnumbered(name)) :]:
        found = [one for one in found if one.key.endswith(number)]
    if not found and "." in bare:  # `module.function`: the module is part of the path
        stem, _, last = bare.rpartition(".")
        place = stem.replace(".", "/")
        found = [one for one in project.store.items.named(last, limit=_MOST) if place in one.path]
    below = path_in(project.root, wanted.below)
    return [
        one
        for one in found
        if wanted.kind in ("", one.kind) and (not below or one.path == below or one.path.startswith(f"{below}/"))
    ]


def _callers(project: OpenProject, symbol: Item, _wanted: SymbolQuery) -> list[RelatedItem]:
    return [RelatedItem(item, 1, sure) for item, sure in project.store.items.calling(symbol.key, limit=_MOST)]


def _callees(project: OpenProject, symbol: Item, _wanted: SymbolQuery) -> list[RelatedItem]:
    return [RelatedItem(item, 1, sure) for item, sure in project.store.items.called(symbol.key, limit=_MOST)]


def _bases(project: OpenProject, symbol: Item, wanted: SymbolQuery) -> list[RelatedItem]:
    """Return the types that a type extends or implements, and what these extend, within some steps."""
    return _followed(symbol, wanted.depth, lambda item: _along(project, item, incoming=False))


def _derived(project: OpenProject, symbol: Item, wanted: SymbolQuery) -> list[RelatedItem]:
    """Return the types that extend or implement a type, within some steps; of a method, those that override it."""
    return _followed(symbol, wanted.depth, lambda item: _derived_once(project, item))


def _derived_once(project: OpenProject, item: Item) -> list[tuple[Item, float]]:
    if item.kind != METHOD:
        return _along(project, item, incoming=True)
    around, _, name = item.key.partition("::")[2].rpartition(".")
    holder = project.store.items.by_key(symbol_key(item.path, around)) if around else None
    overriding = list[tuple[Item, float]]()
    waiting, seen = [holder] if holder is not None else [], set[str]()
    while waiting and len(seen) < _MOST:
        for derived, sure in _along(project, waiting.pop(), incoming=True):
            if derived.key in seen:
                continue
            seen.add(derived.key)
            method = project.store.items.by_key(f"{derived.key}.{name}")
            if method is not None:
                overriding.append((method, sure))
            else:  # it inherits the method, which what derives from it may override
                waiting.append(derived)
    return overriding


def _along(project: OpenProject, item: Item, *, incoming: bool) -> list[tuple[Item, float]]:
    found = project.store.items.related(item.key, (EXTENDS, IMPLEMENTS), incoming=incoming, limit=_MOST)
    return [(one, 1.0) for one in found]


def _impact(project: OpenProject, symbol: Item, wanted: SymbolQuery) -> list[RelatedItem]:
    """Return what reaches a symbol by calls, bases and overriding within some steps, and who imports its file."""
    seen = _followed(symbol, wanted.depth, lambda item: _above(project, item))
    touched = {one.item.path for one in seen}
    files = project.store.items.related(file_key(symbol.path), (IMPORTS,), incoming=True, limit=_MOST)
    return [*seen, *(RelatedItem(file, 1, 0.5) for file in files if file.path not in touched)]


def _above(project: OpenProject, item: Item) -> list[tuple[Item, float]]:
    return [*project.store.items.calling(item.key, limit=_MOST), *_derived_once(project, item)]


def _followed(symbol: Item, depth: int, beside: Callable[[Item], Sequence[tuple[Item, float]]]) -> list[RelatedItem]:
    """Return what is reached from a symbol within some steps, the nearest first, each once and as sure as its way."""
    seen: dict[str, RelatedItem] = {}
    edge = [(symbol, 1.0)]
    for distance in range(1, depth + 1):
        reached = list[tuple[Item, float]]()
        for item, sure in edge:
            for other, weight in beside(item):
                if other.key != symbol.key and other.key not in seen:
                    seen[other.key] = RelatedItem(other, distance, sure * weight)
                    reached.append((other, sure * weight))
        edge = reached
    return list(seen.values())


_ACTIONS: dict[str, Callable[[OpenProject, Item, SymbolQuery], list[RelatedItem]]] = {
    CALLERS: _callers,
    CALLEES: _callees,
    IMPACT: _impact,
    BASES: _bases,
    DERIVED: _derived,
}
