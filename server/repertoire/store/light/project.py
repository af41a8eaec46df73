"""Reads the tasks of a project's memory for the session hook, with the standard library alone; nothing is written."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from repertoire.domain.project import BLOCKS, TASK
from repertoire.store.light.opening import open_to_read

SCHEMA = 3  # the newest schema of a project's memory that is known here; tests hold it equal to the store's


class KnownTask(NamedTuple):
    """A task by its id, with its title and state."""

    key: str
    title: str
    status: str


class KnownTasks(NamedTuple):
    """All tasks of a project, the most urgent and newest first, and pairs of which the first blocks the second."""

    tasks: list[KnownTask]
    blocking: list[tuple[str, str]]


def read_tasks(memory: Path) -> KnownTasks:
    """Return the tasks of a project.

    Raises:
        sqlite3.Error: the memory cannot be read now.
    """
    with closing(open_to_read(memory, known_schema=SCHEMA)) as db:
        tasks = db.execute(
            """SELECT n.key, e.title, e.status FROM entry e JOIN node n ON n.id = e.node_id WHERE e.kind = ?
              ORDER BY e.priority, e.changed DESC, n.key""",
            (TASK,),
        )
        blocking = db.execute(
            """SELECT s.key, t.key FROM edge e JOIN node s ON s.id = e.source JOIN node t ON t.id = e.target
              WHERE e.relation = ?""",
            (BLOCKS,),
        )
        return KnownTasks([KnownTask(*row) for row in tasks], [(source, target) for source, target in blocking])
