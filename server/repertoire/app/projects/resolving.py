"""Resolves the names of a project's programs: of all, or of those that a change concerns."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from repertoire import syntax
from repertoire.app.clock import now
from repertoire.projects.modules import Modules
from repertoire.projects.resolve import Resolver
from repertoire.store.project_file import ProjectStore
from repertoire.store.project_programs import StoredPrograms

_BATCH = 100  # files that are written in one transaction
_HOPS = 4  # files by which a name is passed on
_MOST_PASSING = 200  # files whose importers are looked at; of more, only a reading of everything finds all
_SIBLINGS = (syntax.GO, syntax.JAVA)  # whose files know the names of their folder without an import

_MODULES: WeakKeyDictionary[StoredPrograms, Modules] = WeakKeyDictionary()


@dataclass(frozen=True)
class Concern:
    """A change of a project."""

    read: Collection[str]  # files
    led: Mapping[str, Collection[str]]  # a changed file → those whose names led into it before
    new: Collection[str]  # files that came or went: an import may mean another file now
    noticed: Mapping[str, Collection[str]]  # a changed file → the names that others may notice; without: all


def resolve_names(
    memory: ProjectStore, concern: Concern | None, *, report: Callable[[str, int, int], None] = lambda *_: None
) -> Iterator[None]:
    """Write where the names in programs lead to, without a concern in all of them; it stops after each batch."""
    programs = memory.programs()
    resolver = Resolver(programs, modules_of(programs))
    paths = sorted(programs.languages)
    if concern is not None:
        wanted = {*concern.read, *_noticing(memory, concern), *_meant(memory, resolver, concern.new)}
        wanted |= _passed_on(memory, wanted, concern)
        paths = [path for path in paths if path in wanted]
    for start in range(0, len(paths), _BATCH):
        part = paths[start : start + _BATCH]
        memory.resolve({path: resolver.edges(path) for path in part}, now=now())
        report("names", start + len(part), len(paths))
        yield


def modules_of(programs: StoredPrograms) -> Modules:
    """Return the files of a project as modules, made once as long as no file comes or goes."""
    if programs not in _MODULES:
        _MODULES[programs] = Modules(programs.languages)
    return _MODULES[programs]


def _noticing(memory: ProjectStore, concern: Concern) -> set[str]:
    """Return the files whose names led into changed ones, and that say a name whose meaning changed."""
    found, asked = set[str](), dict[str, set[str]]()
    for path, others in concern.led.items():
        names = concern.noticed.get(path)
        if names is None:
            found.update(others)
        elif names:
            for other in others:
                asked.setdefault(other, set()).update(names)
    return found | memory.programs().saying({path: names for path, names in asked.items() if path not in found})


def _passed_on(memory: ProjectStore, wanted: Collection[str], concern: Concern) -> set[str]:
    """Return the files that say a name whose meaning changed, and to which one of the wanted files passes it on."""
    programs = memory.programs()
    names = {name for of_file in concern.noticed.values() for name in of_file}
    for path in {*concern.read} - {*concern.noticed}:
        names.update(one.name for one in programs.definitions(path) if not one.container)
    found, edge = set[str](), {*wanted}
    for _ in range(_HOPS):
        if not names or not edge or len(edge) > _MOST_PASSING:
            break
        others = {other for of_file in programs.referring(edge).values() for other in of_file}
        edge = programs.saying(dict.fromkeys(others - found - {*wanted}, names))
        found |= edge
    return found


def _meant(memory: ProjectStore, resolver: Resolver, new: Collection[str]) -> set[str]:
    """Return the files whose names may lead into new files: they import these, or lie beside them."""
    programs = memory.programs()
    new = {path for path in new if path in programs.languages}
    if not new:
        return set()
    words = {word for path in new for word in _names_of(path) if word}
    found = {path for path, modules in programs.importing(words) if resolver.imports(path, modules) & new}
    folders = {posixpath.dirname(path) for path in new if programs.languages[path] in _SIBLINGS}
    return found | {
        path
        for path, language in programs.languages.items()
        if language in _SIBLINGS and posixpath.dirname(path) in folders
    }


def _names_of(path: str) -> tuple[str, str]:
    """Return the words of which an import of a file holds one: its own name, and that of its folder."""
    return posixpath.splitext(posixpath.basename(path))[0], posixpath.basename(posixpath.dirname(path))
