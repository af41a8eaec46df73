"""Says what a project's memory holds and how current it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.app.projects.mirror import is_mirrored
from repertoire.app.projects.places import files_of, memory_file, require_folder, root_of
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.domain.project import ProjectCounts


@dataclass(frozen=True)
class ProjectStatus:
    """The state of a project's memory; without counts it has none."""

    root: str
    counts: ProjectCounts | None = None
    languages: Mapping[str, int] = field(default_factory=dict)
    indexed_at: str = ""
    file: str = ""
    megabytes: float = 0.0
    mirrored: bool = False
    remarks: tuple[str, ...] = ()  # what may need a hand


def project_status(home: Path, shelf: ProjectShelf, folder: str, *, model: str) -> ProjectStatus:
    """Return the state of the memory of the project that a folder lies in.

    Raises:
        UnknownFolder: there is no such folder.
    """
    root = root_of(home, folder)
    if not root:
        require_folder(folder)
        return ProjectStatus(folder)
    store = shelf.open(root).store
    file = memory_file(home, root)
    size = sum(path.stat().st_size for path in files_of(file)) / 1e6
    counts, languages = store.counts(model), store.languages()
    return ProjectStatus(root, counts, languages, store.indexed_at(), str(file), size, is_mirrored(file))
