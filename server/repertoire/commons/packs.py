"""Keeps a community's packs, each by the SHA-256 of its file; what is taken in is checked as a home checks a pack."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from repertoire.app.packs.sharing import SUFFIX, install_pack
from repertoire.app.wiring import open_pack_file
from repertoire.commons import audit, clock
from repertoire.commons.database import Connection, Database
from repertoire.commons.errors import Conflict, NotAllowed, TooManyRequests
from repertoire.commons.gate import refuse_in
from repertoire.commons.keys import Caller
from repertoire.documentation.commons_pack import CommonsPack
from repertoire.documentation.manifest import PackManifest
from repertoire.domain.errors import InvalidRequest, PackRefused, SourceError, StoreError, UnknownComponent

MOST_BYTES = 32_000_000  # of a pack's file
_PER_COMMUNITY = 2_000_000_000  # bytes
_PER_DAY = 20  # packs that one member uploads
_WAIT_S, _LOCKED_S = 3_600, 1.0
_COLUMNS = "hash, name, version, description, licence, bytes, member, at"


class Packs:
    """The packs of all communities; each call is of one caller's community."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._checking = threading.Lock()  # one at a time: an unpacked one may be large

    def upload(self, caller: Caller, told: str, content: bytes) -> CommonsPack:
        """Store a pack, if it is sound; the same file again changes nothing.

        Raises:
            InvalidRequest: the file has another hash, or is no pack that a home would take in.
            Refused: its manifest holds a secret.
            Conflict: a moderator removed it.
            TooManyRequests: the member has uploaded enough packs for a day.
            NotAllowed: the community's packs take up all the room there is.
        """
        if hashlib.sha256(content).hexdigest() != told:
            message = "the file has another SHA-256 than its address says; send it again"
            raise InvalidRequest(message)
        with self._database.tenant(caller.community) as connection:
            if (kept := _kept(connection, caller.community, told)) is not None:
                return kept
            _check_quotas(connection, caller, len(content))
        found = self._checked(caller, content)
        with self._database.tenant(caller.community) as connection:
            connection.execute(
                "INSERT INTO pack (community, hash, name, version, description, licence, bytes, member, at, content) "
                "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (
                    *(caller.community, told, found.name, found.version, found.description, found.licence),
                    *(len(content), caller.member, clock.now(connection), content),
                ),
            )
            kept = _kept(connection, caller.community, told)
        if kept is None:
            raise _unknown()
        return kept

    def all(self, caller: Caller) -> list[CommonsPack]:
        """Return the packs of the caller's community by name, the newest of each first."""
        with self._database.tenant(caller.community) as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM pack WHERE community = %s AND content IS NOT NULL "
                "ORDER BY name, at DESC, hash",
                (caller.community,),
            ).fetchall()
        return [CommonsPack(*row) for row in rows]

    def content(self, caller: Caller, told: str) -> bytes:
        """Return the file of a pack.

        Raises:
            UnknownComponent: the community has none with this hash.
        """
        with self._database.tenant(caller.community) as connection:
            row = connection.execute(
                "SELECT content FROM pack WHERE community = %s AND hash = %s AND content IS NOT NULL",
                (caller.community, told),
                binary=True,
            ).fetchone()
        if row is None:
            raise _unknown()
        return bytes(row[0])

    def remove(self, caller: Caller, told: str) -> None:
        """Delete the file of a pack and keep its hash, so that it is not taken in again.

        Raises:
            UnknownComponent: the community has none with this hash.
        """
        with self._database.tenant(caller.community) as connection:
            done = connection.execute(
                "UPDATE pack SET content = NULL WHERE community = %s AND hash = %s AND content IS NOT NULL",
                (caller.community, told),
            )
            if not done.rowcount:
                raise _unknown()
            audit.record(connection, caller.community, caller, audit.PACK_REMOVED, told)

    def _checked(self, caller: Caller, content: bytes) -> _Described:
        """Take the pack in as a home would, in a folder that is deleted, and return what its manifest says."""
        if not self._checking.acquire(timeout=_LOCKED_S):
            message = "another pack is being checked; send this one again in a moment"
            raise TooManyRequests(message, 2)
        try:
            manifest = _taken_in(content)
        finally:
            self._checking.release()
        if manifest is None:
            raise _unknown()
        with audit.refusals(self._database, caller.community, caller):
            refuse_in("description", f"{manifest.name}\n{manifest.description}\n{manifest.licence}")
            refuse_in("topics", "\n".join(manifest.topics))
            refuse_in("sources", "\n".join(source.address for source in manifest.sources))
        return _Described(manifest.name, manifest.version, manifest.description, manifest.licence)


def _taken_in(content: bytes) -> PackManifest | None:
    with tempfile.TemporaryDirectory(prefix="repertoire-pack-") as folder:
        try:
            file = Path(folder) / f"sent{SUFFIX}"
            file.write_bytes(content)
            return install_pack(Path(folder) / "home", str(file), open_pack_file).manifest
        except (PackRefused, SourceError, StoreError) as error:
            message = f"a home would not take this pack in: {_without_places(str(error), folder)}"
            raise InvalidRequest(message) from error
        except OSError as error:
            message = f"this server has no room to check the pack ({error.strerror}); tell its operator"
            raise TooManyRequests(message, _WAIT_S) from error


def _without_places(said: str, folder: str) -> str:
    """Return what is wrong with the pack without the places where this server unpacked it."""
    return " ".join(word.rpartition("/")[2] if folder in word else word for word in said.split())


@dataclass(frozen=True)
class _Described:
    name: str
    version: str
    description: str
    licence: str


def _kept(connection: Connection, community: str, told: str) -> CommonsPack | None:
    row = connection.execute(
        f"SELECT content IS NULL, {_COLUMNS} FROM pack WHERE community = %s AND hash = %s", (community, told)
    ).fetchone()
    if row is not None and row[0]:
        message = "a moderator removed this pack; it is not taken in again"
        raise Conflict(message)
    return CommonsPack(*row[1:]) if row else None


def _check_quotas(connection: Connection, caller: Caller, size: int) -> None:
    row = connection.execute(
        "SELECT coalesce(sum(bytes) FILTER (WHERE content IS NOT NULL), 0), "
        "count(*) FILTER (WHERE member = %s AND at::timestamptz > now() - interval '1 day') FROM pack "
        "WHERE community = %s",
        (caller.member, caller.community),
    ).fetchone()
    held, lately = row or (0, 0)
    if lately >= _PER_DAY:
        message = f"{caller.member} has uploaded {_PER_DAY} packs within a day; send the rest tomorrow"
        raise TooManyRequests(message, _WAIT_S)
    if held + size > _PER_COMMUNITY:
        message = f"the packs of a community have {_PER_COMMUNITY:,} bytes at most; a moderator can remove old ones"
        raise NotAllowed(message)


def _unknown() -> UnknownComponent:
    message = "there is no such pack in this community; GET /packs lists them"
    return UnknownComponent(message)
