"""Gives the time by PostgreSQL's clock, which its servers share: a clock that jumps in one of them changes nothing.

Times are those of the transaction's begin, as text in the store's format.
"""

from __future__ import annotations

from datetime import timedelta

from repertoire.commons.database import Connection

# Of a query: the transaction's day in UTC.
DAY = "(now() AT TIME ZONE 'UTC')::date"


def now(connection: Connection) -> str:
    """Return the time in UTC, to the second."""
    return ago(connection, timedelta())


def ago(connection: Connection, past: timedelta) -> str:
    """Return the time that lies `past` before now, in UTC, to the second."""
    row = connection.execute(
        "SELECT to_char(now() AT TIME ZONE 'UTC' - make_interval(secs => %s), 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
        (past.total_seconds(),),
    ).fetchone()
    return str(row[0]) if row else ""
