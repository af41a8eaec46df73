"""Opens a project's memory for a verb, and keeps it and its mirror the same; what cannot be kept so is told."""

from __future__ import annotations

from repertoire.app.projects.mirror import follow_mirror
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.errors import StoreBusy, StoreError
from repertoire.verbs.verb import Context


def at_hand(context: Context) -> tuple[OpenProject, tuple[str, ...]]:
    """Return the memory of the current project, with what its mirror's files say read, and why some was not."""
    project = context.repertoire.projects.open(context.project)
    return project, _followed(context, project, write=False)


def write_out(context: Context, project: OpenProject) -> tuple[str, ...]:
    """Write what changed in the memory to its mirror; return why it could not be written."""
    return _followed(context, project, write=True)


def _followed(context: Context, project: OpenProject, *, write: bool) -> tuple[str, ...]:
    try:
        report = follow_mirror(project, embedder=context.repertoire.embedder, write=write)
    except (StoreBusy, StoreError) as error:  # the memory itself answers all the same
        return (f"the mirror is not up to date: {error}",)
    gone = report.skipped.get(".", "") if report is not None else ""
    return (f"the mirror is not up to date: {gone}",) if gone else ()
