"""Limits the requests of a key in an hour, by a sliding window in PostgreSQL that all servers share; and quotas."""

from __future__ import annotations

import math
from datetime import timedelta

import psycopg

from repertoire.commons import clock
from repertoire.commons.database import Connection, Database
from repertoire.commons.errors import NotAllowed, TooManyRequests
from repertoire.commons.keys import HIGH, USUAL, Caller

PER_HOUR = {USUAL: 100, HIGH: 10_000}  # requests of one key, reads and writes apart, by the key's tier
PER_DAY = {USUAL: 200, HIGH: 20_000}  # traces that one member contributes
PER_COMMUNITY = 1_000_000  # traces
_WINDOW_S = 3_600


class Limits:
    """Counts the requests of every key by PostgreSQL's clock, so that a server whose clock jumps counts right."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, caller: Caller, *, writes: bool) -> None:
        """Count a request; one that is refused is not counted.

        A request of the window before counts by the share of that window which the last hour still covers
        (sliding-window counter).

        Raises:
            TooManyRequests: the key has used up the requests of its tier.
        """
        most = PER_HOUR[caller.tier]
        try:
            self._count(caller, most, writes=writes)
        except psycopg.errors.DiskFull:
            if writes:
                raise  # it could store nothing else either; what reads is answered

    def _count(self, caller: Caller, most: int, *, writes: bool) -> None:
        with self._database.tenant(caller.community) as connection:
            connection.execute("SET LOCAL synchronous_commit = off")  # a crash may forget a request, and costs no wait
            row = connection.execute(
                "WITH clock AS (SELECT extract(epoch FROM now())::bigint AS second) "
                "INSERT INTO rate AS r (community, key, writes, hour, requests) "
                "SELECT %s, %s, %s, second / %s, 1 FROM clock "
                "ON CONFLICT (community, key, writes, hour) DO UPDATE SET requests = r.requests + 1 "
                "RETURNING hour, requests, (SELECT second %% %s FROM clock), coalesce((SELECT b.requests FROM rate b "
                "WHERE (b.community, b.key, b.writes, b.hour) = (r.community, r.key, r.writes, r.hour - 1)), 0)",
                (caller.community, caller.key, writes, _WINDOW_S, _WINDOW_S),
            ).fetchone()
            hour, now, second, before = row or (0, 1, 0, 0)
            if now + before * (1 - second / _WINDOW_S) > most:
                wait = _wait(before, now - 1, second, most)
                message = (
                    f"this key has sent its {most} {'writes' if writes else 'reads'} of the last hour; try again in "
                    f"{wait} s, or ask an administrator for a key of the tier {HIGH!r}"
                )
                raise TooManyRequests(message, wait)  # ends the transaction: the request is not counted
            if now == 1:
                connection.execute(
                    "DELETE FROM rate WHERE community = %s AND key = %s AND writes = %s AND hour < %s",
                    (caller.community, caller.key, writes, hour - 1),
                )


def _wait(before: int, now: int, second: int, most: int) -> int:
    """Return the seconds until one more request fits, given the requests of both windows and the second in this one."""
    if now < most:
        return max(1, math.ceil(_WINDOW_S * (1 - (most - now - 1) / before)) - second)
    return _WINDOW_S - second + max(1, math.ceil(_WINDOW_S * (1 - (most - 1) / now)))


def check_quotas(connection: Connection, caller: Caller) -> None:
    """Check that the caller may contribute one more trace.

    Raises:
        TooManyRequests: the member has contributed as much as its key's tier allows in a day.
        NotAllowed: the community is full.
    """
    most = PER_DAY[caller.tier]
    row = connection.execute(
        "SELECT count(*) FROM trace WHERE community = %s AND author = %s AND at > %s",
        (caller.community, caller.member, clock.ago(connection, timedelta(days=1))),
    ).fetchone()
    if row and row[0] >= most:
        message = f"{caller.member} has contributed {most} traces within a day; send the rest tomorrow"
        raise TooManyRequests(message, _WINDOW_S)
    row = connection.execute("SELECT traces FROM community WHERE community = %s", (caller.community,)).fetchone()
    if row and row[0] >= PER_COMMUNITY:
        message = f"the community holds {PER_COMMUNITY} traces, which is the most; its administrator may begin another"
        raise NotAllowed(message)
