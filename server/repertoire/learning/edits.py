"""Remembers the edits of a session's last two turns, as hashes alone, and so knows one that is put back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MOST = 100  # edits of a turn


class Edits:
    """What was edited since something was last selected: in this turn, and in the one before."""

    def __init__(self) -> None:
        self._before: frozenset[int] = frozenset()
        self._now: list[int] = []

    def take(self, told: Mapping[str, Any]) -> bool:
        """Add an edit; tell whether it reverts one of the turn before.

        Within one turn it tells nothing: what is tried out, and prints for debugging, come and go.
        """
        file, old, new = (told.get(name) for name in ("file_path", "old_string", "new_string"))
        if not (isinstance(file, str) and isinstance(old, str) and isinstance(new, str)):
            return False
        self._now = [*self._now, hash((file, old, new))][-_MOST:]
        return hash((file, new, old)) in self._before

    def end_turn(self) -> None:
        """Begin the next turn."""
        self._before, self._now = frozenset(self._now), []

    def forget(self) -> None:
        """Begin anew: what is selected now has no part in what was edited before."""
        self._before, self._now = frozenset(), []
