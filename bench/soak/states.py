"""What a database file holds, apart from row numbers and times: two files that hold the same have the same state."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server")]

from repertoire.domain.graph import HOME  # noqa: E402
from repertoire.store.connection import Connection  # noqa: E402
from repertoire.store.migrations import NEWEST  # noqa: E402

Rows = Callable[[str], list[tuple[Any, ...]]]
State = Mapping[str, str]  # a digest for each table

_TEXTS = tuple(view.text for view in HOME.views if view.text)
_TIMES = frozenset({"at", "added_at", "ingested_at", "first_seen", "last_changed"})
_MARKS = (
    "revision",
    "vectors",
    "compared ",
    "unsettled",
    "kept",
    "spooled",
)  # of meta: revisions, times, what compaction kept, and the names of spool files, which differ in every run
_KEYS = {"node_id": "node", "source_id": "source", "space_id": "space"}
_ENDS = {"source": "node", "target": "node"}  # of an edge


def state(rows: Rows) -> State:
    """Return what is in a file, table by table, row numbers replaced by what they stand for."""
    names = {
        "node": dict(rows("SELECT id, key FROM node")) if _has(rows, "node") else {},
        "source": {0: ""} | (dict(rows("SELECT id, key FROM source")) if _has(rows, "source") else {}),
        "space": {key: f"{space} {model}" for key, space, model in rows("SELECT id, space, model FROM vector_space")}
        if _has(rows, "vector_space")
        else {},
    }
    found = {table: _digest(_table(rows, table, names)) for table in _tables(rows)}
    for number, space in names["space"].items():
        vectors = rows(f"SELECT rowid, embedding FROM vec_{number}")
        found[f"vectors {space}"] = _digest([names["node"].get(node, node), blob.hex()] for node, blob in vectors)
    schema = rows("PRAGMA user_version")[0][0]
    return {**found, "schema": str(schema)} if schema else {}


def state_of(path: Path) -> State:
    """Return what is in a file that no process has open; nothing where there is none, or no schema yet."""
    if not path.exists():
        return {}
    connection = Connection(path, known_schema=NEWEST)
    try:
        return state(connection.rows)
    finally:
        connection.close()


def faults(path: Path) -> list[str]:
    """Return what SQLite itself finds wrong with a file: pages, indices, references, full text."""
    connection = Connection(path, known_schema=NEWEST)
    try:
        told = [str(row[0]) for row in connection.rows("PRAGMA integrity_check") if row[0] != "ok"]
        told += [f"a reference to nothing: {row}" for row in connection.rows("PRAGMA foreign_key_check")]
        for text in _TEXTS:
            if _has(connection.rows, text):
                connection.execute(f"INSERT INTO {text}({text}) VALUES ('integrity-check')")
    finally:
        connection.close()
    return told


def difference(one: State, other: State) -> str:
    """Name the tables in which two states differ."""
    return ", ".join(sorted(table for table in {*one, *other} if one.get(table) != other.get(table)))


def _tables(rows: Rows) -> list[str]:
    found = rows("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    virtual = [name for name, sql in found if sql.upper().startswith("CREATE VIRTUAL")]
    return [
        name
        for name, _ in found
        if (name not in virtual or name in _TEXTS)
        and not any(name.startswith(f"{owner}_") for owner in virtual)
        and name != "vector_space"  # its rows stand in the names of the vectors
    ]


def _table(rows: Rows, table: str, names: Mapping[str, Mapping[int, str]]) -> Iterator[Sequence[Any]]:
    if table in _TEXTS:
        for number, *texts in rows(f"SELECT rowid, name, description, body FROM {table}"):
            yield [names["node"].get(number, number), *texts]
        return
    columns = [row[1] for row in rows(f"PRAGMA table_info({table})")]
    stand_for = {**_KEYS, **(_ENDS if table == "edge" else {})}
    for row in rows(f"SELECT * FROM {table}"):
        if table == "meta" and row[0].startswith(_MARKS):
            continue
        yield [
            names[stand_for[column]].get(value, value) if column in stand_for else value
            for column, value in zip(columns, row, strict=True)
            if column not in _TIMES and not (column == "id" and table != "event")
        ]


def _digest(table: Iterator[Sequence[Any]] | Any) -> str:
    lines = sorted(json.dumps(list(row), default=bytes.hex) for row in table)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _has(rows: Rows, table: str) -> bool:
    return bool(rows(f"SELECT 1 FROM sqlite_schema WHERE name = '{table}'"))
