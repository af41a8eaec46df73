"""Keeps what notes were before they became one, so that they can be taken apart again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from repertoire.domain.project import Entry, EntryLink, Merge
from repertoire.store.connection import Connection

_MOST = 20  # merges of a note; of more, the oldest are forgotten


class ProjectMerges:
    """The merges of a project's notes."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def add(self, key: str, merge: Merge) -> None:
        """Record what a note was merged from."""
        with self._db.transaction():
            node_id, last = self._last(key)
            row = (node_id, last + 1, json.dumps(asdict(merge), separators=(",", ":")))
            self._db.execute("INSERT INTO merged VALUES (?, ?, ?)", row)
            self._db.execute("DELETE FROM merged WHERE node_id = ? AND number <= ?", (node_id, last + 1 - _MOST))

    def add_links(self, key: str, brought: Sequence[EntryLink], shared: Sequence[EntryLink]) -> None:
        """Record the links of what was merged last: those that it brought, and those that were there already."""
        merge = self.last(key)
        if merge is not None:
            told = asdict(replace(merge, links=tuple(brought), shared=tuple(shared)))
            self._db.execute(
                "UPDATE merged SET told = ? WHERE node_id = ? AND number = ?",
                (json.dumps(told, separators=(",", ":")), *self._last(key)),
            )

    def last(self, key: str) -> Merge | None:
        """Return the last merge of a note that was not undone, or None."""
        told = self._db.value("SELECT told FROM merged WHERE node_id = ? AND number = ?", self._last(key))
        return None if told is None else _merge(str(told))

    def all(self) -> dict[str, list[Merge]]:
        """Return the merges of every note by its key, the first one first."""
        found: dict[str, list[Merge]] = {}
        for key, told in self._db.rows(
            "SELECT n.key, m.told FROM merged m JOIN node n ON n.id = m.node_id ORDER BY n.key, m.number"
        ):
            found.setdefault(str(key), []).append(_merge(str(told)))
        return found

    def drop_last(self, key: str) -> None:
        """Forget the last merge of a note."""
        self._db.execute("DELETE FROM merged WHERE node_id = ? AND number = ?", self._last(key))

    def _last(self, key: str) -> tuple[int, int]:
        """Return the node id of a note, and the number of its last merge."""
        node_id = int(self._db.value("SELECT id FROM node WHERE key = ?", (key,)) or 0)
        return node_id, int(self._db.value("SELECT max(number) FROM merged WHERE node_id = ?", (node_id,)) or 0)


def _merge(told: str) -> Merge:
    data = json.loads(told)
    kept, new, both = (_entry(data[name]) for name in ("kept", "new", "both"))
    links, shared = (tuple(EntryLink(**one) for one in data[name]) for name in ("links", "shared"))
    return Merge(kept, new, both, links, shared)


def _entry(told: Mapping[str, Any]) -> Entry:
    return Entry(**{**told, "tags": tuple(told["tags"])})
