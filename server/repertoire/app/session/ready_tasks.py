"""Names the tasks of a project's memory that a session may begin with.

The session hook runs this with any Python from 3.9.
"""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path

from repertoire.app.projects.places import memory_file, root_of
from repertoire.boot.home import database_path
from repertoire.domain.hint import MAX_ITEMS
from repertoire.projects.tasks import ready
from repertoire.store.light.file import SqliteError
from repertoire.store.light.project import read_tasks
from repertoire.store.light.start import StartReader
from repertoire.trust.hidden import suspicion


def ready_tasks(home: Path, project: str) -> list[tuple[str, str]]:
    """Return id and title of the most urgent tasks that may be begun; none without a memory, or in a muted project.

    A memory that cannot be read now has none, so that it takes nothing else from a greeting.
    """
    root = root_of(home, project)
    if not root:
        return []
    try:
        known = read_tasks(memory_file(home, root))
        muted = _muted(database_path(home), project, root)
    except SqliteError:
        return []
    free = ready({task.key: task.status for task in known.tasks}, known.blocking)
    named = (task for task in known.tasks if task.key in free and not muted and not suspicion(task.title))
    return [(task.key, task.title) for task in islice(named, MAX_ITEMS)]


def _muted(path: Path, project: str, root: str) -> bool:
    if not path.exists():
        return False
    with closing(StartReader(path)) as db:
        return not {project, root}.isdisjoint(db.silent_in(project))
