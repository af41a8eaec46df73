"""Defines `Store`: opens the database file, migrates its schema, and gives access to each part of it."""

from __future__ import annotations

from pathlib import Path
from typing import final

from repertoire.store.backup import Backup
from repertoire.store.connection import Connection
from repertoire.store.events import Events
from repertoire.store.flags import Flags
from repertoire.store.fulltext import FullText
from repertoire.store.graph import Graph
from repertoire.store.graph_file import HOME_FILE, GraphFile, open_graph_file
from repertoire.store.preferences import Preferences
from repertoire.store.privacy import Privacy
from repertoire.store.requests import Requests
from repertoire.store.sketches import SimilarityCache
from repertoire.store.soundness import Soundness
from repertoire.store.sources import Sources
from repertoire.store.traces import Traces
from repertoire.store.vectors import Vectors


@final
class Store:
    """One database file and all its parts. Only one thread at a time may use a store; each thread opens its own.

    While a store is open, its process must not open the file by other means (`open`, `shutil.copy`): closing such a
    handle drops the locks of every connection in the process, and another process may delete the log under them.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.path = connection.path
        self.read_only = connection.read_only
        self.stale = connection.stale  # opened without its write-ahead log, so that the latest writes are not visible
        self.graph = Graph(connection)
        self.text = FullText(connection)
        self.vectors = Vectors(connection)
        self.sources = Sources(connection, self.vectors)
        self.similarities = SimilarityCache(connection)
        self.requests = Requests(connection, self.vectors)
        self.events = Events(connection)
        self.preferences = Preferences(connection)
        self.flags = Flags(connection)
        self.soundness = Soundness(connection)
        self.traces = Traces(connection, self.vectors)
        self.privacy = Privacy(connection, self.sources, self.vectors)
        self.backup = Backup(connection)
        self.transaction = connection.transaction
        self.snapshot = connection.snapshot

    @classmethod
    def open(cls, path: Path, *, file: GraphFile = HOME_FILE, read_only: bool = False, wait: float = 10.0) -> Store:
        """Open the database, or create it if there is none; a file that cannot be written is opened read-only.

        `wait` is how many seconds a write may wait for the lock of another process.

        Raises:
            StoreError: the file is foreign, newer, corrupt, or cannot be opened at all.
        """
        return cls(open_graph_file(path, file, read_only=read_only, wait=wait))

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
