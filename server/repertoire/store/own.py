"""Brings nodes and tables that are a person's own from a damaged file into a new one, under their old numbers.

What SQLite reads of them is brought over, in either direction up to where it cannot read on. Past requests and the
tables whose rows are known by their look come by another way (`salvage.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import apsw

from repertoire.domain.component import REQUEST
from repertoire.domain.graph import Layout, Table
from repertoire.store.connection import Connection
from repertoire.store.rows import marks
from repertoire.store.vectors import Vectors
from repertoire.store.writing import GraphWriter

Row = tuple[Any, ...]
_NODE = ("id", "key", "type", "name", "source_id", "file", "data", "first_seen", "last_changed")
_EDGE = ("id", "source", "target", "relation", "weight", "evidence", "source_id", "file")
_TEXT = ("rowid", "name", "description", "body")
_KIND = _NODE.index("type")


@dataclass
class Own:
    """What was read: nodes with the ends of their edges, edges, words, and rows of tables."""

    nodes: dict[int, Row] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()
    edges: list[Row] = field(default_factory=list)
    rows: dict[str, tuple[Sequence[str], list[Row]]] = field(default_factory=dict)  # by table: columns, rows
    texts: dict[str, list[Row]] = field(default_factory=dict)  # by table of full text
    partly: list[str] = field(default_factory=list)  # kinds and tables of which some may be missing

    def counts(self) -> Mapping[str, int]:
        """Return how many nodes of each kind, and rows of each table, were read."""
        nodes = Counter(str(row[_KIND]) for row in self.nodes.values() if row[_KIND] in self.kinds)
        return {**nodes, **{table: len(rows) for table, (_, rows) in self.rows.items()}}


def own_names(layout: Layout, *, but: Collection[str]) -> tuple[tuple[str, ...], tuple[Table, ...]]:
    """Return the kinds and the tables that are brought over here: a person's own, but for what comes another way."""
    kinds = tuple(kind.name for kind in layout.kinds if kind.own and kind.name != REQUEST)
    return kinds, tuple(table for table in layout.tables if table.own and table.name not in but)


def read_own(db: apsw.Connection, layout: Layout, *, but: Collection[str]) -> Own:
    """Read what is a person's own, but for past requests and for these tables."""
    kinds, tables = own_names(layout, but=but)
    own = Own(kinds=frozenset(kinds))
    if kinds:
        _read_nodes(db, own, kinds)
    for text in sorted({layout.text_of(kind) for kind in kinds} - {""}):
        own.texts[text] = [row for row in _read(db, own, text, _TEXT) if row[0] in own.nodes]
    for table in tables:
        columns = _columns(db, table.name)
        rows = _read(db, own, table.name, columns) if columns else []
        at = columns.index(table.node) if table.node in columns else None
        own.rows[table.name] = columns, [row for row in rows if at is None or row[at] in own.nodes]
    return own


def write_own(connection: Connection, own: Own) -> None:
    """Write it into a new file, inside a transaction; what a source will tell again stands in until it does."""
    connection.execute("PRAGMA defer_foreign_keys = 1")
    writer = GraphWriter(connection, Vectors(connection), "")
    _insert(connection, "node", _NODE, own.nodes.values())
    lent = [(number, str(row[1])) for number, row in own.nodes.items() if writer.of_a_source(str(row[_KIND]))]
    writer.release([one for one in lent if own.nodes[one[0]][_KIND] not in own.kinds])
    _insert(connection, "edge", _EDGE, own.edges)
    for text, words in own.texts.items():
        _insert(connection, text, _TEXT, words)
    for name, (columns, rows) in own.rows.items():
        _insert(connection, name, columns, rows)
    for table, number, *_ in connection.rows("PRAGMA foreign_key_check"):  # what they lead to was not read
        connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (number,))


def _read_nodes(db: apsw.Connection, own: Own, kinds: Sequence[str]) -> None:
    nodes = _read(db, own, "node", _NODE, f"WHERE type IN ({marks(kinds)})", kinds)
    own.nodes = {int(row[0]): row for row in nodes}
    own.edges = [row for row in _read(db, own, "edge", _EDGE) if row[1] in own.nodes or row[2] in own.nodes]
    for end in sorted({end for row in own.edges for end in row[1:3]} - own.nodes.keys()):
        own.nodes.update((end, row) for row in _read(db, own, "node", _NODE, "WHERE id = ?", (end,)))
    own.edges = [row for row in own.edges if row[1] in own.nodes and row[2] in own.nodes]


def _read(
    db: apsw.Connection, own: Own, table: str, columns: Sequence[str], where: str = "", values: Sequence[object] = ()
) -> list[Row]:
    """Return the rows that can be read, from the first on, and where that ends early from the last on too."""
    found: dict[Row, None] = {}
    for order in ("", "ORDER BY rowid DESC"):
        try:
            for row in db.execute(f"SELECT {', '.join(columns)} FROM {table} {where} {order}", tuple(values)):
                found[row] = None
        except (apsw.Error, UnicodeDecodeError):  # noqa: PERF203 - the other way may lead on
            if table not in own.partly:
                own.partly.append(table)
        else:
            break
    return list(found)


def _columns(db: apsw.Connection, table: str) -> list[str]:
    """Return the columns of a table; none where its schema cannot be read, or is older."""
    try:
        return [str(row[0]) for row in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    except apsw.Error:
        return []


def _insert(connection: Connection, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
    connection.executemany(f"INSERT OR IGNORE INTO {table}({', '.join(columns)}) VALUES ({marks(columns)})", [*rows])
