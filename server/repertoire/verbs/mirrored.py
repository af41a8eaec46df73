"""Opens a project's memory for a verb, and keeps it and its mirror the same; what cannot be kept so is told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repertoire.app.projects.mirror import follow_mirror, is_mirrored, lying_entries
from repertoire.app.projects.places import MIRROR_FOLDER, worked_in
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.errors import StoreBusy, StoreError
from repertoire.rendering.project_exchange import lying_text
from repertoire.verbs.verb import Context

_STALE = "the mirror is not up to date: "
_NAMED = 3  # files that an answer names; the others are counted


def at_hand(context: Context) -> tuple[OpenProject, tuple[str, ...]]:
    """Return the memory of the current project, with what its mirror's files say read, and why some was not."""
    project = context.repertoire.projects.open(context.project)
    return project, _followed(context, project, write=False)


def write_out(context: Context, project: OpenProject, said: Sequence[str]) -> tuple[str, ...]:
    """Write what changed in the memory to its mirror; return what to say of both, `said` before what was changed."""
    before = (one for one in said if not one.startswith(_STALE))  # which is said again if it is still so
    after = (*_followed(context, project, write=True), elsewhere(context, project))
    return tuple(dict.fromkeys(filter(None, (*before, *after))))


def elsewhere(context: Context, project: OpenProject) -> str:
    """Say in a linked worktree that the files of the mirror are those of the main one; nothing elsewhere."""
    if not (is_mirrored(project.store.path) and worked_in(context.repertoire.home, context.project)):
        return ""
    files = Path(project.root) / MIRROR_FOLDER
    return f"files of entries are written and read in the main worktree alone, not in this one: {files}"


def _followed(context: Context, project: OpenProject, *, write: bool) -> tuple[str, ...]:
    if count := lying_entries(project):
        return (lying_text(count),)
    try:
        report = follow_mirror(project, embedder=context.repertoire.embedder, write=write)
    except (StoreBusy, StoreError) as error:  # the memory itself answers all the same
        return (f"{_STALE}{error}",)
    unread = {**(project.unread if report is None else report.skipped)}
    gone = unread.pop(".", "")
    told = [f"{MIRROR_FOLDER}/{path}: {why}" for path, why in sorted(unread.items())]
    more = [f"{len(told) - _NAMED} more files of the mirror; `repertoire project mirror` names them"]
    lines = (f"{_STALE}{gone}",) if gone else ()
    return (*lines, *told[:_NAMED], *(more if len(told) > _NAMED else []))
