"""Opening a file: ours is made or brought up to date, any other is refused and left byte for byte as it was."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from repertoire.boot import filelock
from repertoire.boot.home import lost
from repertoire.domain.errors import (
    CorruptStore,
    ForeignStore,
    NewerStore,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from repertoire.domain.event import Event
from repertoire.store.connection import LOG_LIMIT
from repertoire.store.database import Store
from store.samples import NOW, SOURCE, command, component, in_process, record


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def fill(path: Path, components: int = 200) -> None:
    with Store.open(path) as store:
        many = [
            record(f"f{n}", component(f"acme:f{n}", f"word{n} " * 50, body="text " * 200)) for n in range(components)
        ]
        store.sources.write(SOURCE, many, (), derived=(), now=NOW)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home" / "repertoire.db"


def test_a_new_file_is_private_and_in_wal_mode(path):
    with Store.open(path) as store:
        store.events.append([Event(NOW, "asked")])
        assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
        assert not store.read_only
        assert not store.stale
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    database.close()


def test_opening_again_changes_no_byte(path):
    fill(path, 3)
    before = files_in(path.parent)
    with Store.open(path) as store:
        assert store.graph.counts()["components"] == 3
    assert files_in(path.parent) == before


def test_a_database_that_another_process_made_after_a_caller_found_none_is_no_lost_one(path):
    with Store.open(path) as store:
        store.events.append([Event(NOW, "asked")])
        log = path.with_name(f"{path.name}-wal")
        assert log.stat().st_size
        assert lost(path) == ""  # as a caller asks that found no file just before
        path.rename(path.with_name("aside"))
        assert lost(path) == "its file is gone, its log is not"
        path.with_name("aside").rename(path)


def test_an_empty_file_becomes_ours(path):
    path.touch()
    with Store.open(path) as store:
        assert store.graph.revision() == 0


@pytest.mark.parametrize("content", [b"a text\n", b"SQLite format 3\x00", b"x" * 5000, b"\x00" * 4096])
def test_a_file_of_another_kind_is_refused_and_left_as_it_is(path, content):
    path.write_bytes(content)
    path.chmod(0o644)
    for read_only in (False, True):
        with pytest.raises(ForeignStore, match=f"{path} is not a Repertoire database; move it away"):
            Store.open(path, read_only=read_only)
    assert files_in(path.parent) == {path.name: content}
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_folder_in_its_place_is_refused(path):
    path.mkdir()
    with pytest.raises(ForeignStore, match="not a Repertoire database"):
        Store.open(path)


def test_another_programs_database_is_refused_and_left_as_it_is_with_its_log(path):
    code = """
import os, sqlite3
db = sqlite3.connect(sys.argv[1]); db.execute('PRAGMA journal_mode=wal')
db.execute('CREATE TABLE t(a)'); db.execute('PRAGMA wal_checkpoint'); db.execute('INSERT INTO t VALUES (1)')
db.commit(); os._exit(0)  # leaves its log behind
"""
    in_process(code, path)
    before = files_in(path.parent)
    assert before.keys() == {path.name, path.name + "-wal", path.name + "-shm"}
    for read_only in (False, True):
        with pytest.raises(ForeignStore, match="not a Repertoire database"):
            Store.open(path, read_only=read_only)
    assert files_in(path.parent) == before


def test_a_newer_schema_is_refused_and_left_as_it_is(path):
    fill(path, 1)
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    before = files_in(path.parent)
    with pytest.raises(
        NewerStore, match=rf"{path} was written by a newer Repertoire \(schema 99, .*update the plugin, and restart"
    ):
        Store.open(path)
    assert files_in(path.parent) == before


def test_a_newer_schema_that_only_the_log_knows_is_refused_and_the_log_stays(path):
    fill(path, 1)
    in_process(
        "import os, sqlite3\ndb = sqlite3.connect(sys.argv[1])\ndb.execute('PRAGMA user_version = 99')\nos._exit(0)",
        path,
    )
    before = files_in(path.parent)
    with pytest.raises(NewerStore):
        Store.open(path)
    after = files_in(path.parent)
    assert {name: after[name] for name in (path.name, path.name + "-wal")} == {
        name: before[name] for name in (path.name, path.name + "-wal")
    }


@pytest.mark.parametrize("offset", [0, 15, 16, 21, 28, 44, 56])
def test_a_damaged_header_is_refused_and_left_as_it_is(path, offset):
    fill(path, 5)
    content = bytearray(path.read_bytes())
    content[offset : offset + 4] = bytes(255 - byte for byte in content[offset : offset + 4])
    path.write_bytes(content)
    before = files_in(path.parent)
    with pytest.raises(StoreError, match=str(path)) as caught, Store.open(path) as store:
        read_everything(store)
    assert isinstance(caught.value, CorruptStore)
    assert "repertoire rescue" in str(caught.value)
    after = files_in(path.parent)
    assert after[path.name] == before[path.name]


def test_a_truncated_file_is_refused_and_left_as_it_is(path):
    fill(path)
    content = path.read_bytes()[: path.stat().st_size // 2]
    path.write_bytes(content)
    with pytest.raises(CorruptStore, match="damaged"), Store.open(path) as store:
        read_everything(store)
    assert path.read_bytes() == content


def read_everything(store: Store) -> None:
    store.graph.components(store.graph.topology().ids.tolist())
    store.graph.match(["word1", "text"], limit=50, weights=(1, 1, 1))
    store.events.recent()
    store.sources.all()


def write_everything(store: Store) -> None:
    with store.transaction():
        store.sources.remove(SOURCE.key)
        store.events.append([Event(NOW, "asked")])


@pytest.mark.parametrize("use", [read_everything, write_everything])
def test_damage_in_the_middle_is_named_and_nothing_is_written(path, use):
    fill(path)
    content = bytearray(path.read_bytes())
    pages = len(content) // 4096
    for page in range(60, pages, 2):  # the schema stays: the file opens
        content[page * 4096 : page * 4096 + 200] = os.urandom(200)
    path.write_bytes(content)
    store = Store.open(path)
    with pytest.raises(CorruptStore, match=f"{path} is damaged .*repertoire rescue"):
        use(store)
    store.close()
    assert path.read_bytes() == content


def test_damage_keeps_the_log_from_being_written_into_the_file(path):
    fill(path)
    in_process(
        "import os\nstore = Store.open(Path(sys.argv[1]))\nstore.events.append([Event('now', 'asked')])\nos._exit(0)",
        path,
    )
    content = bytearray(path.read_bytes())
    content[60 * 4096 :] = os.urandom(len(content) - 60 * 4096)
    path.write_bytes(content)
    before = files_in(path.parent)
    with Store.open(path) as store:
        assert store.events.count("asked") == 1  # from the log
        with pytest.raises(CorruptStore):
            read_everything(store)
    after = files_in(path.parent)
    assert {name: after[name] == before[name] for name in (path.name, path.name + "-wal")} == {
        path.name: True,
        path.name + "-wal": True,
    }


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StoreReadOnly, match=r"no database at .*nowhere.*REPERTOIRE_HOME"):
        Store.open(tmp_path / "nowhere" / "repertoire.db")


def test_a_store_opened_to_read_reads_and_refuses_to_write(path):
    fill(path, 2)
    with Store.open(path, read_only=True) as store:
        assert store.read_only
        assert store.graph.counts()["components"] == 2
        with pytest.raises(StoreReadOnly, match=f"{path} cannot be written"):
            store.events.append([Event(NOW, "asked")])


def test_no_store_is_made_to_read(path):
    with pytest.raises(StoreReadOnly, match="there is no database"):
        Store.open(path, read_only=True)
    assert files_in(path.parent) == {}


WRITE_UNTIL_FULL = """
try:
    while True: store.events.append([Event('now', 'big', data={'text': 'x' * 20000})] * 5)
except Exception as error: print(type(error).__name__, error)
"""


def test_a_full_disk_is_named_and_what_was_there_stays(path):
    fill(path, 50)
    code = f"""
import resource, os
store = Store.open(Path(sys.argv[1]))
revision = store.graph.revision()
old = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(sys.argv[1]) + 200_000, old[1]))
{WRITE_UNTIL_FULL}
before = store.events.count('big')
resource.setrlimit(resource.RLIMIT_FSIZE, old)
store.events.append([Event('now', 'after')])
print(store.graph.revision() == revision, store.graph.counts()['components'], store.events.count('after'))
print(store.events.count('big') == before and before % 5 == 0)
"""
    first, *rest = in_process(code, path).stdout.splitlines()
    assert first.startswith(f"{StoreFull.__name__} no space left to write {path}")
    assert rest == ["True 50 1", "True"]


def test_a_disk_that_is_really_full_is_named_and_what_was_there_stays(path):
    mounted = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=3m none "$1" && shift && exec "$@"', "sh"]
    probe = [*mounted, str(path.parent), "true"]
    if shutil.which("unshare") is None or subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can only be mounted as root, on Linux")
    code = f"""
store = Store.open(Path(sys.argv[1]))
store.events.append([Event('now', 'asked')])
{WRITE_UNTIL_FULL}
store.close()
store = Store.open(Path(sys.argv[1]))
print(store.events.count('asked'), store.events.count('big') % 5)
"""
    argv = [*mounted, str(path.parent), *command(code, path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith(f"{StoreFull.__name__} no space left to write {path}")
    assert second == "1 0"


LOCKLESS = "lies where files cannot be locked or shared, .*; set REPERTOIRE_HOME to a folder on a disk of this machine"


@pytest.mark.parametrize("code", [apsw.SQLITE_IOERR_LOCK, apsw.SQLITE_IOERR_SHMMAP])
def test_a_file_system_without_what_sqlite_needs_is_no_damaged_disk(path, code):
    Store.open(path).close()

    class Far(apsw.VFSFile):
        def xLock(self, level):  # noqa: ARG002, N802 - as SQLite names it
            raise apsw.exception_for(code)

    class Network(apsw.VFS):
        def xOpen(self, name, flags):  # noqa: N802 - as above
            return Far(local, name, flags)

    local = apsw.vfs_names()[0]
    network = Network("network", base=local, makedefault=True)
    try:
        with pytest.raises(StoreError, match=LOCKLESS):
            Store.open(path)
    finally:
        network.unregister()


def test_a_file_that_nobody_can_lock_is_not_called_locked_by_another(path, monkeypatch):
    def no_locks(_handle):
        raise OSError(errno.ENOLCK, "No locks available")

    Store.open(path).close()
    holder = apsw.Connection(str(path))
    holder.execute("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE").fetchall()
    monkeypatch.setattr(filelock, "_lock", no_locks)
    try:
        with pytest.raises(StoreError, match=LOCKLESS):
            Store.open(path, wait=0.0)
    finally:
        holder.close()
    assert {file.name for file in path.parent.iterdir()} <= {path.name, f"{path.name}-wal", f"{path.name}-shm"}


def test_the_log_stays_bounded(path):
    with Store.open(path) as store:
        store.events.append([Event(NOW, "big", data={"text": "x" * 400_000})] * 60)  # one transaction of 24 MB
        store.events.append([Event(NOW, "small")])
        assert path.with_name(path.name + "-wal").stat().st_size <= LOG_LIMIT


def test_opening_again_in_one_process_keeps_the_locks_of_the_first(path):
    with Store.open(path) as store:
        store.events.append([Event(NOW, "asked")])
        Store.open(path).close()
        # Another process that comes and goes must not think itself the last one and delete the log under the first.
        in_process("Store.open(Path(sys.argv[1])).close()", path)
        assert path.with_name(path.name + "-wal").exists()
        store.events.append([Event(NOW, "asked")])
    with Store.open(path) as store:
        assert store.events.count("asked") == 2


def test_the_session_hook_reads_and_writes_with_nothing_but_the_standard_library(path):
    fill(path, 3)
    code = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(db.execute("SELECT count(*) FROM component_text WHERE component_text MATCH 'word2'").fetchone()[0])
print(db.execute("SELECT n.name FROM component_text t JOIN node n ON n.id = t.rowid WHERE component_text MATCH ? "
                 "ORDER BY bm25(component_text, 2, 1, 1) LIMIT 1", ('"word1"',)).fetchone()[0])
db.execute("INSERT INTO event(at, kind, session) VALUES ('now', 'offered', 's')")
db.commit()
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["1", "acme:f1"], "")
    with Store.open(path) as store:
        assert [event.session for event in store.events.recent(kinds=("offered",))] == ["s"]
