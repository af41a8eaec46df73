"""Refuses a graph file that somebody made by hand: every table must be one that a build makes, and nothing else."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import apsw

from repertoire.domain.errors import CorruptStore, ForeignStore, StatementRefused
from repertoire.domain.text import clean_line
from repertoire.store.migrations import RECORD, Migration
from repertoire.store.opening import harden, translated
from repertoire.store.vector_form import VectorForm

_MOST_DIMENSIONS = 4_096
_MOST_ROWS = 500  # of the schema that are read; a pack has about 40
_VECTORS = re.compile(r"vec_[0-9]{1,4}")
_SHADOW = re.compile(r"(?:sqlite_autoindex_)?vec_[0-9]{1,4}_(?:info|chunks|rowids|vector_chunks00)(?:_1)?")
_PLAIN = re.compile(r'CREATE TABLE "?vec_[0-9]{1,4}_[a-z0-9_]+"? ?\([^()]*\)')  # without inner brackets: no expression
_SIZE = re.compile(r"\[([0-9]{1,4})\]")
_SEQUENCE = ("table", "sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)")

Row = tuple[str, str, str]  # type, name, SQL


def schema_of(migrations: Iterable[Migration], *, without: Iterable[str] = ()) -> frozenset[Row]:
    """Return the schema that migrations make, less the indexes that a sealed file does not keep."""
    db = apsw.Connection(":memory:")
    try:
        db.execute(RECORD)
        for migration in migrations:
            for statement in migration.statements:
                db.execute(statement)
        for index in without:
            db.execute(f"DROP INDEX {index}")
        return frozenset(_rows(db))
    finally:
        db.close()


def check_schema(path: Path, expected: frozenset[Row], vectors: VectorForm) -> None:
    """Compare the schema of a file with that of its sort, before any other part of it is read.

    Raises:
        ForeignStore: it has a view, a trigger, or a table that a build does not make, or lacks one.
        StoreError: SQLite cannot read it.
    """
    with translated(path):
        rows = _read(path)
    unknown = sorted(name for kind, name, sql in rows if not _is_known((kind, name, sql), expected, vectors))
    missing = sorted({name for _, name, _ in expected} - {name for _, name, _ in rows})
    if unknown or missing:
        what = f"holds {clean_line(unknown[0], 80)!r}, which no build makes" if unknown else f"lacks {missing[0]!r}"
        message = f"{path} is not opened: it {what}; remove it, or build it from its documents"
        raise ForeignStore(message)


def _read(path: Path) -> list[Row]:
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        db = apsw.Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            harden(db)
            return _rows(db)
        finally:
            db.close()
    except apsw.SQLError as error:
        raise apsw.CorruptError(str(error)) from error


def _rows(db: apsw.Connection) -> list[Row]:
    rows = db.execute(
        "SELECT type, name, substr(ifnull(sql, ''), 1, 4000) FROM sqlite_schema LIMIT ?", (_MOST_ROWS,)
    ).fetchall()
    return [(str(kind), str(name), str(sql)) for kind, name, sql in rows]


def _is_known(row: Row, expected: frozenset[Row], vectors: VectorForm) -> bool:
    kind, name, sql = row
    if row in expected or row == _SEQUENCE:
        return True
    if _VECTORS.fullmatch(name):
        size = next((int(number) for number in _SIZE.findall(sql)), 0)
        return 0 < size <= _MOST_DIMENSIONS and sql == vectors.table(name, size)
    plain = _PLAIN.fullmatch(sql) is not None if kind == "table" else kind == "index" and not sql
    return plain and _SHADOW.fullmatch(name) is not None


@contextlib.contextmanager
def contradictions_refused(path: Path) -> Iterator[None]:
    """Translate what rows that contradict each other cause in the block: a stranger may write any value anywhere.

    Raises:
        CorruptStore: a value has another type, length or range than a build gives it.
    """
    try:
        yield
    except (LookupError, ValueError, TypeError, OverflowError, StatementRefused) as error:
        cause = error.__cause__ or error
        detail = clean_line(f"{type(cause).__name__}: {cause}", 120)
        message = f"the rows of {path} contradict each other ({detail}); build or fetch it again"
        raise CorruptStore(message) from error
