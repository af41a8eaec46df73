"""Examines the database file, its sources and vectors with the standard library's sqlite3, and changes nothing."""

from __future__ import annotations

import json
import shlex
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from repertoire.app.clock import ago
from repertoire.app.health.doctor_advisories import advisories
from repertoire.app.health.doctor_file import judged, opened, refused, unwritable
from repertoire.app.session.greet import SCHEMA
from repertoire.domain.answer import BODY_SPACE
from repertoire.domain.database_file import damaged_text, newer_text
from repertoire.domain.event import RESCUED
from repertoire.domain.health import FAIL, OK, WARN, Finding
from repertoire.domain.health import told as message
from repertoire.domain.rescue import Rescue, rescue_of
from repertoire.domain.text import clean_line

_CHECK_S = 30.0
_STEPS = 100_000  # SQLite's own, between two looks at the clock
_OLD = timedelta(days=30)
_NAMED = 3
_SIDECARS = ("-wal", "-shm", "-journal")
_ON_DISK = ("folder", "project", "plugin", "marketplace")


def database(path: Path, model: str, python: Path | None) -> Iterator[Finding]:
    """Yield whether the file is whole and ours, its sources there and fresh, all embedded, and what is not sound.

    `python`: the environment's, where there is one.
    """
    told: dict[str, tuple[str, Rescue]] = {}
    wrong = judged(path)
    if wrong is not None:
        yield from _set_aside(path, told)
        yield wrong
        return
    try:
        with closing(opened(path)) as db:
            found = _whole(db, path)
            if found.state == FAIL:
                yield found
            else:
                yield unwritable(path, found)
                yield _sources(db)
                told = _rescues(db)
                yield from _embedded(db, model)
                yield advisories(db, path, python, old=ago(_OLD))
    except sqlite3.Error as error:
        yield refused(path, error)
    yield from _set_aside(path, told)


def _rescues(db: sqlite3.Connection) -> dict[str, tuple[str, Rescue]]:
    """Map every file that a rescue set aside to when that was and what it came to."""
    rows = db.execute("SELECT at, data FROM event WHERE kind = ? ORDER BY id", (RESCUED,)).fetchall()
    found = [(at, rescue_of(json.loads(data))) for at, data in rows]
    return {told.kept: (at, told) for at, told in found}


def _set_aside(path: Path, told: dict[str, tuple[str, Rescue]]) -> Iterator[Finding]:
    """Yield every damaged database that lies beside, and how it was mended."""
    for kept in sorted(path.parent.glob(f"{path.name}.damaged-*")):
        if kept.name.endswith(_SIDECARS):
            continue
        size = f"{kept} ({kept.stat().st_size / 1e6:.1f} MB)"
        if kept.name in told:
            at, rescue = told[kept.name]
            text = f"{size} was damaged ({clean_line(rescue.cause, 80)}) and mended on {at[:10]}; {rescue.text}"
            yield Finding("rescued", OK, text, "nothing; delete it when you miss nothing")
        else:
            yield Finding(
                "rescued", WARN, f"{size} was damaged; nothing tells how it was mended", "keep it, or delete it"
            )


def _whole(db: sqlite3.Connection, path: Path) -> Finding:
    schema = db.execute("PRAGMA user_version").fetchone()[0]  # of the log too, which the header may be older than
    if schema > SCHEMA:
        return message("database", FAIL, newer_text(path, schema, SCHEMA))
    size = f"{path}, {path.stat().st_size / 1e6:.1f} MB, schema {schema}"
    if schema < SCHEMA:
        size += f" (the next command brings it to {SCHEMA})"
    trouble = _trouble(db)
    if trouble is None:
        return Finding("database", WARN, f"{size}; not checked to the end within {_CHECK_S:.0f} s")
    if trouble:
        return message("database", FAIL, damaged_text(path, clean_line(trouble, 200)))
    return Finding("database", OK, size)


def _trouble(db: sqlite3.Connection) -> str | None:
    """Return what SQLite's quick check finds, nothing where all is well, None where it took too long."""
    deadline = time.monotonic() + _CHECK_S
    db.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    try:
        found = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.OperationalError as error:
        if "interrupt" in str(error):
            return None
        raise
    finally:
        db.set_progress_handler(None, 0)
    return "" if found == "ok" else found


def _sources(db: sqlite3.Connection) -> Finding:
    rows = db.execute("SELECT key, kind, location, ingested_at FROM source ORDER BY key").fetchall()
    if not rows:
        return Finding("sources", WARN, "none yet", "run `repertoire refresh`, or `repertoire ingest SOURCE`")
    gone = [key for key, kind, location, _ in rows if kind in _ON_DISK and not Path(location).exists()]
    components = db.execute("SELECT count(*) FROM component").fetchone()[0]
    text = f"{len(rows)}, with {components} components"
    if gone:
        listed = ", ".join(clean_line(key, 120) for key in gone[:_NAMED])
        mend = f"put it back, or run `repertoire remove {shlex.quote(gone[0])}`"
        return Finding("sources", WARN, f"{text}; {len(gone)} no longer there: {listed}", mend)
    newest = max(read for *_, read in rows)
    if not newest:
        return Finding(
            "sources", WARN, f"{text}; none was read since the database was mended", "run `repertoire refresh`"
        )
    if newest < ago(_OLD):
        return Finding("sources", WARN, f"{text}; last read on {newest[:10]}", "run `repertoire refresh`")
    return Finding("sources", OK, f"{text}; last read {newest}")


def _embedded(db: sqlite3.Connection, model: str) -> Iterator[Finding]:
    total = db.execute("SELECT count(*) FROM component").fetchone()[0]
    done = db.execute(
        """SELECT count(*) FROM component c JOIN vector_state v USING (node_id, content_hash)
           WHERE v.space_id = (SELECT id FROM vector_space WHERE space = ? AND model = ?)""",
        (BODY_SPACE, model),
    ).fetchone()[0]
    if not total or not model:  # told by others: nothing has been read yet, or the model is not there
        return
    if done == total:
        yield Finding("embedding", OK, f"all {total} components have their vectors")
        return
    text = f"{total - done} of {total} components have no vector by {model} yet: words alone find them"
    yield Finding("embedding", WARN, text, "run `repertoire refresh`, which embeds them")
