"""Reads what a session's start needs of the database, and of the spool before it; nothing is written.

The session hook runs this with any Python from 3.9. A database that is locked, damaged or newer than this version
raises sqlite3.Error.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from repertoire.boot.spool import rows_of, waiting
from repertoire.domain.event import ASKED, COMPACTED, MEMORY_OFFERED, OFFERED, SELECTED
from repertoire.domain.text import index_text
from repertoire.domain.trust import HINTABLE
from repertoire.store.light import exact_copies
from repertoire.store.light.bindings import marks
from repertoire.store.light.elsewhere import PROJECTS, elsewhere
from repertoire.store.light.opening import open_to_read

SCHEMA = 12  # the newest schema whose tables are known here; tests hold it equal to the store's
_KNOWS_CLIENTS, _KNOWS_INVOCATION = 7, 12
_CANDIDATES, _BY_WORDS = 300, 60
_EVENTS = 2_000  # of the log, the newest, that are folded: others are kept as sums
LOOKED_AT = 20_000  # characters of a text that is offered


class EventRow(NamedTuple):
    """A row of the event log, with the fields that learning reads."""

    id: int
    at: str
    kind: str
    session: str
    project: str
    request: str
    node: str
    data: Mapping[str, Any]


class Described(NamedTuple):
    """A component that may be named at a start."""

    key: str
    name: str
    type: str
    description: str  # its beginning
    terms: Mapping[str, float]  # what it provides, and how surely
    installed: bool
    plugin: str
    popularity: float
    repository: str
    source: str


class Text(NamedTuple):
    """What is looked at of a component before it is named."""

    body: str  # its beginning
    install: tuple[str, ...]
    path: str
    marketplace: str
    invocation: str  # see Component


class StartReader:
    """The database as a session's start reads it: what waits in the spool counts as logged."""

    def __init__(self, path: Path) -> None:
        """Open it to read.

        Raises:
            sqlite3.Error: it cannot be used now.
        """
        # before the log: read after it, what is moved in between would be in neither
        self._spooled = [_spooled(row) for file in waiting(path.parent) for row in rows_of(file)]
        self._db = open_to_read(path, known_schema=SCHEMA)
        self._schema = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        self.close = self._db.close

    def holds_components(self) -> bool:
        """Tell whether there is any component."""
        return self._db.execute("SELECT 1 FROM component LIMIT 1").fetchone() is not None

    def components(self) -> int:
        """Count the components."""
        return int(self._db.execute("SELECT count(*) FROM component").fetchone()[0])

    def silent_in(self, project: str) -> set[str]:
        """Return what is muted in a project, with all its exact copies; and the project, if it is muted."""
        return exact_copies.silent(self._db.execute, project)

    def traces_of(self, project: str, limit: int) -> list[tuple[str, str]]:
        """Return key and title of the newest active traces that were kept in a project and that no check flags."""
        if self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'trace'").fetchone() is None:
            return []  # written by an older version
        sql = """SELECT n.key, t.title FROM trace t JOIN node n ON n.id = t.node_id
          WHERE t.project = ? AND t.status = 'active' AND t.flags = '[]' ORDER BY t.at DESC LIMIT ?"""
        return [(str(key), str(title)) for key, title in self._db.execute(sql, (project, limit))]

    def elsewhere(self, project: str) -> set[str]:
        """Return the keys of the sources that are other projects' own."""
        return elsewhere(self._db.execute(PROJECTS), project)

    def copies_of(self, keys: Iterable[str]) -> dict[str, str]:
        """Map every exact copy of these components, and those themselves that have any, to one of its copies."""
        return exact_copies.copies_of(self._db, keys)

    def twins_of(self, keys: Iterable[str]) -> dict[str, str]:
        """Map every twin of these components, which says nearly the same, to the one that it is a twin of."""
        return exact_copies.twins_of(self._db, keys)

    def memory_offers(self) -> list[tuple[str, str]]:
        """Return in which projects a memory was offered, and when."""
        rows = self._db.execute("SELECT project, at FROM event WHERE kind = ?", (MEMORY_OFFERED,)).fetchall()
        late = [(event.project, event.at) for event in self._spooled if event.kind == MEMORY_OFFERED]
        return [*((str(project), str(at)) for project, at in rows), *late]

    def asked_in(self, project: str, most: int) -> int:
        """Count the sessions that asked for something in a project, up to a number."""
        sql = """SELECT count(*) FROM (SELECT DISTINCT session FROM
          (SELECT session, project FROM event WHERE kind = ? ORDER BY id DESC LIMIT ?) WHERE project = ? LIMIT ?)"""
        return int(self._db.execute(sql, (ASKED, _EVENTS, project, most)).fetchone()[0])

    def was_greeted(self, session: str) -> bool:
        """Tell whether a component was offered in a session since its last compaction."""
        row = self._db.execute(
            """SELECT 1 FROM event WHERE session = ?1 AND kind = 'offered' AND id > coalesce(
                 (SELECT max(id) FROM event WHERE session = ?1 AND kind = 'compacted'), 0) LIMIT 1""",
            (session,),
        ).fetchone()
        told = row is not None
        for event in self._spooled:
            if event.session == session and event.kind in (OFFERED, COMPACTED):
                told = event.kind == OFFERED
        return bool(session) and told

    def told_since(self, project: str, since: str) -> list[tuple[str, str, str, Mapping[str, Any]]]:
        """Return kind, session, component and data of what a project was told and used, the newest first."""
        rows = self._db.execute(
            "SELECT kind, session, node, data FROM event NOT INDEXED WHERE kind IN (?, ?) "
            f"AND project = ? AND at >= ? ORDER BY id DESC LIMIT {_EVENTS}",
            (OFFERED, SELECTED, project, since),
        )
        logged = [(kind, session, node, json.loads(data)) for kind, session, node, data in rows]
        late = [e for e in self._spooled if e.kind in (OFFERED, SELECTED) and e.project == project and e.at >= since]
        return [*((e.kind, e.session, e.node, e.data) for e in late[::-1]), *logged]

    def newest_events(self, kinds: Sequence[str], after: int) -> list[EventRow]:
        """Return the newest events of these kinds that came after a number, the oldest of them first."""
        rows = self._db.execute(
            "SELECT id, at, kind, session, project, request, node, data FROM event NOT INDEXED "  # from the end
            f"WHERE kind IN ({marks(kinds)}) AND id > ? ORDER BY id DESC LIMIT {_EVENTS}",
            (*kinds, after),
        )
        logged = [EventRow._make((*row[:-1], json.loads(row[-1]))) for row in rows]
        return [*logged[::-1], *(event for event in self._spooled if event.kind in kinds)]

    def log_summary(self) -> str | None:
        """Return the summary of the log, as JSON, from its last compaction; None if there is none."""
        row = self._db.execute("SELECT value FROM meta WHERE key = 'kept'").fetchone()
        return None if row is None else row[0]

    def frequency(self, terms: Sequence[str]) -> dict[str, int]:
        """Count the components that provide each of these capabilities."""
        rows = self._db.execute(
            "SELECT substr(c.key, 12), count(*) FROM node c JOIN edge e ON e.target = c.id AND e.relation = 'provides' "
            "JOIN component p ON p.node_id = e.source "  # patterns provide too
            f"WHERE c.key IN ({marks(terms)}) GROUP BY c.key",
            [f"capability:{term}" for term in terms],
        )
        return dict(rows.fetchall())

    def candidates(self, terms: Sequence[str], elsewhere: Sequence[str] = ()) -> Iterator[Described]:
        """Yield the components that provide these capabilities, or whose name or description holds their words.

        A copy of what is installed is none, unless it is installed in the sources `elsewhere` alone.
        """
        ids = list(dict.fromkeys((*self._providing(terms), *self._worded(terms))))[:_CANDIDATES]
        there = exact_copies.IS_THERE % marks(elsewhere)
        provided: dict[int, dict[str, float]] = {}
        for node, term, sure in self._db.execute(
            "SELECT e.source, substr(c.key, 12), max(e.weight) FROM edge e JOIN node c ON c.id = e.target "
            f"WHERE e.relation = 'provides' AND e.source IN ({marks(ids)}) GROUP BY e.source, c.key",
            ids,
        ):
            provided.setdefault(node, {})[term] = min(sure, 1.0)
        for node, key, name, kind, text, installed, *more in self._db.execute(
            f"SELECT n.id, n.key, n.name, c.type, substr(c.description, 1, {LOOKED_AT}), c.installed, c.plugin, "
            "c.popularity, c.repository, coalesce(s.key, '') FROM node n JOIN component c ON c.node_id = n.id "
            # a tool comes with its server, and a line of a list leads elsewhere
            f"LEFT JOIN source s ON s.id = n.source_id WHERE n.id IN ({marks(ids)}) AND c.type <> 'tool' "
            f"AND instr(n.key, ':https://') = 0 AND (c.risk <= {HINTABLE} OR "
            "EXISTS (SELECT 1 FROM acceptance a WHERE a.content_hash = c.content_hash)) "
            f"AND (c.installed OR NOT {there}) {self._own_client_condition()}",
            (*ids, *elsewhere),
        ):
            yield Described(key, name, kind, text, provided.get(node, {}), bool(installed), *more)

    def text(self, key: str) -> Text:
        """Return the beginning of a component's body, its install lines, path and marketplace, and who may start it."""
        invocation = "c.invocation" if self._schema >= _KNOWS_INVOCATION else "''"
        body, install, *more = self._db.execute(
            f"SELECT substr(c.body, 1, {LOOKED_AT}), c.install, c.path, c.marketplace, {invocation} "
            "FROM node n JOIN component c ON c.node_id = n.id WHERE n.key = ?",
            (key,),
        ).fetchone()
        return Text(body, tuple(map(str, json.loads(install))), *more)

    def coming_along(self, key: str) -> tuple[int, bool]:
        """Count the others of a component's plugin that are installed with it, and tell whether all are known."""
        (in_part,) = self._db.execute(
            "SELECT s.kind = 'catalogue' FROM node n JOIN source s ON s.id = n.source_id WHERE n.key = ?", (key,)
        ).fetchone()
        sql = """SELECT count(*) FROM node n JOIN component c ON c.node_id = n.id
          JOIN node m ON m.source_id = n.source_id AND m.id <> n.id
          JOIN component other ON other.node_id = m.id AND (other.plugin, other.marketplace) = (c.plugin, c.marketplace)
          WHERE n.key = ? AND c.marketplace <> '' AND other.type NOT IN ('plugin', 'tool')"""
        if not in_part:
            sql = """SELECT count(*) FROM node n JOIN component c ON c.node_id = n.id
              JOIN edge own ON own.source = n.id AND own.relation = 'part_of'
              JOIN component p ON p.node_id = own.target AND p.type = 'plugin' AND p.install = c.install
              JOIN edge other ON other.target = own.target AND other.relation = 'part_of' AND other.source <> n.id
              WHERE n.key = ?"""
        return int(self._db.execute(sql, (key,)).fetchone()[0]), not in_part

    def _providing(self, terms: Sequence[str]) -> list[int]:
        rows = self._db.execute(
            "SELECT e.source FROM node c JOIN edge e ON e.target = c.id AND e.relation = 'provides' "
            "JOIN component p ON p.node_id = e.source "
            f"WHERE c.key IN ({marks(terms)}) AND p.type <> 'tool' "
            f"GROUP BY e.source ORDER BY sum(e.weight) DESC, e.source LIMIT {_CANDIDATES}",
            [f"capability:{term}" for term in terms],
        )
        return [row for (row,) in rows]

    def _worded(self, terms: Sequence[str]) -> list[int]:
        phrases = " OR ".join(f'"{index_text(term)}"' for term in terms)
        rows = self._db.execute(
            "SELECT rowid FROM component_text WHERE component_text MATCH ? "
            f"ORDER BY bm25(component_text, 4.0, 2.0, 0.0), rowid LIMIT {_BY_WORDS}",
            (f"{{name description}} : ({phrases})",),
        )
        return [row for (row,) in rows]

    def _own_client_condition(self) -> str:
        """Return the SQL condition that leaves out other clients' components; empty for an old schema."""
        return "AND c.client = ''" if self._schema >= _KNOWS_CLIENTS else ""


def _spooled(row: Mapping[str, Any]) -> EventRow:
    at, kind, session, project, request, node = (str(row.get(name, "")) for name in EventRow._fields[1:-1])
    data = row.get("data")
    return EventRow(0, at, kind, session, project, request, node, data if isinstance(data, dict) else {})
