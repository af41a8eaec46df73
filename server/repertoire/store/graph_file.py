"""Opens a graph file of any sort (the database in the home, a pack, a project), each with its own migrations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repertoire.domain.errors import ForeignStore
from repertoire.domain.graph import HOME, Layout
from repertoire.store.connection import Connection
from repertoire.store.migrations import CORE, MIGRATIONS, Migration, migrate

_SORT = "sort"  # the key in `meta` that holds the sort of a file; the database in a home has no such row


@dataclass(frozen=True)
class GraphFile:
    """A sort of graph file: its layout (kinds, relations, tables, views) and the migrations that make its tables."""

    name: str
    layout: Layout
    migrations: tuple[Migration, ...]

    @property
    def newest(self) -> int:
        """Return the number of the newest migration."""
        return self.migrations[-1].number


HOME_FILE = GraphFile("home", HOME, MIGRATIONS)


def begin(sort: str, *statements: str) -> Migration:
    """Return the first migration of a sort of file: the core tables, the name of the sort, and its own statements."""
    named = f"INSERT INTO meta VALUES ('{_SORT}', '{sort}')"
    return Migration(1, "core", (*CORE, named, *statements))


def open_graph_file(
    path: Path, file: GraphFile = HOME_FILE, *, read_only: bool = False, wait: float = 10.0
) -> Connection:
    """Open a file of this sort, or create it if there is none, and migrate its schema.

    `wait` is how many seconds a write may wait for the lock of another process.

    Raises:
        StoreError: the file is foreign, of another sort, newer, corrupt, or cannot be opened at all.
    """
    connection = Connection(path, known_schema=file.newest, layout=file.layout, read_only=read_only, wait=wait)
    try:
        _refuse_another(connection, file)
        migrate(connection, file.migrations)
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_another(connection: Connection, file: GraphFile) -> None:
    if not connection.schema:  # the file is new
        return
    found = connection.meta(_SORT) or HOME_FILE.name
    if found != file.name:
        message = f"{connection.path} is a {found} database, not a {file.name} database; open it as what it is"
        raise ForeignStore(message)
