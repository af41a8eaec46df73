"""Reads from a project's memory what its programs define and say, file by file and name by name."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from repertoire.domain.project import RESOLVED, SYMBOL, TREE, Base, CallSite, CodeFacts, Definition, Import
from repertoire.store.connection import Connection
from repertoire.store.light.bindings import marks, parts

_DEFINITION = """SELECT f.path, s.qualname, n.name, s.kind, s.container FROM {begin}
    JOIN project_file f ON f.node_id = s.file_id WHERE {where} ORDER BY s.node_id"""
_OF_FILE = _DEFINITION.format(
    begin="symbol s JOIN node n ON n.id = s.node_id",
    where="s.file_id = (SELECT node_id FROM project_file WHERE path = ?)",
)
# the index of names is case-insensitive, a program is not
_NAMED = _DEFINITION.format(
    begin="node n JOIN symbol s ON s.node_id = n.id",
    where=f"n.type = '{SYMBOL}' AND n.name = ?1 COLLATE NOCASE AND n.name = ?1 AND s.kind IN ({{kinds}})",
)


class StoredPrograms:
    """The programs of a project; the languages of its files are read once."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    @cached_property
    def languages(self) -> Mapping[str, str]:
        """Every file that is in a known language, with it."""
        rows = self._db.rows("SELECT path, language FROM project_file WHERE language <> '' ORDER BY path")
        return {str(path): str(language) for path, language in rows}

    def facts(self, path: str) -> CodeFacts:
        """Return what a file says of others."""
        return read_facts(str(self._db.value("SELECT facts FROM project_file WHERE path = ?", (path,)) or "{}"))

    def definitions(self, path: str) -> Sequence[Definition]:
        """Return the symbols of a file, in its order."""
        return [Definition(*map(str, row)) for row in self._db.rows(_OF_FILE, (path,))]

    def named(self, kinds: Sequence[str], name: str) -> Sequence[Definition]:
        """Return all symbols of some kinds with a name, in the order in which they were stored."""
        rows = self._db.rows(_NAMED.format(kinds=marks(kinds)), (name, *kinds))
        return [Definition(*map(str, row)) for row in rows]

    def referring(self, paths: Collection[str]) -> dict[str, set[str]]:
        """Map files into which names lead to the files that say these."""
        found = dict[str, set[str]]()
        for part in parts(sorted(paths)):
            for path, other in self._db.rows(
                f"""SELECT DISTINCT n.file, e.file FROM node n
                    JOIN edge e ON e.target = n.id AND e.source_id = {RESOLVED}
                    WHERE n.source_id = {TREE} AND n.file IN ({marks(part)})""",
                part,
            ):
                found.setdefault(str(path), set()).add(str(other))
        return found

    def saying(self, names: Mapping[str, Collection[str]]) -> set[str]:
        """Return those of the files that say one of their names, or that bring in all names of another file."""
        found = set[str]()
        for path, wanted in names.items():
            told = str(self._db.value("SELECT facts FROM project_file WHERE path = ?", (path,)) or "")
            if '"alias":"*"' in told or any(f'{name}"' in told for name in wanted):
                found.add(path)
        return found

    def importing(self, words: Collection[str]) -> Iterator[tuple[str, set[str]]]:
        """Yield the files that say one of some words, each with the modules that it imports or may import."""
        for path, told in self._db.rows("SELECT path, facts FROM project_file WHERE facts <> '{}'"):
            if any(word in told for word in words):
                imports = read_facts(str(told)).imports
                yield str(path), {name for one in imports for name in (one.module, *_joined(one))}


def _joined(one: Import) -> tuple[str, ...]:
    """Return what an import of a name means if the name is a module itself: `from package import module`."""
    if not one.name:
        return ()
    return (f"{one.module}{'' if one.module.endswith('.') else '.'}{one.name}", f"{one.module}::{one.name}")


def read_facts(told: str) -> CodeFacts:
    """Return what a program says of others, as its file's row holds it."""
    if told == "{}":
        return CodeFacts()
    data = json.loads(told)
    return CodeFacts(
        tuple(Import(**one) for one in data["imports"]),
        tuple(CallSite(one["caller"], tuple(one["target"]), one["line"]) for one in data["calls"]),
        tuple(Base(one["symbol"], tuple(one["target"]), one["implements"]) for one in data["bases"]),
        {name: tuple(target) for name, target in data["types"].items()},
    )
