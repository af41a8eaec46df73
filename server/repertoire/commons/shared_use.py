"""Keeps what members of a community report of the components that they use, and what was released of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from psycopg.types.json import Jsonb

from repertoire.catalogue.reading import load
from repertoire.commons.database import Connection, Database
from repertoire.commons.keys import Caller
from repertoire.learning.shared_use import MOST, OLDEST_DAYS, WEEK_DAYS, MemberReport, is_due, release


@dataclass(frozen=True)
class ReleasedUse:
    """The last release: its day, and about how many members use each component; the day is empty before the first."""

    day: str
    components: Mapping[str, int]


class SharedUse:
    """The reports and releases of all communities; each call is of one caller's community."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known = frozenset(entry.id for entry in load().components)

    def report(self, caller: Caller, components: Iterable[str]) -> int:
        """Store what the caller uses in place of its last report; return how many components of it are kept.

        Components that the shipped catalogue does not name are left out: nobody's own names are stored.
        """
        kept = sorted(self._known.intersection(components))[:MOST]
        with self._database.tenant(caller.community) as connection:
            connection.execute(
                "INSERT INTO use_report (community, member, components) VALUES (%s, %s, %s) "
                "ON CONFLICT (community, member) DO UPDATE SET components = excluded.components, at = now()",
                (caller.community, caller.member, kept),
            )
        return len(kept)

    def withdraw(self, caller: Caller) -> None:
        """Delete the caller's report; the next release counts it no more."""
        with self._database.tenant(caller.community) as connection:
            connection.execute(
                "UPDATE use_report SET components = '{}', released = NULL WHERE community = %s AND member = %s",
                (caller.community, caller.member),
            )

    def released(self, caller: Caller) -> ReleasedUse:
        """Return the last release, after making another one where that is due."""
        with self._database.tenant(caller.community) as connection:
            row = connection.execute(
                "SELECT at > now() - make_interval(days => %s) FROM use_release WHERE community = %s",
                (WEEK_DAYS, caller.community),
            ).fetchone()
            if not (row and row[0]):
                _release(connection, caller.community)
            row = connection.execute(
                "SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), components FROM use_release WHERE community = %s",
                (caller.community,),
            ).fetchone()
        return ReleasedUse(*row) if row else ReleasedUse("", {})


def _release(connection: Connection, community: str) -> None:
    """Release what is reported now, if enough members' reports changed; nobody else does so meanwhile."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('use ' || %s, 0))", (community,))
    rows = connection.execute(
        "SELECT member, CASE WHEN r.at > now() - make_interval(days => %s) AND NOT EXISTS (SELECT 1 FROM ban b "
        "WHERE (b.community, b.member) = (r.community, r.member)) THEN components ELSE '{}' END, released "
        "FROM use_report r WHERE community = %s AND NOT EXISTS (SELECT 1 FROM use_release l "
        "WHERE l.community = r.community AND l.at > now() - make_interval(days => %s)) FOR UPDATE OF r",
        (OLDEST_DAYS, community, WEEK_DAYS),
    ).fetchall()
    reports = {
        str(member): MemberReport(frozenset(now), None if before is None else frozenset(before))
        for member, now, before in rows
    }
    if not is_due(reports.values()):
        return
    connection.execute(
        "INSERT INTO use_release (community, components) VALUES (%s, %s) "
        "ON CONFLICT (community) DO UPDATE SET components = excluded.components, at = now()",
        (community, Jsonb(release(reports.values()))),
    )
    connection.cursor().executemany(
        "UPDATE use_report SET released = %s WHERE community = %s AND member = %s",
        [(sorted(report.now), community, member) for member, report in reports.items()],
    )
    connection.execute(
        "DELETE FROM use_report WHERE community = %s "
        "AND (components = '{}' OR at <= now() - make_interval(days => %s))",
        (community, OLDEST_DAYS),
    )
