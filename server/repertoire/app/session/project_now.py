"""Names what matters of a project's memory at a session's start: what is begun, what is ready, what was decided.

The session hook runs this with any Python from 3.9.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

from repertoire.app.clock import local_today
from repertoire.app.projects.places import memory_file, root_of, worked_in
from repertoire.app.session.branch_files import changed_on_branch
from repertoire.boot.home import database_path
from repertoire.domain.hint import MAX_ITEMS
from repertoire.domain.project import DOING, NO_DAY, REVIEW, pressing_day
from repertoire.projects.tasks import ready
from repertoire.store.light.file import SqliteError
from repertoire.store.light.project import KnownTask, KnownTasks, read_tasks
from repertoire.store.light.start import StartReader
from repertoire.trust.hidden import unfit_unasked

_UNFINISHED = "Repertoire: tasks of this project that were begun and not finished (memory_get, memory_move)"
_READY = "Repertoire: tasks noted for this project that nothing blocks (memory_get, memory_move)"
_DECIDED = "Repertoire: decided about files that changed on this branch (memory_get)"
Said = Sequence[tuple[str, Sequence[tuple[str, str]]]]  # a heading, and ids with their titles


def project_now(home: Path, project: str) -> Said:
    """Return headings with ids and titles, a few each; none without a memory, or in a muted project.

    A memory that cannot be read now has none, so that it takes nothing else from a greeting.
    """
    root = root_of(home, project)
    if not root:
        return ()
    try:
        known = read_tasks(memory_file(home, root))
        if _muted(database_path(home), project, root):
            return ()
    except SqliteError:
        return ()
    free, today = ready({task.key: task.status for task in known.tasks}, known.blocking), local_today()
    tasks = sorted(known.tasks, key=lambda task: pressing_day(task.due, today))
    parts = (
        (_UNFINISHED, _named(task for task in tasks if task.status in (DOING, REVIEW))),
        (_READY, _named(task for task in tasks if task.key in free)),
        (_DECIDED, _decided(known, Path(worked_in(home, project) or root))),
    )
    return tuple((heading, named) for heading, named in parts if named)


def _named(tasks: Iterable[KnownTask]) -> list[tuple[str, str]]:
    return [*islice(((task.key, _told(task)) for task in tasks if not unfit_unasked(task.title)), MAX_ITEMS)]


def _told(task: KnownTask) -> str:
    """Return a task's title with the day on which it is due, which a long title may not push out."""
    if task.due == NO_DAY:
        return task.title
    return f"{'overdue since' if task.due < local_today().isoformat() else 'due'} {task.due}: {task.title}"


def _decided(known: KnownTasks, root: Path) -> list[tuple[str, str]]:
    if not known.decisions:
        return []
    changed = {*changed_on_branch(root, (one.path for one in known.decisions), now=time.time())}
    found = {one.key: one.title for one in known.decisions if one.path in changed and not unfit_unasked(one.title)}
    return [*islice(found.items(), MAX_ITEMS)]


def _muted(path: Path, project: str, root: str) -> bool:
    if not path.exists():
        return False
    with closing(StartReader(path)) as db:
        return not {project, root}.isdisjoint(db.silent_in(project))
