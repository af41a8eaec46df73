"""Finds the other plugins that the client installs with a plugin, because its manifest names them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from repertoire.domain.component import DEPENDS_ON, PLUGIN, Component
from repertoire.domain.text import few
from repertoire.ports import StoredComponent
from repertoire.store.graph import Graph

_UNREAD = "requirement:component:"  # begins the id of what a manifest names and no source holds
_LINKS = 5_000  # of a plugin that are looked through: each of its parts is one
_NAMED = 10


@dataclass(frozen=True)
class Dependencies:
    """The plugins that the client installs with another one: those that were read, and the names of the others."""

    read: tuple[StoredComponent, ...] = ()
    unread: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self.read or self.unread)

    def notes(self) -> Iterator[str]:
        """Yield what a person has to know of them."""
        if self.read:
            names = few([one.component.name for one in self.read], _NAMED)
            yield f"the client also installs what this plugin depends on: {names}"
        if self.unread:
            yield f"the client also installs {few(self.unread, _NAMED)}, which was neither read nor checked"


def dependencies_of(graph: Graph, plugin: Component, installed: Collection[str]) -> Dependencies:
    """Return the plugins that come with a plugin, also through others; those of the names `installed` are there."""
    read: dict[str, StoredComponent] = {}
    unread: dict[str, None] = {}
    waiting = [plugin.id]
    while waiting:
        for link in graph.links(waiting.pop(), limit=_LINKS):
            if link.relation != DEPENDS_ON or not link.outgoing or link.other in (plugin.id, *read):
                continue
            other = graph.by_key(link.other)
            if other is not None and other.component.type == PLUGIN and not other.component.installed:
                read[link.other] = other
                waiting.append(link.other)
            elif link.other.startswith(_UNREAD) and (name := link.other.removeprefix(_UNREAD)) not in installed:
                unread[name] = None
    return Dependencies(tuple(read.values()), tuple(unread))
