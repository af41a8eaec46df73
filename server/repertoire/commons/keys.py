"""Makes and checks the keys of installations: scoped, expiring, stored as an HMAC under the server's pepper."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from repertoire.commons import audit, clock
from repertoire.commons.database import Connection, Database
from repertoire.commons.idempotency import Once
from repertoire.domain.errors import InvalidRequest, UnknownComponent
from repertoire.domain.trace import ME

USUAL, HIGH = TIERS = ("usual", "high")  # of a key: how much it may send
READ, CONTRIBUTE, VOTE, MODERATE, ADMIN = SCOPES = ("read", "contribute", "vote", "moderate", "admin")
DAYS, MOST_DAYS = 365, 3_650
NAME = r"[a-z0-9][a-z0-9-]{0,39}"  # of a community and of a member: it is part of a key, of paths and of traces
_KEY = re.compile(rf"rpc_(?P<community>{NAME})_(?P<id>[0-9a-f]{{12}})_[A-Za-z0-9-]{{40,50}}")
_LEAST_PEPPER = 32  # bytes


@dataclass(frozen=True)
class Caller:
    """Whom a key belongs to, and what it allows."""

    community: str
    member: str
    key: str  # its id, which is no secret
    scopes: frozenset[str]
    tier: str = USUAL
    banned: bool = False


@dataclass(frozen=True)
class NewKey:
    """A key that was just made: `text` is shown once and stored nowhere."""

    id: str
    text: str
    member: str
    scopes: tuple[str, ...]
    expires: str


def read_pepper(path: Path) -> bytes:
    """Return the pepper in a file; create the file, for this user alone, if there is none.

    Raises:
        InvalidRequest: the file holds too little to be one.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pepper = path.read_bytes()
    else:
        pepper = secrets.token_bytes(_LEAST_PEPPER)
        with os.fdopen(handle, "wb") as file:
            file.write(pepper)
    if len(pepper) < _LEAST_PEPPER:
        message = (
            f"{path} holds {len(pepper)} bytes, a pepper has {_LEAST_PEPPER}; without the old one all keys are void"
        )
        raise InvalidRequest(message)
    return pepper


class Keys:
    """The keys of all communities, under one pepper."""

    def __init__(self, database: Database, pepper: bytes) -> None:
        self._database = database
        self._pepper = pepper

    def create(  # noqa: PLR0913 - one column each
        self,
        community: str,
        member: str,
        scopes: Iterable[str],
        *,
        days: int = DAYS,
        vouched: bool | None = None,
        tier: str = USUAL,
        by: Caller | None = None,
        once: Once | None = None,
    ) -> NewKey:
        """Make a key for a member; create the member and the community if they are new.

        Raises:
            InvalidRequest: a name, a scope or the number of days is not allowed.
            Conflict: the request was served before.
        """
        chosen = _checked(community, member, scopes, days)
        with self._database.tenant(community) as connection:
            if once:
                once.check(connection)
            now = clock.now(connection)
            connection.execute(
                "INSERT INTO community (community, created) VALUES (%s, %s) ON CONFLICT DO NOTHING", (community, now)
            )
            connection.execute(
                "INSERT INTO member (community, member, created) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                (community, member, now),
            )
            if vouched is not None:
                _vouch(connection, community, member, vouched=vouched)
            made = self._insert(connection, community, member, chosen, _in_days(connection, days), tier)
            audit.record(connection, community, by, audit.KEY_MADE, made.id, reason=f"for {member}")
            if once:
                once.note(connection, made.id)
            return made

    def caller(self, text: str) -> Caller | None:
        """Return the member and the rights of a key; None if it is unknown, wrong, expired or revoked."""
        match = _KEY.fullmatch(text)
        if match is None:
            return None
        community, key = match["community"], match["id"]
        with self._database.tenant(community) as connection:
            row = connection.execute(
                "SELECT hash, member, scopes, expires::timestamptz <= now(), revoked, tier, "
                "EXISTS (SELECT 1 FROM ban b WHERE b.community = k.community AND b.member = k.member) FROM api_key k "
                "WHERE community = %s AND id = %s",
                (community, key),
            ).fetchone()
        told = self._hash(text)
        kept, member, scopes, expired, revoked, tier, banned = row or (bytes(len(told)), "", (), True, "", "", False)
        fits = hmac.compare_digest(told, bytes(kept))  # also for an unknown id, in the same time
        if not fits or revoked or expired:
            return None
        return Caller(community, member, key, frozenset(scopes), tier, banned)

    def rotate(self, caller: Caller, key: str, *, once: Once | None = None) -> NewKey:
        """Replace a key by a new one of the same member, scopes and tier, with the requests counted of the old one.

        It expires with the old one, unless an administrator makes it: nobody lengthens what was given to them.

        Raises:
            UnknownComponent: there is no such key in use.
            Conflict: the request was served before.
        """
        with self._database.tenant(caller.community) as connection:
            if once:
                once.check(connection)
            row = connection.execute(
                "UPDATE api_key SET revoked = %s WHERE community = %s AND id = %s AND revoked = '' "
                "RETURNING member, scopes, tier, expires",
                (clock.now(connection), caller.community, key),
            ).fetchone()
            if row is None:
                message = "there is no such key in use"
                raise UnknownComponent(message)
            until = _in_days(connection, DAYS) if ADMIN in caller.scopes else str(row[3])
            made = self._insert(connection, caller.community, row[0], tuple(row[1]), until, row[2])
            connection.execute(
                "UPDATE rate SET key = %s WHERE community = %s AND key = %s", (made.id, caller.community, key)
            )
            audit.record(connection, caller.community, caller, audit.KEY_ROTATED, key, reason=f"replaced by {made.id}")
            if once:
                once.note(connection, made.id)
            return made

    def revoke(self, caller: Caller, key: str) -> bool:
        """Revoke a key at once; tell whether there is such a key. Revoked again, it stays as it was."""
        with self._database.tenant(caller.community) as connection:
            done = connection.execute(
                "UPDATE api_key SET revoked = coalesce(nullif(revoked, ''), %s) WHERE community = %s AND id = %s",
                (clock.now(connection), caller.community, key),
            )
            if done.rowcount:
                audit.record(connection, caller.community, caller, audit.KEY_REVOKED, key)
            return done.rowcount > 0

    def _insert(
        self, connection: Connection, community: str, member: str, scopes: tuple[str, ...], expires: str, tier: str
    ) -> NewKey:
        key, secret = secrets.token_hex(6), secrets.token_urlsafe(32).replace("_", "-")
        text = f"rpc_{community}_{key}_{secret}"
        connection.execute(
            "INSERT INTO api_key (community, id, member, hash, scopes, created, expires, tier) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            (community, key, member, self._hash(text), list(scopes), clock.now(connection), expires, tier),
        )
        return NewKey(key, text, member, scopes, expires)

    def _hash(self, text: str) -> bytes:
        """Return what is stored of a key: it has 256 random bits, so that a slow hash would protect nothing more."""
        return hmac.digest(self._pepper, text.encode(), hashlib.sha256)


def _in_days(connection: Connection, days: int) -> str:
    return clock.ago(connection, timedelta(days=-days))


def _checked(community: str, member: str, scopes: Iterable[str], days: int) -> tuple[str, ...]:
    for what, name in (("community", community), ("member", member)):
        if not re.fullmatch(NAME, name):
            message = f"a {what} is named with a-z, 0-9 and -, at most 40 characters, not {name[:60]!r}"
            raise InvalidRequest(message)
    if member == ME:
        message = f"nobody is named {ME!r} in a commons: in each home that is its own person"
        raise InvalidRequest(message)
    wanted = set(scopes)
    if not wanted or wanted - set(SCOPES):
        message = f"a key has one or more of the scopes {', '.join(SCOPES)}"
        raise InvalidRequest(message)
    if not 0 < days <= MOST_DAYS:
        message = f"a key holds from 1 to {MOST_DAYS} days"
        raise InvalidRequest(message)
    return tuple(scope for scope in SCOPES if scope in wanted)


def _vouch(connection: Connection, community: str, member: str, *, vouched: bool) -> None:
    connection.execute(
        "UPDATE member SET vouched = %s WHERE community = %s AND member = %s", (vouched, community, member)
    )
    connection.execute("UPDATE community SET votes = votes + 1 WHERE community = %s", (community,))
