"""Reads the `.gitignore` files of a folder, as git does, without starting git."""

from __future__ import annotations

import posixpath
from functools import lru_cache
from pathlib import Path

from pathspec import GitIgnoreSpec

_MOST_BYTES = 200_000  # of one file of patterns


class GitIgnore:
    """The patterns of a project: `.git/info/exclude`, and the `.gitignore` of each folder above a path."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._spec = lru_cache(maxsize=None)(self._read_spec)

    def __call__(self, path: str, folder: bool) -> bool:  # noqa: FBT001 - a predicate that `crawl.walk` calls
        """Tell whether a path below the root is ignored; the patterns of the nearest folder decide."""
        shown = f"{path}/" if folder else path
        above = posixpath.dirname(path)
        while True:
            spec = self._spec(above)
            if spec is not None:
                decided = spec.check_file(posixpath.relpath(shown, above or ".") + ("/" if folder else "")).include
                if decided is not None:
                    return decided
            if not above:
                return False
            above = posixpath.dirname(above)

    def _read_spec(self, folder: str) -> GitIgnoreSpec | None:
        lines = self._lines(self._root / folder / ".gitignore")
        if not folder:
            lines = self._lines(self._root / ".git" / "info" / "exclude") + lines
        return GitIgnoreSpec.from_lines(lines, backend="re2") if lines else None

    def _lines(self, file: Path) -> list[str]:
        try:
            if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST_BYTES:
                return []
            text = file.read_bytes().decode("utf-8", "replace")
        except OSError:
            return []
        return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
