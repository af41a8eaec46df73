"""The copy of what is a person's own: complete or not there, private, and never older than what was forgotten."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from repertoire.app.person.forget import ALL, PROJECT, REQUESTS, forget
from repertoire.domain.errors import StoreError
from repertoire.domain.event import Event
from repertoire.domain.graph import HOME
from repertoire.store.database import Store
from repertoire.store.user_data import user_data_parts
from store.damages import valuable
from store.samples import LATER, NOW, in_process, start

KILLED = """
import os
from repertoire.store.connection import Connection
left, run = int(sys.argv[2]), Connection.execute
def execute(self, *words):
    global left
    left -= 1
    if left < 0: os._exit(9)
    return run(self, *words)
store = Store.open(Path(sys.argv[1]))
Connection.execute = execute
store.backup.write(now="2026-01-02T00:00:00Z")
os._exit(9)
"""
SLOW = """
whole = type(store := Store.open(Path(sys.argv[1])))
from repertoire.store.backup import Backup
copy = Backup._copy
def slowly(self, now):
    copy(self, now)
    print("copied", flush=True)
    sys.stdin.readline()
Backup._copy = slowly
store.backup.write(now="2026-01-02T00:00:00Z")
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return valuable(tmp_path / "repertoire.db").path


def test_it_holds_every_row_that_is_a_persons_own_and_others_may_not_read_it(path: Path) -> None:
    with Store.open(path) as store:
        store.backup.write(now=LATER)
        db = store._connection
        db.execute("ATTACH ? AS copy", (str(store.backup.path),))
        for table, sql in ((table, sql) for part in user_data_parts(HOME) for table, sql in part.items()):
            assert db.rows(f"SELECT * FROM copy.{table}") == db.rows(sql), table
        assert {table.name for table in HOME.tables if table.own} <= {
            name for (name,) in db.rows("SELECT name FROM copy.sqlite_schema")
        }
        assert db.value("SELECT count(*) FROM copy.node WHERE type = 'request'") == 20
        assert stat.S_IMODE(store.backup.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("statements", [0, 1, 2, 4, 8, 16, 20])
def test_a_process_that_is_killed_while_it_writes_one_leaves_the_one_before_whole(path: Path, statements: int) -> None:
    backup = path.with_name("repertoire.db.backup")
    before = backup.read_bytes()
    assert in_process(KILLED, path, statements, check=False).returncode == 9
    assert backup.read_bytes() == before
    with Store.open(path) as store:
        store.backup.write(now=LATER)
    assert not list(path.parent.glob("*.making"))
    assert backup.read_bytes() != before


@pytest.mark.parametrize(("what", "left"), [(REQUESTS, True), (PROJECT, True), (ALL, False)])
def test_what_is_forgotten_is_forgotten_in_it_by_the_same_command(path: Path, what: str, left: bool) -> None:
    in_process(KILLED, path, 20, check=False)
    with Store.open(path) as store:
        assert b"fill these PDF forms" in b"".join(file.read_bytes() for file in path.parent.glob("*.backup*"))
        forget(store, what, project="/project")
        assert b"fill these PDF forms" not in b"".join(file.read_bytes() for file in path.parent.glob("*.backup*"))
        assert store.backup.path.exists() == left
        store.backup.write(now=LATER)
        assert b"fill these PDF forms" not in store.backup.path.read_bytes()


def test_one_that_another_process_is_writing_does_not_bring_back_what_is_forgotten_meanwhile(path: Path) -> None:
    writing = start(SLOW, path)
    assert writing.stdin is not None
    assert writing.stdout is not None
    assert writing.stdout.readline() == "copied\n"
    forgetting = start(
        "from repertoire.app.person.forget import forget\nprint('begun', flush=True)\n"
        "forget(Store.open(Path(sys.argv[1])), 'requests')",
        path,
    )
    assert forgetting.stdout is not None
    assert forgetting.stdout.readline() == "begun\n"
    writing.communicate("go on\n", timeout=60)
    forgetting.communicate(timeout=60)
    assert (writing.returncode, forgetting.returncode) == (0, 0)
    assert b"fill these PDF forms" not in b"".join(file.read_bytes() for file in path.parent.glob("*.backup*"))


def test_one_comes_back_where_nothing_could_be_forgotten(path: Path) -> None:
    backup = path.with_name("repertoire.db.backup")
    before = backup.read_bytes()
    with Store.open(path) as store:
        store._connection.execute("CREATE TRIGGER refusing BEFORE DELETE ON event BEGIN SELECT raise(ABORT, 'no'); END")
        with pytest.raises(StoreError, match="nothing of it was written"):
            forget(store, ALL)
    assert backup.read_bytes() == before


def test_one_that_cannot_be_deleted_keeps_anything_from_being_forgotten(path: Path) -> None:
    backup = path.with_name("repertoire.db.backup")
    backup.unlink()
    backup.mkdir()
    with Store.open(path) as store:
        before = store.events.size()
        with pytest.raises(StoreError, match=r"repertoire.db.backup could not be written or deleted"):
            forget(store, REQUESTS)
        assert store.events.size() == before


def test_a_database_that_cannot_be_read_leaves_the_one_before(path: Path) -> None:
    backup = path.with_name("repertoire.db.backup")
    before = backup.read_bytes()
    with Store.open(path) as store:
        store._connection.execute("DROP TABLE advisory")
        with pytest.raises(Exception, match="advisory"):
            store.backup.write(now=LATER)
        store.events.append([Event(NOW, "asked")])
    assert backup.read_bytes() == before
    assert not list(path.parent.glob("*.making"))
