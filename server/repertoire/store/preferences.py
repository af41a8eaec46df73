"""Stores what a person decided: mutes, dismissed findings and corrected capabilities."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from repertoire.store.connection import Connection
from repertoire.store.light.bindings import marks
from repertoire.store.light.exact_copies import muted_at, silent
from repertoire.store.rows import storable

MUTED = "muted"  # value of `how`: muted by a person's command; the other value is for repeated dismissals


@dataclass(frozen=True)
class Mute:
    """A mute of a component, a source or a project, everywhere or in one project only."""

    target: str
    scope: str
    project: str = ""  # empty: everywhere
    how: str = MUTED  # or "dismissed"
    at: str = ""


class Preferences:
    """Reads and writes mutes, dismissed findings, and corrected capabilities."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def mute(self, target: str, scope: str, *, project: str = "", how: str = MUTED, now: str) -> None:
        """Mute a component, source or project, in one project only if one is given."""
        with self._db.transaction():
            row = (storable(target), storable(project), scope, how, now)
            self._db.execute("INSERT OR REPLACE INTO mute VALUES (?, ?, ?, ?, ?)", row)

    def unmute(self, target: str, *, project: str = "") -> bool:
        """Undo a mute, everywhere and in a project; tell whether there was one."""
        with self._db.transaction():
            places = muted_at(project)
            self._db.execute(f"DELETE FROM mute WHERE target = ? AND project IN ({marks(places)})", (target, *places))
            return bool(self._db.changes())

    def mutes(self) -> list[Mute]:
        """Return every mute."""
        rows = self._db.rows("SELECT target, scope, project, how, at FROM mute ORDER BY target, project")
        return [Mute(*row) for row in rows]

    def muted(self, *, project: str = "") -> dict[str, str]:
        """Map every target that is muted everywhere, or in this project, to its scope."""
        places = muted_at(project)
        sql = f"SELECT target, scope FROM mute WHERE project IN ({marks(places)}) ORDER BY target"
        return dict(self._db.rows(sql, places))

    def silent(self, *, project: str = "") -> frozenset[str]:
        """Return what is muted in a project, including exact copies and twins of a component, and muted projects."""
        return frozenset(silent(self._db.rows, project))

    def dismiss(self, pair: tuple[str, str], kind: str, *, content: str, now: str) -> None:
        """Dismiss a finding about two components until their `content` changes."""
        with self._db.transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO dismissal VALUES (?, ?, ?, ?, ?)", (*sorted(pair), kind, content, now)
            )

    def list_again(self, pair: tuple[str, str], kind: str) -> None:
        """List a dismissed finding about two components again."""
        with self._db.transaction():
            self._db.execute("DELETE FROM dismissal WHERE low = ? AND high = ? AND kind = ?", (*sorted(pair), kind))

    def dismissed(self) -> dict[tuple[str, str, str], str]:
        """Map every dismissed finding (low id, high id, kind) to the content at the time of dismissal."""
        return {
            (low, high, kind): content
            for low, high, kind, content in self._db.rows("SELECT low, high, kind, content FROM dismissal")
        }

    def correct(self, node_key: str, capabilities: Sequence[str], *, now: str) -> None:
        """Store a person's capabilities for a component; they take precedence over those that ingestion finds."""
        with self._db.transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO correction VALUES (?, ?, ?)",
                (node_key, json.dumps(list(capabilities)), now),
            )

    def follow(self, old: str, new: str) -> None:
        """Give a component what was decided about the one that it was under another id."""
        with self._db.transaction():
            self._db.execute("UPDATE OR REPLACE mute SET target = ? WHERE target = ?", (storable(new), storable(old)))
            ids = (storable(new), storable(old))
            self._db.execute("UPDATE OR REPLACE correction SET node_key = ? WHERE node_key = ?", ids)

    def corrections(self) -> dict[str, tuple[str, ...]]:
        """Map every corrected component to its capabilities."""
        return {
            key: tuple(json.loads(text))
            for key, text in self._db.rows("SELECT node_key, capabilities FROM correction ORDER BY node_key")
        }
