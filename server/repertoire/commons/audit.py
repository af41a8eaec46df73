"""The log of what was decided in a community: who did what to whom, from which key; rows are only ever added."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from repertoire.commons import clock
from repertoire.commons.database import Connection, Database
from repertoire.commons.gate import Refused
from repertoire.domain.text import clean_line

KEY_MADE, KEY_ROTATED, KEY_REVOKED = "key made", "key rotated", "key revoked"
AMENDED, QUARANTINED, REMOVED, RESTORED = "trace amended", "trace quarantined", "trace removed", "trace restored"
BANNED, UNBANNED, REFUSED = "member banned", "member unbanned", "text refused"
PACK_REMOVED = "pack removed"
_REASON = 200  # characters


class Actor(Protocol):
    """Who acts: a member, from the key with this id; both are empty for the server's own operator."""

    @property
    def member(self) -> str:
        """The member's name."""

    @property
    def key(self) -> str:
        """The key's id, which is no secret."""


@dataclass(frozen=True)
class AuditEntry:
    """One decision: its number in the community, the member `who` and the key's id, what was done, and to what."""

    number: int
    at: str
    who: str
    key: str
    action: str
    target: str
    reason: str


def record(
    connection: Connection, community: str, actor: Actor | None, action: str, target: str, *, reason: str = ""
) -> None:
    """Add an entry, in the transaction of what it tells; it must hold no contents of traces."""
    member, key = (actor.member, actor.key) if actor else ("", "")
    connection.execute(
        "WITH counted AS (UPDATE community SET audited = audited + 1 WHERE community = %s RETURNING audited) "
        "INSERT INTO audit (community, number, at, member, key, action, target, reason) "
        "SELECT %s, audited, %s, %s, %s, %s, %s, %s FROM counted",
        (community, community, clock.now(connection), member, key, action, target, clean_line(reason, _REASON)),
    )


@contextmanager
def refusals(database: Database, community: str, actor: Actor) -> Iterator[None]:
    """Record that a text was refused in the block, and where in it, not what it is; the error goes on."""
    try:
        yield
    except Refused as refused:
        with database.tenant(community) as connection:
            place = f"{refused.what} in line {refused.line}"
            record(connection, community, actor, REFUSED, refused.field, reason=place)
        raise


def entries(database: Database, community: str, *, after: int, limit: int) -> list[AuditEntry]:
    """Return the entries with higher numbers than `after`, the oldest first."""
    with database.tenant(community) as connection:
        rows = connection.execute(
            "SELECT number, at, member, key, action, target, reason FROM audit "
            "WHERE community = %s AND number > %s ORDER BY number LIMIT %s",
            (community, after, limit),
        ).fetchall()
    return [AuditEntry(*row) for row in rows]
