"""The small project, read into a memory that is open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.projects.small_project import FILES, begin, read, write
from repertoire.app.projects.shelf import OpenProject, ProjectShelf
from repertoire.app.wiring import open_project


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[ProjectShelf]:
    """Return the shelf of a home that has the memory of the small project."""
    root = write(tmp_path / "kiln-project", FILES)
    with begin(tmp_path / "home", root) as memory:
        read(memory)
    with closing(ProjectShelf(tmp_path / "home", open_project)) as found:
        yield found


@pytest.fixture
def project(shelf: ProjectShelf, tmp_path: Path) -> OpenProject:
    """Return the small project's memory, open."""
    return shelf.open(str(tmp_path / "kiln-project"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of the small project's mirror."""
    return tmp_path / "kiln-project" / ".repertoire"
