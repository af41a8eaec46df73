"""Keeps what members of a community report of components, and what was released of it: each statistic by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from repertoire.catalogue.reading import load
from repertoire.commons.database import Connection, Database
from repertoire.commons.keys import Caller
from repertoire.learning.shared_use import (
    MOST,
    MOST_PASSED,
    OLDEST_DAYS,
    WEEK_DAYS,
    MemberReport,
    OwnUse,
    TeamUse,
    answered,
    is_due,
    merge_statistics,
    release,
    release_outcomes,
)


@dataclass(frozen=True)
class ReleasedUse:
    """What is told now: the day of the newest release, empty before the first, and what it tells of each component."""

    day: str
    components: Mapping[str, TeamUse]


@dataclass(frozen=True)
class _Statistic:
    """One statistic: its tables are NAME_report and NAME_release, and `counted` makes a release of reports."""

    name: str
    counted: Callable[..., Mapping[str, Any]]


_USED, _PASSED = _Statistic("use", release), _Statistic("offer", release)
_OUTCOMES = _Statistic("outcome", release_outcomes)
_ALL = (_USED, _PASSED, _OUTCOMES)


class SharedUse:
    """The reports and releases of all communities; each call is of one caller's community."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known = frozenset(entry.id for entry in load().components)

    def report(self, caller: Caller, told: OwnUse) -> int:
        """Store a caller's report in place of its last one; return how many used components of it are kept.

        Components that the shipped catalogue does not name are left out: nobody's own names are stored.
        """
        used = sorted(self._known.intersection(told.used))[:MOST]
        passed = sorted(self._known.intersection(told.passed_over).difference(told.used))[:MOST_PASSED]
        outcomes = {component: told.outcomes[component] for component in used if component in told.outcomes}
        with self._database.tenant(caller.community) as connection:
            _store(connection, caller, _USED, used)
            _store(connection, caller, _PASSED, passed)
            _store(connection, caller, _OUTCOMES, sorted(answered(outcomes)))
        return len(used)

    def withdraw(self, caller: Caller) -> None:
        """Delete the caller's report; the next releases count it no more."""
        with self._database.tenant(caller.community) as connection:
            for statistic in _ALL:
                connection.execute(
                    f"UPDATE {statistic.name}_report SET components = '{{}}', released = NULL "
                    "WHERE community = %s AND member = %s",
                    (caller.community, caller.member),
                )

    def released(self, caller: Caller) -> ReleasedUse:
        """Return what is told now, after making another release of each statistic where that is due."""
        with self._database.tenant(caller.community) as connection:
            told = [_released(connection, caller.community, statistic) for statistic in _ALL]
        used, passed, worked = (components for _, components in told)
        return ReleasedUse(max(day for day, _ in told), merge_statistics(used, passed, worked))


def _store(connection: Connection, caller: Caller, statistic: _Statistic, components: list[str]) -> None:
    connection.execute(
        f"INSERT INTO {statistic.name}_report (community, member, components) VALUES (%s, %s, %s) "
        "ON CONFLICT (community, member) DO UPDATE SET components = excluded.components, at = now()",
        (caller.community, caller.member, components),
    )


def _released(connection: Connection, community: str, statistic: _Statistic) -> tuple[str, Mapping[str, Any]]:
    row = connection.execute(
        f"SELECT at > now() - make_interval(days => %s) FROM {statistic.name}_release WHERE community = %s",
        (WEEK_DAYS, community),
    ).fetchone()
    if not (row and row[0]):
        _release(connection, community, statistic)
    row = connection.execute(
        "SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), components "
        f"FROM {statistic.name}_release WHERE community = %s",
        (community,),
    ).fetchone()
    return (row[0], row[1]) if row else ("", {})


def _release(connection: Connection, community: str, statistic: _Statistic) -> None:
    """Release what is reported now, if enough members' reports changed; nobody else does so meanwhile."""
    reports_of, releases_of = f"{statistic.name}_report", f"{statistic.name}_release"
    connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended(%s || ' ' || %s, 0))", (statistic.name, community)
    )
    rows = connection.execute(
        "SELECT member, CASE WHEN r.at > now() - make_interval(days => %s) AND NOT EXISTS (SELECT 1 FROM ban b "
        "WHERE (b.community, b.member) = (r.community, r.member)) THEN components ELSE '{}' END, released "
        f"FROM {reports_of} r WHERE community = %s AND NOT EXISTS (SELECT 1 FROM {releases_of} l "
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
        f"INSERT INTO {releases_of} (community, components) VALUES (%s, %s) "
        "ON CONFLICT (community) DO UPDATE SET components = excluded.components, at = now()",
        (community, Jsonb(statistic.counted(reports.values()))),
    )
    connection.cursor().executemany(
        f"UPDATE {reports_of} SET released = %s WHERE community = %s AND member = %s",
        [(sorted(report.now), community, member) for member, report in reports.items()],
    )
    connection.execute(
        f"DELETE FROM {reports_of} WHERE community = %s "
        "AND (components = '{}' OR at <= now() - make_interval(days => %s))",
        (community, OLDEST_DAYS),
    )
