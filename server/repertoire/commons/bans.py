"""Bans members of a community: their keys stop working and their votes stop counting, until the ban is lifted."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.commons import audit, clock
from repertoire.commons.database import Connection, Database
from repertoire.commons.errors import Conflict, NotAllowed
from repertoire.commons.gate import refuse_in
from repertoire.commons.keys import ADMIN, Caller
from repertoire.commons.traces import Traces
from repertoire.domain.errors import UnknownComponent
from repertoire.domain.text import clean_line
from repertoire.domain.trace import NOTE


@dataclass(frozen=True)
class Ban:
    """A banned member, who banned it, when and why."""

    member: str
    by: str
    at: str
    reason: str


class Bans:
    """The bans of all communities."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ban(self, caller: Caller, member: str, reason: str) -> None:
        """Ban a member; banned again, it stays as it was.

        Raises:
            UnknownComponent: the community has no such member.
            Conflict: the member is the caller.
            NotAllowed: the member is an administrator, and the caller is none.
            Refused: the reason holds a secret.
        """
        with audit.refusals(self._database, caller.community, caller):
            refuse_in("reason", reason)
        if member == caller.member:
            message = "nobody bans themselves; revoke the key instead"
            raise Conflict(message)
        with self._database.tenant(caller.community) as connection:
            self._check_member(connection, caller, member)
            if ADMIN not in caller.scopes and _is_administrator(connection, caller.community, member):
                message = f"{clean_line(member, 60)!r} is an administrator; only an administrator bans one"
                raise NotAllowed(message)
            done = connection.execute(
                "INSERT INTO ban (community, member, by, at, reason) VALUES (%s, %s, %s, %s, %s) "
                "ON CONFLICT DO NOTHING",
                (caller.community, member, caller.member, clock.now(connection), clean_line(reason, NOTE)),
            )
            if done.rowcount:
                Traces(connection, caller.community).withdraw_votes(member, withdrawn=True)
                audit.record(connection, caller.community, caller, audit.BANNED, member, reason=reason)

    def lift(self, caller: Caller, member: str) -> None:
        """Lift a ban: the member's keys work again, and its votes count again.

        Raises:
            UnknownComponent: no such member is banned.
        """
        with self._database.tenant(caller.community) as connection:
            done = connection.execute(
                "DELETE FROM ban WHERE community = %s AND member = %s", (caller.community, member)
            )
            if not done.rowcount:
                message = f"{clean_line(member, 60)!r} is not banned in this community"
                raise UnknownComponent(message)
            Traces(connection, caller.community).withdraw_votes(member, withdrawn=False)
            audit.record(connection, caller.community, caller, audit.UNBANNED, member)

    def all(self, caller: Caller) -> list[Ban]:
        """Return the bans of the caller's community, the oldest first."""
        with self._database.tenant(caller.community) as connection:
            rows = connection.execute(
                "SELECT member, by, at, reason FROM ban WHERE community = %s ORDER BY at, member", (caller.community,)
            ).fetchall()
        return [Ban(*row) for row in rows]

    def _check_member(self, connection: Connection, caller: Caller, member: str) -> None:
        known = connection.execute(
            "SELECT 1 FROM member WHERE community = %s AND member = %s", (caller.community, member)
        ).fetchone()
        if known is None:
            message = f"there is no member {clean_line(member, 60)!r} in this community"
            raise UnknownComponent(message)


def _is_administrator(connection: Connection, community: str, member: str) -> bool:
    row = connection.execute(
        "SELECT 1 FROM api_key WHERE community = %s AND member = %s AND %s = ANY(scopes) AND revoked = '' "
        "AND expires::timestamptz > now() LIMIT 1",
        (community, member, ADMIN),
    ).fetchone()
    return row is not None
