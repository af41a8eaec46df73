"""Fills the columns that no search reads with vectors of another model, and lets searches read them when complete."""

from __future__ import annotations

import logging
from collections.abc import Callable

from repertoire.commons.database import Connection, Database
from repertoire.commons.models import Models
from repertoire.commons.traces import SEARCHED
from repertoire.commons.vectors import READ, Held, held, store, traces_of, vectors_of, writing
from repertoire.domain.errors import RepertoireError
from repertoire.ports import Embedder

_BATCH = 16

_log = logging.getLogger(__name__)
_Row = tuple[int, str, str, str, str]


class Filler:
    """Fills the columns of all communities for one worker; several workers share the traces of one community.

    Its state is in the rows: a trace is done when it has vectors of the model. So whoever comes after a worker that
    died goes on where that one was. A trace on which the model fails is left out until the worker starts again.
    """

    def __init__(self, database: Database, models: Models) -> None:
        self._database, self._models = database, models
        self._failed: set[tuple[str, int]] = set()
        self._missing: set[str] = set()

    def fill(self, stopped: Callable[[], bool]) -> None:
        """Embed the traces of each community that is being filled, until none is left or `stopped` says so."""
        for community in self._database.communities(filling=True):
            last: int | None = 0
            while last is not None and not stopped():
                last = self._fill_after(community, last)
            if not stopped():
                switch(self._database, community)

    def _fill_after(self, community: str, last: int) -> int | None:
        """Embed a batch of the traces with higher numbers; return the highest of them, None where none is left."""
        with self._database.tenant(community) as connection:
            found = writing(connection, community)
            embedder = self._models.named(found.other_model)
            if not found.filling or embedder is None:
                self._report(found)
                return None
            failed = [number for of, number in self._failed if of == community]
            rows = connection.execute(
                f"SELECT {READ} FROM trace WHERE community = %s AND number > %s AND number <> ALL(%s) "
                f"AND {found.other.problem} IS NULL ORDER BY number LIMIT %s FOR NO KEY UPDATE SKIP LOCKED",
                (community, last, failed, _BATCH),
            ).fetchall()
            store(connection, community, found.other, embedder.model, self._vectors(embedder, community, rows))
            return rows[-1][0] if rows else None

    def _vectors(self, embedder: Embedder, community: str, rows: list[_Row]) -> dict[int, tuple[str, ...]]:
        """Return the vectors of traces by their numbers, without those on which the model fails."""
        try:
            found = vectors_of(embedder, traces_of(rows))
        except RepertoireError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a text does to the model, the other traces go on
            if len(rows) > 1:
                alone = [self._vectors(embedder, community, [row]) for row in rows]
                return {number: vectors for one in alone for number, vectors in one.items()}
            number, key, *_ = rows[0]
            _log.warning("%s gets no vectors of %s: %s", key, embedder.model, type(error).__name__)
            self._failed.add((community, number))
            return {}
        return dict(zip((row[0] for row in rows), found, strict=True))

    def _report(self, found: Held) -> None:
        """Log once that a model is missing."""
        if found.filling and found.other_model not in self._missing:
            self._missing.add(found.other_model)
            _log.warning("this worker cannot help to fill: %s is not on this machine", found.other_model)


def switch(database: Database, community: str) -> bool:
    """Let searches read the filled columns, if every trace that is found by its meaning has vectors there.

    Nothing is added to the community meanwhile.
    """
    for lock in (False, True):  # contributions wait for the lock: it is taken once all seem to be there
        with database.tenant(community) as connection:
            found = held(connection, community, lock=lock)
            if not found.filling or _is_incomplete(connection, community, found):
                return False
            if lock:
                connection.execute(
                    "UPDATE community SET vector_columns = %s, filling = false WHERE community = %s",
                    (found.other.number, community),
                )
    return True


def _is_incomplete(connection: Connection, community: str, found: Held) -> bool:
    row = connection.execute(
        f"SELECT 1 FROM trace WHERE community = %s AND status = ANY(%s) AND {found.other.problem} IS NULL "
        f"AND {found.current.problem} IS NOT NULL LIMIT 1",
        (community, list(SEARCHED)),
    ).fetchone()
    return row is not None
