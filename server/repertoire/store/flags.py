"""Reads the flags that static checks gave to components, and stores which contents a person accepted despite them."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.domain.graph import COMPONENTS
from repertoire.domain.trust import SEVERITIES, Flag
from repertoire.store.connection import Connection
from repertoire.store.rows import flags_of


@dataclass(frozen=True)
class Flagged:
    """A component with flags; `accepted` is the time when a person accepted exactly this content, or empty."""

    id: str
    name: str
    type: str
    content_hash: str
    flags: tuple[Flag, ...]
    accepted: str = ""


class Flags:
    """Reads the flags of components; reads and writes acceptances."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def withheld(self, above: int) -> frozenset[str]:
        """Return the ids of components with a flag above this severity whose content nobody accepted."""
        return frozenset(
            key
            for (key,) in self._db.rows(
                """SELECT n.key FROM component c JOIN node n ON n.id = c.node_id
                   WHERE c.risk > max(?, 0) AND c.risk > 0
                     AND NOT EXISTS (SELECT 1 FROM acceptance a WHERE a.content_hash = c.content_hash)""",
                (above,),
            )
        )

    def flagged(self, *, least: int = 1, limit: int = 1_000) -> list[Flagged]:
        """Return the components whose gravest flag has at least this severity, the gravest first."""
        return [
            Flagged(key, name, kind, content_hash, flags_of(flags), accepted or "")
            for key, name, kind, content_hash, flags, accepted in self._db.rows(
                """SELECT n.key, n.name, c.type, c.content_hash, c.flags, a.at
                   FROM component c JOIN node n ON n.id = c.node_id
                     LEFT JOIN acceptance a ON a.content_hash = c.content_hash
                   WHERE c.risk >= ? AND c.risk > 0 ORDER BY c.risk DESC, n.key LIMIT ?""",
                (least, limit),
            )
        ]

    def counts(self) -> dict[str, int]:
        """Count components by the severity of their gravest flag, the gravest first, and the accepted components."""
        found = dict(
            self._db.rows(
                """SELECT c.risk, count(*) FROM component c WHERE c.risk > 0
                     AND NOT EXISTS (SELECT 1 FROM acceptance a WHERE a.content_hash = c.content_hash)
                   GROUP BY c.risk"""
            )
        )
        counts = {name: int(found[at]) for at, name in reversed([*enumerate(SEVERITIES, 1)]) if at in found}
        accepted = self._db.value(
            "SELECT count(*) FROM component c JOIN acceptance a ON a.content_hash = c.content_hash WHERE c.risk > 0"
        )
        return {**counts, "accepted": int(accepted)} if accepted else counts

    def by_content(self) -> dict[str, tuple[str, tuple[Flag, ...]]]:
        """Map every stored content hash to the id and flags of one component that has it."""
        return {
            content_hash: (key, flags_of(flags))
            for key, content_hash, flags in self._db.rows(
                "SELECT n.key, c.content_hash, c.flags FROM component c JOIN node n ON n.id = c.node_id"
            )
        }

    def accept(self, content_hash: str, node_key: str, *, now: str) -> None:
        """Record that a person accepts this content, whatever flags it has."""
        with self._db.transaction():
            self._db.execute("INSERT OR REPLACE INTO acceptance VALUES (?, ?, ?)", (content_hash, node_key, now))
            self._db.touch(COMPONENTS)  # ranking keeps the risk of every component in memory

    def withdraw(self, content_hash: str) -> bool:
        """Undo the acceptance of a content; tell whether there was one."""
        with self._db.transaction():
            self._db.execute("DELETE FROM acceptance WHERE content_hash = ?", (content_hash,))
            undone = bool(self._db.changes())
            if undone:
                self._db.touch(COMPONENTS)
        return undone
