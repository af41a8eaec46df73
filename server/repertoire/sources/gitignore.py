"""Reads the `.gitignore` files of a folder, as git does, without starting git."""

from __future__ import annotations

import posixpath
import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import re2
from pathspec import GitIgnoreSpec

from repertoire.domain.text import sendable
from repertoire.sources.repository import top_of

_MOST_BYTES = 200_000  # of one file of patterns
_FAULTS = (ValueError, re.error, re2.error)  # of a pattern that git passes over


class GitIgnore:
    """The patterns of a project: `.git/info/exclude`, and the `.gitignore` of each folder above a path.

    A project inside a repository has those of the repository too, unless they leave out the project itself, as those of
    a home that is kept in git do.
    """

    def __init__(self, root: Path) -> None:
        self._spec = lru_cache(maxsize=None)(self._read_spec)
        self._top = top_of(root) or root
        below = root.relative_to(self._top).parts
        self._below = "".join(f"{name}/" for name in below)
        if any(self._ignores("/".join(below[:count]), folder=True) for count in range(1, len(below) + 1)):
            self._spec.cache_clear()
            self._top, self._below = root, ""

    def __call__(self, path: str, folder: bool) -> bool:  # noqa: FBT001 - a predicate that `crawl.walk` calls
        """Tell whether a path below the root is ignored; the patterns of the nearest folder decide."""
        return self._ignores(self._below + path, folder=folder)

    def _ignores(self, path: str, *, folder: bool) -> bool:
        shown = f"{path}/" if folder else path
        above = posixpath.dirname(path)
        while True:
            spec = self._spec(above)
            if spec is not None:
                below = shown[len(above) + 1 :] if above else shown
                decided = spec.check_file(sendable(below)).include  # a file name need not be UTF-8; RE2's text is
                if decided is not None:
                    return decided
            if not above:
                return False
            above = posixpath.dirname(above)

    def _read_spec(self, folder: str) -> GitIgnoreSpec | None:
        lines = self._lines(self._top / folder / ".gitignore")
        if not folder:
            lines = self._lines(self._top / ".git" / "info" / "exclude") + lines
        return _spec_of(lines) if lines else None

    def _lines(self, file: Path) -> list[str]:
        try:
            if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST_BYTES:
                return []
            text = file.read_bytes().decode("utf-8-sig", "replace")
        except OSError:
            return []
        return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _spec_of(lines: Sequence[str]) -> GitIgnoreSpec:
    """Return the patterns of some lines, without those that are none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of brackets in brackets
        try:
            return GitIgnoreSpec.from_lines(lines, backend="re2")
        except _FAULTS:
            return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)], backend="re2")


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line], backend="re2")
    except _FAULTS:
        return False
    return True
