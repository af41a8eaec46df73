"""Reads which components say the same, for a session's start: what a person or use said of one holds for all.

The session hook runs this with any Python from 3.9, over a connection of the standard library's sqlite3.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from repertoire.boot.session_folders import in_main_worktree, session_folders
from repertoire.domain.event import LEFT
from repertoire.store.light.bindings import marks, parts

# The one definition of an exact copy: same content, type and name. Of a component `c` with the node `n`, the copies
# are `d` with the node `copy`.
COPIES = """JOIN component d ON d.content_hash = c.content_hash AND d.type = c.type
            JOIN node copy ON copy.id = d.node_id AND copy.name = n.name"""
# Both ends of what says nearly the same.
TWINS = """SELECT source AS one, target AS two FROM edge WHERE relation = 'twin_of'
            UNION SELECT target, source FROM edge WHERE relation = 'twin_of'"""
# A twin of the same name is the same to a person, who would else be offered from another repository what was muted. One
# that is installed stays, since a person may mute what is like it. CROSS JOIN begins with the few mutes: every question
# asks this. `%s` stands for where a mute holds.
_LIKE_MUTED = f"""SELECT copy.key FROM mute m JOIN node n ON n.key = m.target
                    JOIN component c ON c.node_id = n.id {COPIES}
                  WHERE m.scope = 'component' AND m.project IN (%s)
                 UNION
                 SELECT other.key FROM mute m CROSS JOIN node n ON n.key = m.target
                    CROSS JOIN edge e ON e.relation = 'twin_of' AND (e.source = n.id OR e.target = n.id)
                    JOIN node other ON other.id = e.source + e.target - n.id AND other.name = n.name
                    JOIN component twin ON twin.node_id = other.id AND NOT twin.installed
                  WHERE m.scope = 'component' AND m.project IN (%s)"""
# The parts of a muted plugin are as silent as it, since their install lines would name it again.
_PARTS = """SELECT part.key FROM quiet CROSS JOIN node n ON n.key = quiet.key
              CROSS JOIN edge e ON e.target = n.id AND e.relation = 'part_of'
              JOIN node part ON part.id = e.source"""
# A component is there already; what only other projects have, whose sources are listed where `%s` stands, is not.
IS_THERE = f"""EXISTS (SELECT 1 FROM component own {COPIES.replace("c.", "own.")}
                WHERE own.node_id = n.id AND own.content_hash <> '' AND d.installed
                  AND copy.source_id NOT IN (SELECT id FROM source WHERE key IN (%s)))"""


def muted_at(project: str) -> tuple[str, ...]:
    """Return where a mute holds for a project: "" is everywhere, it, and the folders above that a session has too.

    In a linked worktree of git so do those of the main one: to a person it is one project.
    """
    folders = session_folders(project) if project else []
    return tuple(dict.fromkeys(("", project, *map(str, (*folders, *(in_main_worktree(folders) if folders else ()))))))


def silent(rows: Callable[[str, Sequence[str]], Iterable[Sequence[Any]]], project: str) -> set[str]:
    """Return what is muted in a project, with all that is silent with it; and the project, if one above it is muted."""
    places = muted_at(project)
    here = ", ".join(f"?{place}" for place in range(1, len(places) + 1))
    quiet = f"SELECT target AS key FROM mute WHERE project IN ({here}) UNION {_LIKE_MUTED % (here, here)}"
    sql = f"WITH quiet AS ({quiet}) SELECT key FROM quiet UNION {_PARTS}"
    found = {str(target) for (target,) in rows(sql, places)}
    return found if found.isdisjoint(places) else {*found, project}


def copies_of(db: sqlite3.Connection, keys: Iterable[str]) -> dict[str, str]:
    """Map every exact copy of these components, and those themselves that have any, to one of its copies."""
    found = dict[str, str]()
    for chunk in parts(keys):
        rows = db.execute(
            f"""SELECT copy.key, min(other.key) FROM node n JOIN component c ON c.node_id = n.id {COPIES}
                  JOIN component e ON e.content_hash = c.content_hash AND e.type = c.type AND e.node_id <> d.node_id
                  JOIN node other ON other.id = e.node_id AND other.name = n.name
                WHERE n.key IN ({marks(chunk)}) AND c.content_hash <> '' GROUP BY copy.key""",
            chunk,
        )
        found.update((key, min(key, other)) for key, other in rows)
    for gone, copies in copies_of_removed(db.execute, keys).items():
        found.update((key, min(copies)) for key in (gone, *copies))
    return found


def copies_of_removed(
    rows: Callable[[str, Sequence[Any]], Iterable[Sequence[Any]]], keys: Iterable[str]
) -> dict[str, list[str]]:
    """Map those of these keys whose component was removed to the components that say what it said, if there are any.

    What is known of a component from its use would else be lost with one of its copies.
    """
    found = dict[str, list[str]]()
    for chunk in parts(keys):
        told = rows(
            f"""SELECT e.node, e.data FROM event e WHERE e.kind = '{LEFT}' AND e.node IN ({marks(chunk)}) AND NOT EXISTS
                  (SELECT 1 FROM node n JOIN component c ON c.node_id = n.id WHERE n.key = e.node) ORDER BY e.id""",
            chunk,
        )
        said = {key: json.loads(data) for key, data in told}
        for key, was in said.items():
            copies = rows(
                """SELECT n.key FROM component c JOIN node n ON n.id = c.node_id
                   WHERE c.content_hash = ? AND c.type = ? AND n.name = ? ORDER BY c.installed DESC, n.id""",
                (was["content_hash"], was["type"], was["name"]),
            )
            found[key] = [str(copy) for (copy,) in copies]
    return {key: copies for key, copies in found.items() if copies}


def moved(rows: Callable[[str, Sequence[Any]], Iterable[Sequence[Any]]]) -> dict[str, str]:
    """Map every removed component of which the log tells to the copy that stands for it now, if there is one."""
    left = [str(key) for (key,) in rows(f"SELECT DISTINCT node FROM event WHERE kind = '{LEFT}'", ())]
    return {gone: copies[0] for gone, copies in copies_of_removed(rows, left).items()}


def twins_of(db: sqlite3.Connection, keys: Iterable[str]) -> dict[str, str]:
    """Map every twin of these components, which says nearly the same, to the one that it is a twin of."""
    found = dict[str, str]()
    for chunk in parts(keys):
        rows = db.execute(
            f"""SELECT other.key, n.key FROM node n
                  JOIN ({TWINS}) e ON e.one = n.id
                  JOIN node other ON other.id = e.two
                WHERE n.key IN ({marks(chunk)})""",
            chunk,
        )
        found.update(rows)
    return found
