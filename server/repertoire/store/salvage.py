"""Brings a person's own things out of a damaged database: table by table where SQLite can, else row by row."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

import apsw

from repertoire.boot.home import writable
from repertoire.domain.component import ALTERNATIVE_TO, CONFLICTS_WITH, REQUEST, SELECTED, TWIN_OF
from repertoire.domain.database_file import HEADER
from repertoire.store.graph_file import HOME_FILE, GraphFile, open_graph_file
from repertoire.store.migrations import NEWEST
from repertoire.store.own import Own, own_names, read_own, write_own
from repertoire.store.pages import USUAL_PAGE, Row, Value, open_pages
from repertoire.store.requests import LEARNED, Request, Selection

_PAGES = 28  # where a header tells how many pages there are
_DAY = len("2026-01-01")
_WORD = re.compile(r"[a-z_]{1,40}")
_HASH = re.compile(r"[0-9a-f]{64}")
Fits = Callable[[Value], bool]
Cells = tuple[Value, ...]


def _text(value: Value) -> bool:
    return isinstance(value, str)


def _time(value: Value) -> bool:
    try:
        return isinstance(value, str) and len(value) > _DAY and bool(datetime.fromisoformat(value.removesuffix("Z")))
    except ValueError:
        return False


def _number(value: Value) -> bool:
    return isinstance(value, (int, float))


def _like(pattern: re.Pattern[str]) -> Fits:
    return lambda value: isinstance(value, str) and pattern.match(value) is not None


def _one_of(*words: str) -> Fits:
    return lambda value: value in words


def _json(kind: type) -> Fits:
    def fits(value: Value) -> bool:
        try:
            return isinstance(value, str) and isinstance(json.loads(value), kind)
        except (ValueError, RecursionError):
            return False

    return fits


_word = _like(_WORD)
_SCOPE = _one_of("component", "source", "project", "trace")


@dataclass(frozen=True)
class _Table:
    """A table whose rows nobody could read anew from a source: its columns, by which its rows are known, in order."""

    name: str
    columns: Mapping[str, Fits]
    numbered: bool = False  # the first column is the rowid
    renewed: Callable[[Cells], Cells] | None = None  # from the shape that an older schema gave it
    where: str = "1"  # which of its rows

    def of(self, row: Row) -> Cells | None:
        """Return a row's values where it is one of this table."""
        if len(row.values) != len(self.columns) or self.numbered != (row.number is not None):
            return None
        if self.numbered and (row.values[0] is not None or not row.number or row.number < 0):
            return None
        values = (row.number, *row.values[1:]) if self.numbered else row.values
        if not all(fits(value) for fits, value in zip(self.columns.values(), values, strict=True)):
            return None
        return self.renewed(values) if self.renewed else values


def _any(_: Value) -> bool:
    return True


_EVENT = {
    "id": _any,
    "at": _time,
    "kind": _word,
    "session": _text,
    "project": _text,
    "request": _text,
    "node": _text,
    "data": _json(dict),
}
_SOURCE = {
    "id": _any,
    "key": _text,
    "kind": _word,
    "location": _text,
    "repository": _text,
    "commit_sha": _text,
    "added_at": _time,
    "ingested_at": _any,
}
# Past requests: from these, since the log lets go of what is old.
_SERVED = f"relation = '{SELECTED}' AND file = '{LEARNED}'"
_NODE = {
    "id": _any,
    "key": _text,
    "type": _word,
    "name": _text,
    "source_id": _number,
    "file": _text,
    "data": _json(dict),
    "first_seen": _text,
    "last_changed": _text,
}
_EDGE = {
    "id": _any,
    "source": _number,
    "target": _number,
    "relation": _one_of(SELECTED),
    "weight": _number,
    "evidence": _text,
    "source_id": _number,
    "file": _one_of(LEARNED),
}
TABLES = (
    _Table("source", _SOURCE, numbered=True),
    _Table("event", _EVENT, numbered=True),
    _Table("mute", {"target": _text, "project": _text, "scope": _SCOPE, "how": _word, "at": _time}),
    _Table(
        "mute",
        {"target": _text, "scope": _SCOPE, "at": _time},
        renewed=lambda cells: (cells[0], "", cells[1], "muted", cells[2]),
    ),
    _Table("correction", {"node_key": _text, "capabilities": _json(list), "at": _time}),
    _Table("acceptance", {"content_hash": _like(_HASH), "node_key": _text, "at": _time}),
    _Table(
        "dismissal",
        {
            "low": _text,
            "high": _text,
            "kind": _one_of(CONFLICTS_WITH, TWIN_OF, ALTERNATIVE_TO),
            "content": _text,
            "at": _time,
        },
    ),
    _Table("advisory", {"ecosystem": _text, "package": _text, "id": _text, "data": _json(dict), "at": _time}),
    _Table(
        "node", _NODE, numbered=True, where=f"type = '{REQUEST}' OR id IN (SELECT target FROM edge WHERE {_SERVED})"
    ),
    _Table("edge", _EDGE, numbered=True, where=_SERVED),
    _Table("departed", {"type": _word, "name": _text, "source": _text, "at": _time}),
)
_SEQUENCE = "sqlite_sequence"
NAMES = tuple(dict.fromkeys(table.name for table in TABLES))
OWN = tuple(name for name in NAMES if name not in ("node", "edge"))  # what the new file holds as the old one did


@dataclass(frozen=True)
class Salvaged:
    """What could be brought out: rows by table, and the tables of which rows may be missing."""

    rows: Mapping[str, Sequence[Cells]]
    partly: tuple[str, ...] = ()
    last: int = 0  # the highest number that an event was ever given, as far as that can be told
    own: Own = field(default_factory=Own)  # other kinds and tables that are a person's own

    @property
    def missing(self) -> int:
        """How many numbers of events are not there, those of forgotten events among them; 0 where all were read."""
        return self.last - len(self.rows["event"]) if "event" in self.partly else 0

    def requests(self) -> list[Request]:
        """Return the past requests with what served them."""
        keys = {row[0]: str(row[1]) for row in self.rows["node"]}
        served: dict[Value, list[Selection]] = {}
        for _, source, target, _, weight, evidence, *_ in self.rows["edge"]:
            if target in keys and isinstance(weight, (int, float)):
                served.setdefault(source, []).append(Selection(keys[target], float(weight), str(evidence)))
        found = []
        for number, key, kind, _, _, _, data, *_ in self.rows["node"]:
            if kind == REQUEST:
                told = json.loads(str(data))
                project = next(iter(told.get("projects", ())), "")
                text, session = str(told.get("text", "")), str(told.get("session", ""))
                found.append(Request(str(key), text, str(project), session, tuple(served.get(number, ()))))
        return found


@dataclass
class _Rows:
    """Rows that were recognised, each once."""

    of: dict[str, dict[Cells, Cells]] = field(default_factory=dict)
    last: int = 0

    def take(self, row: Row) -> None:
        if len(row.values) == 2 and row.number is not None and row.values[0] == "event":  # of sqlite_sequence
            self.last = max(self.last, row.values[1] if isinstance(row.values[1], int) else 0)
        for table in TABLES:
            values = table.of(row)
            if values is not None:
                keys = 1 if table.numbered else _KEYS[table.name]
                self.of.setdefault(table.name, {}).setdefault(values[:keys], values)
                return

    def __len__(self) -> int:
        return sum(map(len, self.of.values()))


_KEYS = {"mute": 2, "correction": 1, "acceptance": 1, "dismissal": 3, "advisory": 3, "departed": 2}
_COLUMNS = frozenset((2, *(len(table.columns) for table in TABLES)))


def trouble(path: Path, *, with_log: bool = True) -> str:
    """Return what is wrong with a database file, by SQLite's own full check; empty where it is sound."""
    if not path.is_file() or not path.stat().st_size:
        return "it is empty"  # and SQLite would delete the log beside it
    try:
        db = _reader(path, with_log=with_log)
        try:
            found = _said(db, "PRAGMA integrity_check(1)")
        finally:
            db.close()
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        if with_log and not writable(path.parent):  # what SQLite needs beside the file cannot be made: no damage
            return trouble(path, with_log=False)
        return str(error)
    except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError, apsw.IOError) as error:
        return str(error)
    return "" if found == "ok" else found.splitlines()[-1]


def salvage(path: Path, file: GraphFile = HOME_FILE) -> Salvaged:
    """Read what can be read of a damaged database; its file stays as it is.

    A log that belongs to another database makes a sound file look damaged: it is left out then.
    """
    log = path.with_name(path.name + "-wal")
    empty = not path.is_file() or not path.stat().st_size
    with_log = empty or not log.exists() or bool(trouble(path, with_log=False))
    whole = {} if empty else _by_sqlite(path, with_log=with_log)
    partly = tuple(name for name in NAMES if name not in whole)
    found = _by_hand(path, log if with_log else None) if partly else _Rows()
    rows = {name: whole[name] if name in whole else list(found.of.get(name, {}).values()) for name in NAMES}
    numbers = [row[0] for row in rows["event"] if isinstance(row[0], int)]
    sequence = [row[1] for row in whole.get(_SEQUENCE, ()) if row[0] == "event" and isinstance(row[1], int)]
    own = Own() if empty else _own(path, file, with_log=with_log)
    return Salvaged(rows, (*partly, *own.partly), max([0, found.last, *numbers, *sequence]), own)


def _own(path: Path, file: GraphFile, *, with_log: bool) -> Own:
    kinds, tables = own_names(file.layout, but=OWN)
    for reader in (partial(_reader, path, with_log=with_log), partial(_headed_anew, path)) if kinds or tables else ():
        with contextlib.suppress(apsw.Error):
            db = reader()
            try:
                db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
                return read_own(db, file.layout, but=OWN)
            finally:
                db.close()
    return Own(partly=[*kinds, *(table.name for table in tables)])


def _headed_anew(path: Path) -> apsw.Connection:
    """Open a copy in memory that begins as our files do, whatever stands at the beginning of this one."""
    usual = apsw.Connection(":memory:")
    usual.pragma("user_version", NEWEST)
    content = bytearray(path.read_bytes())
    content[:HEADER] = usual.serialize("main")[:HEADER]
    content[_PAGES : _PAGES + 4] = (len(content) // USUAL_PAGE).to_bytes(4, "big")
    usual.deserialize("main", content)
    return usual


def _by_hand(path: Path, log: Path | None) -> _Rows:
    """Read every page by itself, in the size that makes more sense where the header may lie about it."""
    best, told = _Rows(), open_pages(path, log)
    for pages in (told,) if told.size == USUAL_PAGE else (told, open_pages(path, log, size=USUAL_PAGE)):
        rows = _Rows()
        for row in pages.rows(_COLUMNS):
            rows.take(row)
        best = max(best, rows, key=len)
    return best


def build(path: Path, found: Salvaged, file: GraphFile = HOME_FILE) -> None:
    """Make a new database of what was brought out: everything but what its sources can tell again."""
    connection = open_graph_file(path, file)
    try:
        with connection.transaction():
            for name in OWN:
                rows = found.rows.get(name, ())
                if name == "source":  # never read, as far as the new file knows
                    rows = [(*row[:7], "") for row in rows]
                if rows:
                    marks = ", ".join("?" * len(rows[0]))
                    connection.executemany(f"INSERT OR IGNORE INTO {name} VALUES ({marks})", rows)
            connection.execute("DELETE FROM sqlite_sequence WHERE name = 'event'")  # no number is given twice
            connection.execute("INSERT INTO sqlite_sequence VALUES ('event', ?)", (found.last,))
            write_own(connection, found.own)
            connection.touch(*file.layout.view)
    finally:
        connection.close()


def _reader(path: Path, *, with_log: bool) -> apsw.Connection:
    address = f"{path.absolute().as_uri()}?{'mode=ro' if with_log else 'immutable=1'}"
    db = apsw.Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    db.pragma("cell_size_check", 1)
    return db


def _by_sqlite(path: Path, *, with_log: bool) -> dict[str, list[Cells]]:
    """Return the tables that SQLite reads whole and finds nothing wrong with, in their newest shape."""
    found: dict[str, list[Cells]] = {}
    for name, where in {_SEQUENCE: "1", **{table.name: table.where for table in TABLES}}.items():
        try:
            db = _reader(path, with_log=with_log)
            try:
                if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)).fetchone():
                    found[name] = []  # an older schema
                elif _said(db, f"PRAGMA quick_check({name})") == "ok":
                    found[name] = _renewed(name, list(db.execute(f"SELECT * FROM {name} WHERE {where}")))
            finally:
                db.close()
        except (apsw.Error, UnicodeDecodeError):  # noqa: PERF203 - each table may be the damaged one
            continue
    return found


def _said(db: apsw.Connection, sql: str) -> str:
    row = db.execute(sql).fetchone()
    return str(row[0]) if row else ""


def _renewed(name: str, rows: list[Cells]) -> list[Cells]:
    shapes = {len(table.columns): table for table in TABLES if table.name == name}
    renew = shapes[len(rows[0])].renewed if rows and len(rows[0]) in shapes else None
    return [renew(row) for row in rows] if renew else rows
