"""Keeps traces with their words, errors and votes; an amended one stays and is superseded, nothing is overwritten."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from repertoire.domain.component import Edge, Node
from repertoire.domain.event import VOTED
from repertoire.domain.text import match_any
from repertoire.domain.trace import (
    ACTIVE,
    CONCERNS,
    DRAFT,
    SHOWS,
    SIGNATURE,
    SUPERSEDED,
    SUPERSEDES,
    TRACE,
    Trace,
    Vote,
)
from repertoire.store.connection import Connection
from repertoire.store.light.bindings import marks
from repertoire.store.rows import as_json, flags_as_json, flags_of, storable
from repertoire.store.vectors import Vectors
from repertoire.store.writing import GraphWriter, Owner, words_of

_COLUMNS = (
    "title context solution tags environment outcome status review_after watch uses signatures session project author "
    "licence version supersedes flags at token"
).split()
_JOINED = "trace t JOIN node n ON n.id = t.node_id"
_SELECT = f"SELECT n.id, n.key, {', '.join('t.' + column for column in _COLUMNS)} FROM {_JOINED}"
REACHED = "commons"  # key in `meta` of the cursor of what was fetched from a commons
_SHOWING = 500  # traces of one error: what more show says little of any


class Traces:
    """The traces of a home."""

    def __init__(self, connection: Connection, vectors: Vectors) -> None:
        self._db = connection
        self._vectors = vectors

    def reached(self, commons: str) -> int:
        """Return the cursor up to which this database holds what changed in a commons; 0 where it holds nothing."""
        name, cursor = json.loads(self._db.meta(REACHED) or '["", 0]')
        return int(cursor) if name == commons else 0

    def reach(self, commons: str, cursor: int) -> None:
        """Keep the cursor here, beside what was fetched: a database that was lost begins anew."""
        with self._db.transaction():
            self._db.set_meta(REACHED, json.dumps([commons, cursor]))

    def put(self, trace: Trace, *, token: str = "", now: str) -> int:
        """Store a trace, mark the one it replaces as superseded; return its node id. No search finds a draft."""
        with self._db.transaction():
            return self._put(GraphWriter(self._db, self._vectors, now), trace, token)

    def put_many(self, traces: Iterable[Trace], *, now: str) -> None:
        """Store many traces in one transaction."""
        with self._db.transaction():
            writer = GraphWriter(self._db, self._vectors, now)
            for trace in traces:
                self._put(writer, trace, "")

    def _put(self, writer: GraphWriter, trace: Trace, token: str) -> int:
        data = {"projects": [storable(trace.project)]} if trace.project else {}
        node_id = writer.put_node(Node(trace.key, TRACE, trace.title, data))
        self._db.execute(f"INSERT OR REPLACE INTO trace VALUES (?, {marks(_COLUMNS)})", (node_id, *_row(trace, token)))
        if trace.status != DRAFT:
            self._publish(writer, node_id, trace)
        return node_id

    def _publish(self, writer: GraphWriter, node_id: int, trace: Trace) -> None:
        """Make a trace searchable, and mark the one that it replaces as superseded."""
        text = words_of(" ".join((trace.title, *trace.tags)), trace.context, trace.solution)
        writer.put_node(self._node(node_id), text=text)
        replaced = self.find(trace.supersedes) if trace.supersedes else None
        if replaced is not None:
            self._db.execute("UPDATE trace SET status = ? WHERE node_id = ?", (SUPERSEDED, replaced))
        self._link(writer, trace, replaces=replaced is not None)

    def _link(self, writer: GraphWriter, trace: Trace, *, replaces: bool) -> None:
        """Join a trace to its errors, to what it used, and to the trace that it replaces, where that is here."""
        for key, template in trace.signatures.items():
            writer.put_node(Node(key, SIGNATURE, template))
        edges = [
            *(Edge(trace.key, key, SHOWS) for key in trace.signatures),
            *(Edge(trace.key, key, CONCERNS) for key in trace.uses),
        ]
        if replaces:
            edges.append(Edge(trace.key, trace.supersedes, SUPERSEDES))
        writer.replace_edges(Owner(0, trace.key), edges)
        writer.touch_nodes(TRACE)

    def is_read_with(self, version: str) -> bool:
        """Tell whether all traces were read with this version of the rules for their signatures and flags."""
        return str(self._db.meta("signatures")) == version

    def read_again(self, traces: Iterable[Trace], version: str, *, now: str) -> None:
        """Give stored traces the signatures and flags that they have here, and record the version of the rules."""
        with self._db.transaction():
            writer = GraphWriter(self._db, self._vectors, now)
            for trace in traces:
                node_id = self.find(trace.key)
                self._db.execute(
                    "UPDATE trace SET signatures = ?, flags = ? WHERE node_id = ?",
                    (as_json(trace.signatures), flags_as_json(trace.flags), node_id),
                )
                if node_id is not None and trace.status != DRAFT:
                    replaces = bool(trace.supersedes) and self.find(trace.supersedes) is not None
                    self._link(writer, trace, replaces=replaces)
            writer.collect_orphans()
            self._db.set_meta("signatures", version)

    def _node(self, node_id: int) -> Node:
        key, name, data = self._db.rows("SELECT key, name, data FROM node WHERE id = ?", (node_id,))[0]
        return Node(key, TRACE, name, json.loads(data))

    def drop(self, key: str) -> None:
        """Delete one trace with its votes and what only it needed; what it superseded is in use again."""
        with self._db.transaction():
            writer = GraphWriter(self._db, self._vectors, "")
            self._release(key)
            writer.delete(self._db.rows("SELECT id, type FROM node WHERE key = ? AND type = ?", (key, TRACE)))
            writer.collect_orphans()

    def _release(self, key: str) -> None:
        """Let the trace that one superseded be in use again, if the one is in use itself and no other replaces it."""
        self._db.execute(
            f"""UPDATE trace SET status = '{ACTIVE}' WHERE status = '{SUPERSEDED}' AND node_id = (
                 SELECT old.id FROM {_JOINED} JOIN node old ON old.key = t.supersedes
                   WHERE n.key = ?1 AND t.status NOT IN ('{SUPERSEDED}', '{DRAFT}') AND NOT EXISTS (
                     SELECT 1 FROM trace other WHERE other.supersedes = t.supersedes AND other.node_id <> n.id
                       AND other.status <> '{DRAFT}'))""",
            (key,),
        )

    def drop_drafts(self, *, before: str, after: str) -> None:
        """Delete the drafts made before one time, or after another, that nobody confirmed."""
        for (key,) in self._db.rows(
            f"SELECT n.key FROM {_JOINED} WHERE t.status = ? AND (t.at < ? OR t.at > ?)", (DRAFT, before, after)
        ):
            self.drop(key)

    def find(self, key: str) -> int | None:
        """Return the node id of a trace, or None."""
        found = self._db.value("SELECT node_id FROM trace JOIN node ON id = node_id WHERE key = ?", (storable(key),))
        return None if found is None else int(found)

    def state(self, key: str) -> str:
        """Return the state of a trace; empty where there is none."""
        sql = "SELECT t.status FROM node n JOIN trace t ON t.node_id = n.id WHERE n.key = ?"
        return str(self._db.value(sql, (storable(key),)) or "")

    def get(self, key: str) -> Trace | None:
        """Return one trace, or None."""
        row = self._db.row(f"{_SELECT} WHERE n.key = ?", (storable(key),))
        return None if row is None else _trace(row)

    def of_token(self, token: str) -> Trace | None:
        """Return the draft that a token confirms, or None."""
        row = self._db.row(f"{_SELECT} WHERE t.token = ? AND t.token <> '' AND t.status = ?", (token, DRAFT))
        return None if row is None else _trace(row)

    def beginning(self, key: str) -> list[str]:
        """Return the keys of traces that begin with a text, five at most."""
        rows = self._db.rows(
            "SELECT n.key FROM trace t JOIN node n ON n.id = t.node_id WHERE substr(n.key, 1, ?) = ? LIMIT 5",
            (len(key), key),
        )
        return [str(found) for (found,) in rows]

    def replacing(self, key: str) -> str:
        """Return the key of the trace that replaced this one; empty if none did."""
        sql = f"SELECT n.key FROM {_JOINED} WHERE t.supersedes = ? AND t.status <> ? ORDER BY n.id DESC LIMIT 1"
        return str(self._db.value(sql, (storable(key), DRAFT)) or "")

    def concerning(self, keys: Sequence[str]) -> list[Trace]:
        """Return the newest active traces that used one of these components, by their keys."""
        ends = f"""SELECT e.source FROM node c JOIN edge e ON e.target = c.id
                   WHERE e.relation = ? AND c.key IN ({marks(keys)})"""
        rows = self._db.rows(
            f"{_SELECT} WHERE t.status = ? AND n.id IN ({ends}) ORDER BY n.id DESC LIMIT ?",
            (ACTIVE, CONCERNS, *map(storable, keys), _SHOWING),
        )
        return [_trace(row) for row in rows]

    def by_id(self, node_ids: Iterable[int]) -> dict[int, Trace]:
        """Return traces by node id; ids that are none are left out."""
        return {int(row[0]): _trace(row) for row in self._db.of_nodes(_SELECT, node_ids)}

    def all(self, *statuses: str) -> list[Trace]:
        """Return the traces of these states, of all where none is named, the oldest first."""
        where = f"WHERE t.status IN ({marks(statuses)})" if statuses else ""
        return [_trace(row) for row in self._db.rows(f"{_SELECT} {where} ORDER BY t.at, n.key", statuses)]

    def among(self, statuses: Sequence[str], tags: Sequence[str] = ()) -> list[int]:
        """Return the node ids of traces of these states that bear every one of these tags."""
        bears = " AND EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)" * len(tags)
        rows = self._db.rows(
            f"SELECT node_id FROM trace WHERE status IN ({marks(statuses)}){bears} ORDER BY node_id",
            (*statuses, *tags),
        )
        return [int(node_id) for (node_id,) in rows]

    def states(self) -> list[tuple[int, str]]:
        """Return node id and state of every trace but drafts, by node id."""
        return self._db.rows("SELECT node_id, status FROM trace WHERE status <> ? ORDER BY node_id", (DRAFT,))

    def words(self, node_ids: Sequence[int]) -> dict[int, frozenset[str]]:
        """Return the words of traces, as the full-text index holds them."""
        rows = self._db.rows(
            f"SELECT rowid, name, description, body FROM trace_text WHERE rowid IN ({marks(node_ids)})", node_ids
        )
        return {int(node_id): frozenset(" ".join(fields).split()) for node_id, *fields in rows}

    def showing(self, signatures: Sequence[str]) -> dict[str, list[int]]:
        """Map each signature to the node ids of the traces that show it, the newest where there are very many."""
        sql = """SELECT e.source FROM node s JOIN edge e ON e.target = s.id AND e.relation = ?
                 WHERE s.key = ? ORDER BY e.source DESC LIMIT ?"""
        found = {key: self._db.rows(sql, (SHOWS, key, _SHOWING)) for key in signatures}
        return {key: [int(node_id) for (node_id,) in rows] for key, rows in found.items() if rows}

    def votes_version(self) -> tuple[int, int]:
        """Return two numbers, one of which changes whenever a vote is given or forgotten."""
        newest, count = self._db.rows("SELECT ifnull(max(id), 0), count(*) FROM event WHERE kind = ?", (VOTED,))[0]
        return int(newest), int(count)

    def votes(self) -> list[Vote]:
        """Return every vote in the log on a trace that is still there, the oldest first, but for withdrawn ones."""
        rows = self._db.rows(
            """SELECT e.node, e.at, e.data FROM event e JOIN node n ON n.key = e.node AND n.type = ?
               WHERE e.kind = ? ORDER BY e.id""",
            (TRACE, VOTED),
        )
        told = [(key, at, json.loads(data)) for key, at, data in rows]
        withdrawn = {(key, data["voter"]): data.get("withdrawn") for key, _, data in told}  # the newest says it
        return [_vote(key, at, data) for key, at, data in told if not withdrawn[key, data["voter"]]]

    def authorship(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Map each trace that was voted on to who wrote it and its tags."""
        rows = self._db.rows(
            """SELECT n.key, t.author, t.tags FROM trace t JOIN node n ON n.id = t.node_id
               WHERE n.key IN (SELECT node FROM event WHERE kind = ?)""",
            (VOTED,),
        )
        return {key: (author, tuple(json.loads(tags))) for key, author, tags in rows}

    def tags(self) -> dict[str, int]:
        """Count the active traces of each tag, the most used first."""
        rows = self._db.rows(
            """SELECT j.value, count(*) FROM trace t, json_each(t.tags) j WHERE t.status = ?
               GROUP BY j.value ORDER BY 2 DESC, 1""",
            (ACTIVE,),
        )
        return {str(tag): int(count) for tag, count in rows}

    def counts(self) -> dict[str, int]:
        """Count the traces of each state."""
        return dict(self._db.rows("SELECT status, count(*) FROM trace GROUP BY status ORDER BY status"))

    def is_translated_with(self, version: str) -> bool:
        """Tell whether the vectors of traces were made with this version of the dictionaries."""
        return str(self._db.meta("dictionaries")) == version

    def embed_again(self, node_ids: Iterable[int], version: str) -> None:
        """Delete the vectors of some traces, which are embedded anew then, and record that version."""
        with self._db.transaction():
            for node_id in node_ids:
                self._vectors.drop(node_id)
            self._db.set_meta("dictionaries", version)

    def pending(self, space: str, model: str, *, limit: int) -> list[tuple[int, str]]:
        """Return (node id, key) of searchable traces that have no vector of this model yet."""
        return self._db.rows(
            """SELECT n.id, n.key FROM trace t JOIN node n ON n.id = t.node_id
               WHERE t.status <> ? AND NOT EXISTS (
                 SELECT 1 FROM vector_state v JOIN vector_space s ON s.id = v.space_id
                 WHERE v.node_id = n.id AND s.space = ? AND s.model = ?) ORDER BY n.id LIMIT ?""",
            (DRAFT, space, model, limit),
        )

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """Count the traces that hold each word (its stem)."""
        count = "SELECT count(*) FROM trace_text WHERE trace_text MATCH ?"
        return {word: int(self._db.value(count, (match_any([word]),))) for word in words}


def _vote(key: str, at: str, told: Mapping[str, Any]) -> Vote:
    return Vote(key, told["voter"], told["up"], at, told["tag"], told["note"], told["environment"])


def _row(trace: Trace, token: str) -> tuple[Any, ...]:
    return (
        *(storable(text) for text in (trace.title, trace.context, trace.solution)),
        as_json(trace.tags),
        as_json(trace.environment),
        *(storable(text) for text in (trace.outcome, trace.status, trace.review_after, trace.watch)),
        as_json(trace.uses),
        as_json(trace.signatures),
        *(storable(text) for text in (trace.session, trace.project, trace.author, trace.licence)),
        trace.version,
        storable(trace.supersedes),
        flags_as_json(trace.flags),
        trace.at,
        token,
    )


def _trace(row: Sequence[Any]) -> Trace:
    values: dict[str, Any] = dict(zip(_COLUMNS, row[2:], strict=True))
    del values["token"]
    for column in ("tags", "uses"):
        values[column] = tuple(json.loads(values[column]))
    for column in ("environment", "signatures"):
        held: Mapping[str, str] = json.loads(values[column])
        values[column] = held
    values["flags"] = flags_of(values["flags"])
    return Trace(key=str(row[1]), **values)
