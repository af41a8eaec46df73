"""Holds the memories of projects that were asked open to read, with their texts as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.app.projects.places import known_root, memory_file, root_of
from repertoire.domain.project import KNOWLEDGE
from repertoire.projects.spreading import Beside, beside
from repertoire.retrieval.project import ALL_SPACES, SEARCHED, Parts, ProjectIndex, read_project, spaces_of
from repertoire.retrieval.sign_codes import NodeVectors
from repertoire.store.project_file import ProjectStore

_MOST = 3  # memories that are open at once
_ROOM = 320_000_000  # bytes of the vectors that all of them hold; 130,000 texts take 200 MB
_Version = tuple[int, tuple[tuple[int, int], ...]]


@dataclass
class OpenProject:
    """A project's memory that is open, with those of its views that were asked as arrays."""

    root: str
    store: ProjectStore
    inode: int
    mirrored: object = None  # both sides of the mirror as they were when this process compared them last
    unread: Mapping[str, str] = field(default_factory=dict)  # files of the mirror that are not read since, and why
    _beside: tuple[int, Beside] | None = None
    _missing: tuple[object, tuple[int, int]] | None = None
    _vectors: dict[tuple[str, str], tuple[tuple[int, int], NodeVectors]] = field(default_factory=dict)
    _indexes: dict[tuple[str, str], tuple[_Version, ProjectIndex]] = field(default_factory=dict)

    def index(self, view: str, model: str) -> ProjectIndex:
        """Return a view as arrays with the vectors of a model, read again only when one of them changed."""
        moved = self.store.vectors.revisions(spaces_of(view))
        version = (self.store.graph.revision(view), tuple(moved.values()))
        known = self._indexes.get((view, model))
        if known is None or known[0] != version:
            with self.store.snapshot():
                parts = Parts(*self.store.items.parts(view))
                vectors = [self._of_space(space, model, moved[space]) for space in spaces_of(view)]
                index = read_project(version[0], parts, vectors, view)
            known = self._indexes[view, model] = (version, index)
        return known[1]

    def _of_space(self, space: str, model: str, moved: tuple[int, int]) -> NodeVectors:
        """Return the vectors of a space, read again only when one of them changed: an edit comes before its vectors."""
        known = self._vectors.get((space, model))
        if known is None or known[0] != moved:
            known = (moved, NodeVectors(*self.store.vectors.matrix(space, model)))
            self._vectors[space, model] = known
        return known[1]

    def beside(self) -> Beside:
        """Return what each entry is linked with, read again only when what was saved changed."""
        revision = self.store.graph.revision(KNOWLEDGE)
        if self._beside is None or self._beside[0] != revision:
            self._beside = (revision, beside(self.store.entries.linked()))
        return self._beside[1]

    def bytes_held(self) -> int:
        """Return how many bytes the vectors take that are held as arrays."""
        return sum(index.vector_bytes for _, index in self._indexes.values())

    def let_go(self) -> None:
        """Forget the arrays; the next question reads them again."""
        self._indexes.clear()
        self._vectors.clear()

    def missing_vectors(self, model: str) -> tuple[int, int]:
        """Return how many texts have no vector of a model yet, and how many should have one."""
        version = (*self.store.vectors.revisions(ALL_SPACES).values(), *map(self.store.graph.revision, SEARCHED))
        if self._missing is None or self._missing[0] != (model, version):
            self._missing = ((model, version), self.store.missing_vectors(model))
        return self._missing[1]


class ProjectShelf:
    """The memories of a home's projects; only one thread at a time may use it."""

    def __init__(self, home: Path, opening: Callable[[Path], ProjectStore], *, room: int = _ROOM) -> None:
        self._home = home
        self._room = room
        self._opening = opening
        self._open: dict[str, OpenProject] = {}

    def has(self, folder: str) -> bool:
        """Tell whether a folder lies in a project with a memory."""
        return bool(root_of(self._home, folder))

    def open(self, folder: str) -> OpenProject:
        """Return the memory of the project that a folder lies in.

        Raises:
            ProjectRefused: the folder lies in no project with a memory.
            StoreError: the memory cannot be opened.
        """
        root = known_root(self._home, folder)
        file = memory_file(self._home, root)
        inode = file.stat().st_ino
        known = self._open.pop(root, None)
        if known is not None and known.inode != inode:  # forgotten and begun anew
            known.store.close()
            known = None
        if known is None:
            known = OpenProject(root, self._opening(file), inode)
        self._open[root] = known
        while len(self._open) > _MOST:
            self._open.pop(next(iter(self._open))).store.close()
        for other in self._open.values():  # those that were asked longest ago first
            if other is not known and sum(one.bytes_held() for one in self._open.values()) > self._room:
                other.let_go()
        return known

    def release(self, root: str) -> None:
        """Close the memory of a project."""
        known = self._open.pop(root, None)
        if known is not None:
            known.store.close()

    def close(self) -> None:
        """Close every memory."""
        for root in [*self._open]:
            self.release(root)
