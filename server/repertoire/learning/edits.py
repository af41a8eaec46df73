"""Detects reverted edits in a session, by hashes of the edits of its last two turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MOST = 100  # edits of a turn that are kept


class Edits:
    """The hashes of edits since the last selection, of the present turn and of the one before."""

    def __init__(self) -> None:
        self._before: frozenset[int] = frozenset()
        self._now: list[int] = []

    def add(self, edit: Mapping[str, Any]) -> bool:
        """Add an edit; return whether it reverts an edit of the turn before.

        A revert within one turn does not count: experiments and debug output come and go.
        """
        file, old, new = (edit.get(name) for name in ("file_path", "old_string", "new_string"))
        if not (isinstance(file, str) and isinstance(old, str) and isinstance(new, str)):
            return False
        self._now = [*self._now, hash((file, old, new))][-_MOST:]
        return hash((file, new, old)) in self._before

    def end_turn(self) -> None:
        """Make the present turn the one before."""
        self._before, self._now = frozenset(self._now), []

    def forget(self) -> None:
        """Drop all edits, because a component that is selected now had no part in them."""
        self._before, self._now = frozenset(), []
