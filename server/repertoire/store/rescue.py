"""Moves a damaged database out of the way, as an explicit command asks for; nothing is ever deleted."""

from __future__ import annotations

import itertools
from pathlib import Path

from repertoire.domain.errors import StoreError

_SIDECARS = ("-wal", "-shm", "-journal")


def quarantine(path: Path, now: str) -> Path:
    """Move a database with its log beside itself, and return where it lies now; the next open makes a new one.

    No session may have the file open: one that closes it later would delete the log of the new database.

    Raises:
        StoreError: there is no such file, or it cannot be moved.
    """
    stamp = "".join(character for character in now if character.isalnum())
    names = (f"{path.name}.damaged-{stamp}" + (f"-{count}" if count else "") for count in itertools.count())
    target = next(place for place in map(path.with_name, names) if not place.exists())
    try:
        for sidecar in _SIDECARS:  # first: a new database must never meet the log of the old one
            beside = path.with_name(path.name + sidecar)
            if beside.exists():
                beside.rename(target.with_name(target.name + sidecar))
        path.rename(target)
    except OSError as error:
        message = f"{path} could not be moved to {target} ({error.strerror}); move it by hand"
        raise StoreError(message) from error
    return target
