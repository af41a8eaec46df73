"""Writes and reads what a pack's documents say: entities, facts as ranges of sections, and relations of entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repertoire.domain.component import Edge, Node
from repertoire.domain.pack import (
    CATEGORY,
    ENTITY,
    ENTITY_RELATION,
    FACT,
    HAS_ENTITY,
    HAS_FACT,
    EntityRelation,
    PackEntity,
    PackKnowledge,
    StatedFact,
)
from repertoire.store.connection import Connection
from repertoire.store.light.bindings import marks
from repertoire.store.rows import storable
from repertoire.store.writing import GraphWriter

_RELATION = f"{ENTITY_RELATION}:"


def add_knowledge(
    db: Connection, writer: GraphWriter, article: str, sections: Sequence[int], knowledge: PackKnowledge
) -> Iterator[Edge]:
    """Write what an article says, and yield the edges; an entity that another article named keeps its first words."""
    ids = {entity.name: _put_entity(db, writer, entity) for entity in knowledge.entities}
    for entity in knowledge.entities:
        yield Edge(article, _key(entity.name), HAS_ENTITY)
    for fact in knowledge.facts:
        section = sections[fact.section]
        key = f"{FACT}:{section}:{fact.begin}"
        row = (writer.put_node(Node(key, FACT, "")), section, fact.kind, ids.get(fact.subject, 0), fact.begin, fact.end)
        db.execute(f"INSERT INTO fact VALUES ({marks(row)})", row)
        yield Edge(article, key, HAS_FACT)
    for one in knowledge.relations:
        relation = f"{_RELATION}{one.relation}"
        yield Edge(_key(one.source), _key(one.target), relation, evidence=one.context)


def _key(name: str) -> str:
    return f"{ENTITY}:{name}"


def _put_entity(db: Connection, writer: GraphWriter, entity: PackEntity) -> int:
    known = writer.find(_key(entity.name))
    if known is None:
        known = writer.put_node(Node(_key(entity.name), ENTITY, ""))
        row = (known, entity.kind, storable(entity.name), storable(entity.description))
        db.execute(f"INSERT INTO entity VALUES ({marks(row)})", row)
    else:
        db.execute(
            "UPDATE entity SET description = ? WHERE node_id = ? AND description = ''",
            (storable(entity.description), known),
        )
    return known


class PackKnowledgeStore:
    """Reads the entities, facts and relations of an open pack."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def counts(self) -> dict[str, int]:
        """Count entities, facts, relations of entities, and categories, by these names."""
        return {
            "entities": int(self._db.value("SELECT count(*) FROM entity")),
            "facts": int(self._db.value("SELECT count(*) FROM fact")),
            "relations": int(self._db.value("SELECT count(*) FROM edge WHERE relation LIKE ?", (f"{_RELATION}%",))),
            "categories": int(self._db.value("SELECT count(*) FROM node WHERE type = ?", (CATEGORY,))),
        }

    def words(self) -> list[str]:
        """Return the names of entities and the words about them and their relations, in the order of the file."""
        entities = self._db.rows("SELECT name, description FROM entity ORDER BY node_id")
        relations = self._db.rows(
            """SELECT s.key, t.key, e.evidence FROM edge e
               JOIN node s ON s.id = e.source JOIN node t ON t.id = e.target
               WHERE e.relation LIKE ? ORDER BY s.id, t.id, e.relation""",
            (f"{_RELATION}%",),
        )
        return [*dict.fromkeys(str(value) for row in (*entities, *relations) for value in row if value)]

    def kinds(self) -> dict[str, list[str]]:
        """Return the kinds of entities, facts and relations that the file holds, by these names."""
        found = {table: self._db.rows(f"SELECT DISTINCT kind FROM {table} ORDER BY 1") for table in (ENTITY, FACT)}
        related = "SELECT DISTINCT substr(relation, ?) FROM edge WHERE relation LIKE ? ORDER BY 1"
        found["relation"] = self._db.rows(related, (len(_RELATION) + 1, f"{_RELATION}%"))
        return {what: [str(kind) for (kind,) in rows] for what, rows in found.items()}

    def facts(self, sections: Sequence[int], *, limit: int) -> list[StatedFact]:
        """Return the facts of sections by their node ids, in the order of the sections and then of the text."""
        rows = self._db.rows(
            f"""SELECT f.section_id, f.kind, ifnull(e.name, ''), substr(s.text, f.begin + 1, f.end - f.begin),
                       a.path, s.anchor, s.title
                FROM fact f JOIN section s ON s.node_id = f.section_id JOIN article a ON a.node_id = s.article_id
                LEFT JOIN entity e ON e.node_id = f.subject
                WHERE f.section_id IN ({marks(sections)}) ORDER BY f.section_id, f.begin LIMIT ?""",
            [*sections, limit],
        )
        place = {section: number for number, section in enumerate(sections)}
        rows.sort(key=lambda row: place[int(row[0])])
        return [StatedFact(*(str(value) for value in row[1:])) for row in rows]

    def entities(self, names: Sequence[str], *, limit: int) -> list[PackEntity]:
        """Return the entities whose name is one of these, whatever the case, or ends with it after a dot or colon."""
        found = self._db.rows("SELECT name, kind, description FROM entity ORDER BY node_id")
        wanted = {name.lower() for name in names}
        kept = [row for row in found if {str(row[0]).lower(), _last(str(row[0]))} & wanted]
        return [PackEntity(*(str(value) for value in row)) for row in kept[:limit]]

    def relations(self, names: Sequence[str], *, limit: int) -> list[EntityRelation]:
        """Return the relations from and to entities by their names."""
        keys = [storable(_key(name)) for name in names]
        rows = self._db.rows(
            f"""SELECT s.key, t.key, e.relation, e.evidence FROM edge e
                JOIN node s ON s.id = e.source JOIN node t ON t.id = e.target
                WHERE e.relation LIKE ? AND (s.key IN ({marks(keys)}) OR t.key IN ({marks(keys)}))
                ORDER BY s.id, t.id, e.relation LIMIT ?""",
            [f"{_RELATION}%", *keys, *keys, limit],
        )
        start = len(ENTITY) + 1
        return [
            EntityRelation(str(row[0])[start:], str(row[1])[start:], str(row[2])[len(_RELATION) :], str(row[3]))
            for row in rows
        ]


def _last(name: str) -> str:
    """Return the last part of a qualified name in lower case, such as `close` of `client.close`."""
    return name.lower().replace("::", ".").lstrip("-").rpartition(".")[2]
