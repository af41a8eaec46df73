"""Keeps what the sentences of an entry say of two things as edges between these, and tells it again."""

from __future__ import annotations

from collections.abc import Iterable

from repertoire.app.clock import now
from repertoire.app.projects.named_nodes import file_part_named
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.component import Edge
from repertoire.domain.project import ENTITY, Entry, SaidEdge
from repertoire.projects.said_relations import said_relations


def keep_said(project: OpenProject, entry: Entry) -> None:
    """Write what an entry says, in place of what it said before; a name that the project has is that file or symbol."""
    found = said_relations("\n".join([f"{entry.title}.", entry.body]))
    keys = {name: _key_of(project, name) for one in found for name in (one.source, one.target)}
    edges = [Edge(keys[one.source], keys[one.target], one.relation, 1.0, entry.key) for one in found]
    names = {key: name for name, key in keys.items() if key.startswith(f"{ENTITY}:")}
    project.store.said.put(entry.key, edges, names, now=now())


def told(edges: Iterable[SaidEdge], *, by: bool = False) -> tuple[str, ...]:
    """Render what was said in a few words each; `by` names the entries that say so."""
    return tuple(
        " ".join((one.source, _verb(one.relation), one.target, *([f"({one.entry})"] if by else []))) for one in edges
    )


def _verb(relation: str) -> str:
    return relation.removeprefix("said_").replace("_", " ")


def _key_of(project: OpenProject, name: str) -> str:
    known = "" if " " in name else file_part_named(project, name)
    return known or f"{ENTITY}:{name.lower()}"
