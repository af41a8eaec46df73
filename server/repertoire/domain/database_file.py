"""Knows our database file by its first bytes, and words what is wrong with its place the same for every door."""

from __future__ import annotations

from pathlib import Path

APPLICATION_ID = 0x52455054  # "REPT": tells our file from any other SQLite file
OURS = "event_is_not_changed"  # a name in our schema, by which a file is known whose header is not ours any more
TRIGGER = f"CREATE TRIGGER {OURS}".encode()  # how it stands in the file
SEARCHED = 64 << 20  # bytes in which that is looked for
HEADER = 100  # bytes; `user_version` at 60, `application_id` at 68, both big-endian
_MAGIC = b"SQLite format 3\x00"


def is_sqlite(header: bytes) -> bool:
    """Tell whether a file begins as every SQLite database does."""
    return header.startswith(_MAGIC)


def bears_our_number(header: bytes) -> bool:
    """Tell whether a file's header names Repertoire."""
    return header[68:72] == APPLICATION_ID.to_bytes(4, "big")


def schema_of(header: bytes) -> int:
    """Return the number of the schema that a header tells."""
    return int.from_bytes(header[60:64], "big")


def foreign_text(path: Path) -> str:
    """Say that something else lies at the database's place."""
    return f"{path} is not a Repertoire database; move it away or set REPERTOIRE_HOME to another folder"


def dangling_text(path: Path) -> str:
    """Say that a link lies at the database's place, and leads nowhere."""
    return (
        f"{path} is a link to a file that is not there; bring that back, or move the link away, or set "
        "REPERTOIRE_HOME to another folder"
    )


def newer_text(path: Path, schema: int, known: int) -> str:
    """Say that a later version wrote it."""
    return (
        f"{path} was written by a newer Repertoire (schema {schema}, this one knows {known}), it was left as it is; "
        "update the plugin"
    )


def unreadable_text(path: Path, cause: object) -> str:
    """Say that it may not be read from here."""
    return f"{path} cannot be read ({cause}); check who owns it, or set REPERTOIRE_HOME to another folder"


def unwritable_text(path: Path, cause: object) -> str:
    """Say that it, or its folder, may not be written from here: the file is none the worse for that."""
    return f"{path} cannot be written ({cause}); set REPERTOIRE_HOME to a folder that can"


def unmakeable_text(path: Path, cause: object) -> str:
    """Say that there is none, and that none can be made."""
    return (
        f"there is no database at {path} and none can be made there ({cause}); set REPERTOIRE_HOME to a writable folder"
    )


def damaged_text(path: Path, cause: object) -> str:
    """Say that its content is not what was written."""
    return (
        f"{path} is damaged ({cause}), nothing in it was changed; run `repertoire rescue`, which sets it aside and "
        "brings over what can be read"
    )
