"""Stores past requests as nodes, with edges to the components that were selected; retrieval starts walks from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repertoire.domain.answer import REQUEST_SPACE
from repertoire.domain.component import REQUEST, SELECTED, Node
from repertoire.store.connection import Connection
from repertoire.store.light.exact_copies import moved
from repertoire.store.rows import storable
from repertoire.store.vectors import Vectors
from repertoire.store.writing import GraphWriter

LEARNED = "learned"  # the label of edges learned from use; edges with this prefix are deleted with the requests


@dataclass(frozen=True)
class Selection:
    """A component that was selected for a request."""

    component: str
    evidence: str = ""


@dataclass(frozen=True)
class RequestUse:
    """How often the present components were selected for a stored request, and when last."""

    node_id: int
    selected: float
    last: str


@dataclass(frozen=True)
class PastRequest:
    """A stored request: its key, text (empty where it is not kept), projects, and when it was last selected for.

    `selected` maps the components that were selected for it to how often; a removed one to its exact copy, if any.
    """

    key: str
    text: str
    projects: tuple[str, ...]
    last: str
    selected: Mapping[str, float]


@dataclass(frozen=True)
class Request:
    """A person's request. `key` is `request:<hash>`, as in events; `text` is empty if it must not be stored."""

    key: str
    text: str = ""
    project: str = ""
    session: str = ""
    selected: tuple[Selection, ...] = ()


class Requests:
    """Reads and writes the past requests of the graph; their vectors are in the space `request`."""

    def __init__(self, connection: Connection, vectors: Vectors) -> None:
        self._db = connection
        self._vectors = vectors

    def record(self, key: str, *, text: str = "", project: str = "", session: str = "", now: str) -> int:
        """Store a request and return its node id; a stored text stays unless a new one is given."""
        return self.record_many([Request(key, text, project, session)], now=now)[0]

    def record_many(self, requests: Sequence[Request], *, now: str) -> list[int]:
        """Store requests with their selections in one transaction; return their node ids in the same order."""
        with self._db.transaction():
            writer = GraphWriter(self._db, self._vectors, now)
            ids = [self._put(writer, request, now) for request in requests]
            for request, node_id in zip(requests, ids, strict=True):
                for selection in request.selected:
                    self._strengthen(writer, node_id, selection)
        return ids

    def select(self, key: str, component: str, *, evidence: str = "", now: str) -> None:
        """Add one to the weight of the edge from a request to a component."""
        self.record_many([Request(key, selected=(Selection(component, evidence),))], now=now)

    def withdraw(self, key: str, component: str) -> None:
        """Take one from the weight of the edge from a request to a component, and delete a request without edges."""
        ends = "source = (SELECT id FROM node WHERE key = ?) AND target = (SELECT id FROM node WHERE key = ?)"
        bindings = (storable(key), storable(component))
        with self._db.transaction():
            writer = GraphWriter(self._db, self._vectors, "")
            self._db.execute(f"UPDATE edge SET weight = weight - 1.0 WHERE {ends} AND relation = 'selected'", bindings)
            self._db.execute(f"DELETE FROM edge WHERE {ends} AND relation = 'selected' AND weight <= 0", bindings)
            writer.touch_edges(SELECTED)
            idle = """SELECT id FROM node WHERE key = ? AND type = 'request'
                      AND NOT EXISTS (SELECT 1 FROM edge WHERE source = node.id)"""
            self.drop(number for (number,) in self._db.rows(idle, bindings[:1]))

    def pending(self, model: str, *, limit: int) -> list[tuple[int, str, str]]:
        """Return (node id, key, text) of requests with a text but no vector of this model."""
        return self._db.rows(
            """SELECT n.id, n.key, json_extract(n.data, '$.text') FROM node n
               WHERE n.source_id = 0 AND n.type = 'request' AND json_extract(n.data, '$.text') IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM vector_state v JOIN vector_space s ON s.id = v.space_id
                               WHERE v.node_id = n.id AND s.space = ? AND s.model = ?)
               ORDER BY n.id LIMIT ?""",
            (REQUEST_SPACE, model, limit),
        )

    def count(self) -> int:
        """Count the stored requests."""
        return int(self._db.value("SELECT count(*) FROM node WHERE type = 'request'"))

    def has_text(self, key: str) -> bool:
        """Tell whether the text of a request is stored."""
        return bool(
            self._db.value("SELECT json_extract(data, '$.text') IS NOT NULL FROM node WHERE key = ?", (storable(key),))
        )

    def key_of_vector(self, digest: str, model: str) -> str:
        """Return the key of the request whose vector of this model has this digest, or an empty string."""
        return str(
            self._db.value(
                """SELECT n.key FROM vector_space s JOIN vector_state v ON v.space_id = s.id
                   JOIN node n ON n.id = v.node_id
                   WHERE s.space = ? AND s.model = ? AND v.content_hash = ? ORDER BY n.id LIMIT 1""",
                (REQUEST_SPACE, model, digest),
            )
            or ""
        )

    def uses(self) -> list[RequestUse]:
        """Return the use of every stored request, the oldest first; what has a copy left counts as present."""
        return [
            RequestUse(*row)
            for row in self._db.rows(
                """SELECT n.id, coalesce(sum(CASE WHEN c.node_id IS NULL AND t.key NOT IN
                            (SELECT value FROM json_each(?)) THEN 0 ELSE e.weight END), 0),
                          coalesce(json_extract(n.data, '$.last'), n.last_changed)
                   FROM node n LEFT JOIN edge e ON e.source = n.id AND e.relation = 'selected'
                   LEFT JOIN node t ON t.id = e.target LEFT JOIN component c ON c.node_id = e.target
                   WHERE n.type = 'request' GROUP BY n.id ORDER BY n.id""",
                (json.dumps(list(moved(self._db.rows))),),
            )
        ]

    def past(self) -> list[PastRequest]:
        """Return every stored request, the newest first."""
        selected: dict[int, dict[str, float]] = {}
        present = moved(self._db.rows)
        for source, component, weight in self._db.rows(
            """SELECT n.id, t.key, e.weight FROM node n JOIN edge e ON e.source = n.id AND e.relation = 'selected'
               JOIN node t ON t.id = e.target WHERE n.type = 'request' ORDER BY e.weight DESC, e.id"""
        ):
            own, known = selected.setdefault(source, {}), present.get(component, component)
            own[known] = own.get(known, 0.0) + weight
        told = self._db.rows(
            """SELECT id, key, data, coalesce(json_extract(data, '$.last'), last_changed) AS last FROM node
               WHERE type = 'request' ORDER BY last DESC, id DESC"""
        )
        return [_past(key, json.loads(data), last, selected.get(node, {})) for node, key, data, last in told]

    def unserved(self) -> list[PastRequest]:
        """Return every request whose text is in the log alone, so that nothing is learned from it, the newest first."""
        told = self._db.rows(
            """SELECT request, json_extract(data, '$.prompt'), json_group_array(DISTINCT project), max(at) AS last
               FROM event WHERE request <> '' AND json_extract(data, '$.prompt') IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM node n WHERE n.key = event.request AND n.type = 'request')
               GROUP BY request ORDER BY last DESC, max(id) DESC"""
        )
        return [
            PastRequest(key, str(text), tuple(sorted(filter(None, json.loads(projects)))), last, {})
            for key, text, projects, last in told
        ]

    def drop(self, node_ids: Iterable[int]) -> None:
        """Delete requests with their vectors and edges."""
        with self._db.transaction():
            writer = GraphWriter(self._db, self._vectors, "")
            for node_id in node_ids:
                writer.delete(self._db.rows("SELECT id, type FROM node WHERE id = ? AND type = 'request'", (node_id,)))
            writer.collect_orphans()

    def _put(self, writer: GraphWriter, request: Request, now: str) -> int:
        found = self._db.value("SELECT data FROM node WHERE key = ?", (storable(request.key),))
        data = json.loads(found) if found else {}
        if request.text:
            data["text"] = storable(request.text)
        if request.session:
            data.setdefault("session", storable(request.session))  # the first session; the event log has the others
        if request.project:
            data["projects"] = sorted({*data.get("projects", ()), storable(request.project)})
        if request.selected:
            data["last"] = max(str(data.get("last", "")), now)
        return writer.put_node(Node(request.key, REQUEST, "", data))

    def _strengthen(self, writer: GraphWriter, request: int, selection: Selection) -> None:
        ends = (request, writer.node_id(selection.component, SELECTED), SELECTED, LEARNED)
        self._db.execute(
            """INSERT INTO edge(source, target, relation, file, weight, evidence) VALUES (?, ?, ?, ?, 1.0, ?)
               ON CONFLICT DO UPDATE SET weight = weight + 1.0, evidence = excluded.evidence""",
            (*ends, storable(selection.evidence)),
        )
        writer.touch_edges(SELECTED)


def _past(key: str, data: Mapping[str, Any], last: str, selected: Mapping[str, float]) -> PastRequest:
    return PastRequest(key, str(data.get("text", "")), tuple(map(str, data.get("projects", ()))), last, selected)
