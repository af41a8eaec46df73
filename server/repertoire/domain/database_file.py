"""Recognises Repertoire's database file by its header, and has the error messages about it."""

from __future__ import annotations

from pathlib import Path

APPLICATION_ID = 0x52455054  # "REPT": tells our file from any other SQLite file
# Of our schemas: they identify a file of ours, a home's database or a project's memory, whose header was overwritten.
OURS = ("event_is_not_changed", "knowledge_text")
MARKS = (b"CREATE TRIGGER event_is_not_changed", b"CREATE VIRTUAL TABLE knowledge_text")
SEARCHED = 64 << 20  # bytes of a file that are searched for such a mark
HEADER = 100  # bytes; `user_version` at 60, `application_id` at 68, both big-endian
SIDECARS = ("-wal", "-shm", "-journal")  # endings of the files that SQLite keeps beside a database
_MAGIC = b"SQLite format 3\x00"


def is_sqlite(header: bytes) -> bool:
    """Tell whether a header is that of an SQLite database."""
    return header.startswith(_MAGIC)


def bears_our_number(header: bytes) -> bool:
    """Tell whether a database header holds Repertoire's application id."""
    return header[68:72] == APPLICATION_ID.to_bytes(4, "big")


def bears_our_mark(content: bytes) -> bool:
    """Tell whether bytes of a file hold the text of one of our schemas."""
    return any(mark in content for mark in MARKS)


def schema_of(header: bytes) -> int:
    """Return the schema version in a database header."""
    return int.from_bytes(header[60:64], "big")


def foreign_text(path: Path) -> str:
    """Return the error message that another file lies at the database's path."""
    return f"{path} is not a Repertoire database; move it away or set REPERTOIRE_HOME to another folder"


def dangling_text(path: Path) -> str:
    """Return the error message that the database's path is a broken link."""
    return (
        f"{path} is a link to a file that is not there; bring that back, or move the link away, or set "
        "REPERTOIRE_HOME to another folder"
    )


def newer_text(path: Path, schema: int, known: int) -> str:
    """Return the error message that a newer Repertoire wrote the database."""
    return (
        f"{path} was written by a newer Repertoire (schema {schema}, this one knows {known}), it was left as it is; "
        "update the plugin, and restart sessions that began before its last update"
    )


def unreadable_text(path: Path, cause: object) -> str:
    """Return the error message that this process may not read the database."""
    return f"{path} cannot be read ({cause}); check who owns it, or set REPERTOIRE_HOME to another folder"


def unwritable_text(path: Path, cause: object) -> str:
    """Return the error message that this process may not write the database or its folder; the file itself is sound."""
    return f"{path} cannot be written ({cause}); set REPERTOIRE_HOME to a folder that can"


def lockless_text(path: Path) -> str:
    """Return the error message that the database lies on a file system that lacks what SQLite needs."""
    return (
        f"{path} lies where files cannot be locked or shared, as in some network folders; set REPERTOIRE_HOME to a "
        "folder on a disk of this machine"
    )


def unmakeable_text(path: Path, cause: object) -> str:
    """Return the error message that there is no database and none can be made."""
    return (
        f"there is no database at {path} and none can be made there ({cause}); set REPERTOIRE_HOME to a writable folder"
    )


def misasked_text(path: Path, cause: object) -> str:
    """Return the error message that a question of ours does not fit a database in which SQLite finds nothing wrong."""
    return (
        f"{path} is sound, but this version asks what it cannot answer ({cause}); update the plugin, and report this "
        "as a fault of Repertoire if it remains"
    )


def damaged_text(path: Path, cause: object) -> str:
    """Return the error message that the database is damaged."""
    return (
        f"{path} is damaged ({cause}), nothing in it was changed; run `repertoire rescue`, which sets it aside and "
        "brings over what is yours"
    )
