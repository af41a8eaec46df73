"""The store as one object: opens the file, brings its schema up to date, and hands out its parts."""

from __future__ import annotations

from pathlib import Path

from repertoire.store.connection import Connection
from repertoire.store.events import Events, Preferences
from repertoire.store.graph import Graph
from repertoire.store.migrations import migrate
from repertoire.store.privacy import Privacy
from repertoire.store.sources import Sources
from repertoire.store.vectors import Vectors


class Store:
    """One database file and everything in it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.path = connection.path
        self.read_only = connection.read_only
        self.graph = Graph(connection)
        self.vectors = Vectors(connection)
        self.sources = Sources(connection, self.vectors)
        self.events = Events(connection)
        self.preferences = Preferences(connection)
        self.privacy = Privacy(connection)
        self.transaction = connection.transaction

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Store:
        """Open the database, made new where there is none; a file that cannot be written opens to read.

        Raises:
            StoreError: the file is foreign, newer, corrupt, or cannot be opened at all.
        """
        connection = Connection(path, read_only=read_only)
        try:
            migrate(connection)
        except BaseException:
            connection.close()
            raise
        return cls(connection)

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
