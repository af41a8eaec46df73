"""Counts what a community holds: sums over all members, and nothing of a single one."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.commons.database import Database
from repertoire.commons.keys import Caller
from repertoire.commons.vectors import held


@dataclass(frozen=True)
class CommunityCounts:
    """What a community holds, for its members: `traces` in any state, `waiting`: those without vectors yet."""

    traces: int
    waiting: int
    members: int
    votes: int
    tags: int
    packs: int


def statistics(database: Database, caller: Caller) -> CommunityCounts:
    """Return the numbers of the caller's community."""
    with database.tenant(caller.community) as connection:
        column = held(connection, caller.community).current.problem
        row = connection.execute(
            "SELECT (SELECT traces FROM community WHERE community = %(community)s), "
            f"(SELECT count(*) FROM trace WHERE community = %(community)s AND {column} IS NULL), "
            "(SELECT count(*) FROM member WHERE community = %(community)s), "
            "(SELECT count(*) FROM vote WHERE community = %(community)s AND NOT withdrawn), "
            "(SELECT count(*) FROM tag_count WHERE community = %(community)s AND traces > 0), "
            "(SELECT count(*) FROM pack WHERE community = %(community)s AND content IS NOT NULL)",
            {"community": caller.community},
        ).fetchone()
    return CommunityCounts(*(int(count or 0) for count in row or (0,) * 6))
