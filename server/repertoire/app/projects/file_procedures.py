"""Tells which procedures are meant for a file, by their file patterns."""

from __future__ import annotations

from fnmatch import fnmatchcase

from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.project import ACTIVE, PROCEDURE, Entry


def procedures_for(project: OpenProject, path: str) -> list[Entry]:
    """Return the active procedures of which a file pattern fits a path; in a pattern, `*` stands for folders too."""
    procedures = project.store.entries.all([PROCEDURE]) if path else []
    return [
        one
        for one in procedures
        if one.status == ACTIVE and any(fnmatchcase(path, str(pattern)) for pattern in one.data.get("files", ()))
    ]
