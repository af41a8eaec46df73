"""Serves a request with an `Idempotency-Key` once: sent again, it is told that it was served and what it made.

Contributions, votes and flags need none: the same words are one trace, and each member has one vote and one flag on it.
A new key does; its text is stored nowhere, so that a second answer cannot repeat it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from repertoire.commons import clock
from repertoire.commons.database import Connection
from repertoire.commons.errors import Conflict

MOST = 100  # characters of a name
_KEPT = timedelta(days=1)


@dataclass(frozen=True)
class Once:
    """A request: the key's id that it came with, its `Idempotency-Key` (`name`), and what it asks for."""

    community: str
    key: str
    name: str
    asked: str

    def check(self, connection: Connection) -> None:
        """Reserve the name; a transaction that fails frees it again.

        Raises:
            Conflict: the same request was served before, or another request had this name.
        """
        connection.execute(
            "DELETE FROM idempotent WHERE community = %s AND key = %s AND at < %s",
            (self.community, self.key, clock.ago(connection, _KEPT)),
        )
        done = connection.execute(
            "INSERT INTO idempotent (community, key, name, digest, made, at) VALUES (%s, %s, %s, %s, '', %s) "
            "ON CONFLICT DO NOTHING",
            (self.community, self.key, self.name, self._digest, clock.now(connection)),
        )
        if done.rowcount:
            return
        row = connection.execute(
            "SELECT digest, made FROM idempotent WHERE community = %s AND key = %s AND name = %s",
            (self.community, self.key, self.name),
        ).fetchone()
        if row and bytes(row[0]) != self._digest:
            message = "another request had this Idempotency-Key; send a new one with each request"
            raise Conflict(message)
        message = f"this request was served: it made the key {row[1] if row else ''}; rotate that to see a text again"
        raise Conflict(message)

    def note(self, connection: Connection, made: str) -> None:
        """Store the id of what the request made."""
        connection.execute(
            "UPDATE idempotent SET made = %s WHERE community = %s AND key = %s AND name = %s",
            (made, self.community, self.key, self.name),
        )

    @property
    def _digest(self) -> bytes:
        return hashlib.sha256(self.asked.encode()).digest()
