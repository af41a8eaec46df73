"""Reads tasks and decisions of a project's memory for the session hook, by the standard library; nothing is written."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from repertoire.domain.project import ABOUT, ACTIVE, BLOCKS, NOTE, TASK, due_day
from repertoire.store.light.opening import open_to_read

_CONCERNING = ("decision", "blocker", "pattern")  # categories of notes that concern who changes a file
_DECISIONS = 5_000  # links of notes to files that are read, decisions or not: the newest
SCHEMA = 8  # the newest schema of a project's memory that is known here; tests hold it equal to the store's


class KnownTask(NamedTuple):
    """A task by its id, with its title and state."""

    key: str
    title: str
    status: str
    due: str  # a date; `NO_DAY` without one


class KnownDecision(NamedTuple):
    """A decision or blocker by its note's id, with its title, and one file that it is about."""

    key: str
    title: str
    path: str


class KnownTasks(NamedTuple):
    """A project's tasks, the most urgent first; pairs of which the first blocks the second; and decisions."""

    tasks: list[KnownTask]
    blocking: list[tuple[str, str]]
    decisions: list[KnownDecision]


def read_tasks(memory: Path) -> KnownTasks:
    """Return the tasks of a project, and the decisions that are about its files.

    Raises:
        sqlite3.Error: the memory cannot be read now.
    """
    with closing(open_to_read(memory, known_schema=SCHEMA)) as db:
        tasks = db.execute(
            """SELECT n.key, e.title, e.status, e.data FROM entry e JOIN node n ON n.id = e.node_id WHERE e.kind = ?
              ORDER BY e.priority, e.changed DESC, n.key""",
            (TASK,),
        )
        blocking = db.execute(
            """SELECT s.key, t.key FROM edge e JOIN node s ON s.id = e.source JOIN node t ON t.id = e.target
              WHERE e.relation = ?""",
            (BLOCKS,),
        )
        about = db.execute(
            """SELECT n.key, e.title, t.file, e.data FROM entry e JOIN node n ON n.id = e.node_id
              JOIN edge a ON a.source = e.node_id AND a.relation = ? JOIN node t ON t.id = a.target
              WHERE e.kind = ? AND e.status = ? AND t.file <> '' ORDER BY e.changed DESC, n.key LIMIT ?""",
            (ABOUT, NOTE, ACTIVE, _DECISIONS),
        )
        decisions = [
            KnownDecision(key, title, path)
            for key, title, path, data in about
            if json.loads(data).get("category") in _CONCERNING
        ]
        known = [KnownTask(key, title, status, due_day(status, json.loads(data))) for key, title, status, data in tasks]
        return KnownTasks(known, [(one, other) for one, other in blocking], decisions)
