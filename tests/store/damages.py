"""Ways in which a database is damaged, and a small one with everything in it that no source could tell again."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.boot.home import backup_path
from repertoire.domain.event import ASKED, SELECTED, Event
from repertoire.store.database import Store
from sample_home import NOW, SOURCE, fill
from store.samples import in_process

PDF = f"{SOURCE.key}:skills/pdf-forms.md"
ACCEPTED = "a" * 64
EVENTS = 240
PAGE = 4096


@dataclass(frozen=True)
class Sound:
    """A database before it is damaged with its backup, and its events by number: all, and those of the backup."""

    path: Path
    events: Mapping[int, Event] = field(repr=False)
    backed: Mapping[int, Event] = field(repr=False)

    def copy(self, folder: Path) -> Path:
        """Put both into a folder."""
        for file in (self.path, backup_path(self.path)):
            shutil.copy(file, folder)
        return folder / self.path.name


def valuable(path: Path) -> Sound:
    """Make a database that holds the shelf, what a person decided, and a log; all but 20 events are in its backup."""
    with Store.open(path) as store:
        fill(store, installed=("pdf-forms",))
        for number in range(EVENTS // 2):
            request, session = f"request:{number % 20}", f"s{number % 9}"
            # every tenth is longer than a page
            prompt = f"fill these PDF forms, number {number % 20} " + "word " * (1500 if number % 10 == 0 else 5)
            asked = Event(NOW, ASKED, session, "/project", request, data={"prompt": prompt})
            store.events.append([asked, Event(NOW, SELECTED, session, "/project", request, PDF, {"name": "pdf-forms"})])
        for number in range(20):
            store.requests.record(f"request:{number}", text=f"fill these PDF forms, number {number}", now=NOW)
            for _ in range(2):
                store.requests.select(f"request:{number}", PDF, evidence="session s", now=NOW)
        store.preferences.mute(PDF, "component", now=NOW)
        store.preferences.correct(PDF, ["fill-pdf-forms", "tax"], now=NOW)
        store.preferences.dismiss((PDF, "other"), "twin_of", content="both", now=NOW)
        store.flags.accept(ACCEPTED, PDF, now=NOW)
        store.backup.write(now=NOW)
        backed = {event.id: event for event in store.events.since(0)}
        store.events.append([Event(NOW, ASKED, "late", data={"prompt": "merge these " * 5})] * 20)
        return Sound(path, {event.id: event for event in store.events.since(0)}, backed)


def overwrite(path: Path, at: int, data: bytes) -> None:
    content = bytearray(path.read_bytes())
    content[at : at + len(data)] = data[: max(len(content) - at, 0)]
    path.write_bytes(content)


def spoil(path: Path, share: float, seed: int = 1) -> None:
    """Fill a share of the pages after the first with noise."""
    noise, content = random.Random(seed), bytearray(path.read_bytes())
    for page in range(1, len(content) // PAGE):
        if noise.random() < share:
            content[page * PAGE : (page + 1) * PAGE] = noise.randbytes(PAGE)
    path.write_bytes(content)


def spoil_tables(path: Path, *tables: str) -> None:
    """Fill the first page of each table with noise, and of its indexes."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        names = ", ".join(map(repr, tables))
        pages = db.execute(f"SELECT rootpage FROM sqlite_schema WHERE tbl_name IN ({names}) AND rootpage").fetchall()
    for (page,) in pages:
        overwrite(path, (page - 1) * PAGE, random.Random(page).randbytes(PAGE))


def leave_log(path: Path, kind: str = "late") -> None:
    """Write five events that reach the log alone, by a process that dies."""
    code = f"""
import os
store = Store.open(Path(sys.argv[1]))
store._connection.execute('PRAGMA wal_autocheckpoint = 0')
store.events.append([Event({NOW!r}, {kind!r}, data={{'text': 'x' * 3000}})] * 5)
os._exit(0)
"""
    in_process(code, path)


def _other_log(path: Path) -> None:
    other = path.parent / "other.db"
    with Store.open(other) as store:
        store.preferences.mute("elsewhere", "component", now=NOW)
    leave_log(other, "foreign")
    (path.parent / "other.db-wal").rename(path.with_name(path.name + "-wal"))
    other.unlink()
    (path.parent / "other.db-shm").unlink()


def _only_log(path: Path) -> None:
    """Leave nothing but a log that holds the whole database."""
    content = in_process(
        "import os\nstore = Store.open(Path(sys.argv[1]))\n"
        "store._connection.execute('PRAGMA wal_autocheckpoint = 0')\n"
        "store._connection.execute('VACUUM')\nos._exit(0)",
        path,
    )
    assert content.returncode == 0
    path.write_bytes(b"")


NOISE = random.Random(7)
DAMAGES: Mapping[str, Callable[[Path], None]] = {
    "noise in the header": lambda path: overwrite(path, 0, NOISE.randbytes(100)),
    "noise in the first page": lambda path: overwrite(path, 0, NOISE.randbytes(PAGE)),
    "another number in the header": lambda path: overwrite(path, 68, b"abcd"),
    "another size of pages in the header": lambda path: overwrite(path, 16, b"\x20\x00"),
    "noise in a third of the pages": lambda path: spoil(path, 0.3),
    "the last fifth cut off": lambda path: os.truncate(path, path.stat().st_size * 4 // 5),
    "the log of another database": _other_log,
    "emptied, its log left": _only_log,
}
READABLE = ("another number in the header", "the log of another database")  # where SQLite can read everything still
