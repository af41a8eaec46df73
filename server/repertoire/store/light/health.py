"""Reads what `doctor` tells of the database, with the standard library's sqlite3, and changes nothing."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repertoire.domain.answer import BODY_SPACE
from repertoire.domain.component import COMMAND, SKILL
from repertoire.domain.invocation import LISTED, UNLISTED
from repertoire.domain.trace import DRAFT, PROBLEM_SPACE
from repertoire.store.light.bindings import marks
from repertoire.store.light.elsewhere import PROJECTS, elsewhere
from repertoire.store.light.file import opened

_STEPS = 100_000  # SQLite's own, between two looks at the clock


class HealthReader:
    """The database as `doctor` reads it."""

    def __init__(self, path: Path) -> None:
        """Open it to read.

        Raises:
            sqlite3.Error: it is locked, damaged, or cannot be opened at all.
        """
        self._db = opened(path)
        self.close = self._db.close

    def schema(self) -> int:
        """Return the schema's number, which the write-ahead log may hold and the header not yet."""
        return int(self._value("PRAGMA user_version"))

    def trouble(self, seconds: float) -> str | None:
        """Return what SQLite's quick check finds wrong; empty if nothing, None if it took longer than this."""
        deadline = time.monotonic() + seconds
        self._db.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
        try:
            found = str(self._value("PRAGMA quick_check(1)"))
        except sqlite3.OperationalError as error:
            if "interrupt" in str(error):
                return None
            raise
        finally:
            self._db.set_progress_handler(None, 0)
        return "" if found == "ok" else found

    def made(self) -> str:
        """Return the time at which this file, a backup, was made."""
        return str(self._value("SELECT at FROM made"))

    def sources(self) -> list[tuple[str, str, str, str]]:
        """Return key, kind, location and the time of the last reading of every source."""
        return self._db.execute("SELECT key, kind, location, ingested_at FROM source ORDER BY key").fetchall()

    def components(self) -> int:
        """Count the components."""
        return int(self._value("SELECT count(*) FROM component"))

    def listed(self, project: str) -> tuple[int, int]:
        """Return how many skills and commands the model is told of in a project, and the characters it is told.

        Claude Code cuts each description off (`LISTED`).
        """
        away, untold = sorted(elsewhere(self._db.execute(PROJECTS), project)), sorted(UNLISTED)
        number, characters = self._db.execute(
            f"""SELECT count(*), sum(min(length(c.description), {LISTED})) FROM component c
                JOIN node n ON n.id = c.node_id LEFT JOIN source s ON s.id = n.source_id
                WHERE c.installed AND c.type IN (?, ?) AND c.client = '' AND c.invocation NOT IN ({marks(untold)})
                  AND ifnull(s.key, '') NOT IN ({marks(away)})""",
            (SKILL, COMMAND, *untold, *away),
        ).fetchone()
        return int(number), int(characters or 0)

    def embedded(self, model: str) -> int:
        """Count the components that have their vector by a model."""
        sql = """SELECT count(*) FROM component c JOIN vector_state v USING (node_id, content_hash)
                 WHERE v.space_id = (SELECT id FROM vector_space WHERE space = ? AND model = ?)"""
        return int(self._value(sql, BODY_SPACE, model))

    def traces(self, model: str) -> tuple[int, int]:
        """Count the traces, drafts left out, and those of them that have their vector by a model."""
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'trace'").fetchone():  # an older schema
            return 0, 0
        done = """SELECT count(*) FROM trace t JOIN vector_state v USING (node_id)
                  WHERE v.space_id = (SELECT id FROM vector_space WHERE space = ? AND model = ?)"""
        total = "SELECT count(*) FROM trace WHERE status <> ?"
        return int(self._value(total, DRAFT)), int(self._value(done, PROBLEM_SPACE, model))

    def events(self, kind: str) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the time and the data of each event of a kind."""
        rows = self._db.execute("SELECT at, data FROM event WHERE kind = ? ORDER BY id", (kind,))
        return [(at, json.loads(data)) for at, data in rows]

    def advisories(self) -> tuple[int, int, str]:
        """Return the number of advisories, the number of packages that they name, and the time of the last reading."""
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'advisory'").fetchone():  # an older schema
            return 0, 0, ""
        counts = "count(DISTINCT id), count(DISTINCT ecosystem || ' ' || package)"
        records, packages, read = self._db.execute(f"SELECT {counts}, coalesce(max(at), '') FROM advisory").fetchone()
        return records, packages, read

    def _value(self, sql: str, *bindings: str) -> Any:
        return self._db.execute(sql, bindings).fetchone()[0]
