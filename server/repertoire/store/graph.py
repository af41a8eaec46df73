"""Reads the graph: full-text search, components by id or name, and all edges as arrays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import numpy.typing as npt

from repertoire.domain.component import AGENT, COMMAND, MCP_SERVER, PLUGIN, PROVIDES, SKILL, Component
from repertoire.domain.graph import COMPONENTS
from repertoire.domain.invocation import UNLISTED, call_name, precedence
from repertoire.domain.text import match_any
from repertoire.ports import Among, Link, Outline, StoredComponent, Summary, Topology
from repertoire.store.connection import Connection
from repertoire.store.light.bindings import marks
from repertoire.store.light.exact_copies import COPIES, TWINS, copies_of_removed
from repertoire.store.rows import SELECT_STORED, stored
from repertoire.store.topology import read_topology

EdgeRow = tuple[int, int, str, float, str, str]
OUTLINED = 400  # characters of a description that an outline holds
_FROM = "node n JOIN component c ON c.node_id = n.id LEFT JOIN source s ON s.id = n.source_id"
_MOST_COUNTED = 20_000  # words whose document frequency is cached
# each half by an index of its own; `UNION` would read every node and component in the order of keys
UNOBTAINABLE = """
    SELECT n.key FROM component c JOIN node n ON n.id = c.node_id WHERE c.client <> ''
    UNION ALL SELECT n.key FROM component c JOIN node n ON n.id = c.node_id
    WHERE NOT c.installed AND c.install IN ('', '[]') AND n.key NOT LIKE '%:https://%'
    UNION ALL SELECT n.key FROM component c JOIN node n ON n.id = c.node_id WHERE c.invocation = 'nobody'"""
_STARTED = """SELECT n.key, n.name, c.type, c.path, c.plugin, ifnull(s.key, '') FROM component c
    JOIN node n ON n.id = c.node_id LEFT JOIN source s ON s.id = n.source_id
    WHERE c.installed >= ? AND c.client = '' AND c.type IN (?, ?, ?, ?)"""
_JUDGED = """SELECT n.key, n.name, c.type, c.plugin, c.marketplace, c.repository, c.installed, c.install,
    CASE c.type WHEN 'mcp_server' THEN c.front_matter ELSE '{}' END
    FROM component c JOIN node n ON n.id = c.node_id WHERE c.client = ''"""
Withholding = Callable[[str, str, str], bool]  # tells of a type, a name that starts it, and a plugin
Judge = Callable[[Component], str]  # returns why a component is forbidden; empty if it is not


# The name under which a relation is declared: the part before a colon, or all of it.
_ROW = "substr(e.relation, 1, ifnull(nullif(instr(e.relation, ':'), 0) - 1, length(e.relation)))"


class Graph:
    """Reads nodes and edges."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._counted: dict[str, tuple[int, dict[str, int]]] = {}  # by view, of a revision
        self._unobtainable: tuple[int, frozenset[str]] | None = None  # of a revision
        self._started: tuple[int, list[tuple[str, str, str, str, str]]] | None = None
        self._withheld: tuple[int, Withholding, frozenset[str]] | None = None  # of a revision, by what
        self._forbidden: tuple[int, Judge, frozenset[str]] | None = None  # in the same way

    def revision(self, view: str = COMPONENTS) -> int:
        """Return the revision of a view: a number that changes whenever a node or an edge in the view does."""
        key = self._db.layout.views_by_name[view].revision
        return int(self._db.meta(key) or 0)

    def coming_revision(self) -> int:
        """Return the revision of components after the open transaction commits; without one, the present."""
        return self.revision() + (COMPONENTS in self._db.touched)

    def match(
        self,
        words: Sequence[str],
        *,
        limit: int,
        weights: tuple[float, float, float],
        among: Among | None = None,
        view: str = COMPONENTS,
    ) -> list[tuple[int, float]]:
        """Return (node id, BM25 score, higher is better) of the nodes in a view that hold any of the words, best first.

        `weights` are the column weights of name, description and body.
        """
        text = self._db.layout.views_by_name[view].text
        if not words or not text:
            return []
        narrowed, values = _narrowed(among, text)
        return self._db.rows(
            f"SELECT rowid, -bm25({text}, ?, ?, ?) AS score FROM {text} WHERE {text} MATCH ? "
            f"{narrowed} ORDER BY score DESC, rowid LIMIT ?",
            (*weights, match_any(list(words)), *values, limit),
        )

    def match_fields(
        self, words: Sequence[str], *, limit: int, among: Among | None = None
    ) -> list[tuple[int, float, float, float, float]]:
        """Return (node id, total score, and the scores of name, description and body alone), best first."""
        if not words:
            return []
        narrowed, values = _narrowed(among, "component_text")
        return self._db.rows(
            f"""SELECT rowid, -bm25(component_text, 2, 1, 1) AS score, -bm25(component_text, 1, 0, 0),
                 -bm25(component_text, 0, 1, 0), -bm25(component_text, 0, 0, 1)
               FROM component_text WHERE component_text MATCH ? {narrowed} ORDER BY score DESC, rowid LIMIT ?""",
            (match_any(list(words)), *values, limit),
        )

    def document_frequency(self, words: Sequence[str], view: str = COMPONENTS) -> dict[str, int]:
        """Count the nodes of a view that contain each word (its stem); counts are cached until the view changes."""
        revision, text = self.revision(view), self._db.layout.views_by_name[view].text
        known = self._counted.get(view)
        if known is None or known[0] != revision or len(known[1]) > _MOST_COUNTED:
            known = self._counted[view] = (revision, {})
        for word in words:
            if word not in known[1]:
                count = f"SELECT count(*) FROM {text} WHERE {text} MATCH ?"
                known[1][word] = int(self._db.value(count, (match_any([word]),)))
        return {word: known[1][word] for word in words}

    def holders(self, word: str, view: str = COMPONENTS) -> npt.NDArray[np.int64]:
        """Return the ids of the nodes of a view that contain a word (its stem), in no order."""
        text = self._db.layout.views_by_name[view].text
        # One text of all ids: to fetch them as rows takes three times as long.
        found = self._db.value(f"SELECT group_concat(rowid) FROM {text} WHERE {text} MATCH ?", (match_any([word]),))
        return np.fromstring(found or "", dtype=np.int64, sep=",")

    def summaries(self) -> list[Summary]:
        """Return the fields that ranking needs of every component, in the order of node ids."""
        same: dict[str, str] = {"": ""}  # interned: many components share a source, a repository and a day
        found, copied = [], self._copied_plugins()
        told = f"c.invocation NOT IN ({', '.join(map(repr, sorted(UNLISTED)))})"
        for row in self._db.stream(
            f"""SELECT n.id, n.key, n.name, c.content_hash, c.installed, c.popularity, iif(a.at IS NULL, c.risk, 0),
                iif({told}, length(c.description), 0), iif({told}, octet_length(c.description), 0), c.type,
                ifnull(s.key, ''), c.repository, c.plugin, c.last_commit, c.client, c.marketplace,
                iif(c.marketplace = '' AND c.plugin <> '', c.install, '')
                FROM {_FROM} LEFT JOIN acceptance a ON a.content_hash = c.content_hash ORDER BY n.id"""
        ):
            number, key, name, content, installed, popularity, risk, described, size, *shared = row
            kind, source, repository, plugin, *late = (same.setdefault(text, text) for text in shared)
            commit, client, marketplace, install = late
            known = (number, key, name, kind, source, repository, plugin, content, bool(installed), popularity)
            found.append(Summary(*known, risk, commit, client, marketplace, described, size, install in copied))
        return found

    def _copied_plugins(self) -> frozenset[str]:
        """Return the install lines of plugins of no marketplace; parts that work only with the plugin have them too."""
        wanted = "SELECT install FROM component WHERE type = ? AND marketplace = '' AND install NOT IN ('', '[]')"
        return frozenset(install for (install,) in self._db.rows(wanted, (PLUGIN,)))

    def components(self, node_ids: Iterable[int]) -> dict[int, StoredComponent]:
        """Map node ids to components; an id that belongs to no component is left out."""
        return {int(row[0]): stored(row) for row in self._db.of_nodes(SELECT_STORED, node_ids)}

    def without_capabilities(self, *, except_plugin: str = "") -> list[str]:
        """Return the ids of components without a known capability, installed first, except those of one plugin."""
        rows = self._db.rows(
            f"""SELECT n.key FROM component c JOIN node n ON n.id = c.node_id
                WHERE NOT EXISTS (SELECT 1 FROM edge e WHERE e.source = n.id AND e.relation = '{PROVIDES}')
                  AND (c.plugin <> ?1 OR ?1 = '') ORDER BY c.installed DESC, n.id""",
            (except_plugin,),
        )
        return [str(row[0]) for row in rows]

    def by_key(self, key: str) -> StoredComponent | None:
        """Return the component with this id, or None."""
        row = self._db.row(f"{SELECT_STORED} WHERE n.key = ?", (key,))
        return None if row is None else stored(row)

    def by_name(self, name: str, *, limit: int = 20) -> list[StoredComponent]:
        """Return the components with this name, installed ones first, those for other clients last."""
        rows = self._db.rows(
            f"""{SELECT_STORED} WHERE n.type = 'component' AND n.name = ? COLLATE NOCASE
                ORDER BY c.client <> '', c.installed DESC, c.popularity DESC, n.id LIMIT ?""",
            (name, limit),
        )
        return [stored(row) for row in rows]

    def skills_in(self, folder: str) -> list[StoredComponent]:
        """Return the skills whose own folder has this name, installed ones first."""
        known = "".join(f"!{sign}" if sign in "!%_" else sign for sign in folder)
        rows = self._db.rows(
            f"""{SELECT_STORED} WHERE n.type = 'component' AND c.type = ?1 AND n.id IN (
                  SELECT id FROM node WHERE key LIKE ?2 ESCAPE '!' OR key LIKE ?3 ESCAPE '!')
                ORDER BY c.client <> '', c.installed DESC, n.id LIMIT 20""",
            (SKILL, f"%/{known}/SKILL.md", f"%:{known}/SKILL.md"),
        )
        return [stored(row) for row in rows]

    def of_plugins(self, names: Iterable[str]) -> frozenset[str]:
        """Return the ids of all components of these plugins, each named `plugin@marketplace`."""
        rows = self._db.rows(
            """SELECT n.key FROM component c JOIN node n ON n.id = c.node_id
               WHERE c.marketplace <> '' AND c.plugin || '@' || c.marketplace IN (SELECT value FROM json_each(?))""",
            (json.dumps(list(names)),),
        )
        return frozenset(str(key) for (key,) in rows)

    def shadowed(self, unused: AbstractSet[str]) -> frozenset[str]:
        """Return the ids of installed components that never run, since another one of their call name does.

        `unused` are the ids and sources of what is installed but not in use in the project that asks.
        """
        by_name: dict[str, list[tuple[tuple[bool, bool, int], str]]] = {}
        for key, kind, plugin, call, source in self._installed()[1]:
            if kind != MCP_SERVER and key not in unused and source not in unused:
                by_name.setdefault(f"{kind == AGENT} {call}", []).append((precedence(kind, key, plugin), key))
        groups = (sorted(same) for same in by_name.values() if len(same) > 1)
        return frozenset(key for (first, _), *others in groups for place, key in others if place > first)

    def withheld(self, by: Withholding) -> frozenset[str]:
        """Return the ids of components that are kept from the model by what tells so, once they are installed too.

        They are kept for the revision and an equal `by`: each question and each prompt asks.
        """
        revision = self.revision()
        if self._withheld is None or self._withheld[:2] != (revision, by):
            found = frozenset(
                key for key, kind, plugin, call, _ in self._named(installed=False) if by(kind, call, plugin)
            )
            self._withheld = revision, by, found
        return self._withheld[2]

    def forbidden(self, by: Judge) -> frozenset[str]:
        """Return the ids of components that a judge forbids, and of plugins of which nothing that is known is left.

        They are kept as those that are withheld.
        """
        revision = self.revision()
        if self._forbidden is None or self._forbidden[:2] != (revision, by):
            known = [_judged(row) for row in self._db.rows(_JUDGED)]
            found = {one.id for one in known if by(one)}
            parts = [one for one in known if one.plugin and one.type != PLUGIN]
            idle = {_unit(one) for one in parts} - {_unit(one) for one in parts if one.id not in found}
            found.update(one.id for one in known if one.type == PLUGIN and _unit(one) in idle)
            self._forbidden = revision, by, frozenset(found)
        return self._forbidden[2]

    def _installed(self) -> tuple[int, list[tuple[str, str, str, str, str]]]:
        """Return id, type, plugin, the name that starts it, and source of what is installed, with the revision.

        They are kept for the revision, because each question and each prompt asks.
        """
        revision = self.revision()
        if self._started is None or self._started[0] != revision:
            self._started = revision, list(self._named(installed=True))
        return self._started

    def _named(self, *, installed: bool) -> Iterator[tuple[str, str, str, str, str]]:
        """Yield id, type, plugin, the name that starts it, and source of what is `installed`, or of all components."""
        kinds = (SKILL, COMMAND, AGENT, MCP_SERVER)
        for key, name, kind, path, plugin, source in self._db.rows(_STARTED, (installed, *kinds)):
            yield key, kind, plugin, call_name(kind, name, path, plugin), source

    def unobtainable(self) -> frozenset[str]:
        """Return the ids of components for other clients, that nobody may start, or that `not_installable` tells of.

        It is kept for the revision: each question and each prompt asks.
        """
        revision = self.revision()
        if self._unobtainable is None or self._unobtainable[0] != revision:
            self._unobtainable = revision, frozenset(str(key) for (key,) in self._db.rows(UNOBTAINABLE))
        return self._unobtainable[1]

    def copies(self, keys: Iterable[str]) -> list[tuple[str, ...]]:
        """Return the groups of exact copies to which these components belong, as ids, installed ones first.

        Exact copies have the same content, type and name; those that were removed come last. A component without a copy
        is in no group.
        """
        keys = list(keys)
        groups: dict[tuple[str, str, str], list[str]] = {}
        for content, kind, name, key in self._db.rows(
            f"""SELECT DISTINCT d.content_hash, d.type, copy.name, copy.key FROM json_each(?) asked
                 JOIN node n ON n.key = asked.value JOIN component c ON c.node_id = n.id {COPIES}
               WHERE c.content_hash <> '' ORDER BY d.installed DESC, copy.id""",
            (json.dumps(keys),),
        ):
            groups.setdefault((content, kind, name), []).append(key)
        with_removed = list(groups.values())
        group_of = {key: group for group in with_removed for key in group}
        for gone, copies in copies_of_removed(self._db.rows, keys).items():
            if copies[0] not in group_of:
                with_removed.append(copies)
                group_of.update(dict.fromkeys(copies, copies))
            group_of[copies[0]].append(gone)
        return [tuple(group) for group in with_removed if len(group) > 1]

    def namesakes(self, keys: Iterable[str]) -> frozenset[str]:
        """Return the ids of what says nearly the same as one of these components, under its name."""
        rows = self._db.rows(
            f"""SELECT other.key FROM node n JOIN ({TWINS}) e ON e.one = n.id
                 JOIN node other ON other.id = e.two AND other.name = n.name
               WHERE n.key IN (SELECT value FROM json_each(?))""",
            (json.dumps(list(keys)),),
        )
        return frozenset(str(key) for (key,) in rows)

    def links(self, key: str, *, limit: int = 200, view: str = COMPONENTS) -> list[Link]:
        """Return the edges of a node in a view, the strongest first."""
        relations = self._db.layout.relations_of(view)
        among = f"{_ROW} IN ({marks(relations)})"
        rows = self._db.rows(
            f"""SELECT b.key, b.name, b.type, e.relation, 1, e.weight, e.evidence FROM edge e
                 JOIN node a ON a.id = e.source JOIN node b ON b.id = e.target WHERE a.key = ? AND {among}
               UNION ALL
               SELECT a.key, a.name, a.type, e.relation, 0, e.weight, e.evidence FROM edge e
                 JOIN node a ON a.id = e.source JOIN node b ON b.id = e.target WHERE b.key = ? AND {among}
               ORDER BY 6 DESC, 4, 1 LIMIT ?""",
            (key, *relations, key, *relations, limit),
        )
        return [Link(row[0], row[1], row[2], row[3], bool(row[4]), row[5], row[6]) for row in rows]

    def data(self, node_type: str) -> dict[int, dict[str, Any]]:
        """Map the node ids of a type other than components to the stored data of each node."""
        rows = self._db.rows("SELECT id, data FROM node WHERE type = ? ORDER BY id", (node_type,))
        return {int(node_id): json.loads(data) for node_id, data in rows}

    def outlines(self, *, installed: bool = False) -> list[Outline]:
        """Return the outline of every component, or of every installed one, in the order of node ids."""
        rows = self._db.rows(
            f"""SELECT c.front_matter, n.id, n.key, n.name, c.type, s.key, c.content_hash, c.installed, c.repository,
                c.plugin, c.marketplace, c.path, substr(c.description, 1, {OUTLINED}), c.client FROM {_FROM}
                WHERE c.installed >= ? ORDER BY n.id""",
            (int(installed),),
        )
        return [Outline(json.loads(front_matter), *values) for front_matter, *values in rows]

    def edges_of(self, relation: str) -> list[EdgeRow]:
        """Return every edge of a relation as (source id, target id, target name, weight, evidence, label)."""
        return self._db.rows(
            """SELECT e.source, e.target, t.name, e.weight, e.evidence, e.file
               FROM edge e JOIN node t ON t.id = e.target WHERE e.relation = ? ORDER BY e.source, e.target, e.id""",
            (relation,),
        )

    def topology(self, view: str = COMPONENTS) -> Topology:
        """Return the nodes and edges of a view as arrays, all of one revision; edges in order of source and target.

        What was selected leads to its exact copy where it was removed.
        """
        return read_topology(self._db, view)

    def counts(self) -> dict[str, int]:
        """Count components by type, capabilities, and all nodes and edges in the view of components."""
        kinds, relations = self._db.layout.kinds_of(COMPONENTS), self._db.layout.relations_of(COMPONENTS)
        counts = dict(self._db.rows("SELECT type, count(*) FROM component GROUP BY type ORDER BY type"))
        counts["components"] = sum(counts.values())
        counts["nodes"] = int(self._db.value(f"SELECT count(*) FROM node WHERE type IN ({marks(kinds)})", kinds))
        counts["edges"] = int(
            self._db.value(f"SELECT count(*) FROM edge e WHERE {_ROW} IN ({marks(relations)})", relations)
        )
        counts["capabilities"] = int(self._db.value("SELECT count(*) FROM node WHERE type = 'capability'"))
        return counts


def _narrowed(among: Among | None, text: str) -> tuple[str, tuple[str, ...]]:
    """Return an SQL condition that limits the rows of a full-text query, and its bindings.

    The plus keeps SQLite from querying the index once for each row; BM25 takes most of the time, not finding rows.
    """
    if among is None:
        return "", ()
    if among.node_ids is not None:
        return "AND +rowid IN (SELECT value FROM json_each(?))", (json.dumps(list(among.node_ids)),)
    found = f"SELECT rowid FROM {text} WHERE {text} MATCH ?"
    return f"AND +rowid IN ({found})", (match_any(list(among.words)),)


def _unit(component: Component) -> tuple[str, str, str]:
    return component.plugin, component.marketplace, component.repository


def _judged(row: Sequence[Any]) -> Component:
    """Return a component with the parts by which settings allow or forbid it."""
    key, name, kind, plugin, marketplace, repository, installed, install, stated = row
    lines = tuple(json.loads(install or "[]"))
    return Component(
        id=key,
        type=kind,
        name=name,
        plugin=plugin,
        marketplace=marketplace,
        repository=repository,
        installed=bool(installed),
        install=lines,
        front_matter=json.loads(stated),
    )
