"""Starts, stops and shows the embedding of all traces with another model, and clears the vectors that it replaced."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.app.traces.embed import SPACES
from repertoire.commons.database import Connection, Database
from repertoire.commons.vectors import FIRST, Columns, Held, held, name_model, wait_for_writers

_CLEARED = 500  # traces that one transaction looks at


@dataclass(frozen=True)
class Progress:
    """How many traces of a community have vectors of the model that searches read, or will read when all have them."""

    community: str
    held: Held
    done: int
    total: int

    def text(self) -> str:
        """Return a line for the operator."""
        if self.held.filling:
            return (
                f"{self.community}: {self.done} of {self.total} traces have vectors of {self.held.other_model}; "
                f"searches read {self.held.model}"
            )
        kept = f"; vectors of {self.held.other_model} are kept" if self.held.other_model else ""
        return f"{self.community}: searches read vectors of {self.held.model or 'no model yet'}{kept}"


def start(database: Database, model: str) -> None:
    """Let workers embed the traces of all communities with a model; searches read the vectors when all are there.

    What has vectors of the model keeps them. A community whose searches read them already is left as it is, unless an
    older Repertoire mixed them with another model's.
    """
    for community in database.communities():
        with database.tenant(community) as connection:
            name_model(connection, community, model)
            found = held(connection, community)
            wanted = found.model != model or _is_mixed(connection, community, found)
        if not wanted:
            _stop(database, community)
        elif found.other_model != model:
            _empty(database, community, found.other, keep=model)
        if wanted:
            with database.tenant(community) as connection:
                _set(connection, community, found.other, model, filling=True)


def stop(database: Database) -> None:
    """Stop filling; searches read what they read before. What was embedded is used by the next start."""
    for community in database.communities(filling=True):
        _stop(database, community)


def clear(database: Database) -> int:
    """Delete the vectors that no search reads, except where workers fill their columns; return of how many traces."""
    cleared = 0
    for community in database.communities():
        with database.tenant(community) as connection:
            found = held(connection, community)
        if not found.filling:
            cleared += _empty(database, community, found.other)
    return cleared


def progress(database: Database) -> list[Progress]:
    """Return how far each community is."""
    return [_progress(database, community) for community in database.communities()]


def _progress(database: Database, community: str) -> Progress:
    with database.tenant(community) as connection:
        found = held(connection, community)
        columns = found.other if found.filling else found.current
        row = connection.execute(
            "SELECT traces, (SELECT count(*) FROM trace "
            f"WHERE community = %(community)s AND {columns.problem} IS NULL) "
            "FROM community WHERE community = %(community)s",
            {"community": community},
        ).fetchone()
    total, missing = row or (0, 0)
    return Progress(community, found, total - missing, total)


def _is_mixed(connection: Connection, community: str, found: Held) -> bool:
    connection.execute("SET LOCAL statement_timeout = 0")  # it reads every trace
    row = connection.execute(
        f"SELECT 1 FROM trace WHERE community = %s AND {found.current.problem} IS NOT NULL "
        f"AND {found.current.model} <> %s LIMIT 1",
        (community, found.model),
    ).fetchone()
    return row is not None


def _stop(database: Database, community: str) -> None:
    with database.tenant(community) as connection:
        found = held(connection, community, lock=True)
        if found.filling:
            _set(connection, community, found.other, "", filling=False)


def _set(connection: Connection, community: str, columns: Columns, model: str, *, filling: bool) -> None:
    """Store what columns hold that no search reads."""
    name = "first_model" if columns is FIRST else "second_model"
    connection.execute(
        f"UPDATE community SET {name} = %s, filling = %s WHERE community = %s AND vector_columns <> %s",
        (model, filling, community, columns.number),
    )


def _empty(database: Database, community: str, columns: Columns, *, keep: str = "") -> int:
    """Delete the vectors in columns that no search reads, but for those of a model; return of how many traces."""
    with database.tenant(community) as connection:
        _set(connection, community, columns, "", filling=False)
    with database.tenant(community) as connection:
        wait_for_writers(connection, community)
    emptied = 0
    last: int | None = 0
    while last is not None:
        with database.tenant(community) as connection:
            number, last = _empty_after(connection, community, columns, last, keep)
        emptied += number
    return emptied


def _empty_after(
    connection: Connection, community: str, columns: Columns, last: int, keep: str
) -> tuple[int, int | None]:
    """Delete the vectors of a batch of traces; return how many it deleted, and the last trace it looked at."""
    nulls = ", ".join(f"{columns.spaces[space]} = NULL" for space in SPACES)
    row = connection.execute(
        f"WITH seen AS (SELECT number, {columns.model} <> %(keep)s AS stale FROM trace "
        f"WHERE community = %(community)s AND number > %(last)s AND {columns.problem} IS NOT NULL "
        "ORDER BY number LIMIT %(size)s FOR NO KEY UPDATE), "
        f"emptied AS (UPDATE trace SET {nulls}, {columns.model} = '' FROM seen "
        "WHERE trace.community = %(community)s AND trace.number = seen.number AND seen.stale RETURNING 1) "
        "SELECT (SELECT count(*) FROM emptied), (SELECT max(number) FROM seen)",
        {"community": community, "last": last, "keep": keep, "size": _CLEARED},
    ).fetchone()
    return row or (0, None)
