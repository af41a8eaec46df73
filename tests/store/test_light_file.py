"""An error of SQLite is told as what it is: damage, a file that cannot be read, or a wrong question of ours."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from repertoire.store.light.file import refused


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (sqlite3.ProgrammingError("Incorrect number of bindings supplied. The current statement uses 5"), "is sound"),
        (sqlite3.OperationalError('near "FORM": syntax error'), "is sound"),
        (sqlite3.OperationalError("unable to open database file"), "cannot be read"),
        (sqlite3.OperationalError("database is locked"), "cannot be read"),
        (sqlite3.OperationalError("unsupported file format"), "is damaged"),
        (sqlite3.DatabaseError("database disk image is malformed"), "is damaged"),
    ],
)
def test_only_what_sqlite_calls_damage_is_told_as_damage(error: sqlite3.Error, said: str) -> None:
    assert f"x.db {said}" in refused(Path("x.db"), error).text
