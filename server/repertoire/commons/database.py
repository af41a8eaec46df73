"""Opens PostgreSQL and lends connections that see the rows of one community alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import psycopg
from psycopg import sql
from psycopg_pool import ConnectionPool

from repertoire.commons.migrations import ROLE, STEPS, is_privileged

Connection = psycopg.Connection[tuple[Any, ...]]
_MOST, _WAIT_S = 10, 3.0  # connections of a process, and how long a request may wait for one since it came
_LEAST_WAIT_S = 0.05  # of a request that waited for so long elsewhere
_LOOK_S = 1.0  # how long a look at the state of the server waits for one
_STATEMENT_MS = 10_000


_came: ContextVar[float | None] = ContextVar("came", default=None)


def request_came() -> None:
    """Remember that a request came now: where many wait, each is refused after `_WAIT_S`, not one after the other."""
    _came.set(time.monotonic())


class Database:
    """A pool of connections; every transaction belongs to one community."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._pool = ConnectionPool[Connection](
            url, min_size=1, max_size=_MOST, timeout=_WAIT_S, configure=_configure, open=False
        )

    def open(self) -> None:
        """Open the pool and wait for its first connection.

        Raises:
            psycopg_pool.PoolTimeout: PostgreSQL does not answer.
        """
        self._pool.open(wait=True)

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()

    @contextmanager
    def tenant(self, community: str) -> Iterator[Connection]:
        """Lend a connection in a transaction that can read and write the rows of one community only.

        Raises:
            psycopg_pool.PoolTimeout: all connections are lent, or PostgreSQL does not answer.
        """
        came = _came.get()
        wait = _WAIT_S if came is None else max(came + _WAIT_S - time.monotonic(), _LEAST_WAIT_S)
        with self._pool.connection(timeout=wait) as connection, connection.transaction():
            connection.execute("SELECT set_config('repertoire.community', %s, true)", (community,))
            yield connection

    @contextmanager
    def untenanted(self) -> Iterator[Connection]:
        """Lend a connection of no community: it sees what belongs to none, such as the number of jobs."""
        with self._pool.connection(timeout=_LOOK_S) as connection:
            yield connection

    def communities(self, *, filling: bool = False) -> list[str]:
        """Return the names of all communities, or of those alone whose vector columns are being filled."""
        with self._pool.connection() as connection, connection.transaction():
            connection.execute("SELECT set_config('repertoire.listing', 'communities', true)")
            rows = connection.execute(
                "SELECT community FROM community WHERE filling OR NOT %s ORDER BY community", (filling,)
            ).fetchall()
        return [str(community) for (community,) in rows]

    def pool_stats(self) -> dict[str, int]:
        """Return the numbers of connections as psycopg's pool counts them."""
        return self._pool.get_stats()

    def ready(self) -> bool:
        """Tell whether PostgreSQL answers and has every step of the schema that this process knows."""
        try:
            with self.untenanted() as connection:
                row = connection.execute("SELECT max(step) FROM migration").fetchone()
        except (psycopg.OperationalError, psycopg.errors.UndefinedTable):  # PoolTimeout is one of the first
            return False
        return bool(row and row[0] and row[0] >= len(STEPS))


def _configure(connection: Connection) -> None:
    if is_privileged(connection):
        connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(ROLE)))
    connection.execute(sql.SQL("SET statement_timeout = {}").format(sql.Literal(_STATEMENT_MS)))
    connection.execute("SET hnsw.iterative_scan = strict_order")
    connection.execute(
        "SET hnsw.ef_search = 400"
    )  # of 100,000 it finds 99 % of the nearest 200, in 5 ms; 200 finds 94, in 3
    connection.commit()
