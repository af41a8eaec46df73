"""Tells which paths of a project are left out: what git ignores, our own folders, and repositories inside it."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from repertoire.app.projects.places import MIRROR_FOLDER
from repertoire.sources.gitignore import GitIgnore

DECIDING = (".gitignore", ".gitmodules")  # names of files that decide what is left out
OTHER_REPOSITORY = "a repository of its own that is no submodule: a worktree, or a clone"
_MOST_BYTES = 200_000


class LeftOut:
    """Tells of each path below a root whether it is left out, and remembers the repositories among these."""

    def __init__(self, root: Path, *, home: Path) -> None:
        self._root = root
        self._by_patterns = GitIgnore(root)
        own = home.relative_to(root).as_posix() if home.is_relative_to(root) else None
        self._ours = {own, MIRROR_FOLDER}
        self._in_repository = (root / ".git").exists()  # a folder of several repositories is read as a whole
        self.repositories: dict[str, str] = {}  # by path, why

    def __call__(self, path: str, folder: bool) -> bool:  # noqa: FBT001 - a predicate that `crawl.walk` calls
        """Tell whether a path is left out."""
        return path in self._ours or self._by_patterns(path, folder) or (folder and self._is_other_repository(path))

    def _is_other_repository(self, path: str) -> bool:
        inside = self._in_repository and os.path.lexists(self._root / path / ".git") and path not in self._submodules
        if inside:
            self.repositories[path.encode("utf-8", "replace").decode()] = OTHER_REPOSITORY
        return inside

    @cached_property
    def _submodules(self) -> frozenset[str]:
        """The paths of the project's submodules."""
        try:
            with (self._root / ".gitmodules").open("rb") as file:
                text = file.read(_MOST_BYTES).decode("utf-8", "replace")
        except OSError:
            return frozenset()
        pairs = (line.partition("=") for line in text.splitlines())
        return frozenset(value.strip().strip('"').strip("/") for name, _, value in pairs if name.strip() == "path")
