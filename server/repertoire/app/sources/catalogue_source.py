"""Turns the shipped catalogue into records of a source, from which a new home answers before anything is ingested."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from repertoire.catalogue import reading
from repertoire.catalogue.reading import Catalogue, CatalogueEntry
from repertoire.domain.component import (
    CATALOGUE,
    DEPENDS_ON,
    PART_OF,
    PLUGIN,
    PROVIDES,
    Component,
    Edge,
    FileRecord,
    SourceInfo,
)
from repertoire.domain.digest import digest_of
from repertoire.ingestion.source_context import Wording

INFO = SourceInfo(CATALOGUE, CATALOGUE, "shipped with Repertoire")
Place = tuple[str, str, str]  # a repository or a path in it, a type and a name
_SURE = 0.9  # confidence of the catalogue's capabilities and needs, which are written by hand


def records_of(
    catalogue: Catalogue,
    *,
    known: frozenset[str] = frozenset(),
    named: frozenset[Place] = frozenset(),
    copies: Iterable[frozenset[Place]] = (),
    corrected: Iterable[str] = (),
    installed: frozenset[str] = frozenset(),
) -> tuple[FileRecord, ...]:
    """Return a record for each catalogue entry that no ingested source contains.

    `known` are the ids of other sources' components, `named` their (repository, type, name). Of each source that tells
    no repository, `copies` has (path, type, name): it is a copy of one if it holds half of the repository's entries,
    since anybody can give one file the path and name of an entry. `corrected` are ids with a curator's capabilities.
    `installed` are Claude Code's plugins as `name@marketplace`, ingested or not.
    """
    plugins = {(entry.repository, entry.name): entry.id for entry in catalogue.components if entry.type == PLUGIN}
    left_alone = frozenset(corrected)
    copied = frozenset(key for copy in copies for key in _copied(catalogue, copy))
    return tuple(
        _record(
            entry,
            plugins.get((entry.repository, entry.plugin), ""),
            provides=entry.id not in left_alone,
            installed=f"{entry.plugin}@{entry.marketplace}" in installed,
        )
        for entry in catalogue.components
        if entry.id not in known and entry.id not in copied and _place(entry) not in named
    )


def _copied(catalogue: Catalogue, copy: frozenset[Place]) -> Iterator[str]:
    """Yield the ids of the entries that a source holds of the repositories that it is a copy of."""
    held = [entry for entry in catalogue.components if (entry.path, entry.type, entry.name) in copy]
    if held:
        all_of = Counter(entry.repository for entry in catalogue.components)
        held_of = Counter(entry.repository for entry in held)
        yield from (entry.id for entry in held if 2 * held_of[entry.repository] >= all_of[entry.repository])


@cache
def shipped_wording() -> Wording:
    """Return what the shipped catalogue says of components, each known by its id, or by its repository, type and name.

    An entry gives way to the component that a source contains, whose own text seldom says as plainly what it is for.
    """
    entries = reading.load().components
    by_id = {entry.id: entry.description for entry in entries}
    places = Counter(map(_place, entries))
    by_place = {_place(entry): entry.description for entry in entries if places[_place(entry)] == 1}

    def words_for(component: Component) -> str:
        told = by_id.get(component.id) or by_place.get(_place(component), "")
        return "" if told == component.description else told

    return Wording(words_for, digest_of(repr(sorted(by_id.items()))))


def _place(one: CatalogueEntry | Component) -> tuple[str, str, str]:
    return one.repository, one.type, one.name


@lru_cache(maxsize=1024)  # a refresh builds each record twice: at its start and at its end
def _record(entry: CatalogueEntry, plugin: str, *, provides: bool, installed: bool) -> FileRecord:
    text = repr(dataclasses.astuple(entry))
    component = Component(
        id=entry.id,
        type=entry.type,
        name=entry.name,
        description=entry.description,
        body=f"{entry.description}\n{', '.join(entry.capabilities)}",
        repository=entry.repository,
        path=entry.path,
        plugin=entry.plugin,
        marketplace=entry.marketplace,
        licence="" if entry.licence == "NOASSERTION" else entry.licence,
        content_hash=digest_of(text),
        install=entry.install,
        installed=installed,
    )
    edges = [
        Edge(entry.id, f"requirement:{need.kind}:{need.name}", DEPENDS_ON, _SURE, "starter catalogue")
        for need in entry.depends_on
    ]
    if provides:
        edges += [
            Edge(entry.id, f"capability:{term}", PROVIDES, _SURE, "starter catalogue") for term in entry.capabilities
        ]
    if plugin and plugin != entry.id:
        edges.append(Edge(entry.id, plugin, PART_OF, 1.0, "starter catalogue"))
    sealed = hashlib.sha256(f"{text}{edges!r}{'installed' if installed else ''}".encode()).hexdigest()
    return FileRecord(entry.id, sealed, (component,), (), tuple(edges))
