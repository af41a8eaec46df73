"""Checks the database file, its sources and vectors, read-only and with the standard library alone."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from repertoire.app.clock import ago
from repertoire.app.health.doctor_advisories import advisories
from repertoire.app.health.doctor_listing import listing
from repertoire.boot.home import backup_path, projects_path
from repertoire.domain.database_file import SIDECARS, damaged_text, newer_text
from repertoire.domain.event import RESCUED
from repertoire.domain.health import FAIL, OK, WARN, Finding
from repertoire.domain.health import finding_of as message
from repertoire.domain.rescue import Rescue, rescue_of
from repertoire.domain.text import clean_line
from repertoire.store.light.file import SqliteError, is_damage, judged, refused, unwritable
from repertoire.store.light.health import HealthReader
from repertoire.store.light.start import SCHEMA

_CHECK_S = 30.0
_OLD = timedelta(days=30)
_NAMED = 3
_MEMORY = "project memory"
_ON_DISK = ("folder", "project", "plugin", "marketplace")


def database(path: Path, model: str, python: Path | None, project: str) -> Iterator[Finding]:
    """Yield findings on the database file, what it holds, and damaged databases beside it.

    `python` is the interpreter of the environment; None if there is none.
    """
    told: dict[str, tuple[str, Rescue]] = {}
    wrong = judged(path)
    if wrong is not None:
        yield from _set_aside(path, told)
        yield wrong
        return
    try:
        with closing(HealthReader(path)) as db:
            found = _whole(db, path)
            if found.state == FAIL:
                yield found
            else:
                yield unwritable(path, found)
                yield _sources(db)
                if db.schema() == SCHEMA:  # an older one does not know who may start what
                    yield listing(db, project)
                told = _rescues(db)
                yield from _embedded(db, model)
                yield _backed_up(path)
                yield from _traces(db, model)
                yield advisories(db, path, python, old=ago(_OLD))
    except SqliteError as error:
        yield refused(path, error)
    yield from _set_aside(path, told)


def _rescues(db: HealthReader) -> dict[str, tuple[str, Rescue]]:
    """Map the name of each damaged file that was set aside to the time and the result of its rescue."""
    found = [(at, rescue_of(data)) for at, data in db.events(RESCUED)]
    return {told.kept: (at, told) for at, told in found}


def _set_aside(path: Path, told: dict[str, tuple[str, Rescue]]) -> Iterator[Finding]:
    """Yield a finding for each damaged database beside the present one, with the result of its rescue."""
    for kept in sorted(path.parent.glob(f"{path.name}.damaged-*")):
        if kept.name.endswith(SIDECARS):
            continue
        size = f"{kept} ({kept.stat().st_size / 1e6:.1f} MB)"
        if kept.name in told:
            at, rescue = told[kept.name]
            text = f"{size} was damaged ({clean_line(rescue.cause, 80)}) and mended on {at[:10]}; {rescue.text}"
            yield Finding("rescued", OK, text, "nothing; delete it when you no longer need it")
        else:
            yield Finding(
                "rescued", WARN, f"{size} was damaged; nothing tells how it was mended", "keep it, or delete it"
            )


def _backed_up(path: Path) -> Finding:
    """Return the finding on the backup of the user data: its age, and whether it is intact."""
    copy, mend = backup_path(path), "run `repertoire refresh`, which writes it"
    if not copy.is_file():
        return Finding("backup", WARN, f"{copy} is not there yet", mend)
    try:
        with closing(HealthReader(copy)) as db:
            made, wrong = db.made(), db.trouble(_CHECK_S)
    except SqliteError as error:
        state = "is damaged" if is_damage(error) else "cannot be read"
        return Finding("backup", WARN, f"{copy} {state} ({clean_line(str(error), 200)})", mend)
    if wrong:
        return Finding("backup", WARN, f"{copy} is damaged ({clean_line(wrong, 200)})", mend)
    text = f"{copy}, {copy.stat().st_size / 1e6:.1f} MB, of {made}"
    return Finding("backup", WARN, text, mend) if made < ago(_OLD) else Finding("backup", OK, text)


def memories(home: Path) -> Iterator[Finding]:
    """Yield a finding on the memories of projects, if there are any: whether each is intact, and backed up."""
    files = sorted(projects_path(home).glob("*.db"))
    wrong = [replace(found, check=_MEMORY) for file in files if (found := _memory_trouble(file))]
    yield from wrong
    if files and not wrong:
        size = sum(file.stat().st_size for file in files) / 1e6
        backed = sum(backup_path(file).is_file() for file in files)
        text = f"{len(files)}, {size:.1f} MB; {backed} with notes, tasks or procedures in a backup"
        yield Finding(_MEMORY, OK, text)


def _memory_trouble(file: Path) -> Finding | None:
    wrong = judged(file)
    if wrong is not None:
        return wrong
    try:
        with closing(HealthReader(file)) as db:
            trouble = db.trouble(_CHECK_S)
    except SqliteError as error:
        return refused(file, error)
    return message(_MEMORY, FAIL, damaged_text(file, clean_line(trouble, 200))) if trouble else None


def _whole(db: HealthReader, path: Path) -> Finding:
    schema = db.schema()
    if schema > SCHEMA:
        return message("database", FAIL, newer_text(path, schema, SCHEMA))
    size = f"{path}, {path.stat().st_size / 1e6:.1f} MB, schema {schema}"
    if schema < SCHEMA:
        size += f" (the next command brings it to {SCHEMA})"
    trouble = db.trouble(_CHECK_S)
    if trouble is None:
        return Finding("database", WARN, f"{size}; not checked to the end within {_CHECK_S:.0f} s")
    if trouble:
        return message("database", FAIL, damaged_text(path, clean_line(trouble, 200)))
    return Finding("database", OK, size)


def _sources(db: HealthReader) -> Finding:
    rows = db.sources()
    if not rows:
        return Finding("sources", WARN, "none yet", "run `repertoire refresh`, or `repertoire ingest SOURCE`")
    gone = [key for key, kind, location, _ in rows if kind in _ON_DISK and not Path(location).exists()]
    text = f"{len(rows)}, with {db.components()} components"
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


def _embedded(db: HealthReader, model: str) -> Iterator[Finding]:
    total, done = db.components(), db.embedded(model)
    if not total or not model:  # other findings report that no source was read, or that the model is missing
        return
    if done == total:
        yield Finding("embedding", OK, f"all {total} components have their vectors")
        return
    text = f"{total - done} of {total} components have no vector by {model} yet: only words find them"
    yield Finding("embedding", WARN, text, "run `repertoire refresh`, which embeds them")


def _traces(db: HealthReader, model: str) -> Iterator[Finding]:
    """Yield a finding on the number of traces, and of those without vectors; none without traces."""
    total, done = db.traces(model)
    if total and model and done < total:
        text = f"{total - done} of {total} have no vector by {model} yet: words and errors alone find them"
        yield Finding("traces", WARN, text, "run `repertoire refresh`, which embeds them")
    elif total:
        yield Finding("traces", OK, f"{total} are kept")
