"""Finds symbols of a project by name, what calls them, what they call, and what a change of them may break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.project import EXTENDS, FILE, IMPLEMENTS, IMPORTS, SECTION, Item, file_key

FIND, CALLERS, CALLEES, IMPACT = "find", "callers", "callees", "impact"
ACTIONS = (FIND, CALLERS, CALLEES, IMPACT)
_NAMED = 50  # symbols of one name that are read
_BREADTH = 200  # callers of one symbol that are followed


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


def code_symbols(project: OpenProject, wanted: SymbolQuery) -> SymbolAnswer:
    """Return the symbols of a name, and what is related to the first of them.

    Raises:
        InvalidRequest: the name is empty, or no symbol has it.
    """
    found = _named(project, wanted)
    if wanted.action == FIND:
        return SymbolAnswer(FIND, tuple(found[: wanted.limit]), (), max(len(found) - wanted.limit, 0))
    if not found:
        message = f"no symbol is called {wanted.name[:80]!r}; memory_search finds symbols by what they do"
        raise InvalidRequest(message)
    related = _ACTIONS[wanted.action](project, found[0], wanted)
    return SymbolAnswer(
        wanted.action, tuple(found), tuple(related[: wanted.limit]), max(len(related) - wanted.limit, 0)
    )


def _named(project: OpenProject, wanted: SymbolQuery) -> list[Item]:
    name = wanted.name.strip()
    if not name:
        message = "nothing is asked; send the name or the id of a symbol"
        raise InvalidRequest(message)
    known = project.store.items.by_key(name)
    if known is not None and known.kind not in (FILE, SECTION):
        return [known]
    bare = name.removesuffix("()").replace("::", ".").replace("#", ".")
    found = project.store.items.named(bare, limit=_NAMED)
    if not found and "." in bare:  # `module.function`: the module is part of the path
        stem, _, last = bare.rpartition(".")
        place = stem.replace(".", "/")
        found = [one for one in project.store.items.named(last, limit=_NAMED) if place in one.path]
    below = wanted.below.strip("/")
    return [
        one
        for one in found
        if wanted.kind in ("", one.kind) and (not below or one.path == below or one.path.startswith(f"{below}/"))
    ]


def _callers(project: OpenProject, symbol: Item, _wanted: SymbolQuery) -> list[RelatedItem]:
    node_id = project.store.items.node_id(symbol.key) or 0
    found = project.store.items.calling(node_id, limit=_BREADTH)
    return [RelatedItem(item, 1, sure) for item, sure in found]


def _callees(project: OpenProject, symbol: Item, _wanted: SymbolQuery) -> list[RelatedItem]:
    node_id = project.store.items.node_id(symbol.key) or 0
    found = project.store.items.called(node_id, limit=_BREADTH)
    return [RelatedItem(item, 1, sure) for item, sure in found]


def _impact(project: OpenProject, symbol: Item, wanted: SymbolQuery) -> list[RelatedItem]:
    """Return what reaches a symbol by calls and bases within some steps, and the files that import its file."""
    seen: dict[str, RelatedItem] = {}
    edge = [(symbol, 1.0)]
    for distance in range(1, wanted.depth + 1):
        reached = list[tuple[Item, float]]()
        for item, sure in edge:
            for other, weight in _above(project, item):
                if other.key != symbol.key and other.key not in seen:
                    seen[other.key] = RelatedItem(other, distance, sure * weight)
                    reached.append((other, sure * weight))
        edge = reached
    importing = project.store.items.node_id(file_key(symbol.path)) or 0
    touched = {one.item.path for one in seen.values()}
    files = project.store.items.related(importing, (IMPORTS,), incoming=True, limit=_BREADTH)
    return [*seen.values(), *(RelatedItem(file, 1, 0.5) for file in files if file.path not in touched)]


def _above(project: OpenProject, item: Item) -> list[tuple[Item, float]]:
    node_id = project.store.items.node_id(item.key) or 0
    derived = project.store.items.related(node_id, (EXTENDS, IMPLEMENTS), incoming=True, limit=_BREADTH)
    return [*project.store.items.calling(node_id, limit=_BREADTH), *((one, 1.0) for one in derived)]


_ACTIONS: dict[str, Callable[[OpenProject, Item, SymbolQuery], list[RelatedItem]]] = {
    CALLERS: _callers,
    CALLEES: _callees,
    IMPACT: _impact,
}
