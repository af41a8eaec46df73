"""Opens the empty memory of a new, temporary project, in which a labelled set is measured."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from repertoire.app.projects.index import begin_memory
from repertoire.app.projects.shelf import OpenProject, ProjectShelf
from repertoire.store.project_file import ProjectStore


@contextmanager
def temporary_project(opening: Callable[[Path], ProjectStore]) -> Iterator[OpenProject]:
    """Yield the memory of an empty project; the folder and the memory are deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="repertoire-eval-") as folder:
        root, home = Path(folder) / "project", Path(folder) / "home"
        root.mkdir()
        begin_memory(home, str(root), opening)
        shelf = ProjectShelf(home, opening)
        try:
            yield shelf.open(str(root))
        finally:
            shelf.close()
