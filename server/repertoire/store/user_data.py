"""Selects the user data of a graph file in SQL, and copies it from a damaged file and a backup into a new file."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import apsw

from repertoire.domain.graph import Layout
from repertoire.store.connection import Connection
from repertoire.store.graph_file import GraphFile, open_graph_file
from repertoire.store.light.bindings import marks
from repertoire.store.migrations import migrate
from repertoire.store.vectors import Vectors
from repertoire.store.writing import GraphWriter

Part = Mapping[str, str]  # tables that must come from the same file, each with the SQL that reads its user data
NUMBERS = "number"  # the table of a backup that holds each table's last row number
_GAP = 1_000_000  # row numbers left unused after a backup: more events than come between two backups
_LARGEST = 2**53  # the largest number that Repertoire writes
_TYPES: Mapping[str, tuple[type, ...]] = {"TEXT": (str,), "INTEGER": (int,), "REAL": (int, float)}
_AS_JSON = ("data", "capabilities")  # columns that hold JSON, in any table


@dataclass(frozen=True)
class Rows:
    """The columns of a table, and the rows that were read."""

    columns: Sequence[str] = ()
    rows: Sequence[tuple[Any, ...]] = ()


@dataclass
class RecoveredCounts:
    """The rows by table and nodes by kind that came from each file, and the tables that may lack some."""

    damaged: Counter[str] = field(default_factory=Counter)
    backup: Counter[str] = field(default_factory=Counter)
    incomplete: list[str] = field(default_factory=list)


def user_data_parts(layout: Layout) -> list[Part]:
    """Return the parts of the user data: each table alone, and the nodes with all rows that refer to them."""
    kinds = [kind.name for kind in layout.kinds if kind.own]
    nodes = f"SELECT id FROM node WHERE type IN ({', '.join(map(repr, kinds))})"
    edges = f"source IN ({nodes}) OR target IN ({nodes})"
    ends = " UNION ".join(f"SELECT {end} FROM edge WHERE {edges}" for end in ("source", "target"))
    texts = sorted({layout.text_of(kind) for kind in kinds} - {""})
    tables = [table for table in layout.tables if table.own]
    return [
        *(
            {table.name: f"SELECT * FROM {table.name} WHERE {table.own_rows or 'true'}"}
            for table in tables
            if not table.node
        ),
        {
            "node": f"SELECT * FROM node WHERE id IN ({nodes}) OR id IN ({ends})",
            "edge": f"SELECT * FROM edge WHERE {edges}",
            **{text: f"SELECT rowid, name, description, body FROM {text} WHERE rowid IN ({nodes})" for text in texts},
            **{
                table.name: f"SELECT * FROM {table.name} WHERE {table.node} IN ({nodes})"
                for table in tables
                if table.node
            },
        },
    ]


class RecoverySource:
    """A file from which user data is recovered: a damaged database, or a backup, which holds user data only."""

    def __init__(self, db: apsw.Connection, *, backup: bool) -> None:
        self._db = db
        self._backup = backup
        self.schema = int(db.pragma("user_version"))
        self.close = db.close

    def all_rows(self, part: Part) -> dict[str, Rows] | None:
        """Return all rows of a part; None if SQLite cannot read them all, or its check of a table fails."""
        try:
            return {name: self._read(name, sql) for name, sql in part.items() if self._is_sound(name)}
        except (apsw.Error, UnicodeDecodeError):
            return None

    def readable_rows(self, part: Part) -> dict[str, Rows]:
        """Return the intact rows of a part that SQLite reads from the first on, and from the last on backwards."""
        found = {}
        for name, sql in part.items():
            with contextlib.suppress(apsw.Error, UnicodeDecodeError):
                columns = self._columns(name)
                rows = dict.fromkeys(row for row in self._until_damage(sql) if _is_row(row, columns))
                found[name] = Rows(tuple(columns), tuple(rows))
        return found

    def last_numbers(self) -> dict[str, int] | None:
        """Return the highest row number that each table ever used; None if it cannot be read."""
        table = NUMBERS if self._backup else "sqlite_sequence"
        try:
            return {str(name): int(number) for name, number in self._db.execute(f"SELECT name, seq FROM {table}")}
        except (apsw.Error, ValueError, TypeError):
            return None

    def made_at(self) -> str:
        """Return the time when a backup was made."""
        found = self._db.execute("SELECT at FROM made").fetchone()
        return str(found[0]) if found else ""

    def _is_sound(self, table: str) -> bool:
        """Tell whether a table exists (an older schema may lack it); virtual tables are not checked.

        Raises:
            apsw.CorruptError: the check of the table fails.
        """
        found = self._db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
        if found is not None and found[0]:
            checked = self._db.execute(f"PRAGMA quick_check({table})").fetchone()
            if checked is None or checked[0] != "ok":
                raise apsw.CorruptError(table)
        return found is not None

    def _read(self, table: str, sql: str) -> Rows:
        rows = self._db.execute(f"SELECT * FROM {table}" if self._backup else sql).fetchall()
        return Rows(tuple(self._columns(table)), rows)

    def _columns(self, table: str) -> dict[str, tuple[str, bool]]:
        """Map each column to its type and whether it is NOT NULL; a full-text table has its rowid too."""
        columns = {
            name: (kind, bool(needed))
            for name, kind, needed in self._db.execute(
                'SELECT name, type, "notnull" FROM pragma_table_info(?)', (table,)
            )
        }
        virtual = self._db.execute(
            "SELECT 1 FROM sqlite_schema WHERE name = ? AND rootpage = 0 AND type = 'table'", (table,)
        )
        return {"rowid": ("INTEGER", True), **columns} if virtual.fetchone() else columns

    def _until_damage(self, sql: str) -> Iterator[tuple[Any, ...]]:
        for order in ("", " ORDER BY rowid DESC"):
            try:
                yield from self._db.execute(sql + order)
            except (apsw.Error, UnicodeDecodeError):  # noqa: PERF203 - the other direction may read more
                continue
            else:
                return


def _is_row(row: tuple[Any, ...], columns: Mapping[str, tuple[str, bool]]) -> bool:
    """Tell whether the values of a row that lies near damage fit their columns."""
    return all(_fits(value, name, *column) for value, (name, column) in zip(row, columns.items(), strict=True))


def _fits(value: object, name: str, kind: str, needed: bool) -> bool:  # noqa: FBT001 - as its column says
    if value is None:
        return not needed
    if name in _AS_JSON:
        try:
            return isinstance(json.loads(str(value)), (dict, list))
        except (ValueError, RecursionError):
            return False
    if isinstance(value, int) and abs(value) > _LARGEST:
        return False
    return isinstance(value, _TYPES.get(kind, (object,)))


def recover(
    path: Path, file: GraphFile, damaged: RecoverySource | None, backup: RecoverySource | None
) -> RecoveredCounts:
    """Make a new database of the user data: each part whole from the damaged file, else from the backup.

    To a part from the backup the readable rows of the damaged file are added, if its tables use no row number twice.
    """
    counts = RecoveredCounts()
    numbered = set((backup.last_numbers() if backup else None) or ())
    taken: dict[RecoverySource, list[dict[str, Rows]]] = {old: [] for old in (backup, damaged) if old}
    for part in user_data_parts(file.layout):
        found = damaged.all_rows(part) if damaged else None
        if damaged and found is not None:
            taken[damaged].append(found)
            continue
        counts.incomplete += [name for name in part if name not in ("edge", *_texts(file.layout))]
        if backup:
            taken[backup].append(backup.all_rows(part) or {})
        if damaged and (not backup or part.keys() <= numbered):
            taken[damaged].append(damaged.readable_rows(part))
    oldest = min((old.schema for old in taken), default=file.newest)
    connection = open_graph_file(path, _until(file, oldest))
    numbers = [source.last_numbers() if source else None for source in (damaged, backup)]
    try:
        for old in sorted(taken, key=lambda one: one.schema):
            migrate(connection, _until(file, old.schema).migrations)
            _insert(connection, file.layout, taken[old], counts.backup if old is backup else counts.damaged)
        migrate(connection, file.migrations)
        with connection.transaction():
            _await_ingest(connection, file.layout)
            _continue_numbering(connection, *numbers)
            connection.touch(*file.layout.views_by_name)
    finally:
        connection.close()
    return counts


def _texts(layout: Layout) -> set[str]:
    return {view.text for view in layout.views}


def _until(file: GraphFile, schema: int) -> GraphFile:
    return replace(file, migrations=tuple(step for step in file.migrations if step.number <= schema))


def _insert(connection: Connection, layout: Layout, parts: Sequence[Mapping[str, Rows]], counted: Counter[str]) -> None:
    with connection.transaction():
        connection.execute("PRAGMA defer_foreign_keys = 1")
        for table, found in ((table, found) for part in parts for table, found in part.items() if found.rows):
            before, names = connection.total_changes(), ", ".join(found.columns)
            connection.executemany(
                f"INSERT OR IGNORE INTO {table}({names}) VALUES ({marks(found.columns)})", found.rows
            )
            if table == "node":
                kinds = Counter(str(row[found.columns.index("type")]) for row in found.rows)
                counted.update({kind.name: kinds[kind.name] for kind in layout.kinds if kind.own})
            elif table not in {"edge", *_texts(layout), *(kind.name for kind in layout.kinds)}:  # a kind was counted
                counted[table] += connection.total_changes() - before
        for table, number, *_ in connection.rows(
            "PRAGMA foreign_key_check"
        ):  # the rows they refer to were not recovered
            connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (number,))


def _await_ingest(connection: Connection, layout: Layout) -> None:
    """Mark every source as not yet read, and leave its nodes as stand-ins until it is read again."""
    if "source" in {table.name for table in layout.tables}:
        connection.execute("UPDATE source SET ingested_at = ''")
    writer = GraphWriter(connection, Vectors(connection), "")
    own = {kind.name for kind in layout.kinds if kind.own}
    nodes = connection.rows("SELECT id, key, type FROM node")
    writer.release([(number, key) for number, key, kind in nodes if writer.of_a_source(kind) and kind not in own])


def _continue_numbering(connection: Connection, sure: Mapping[str, int] | None, kept: Mapping[str, int] | None) -> None:
    """Make each table continue after its last row number; if that is not known for sure, far above the known ones."""
    for (table,) in connection.rows("SELECT name FROM sqlite_schema WHERE sql LIKE '%AUTOINCREMENT%'"):
        last = max(int(connection.value(f"SELECT max(id) FROM {table}") or 0), (sure or kept or {}).get(table, 0))
        connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, last + (0 if sure else _GAP)))
