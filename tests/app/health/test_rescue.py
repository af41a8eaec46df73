"""A damaged database is set aside whole; a person's own stands in a new one, out of the old one or the backup."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from privileges import held_back
from repertoire.app.health.rescue import mend
from repertoire.app.health.status import status
from repertoire.app.upkeep.first_run import fill_new_home
from repertoire.app.upkeep.refresh_attempts import RefreshAttempt, attempted, newest_attempt
from repertoire.app.upkeep.refresh_due import holds_only_catalogue, is_refresh_due
from repertoire.app.wiring import open_repertoire
from repertoire.boot.home import backup_path
from repertoire.domain.component import SELECTED
from repertoire.domain.errors import CorruptStore, ForeignStore, NewerStore, StoreFull
from repertoire.domain.event import RESCUED, Event
from repertoire.domain.rescue import Rescue
from repertoire.store.database import Store
from sample_home import NOW, SOURCE
from store.damages import (
    ACCEPTED,
    DAMAGES,
    PAGE,
    PDF,
    READABLE,
    Sound,
    leave_log,
    overwrite,
    spoil,
    spoil_tables,
    valuable,
)
from store.samples import command, in_process, start


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    return valuable(tmp_path_factory.mktemp("sound") / "repertoire.db")


@pytest.fixture
def home(sound: Sound, tmp_path: Path) -> Path:
    return sound.copy(tmp_path).parent


def mended(home: Path) -> Rescue:
    told = mend(home)
    assert told is not None
    return told


def contents(path: Path) -> dict[str, bytes]:
    """Return what lies there, but for the shared memory and the empty log that every reader leaves."""
    files = {file.name: file.read_bytes() for file in path.parent.glob(f"{path.name}*")}
    return {name: data for name, data in files.items() if name == path.name or (data and not name.endswith("-shm"))}


def test_sessions_that_did_not_mend_it_say_that_all_is_being_read_again(home: Path) -> None:
    with attempted(home, home / "project"):
        pass
    spoil(home / "repertoire.db", 1.0)
    mended(home)
    with open_repertoire(home) as repertoire:
        fill_new_home(repertoire)
        assert holds_only_catalogue(repertoire)
    assert newest_attempt(home) == RefreshAttempt(), "the project is read again too"


@pytest.mark.parametrize("kind", DAMAGES)
def test_all_but_what_neither_the_damaged_file_nor_the_backup_tells_is_brought_over(
    home: Path, sound: Sound, kind: str
) -> None:
    path = home / "repertoire.db"
    DAMAGES[kind](path)
    before = contents(path)
    told = mended(home)
    after = contents(path)
    assert {
        name.replace(path.name, told.kept, 1): data for name, data in before.items() if data and "backup" not in name
    }.items() <= after.items()
    with Store.open(path) as store:
        events = {event.id: event for event in store.events.since(0, limit=10_000) if event.kind != RESCUED}
        assert sound.backed.items() <= events.items() <= sound.events.items()
        assert [event.data["kept"] for event in store.events.recent(kinds=(RESCUED,))] == [told.kept]
        assert min(event.id for event in store.events.recent(kinds=(RESCUED,))) > max(sound.events)
        assert store.requests.count() == 20
        assert store.preferences.muted() == {PDF: "component"}
        assert store.preferences.corrections() == {PDF: ("fill-pdf-forms", "tax")}
        assert list(store.preferences.dismissed().values()) == ["both"]
        assert list(store._connection.rows("SELECT content_hash, at FROM acceptance")) == [(ACCEPTED, NOW)]
        assert [(row.info.key, row.ingested_at) for row in store.sources.all()] == [(SOURCE.key, "")]
        assert {weight for _, _, _, weight, *_ in store.graph.edges_of(SELECTED)} == {2.0}
        assert store.graph.counts()["components"] == 0, "sources tell them again"
    assert told.from_damaged.get("event", 0) + told.from_backup.get("event", 0) == len(events)
    if kind in READABLE:
        assert (events, told.incomplete) == (sound.events, ())
    else:
        assert f"from the backup of {NOW}: " in told.text
        assert "what was recorded after it (at most " in told.text
    assert mend(home) is None


def test_each_table_comes_from_the_damaged_file_where_it_is_whole_there_else_from_the_backup(home: Path) -> None:
    path = home / "repertoire.db"
    with Store.open(path) as store:
        store.preferences.mute("acme:new", "component", now=NOW)
        store.preferences.dismiss(("a", "b"), "twin_of", content="new", now=NOW)
        store.requests.record("request:new", text="new", now=NOW)
    spoil_tables(path, "dismissal", "node")
    told = mended(home)
    assert set(told.incomplete) == {"dismissal", "node", "trace"}, "a trace is a node, too"
    assert (told.from_backup, told.from_damaged["mute"]) == ({"dismissal": 1, "request": 20, "trace": 0}, 2)
    with Store.open(path) as store:
        assert "acme:new" in store.preferences.muted()
        assert list(store.preferences.dismissed().values()) == ["both"]
        assert store.requests.count() == 20


def test_where_there_is_no_backup_what_sqlite_reads_is_brought_over_and_the_loss_is_said(
    home: Path, sound: Sound
) -> None:
    path = home / "repertoire.db"
    backup_path(path).unlink()
    with Store.open(path) as store:
        [page] = store._connection.row("SELECT pageno FROM dbstat WHERE name = 'event' ORDER BY pageno LIMIT 1")
    spoil_tables(path, "mute")
    overwrite(path, page * PAGE + 8, random.Random(3).randbytes(PAGE))
    told = mended(home)
    assert "there was no backup; some rows are lost of: " in told.text
    assert "mutes" in told.text.partition("some rows are lost of: ")[2]
    with Store.open(path) as store:
        events = {event.id: event for event in store.events.since(0, limit=10_000) if event.kind != RESCUED}
        assert events.items() <= sound.events.items()
        assert store.preferences.corrections()


def test_a_backup_that_is_damaged_too_is_no_help_and_no_harm(home: Path) -> None:
    path = home / "repertoire.db"
    for file in (path, backup_path(path)):
        overwrite(file, 0, random.Random(1).randbytes(PAGE))
    assert "there was no backup" in mended(home).text
    with Store.open(path) as store:
        assert store.events.size() == 1


def test_a_backup_that_an_older_version_wrote_is_brought_to_the_newest_schema(home: Path) -> None:
    path = home / "repertoire.db"
    with contextlib.closing(sqlite3.connect(backup_path(path))) as db, db:
        db.execute("CREATE TABLE older AS SELECT target, scope, at FROM mute")
        db.execute("DROP TABLE mute")
        db.execute("ALTER TABLE older RENAME TO mute")
        db.execute("DROP TABLE advisory")
        db.execute("ALTER TABLE source DROP COLUMN given")
        db.execute("PRAGMA user_version = 4")
    overwrite(path, 0, random.Random(1).randbytes(PAGE))
    mended(home)
    with Store.open(path) as store:
        assert store.preferences.muted() == {PDF: "component"}


def test_what_only_the_log_holds_is_brought_over_too(home: Path) -> None:
    path = home / "repertoire.db"
    spoil_tables(path, "component")
    leave_log(path)
    mended(home)
    with Store.open(path) as store:
        assert store.events.count("late") == 5
        assert store.events.recent(kinds=("late",))[0].data == {"text": "x" * 3000}


@examples(8)
@given(seed=st.integers(0, 2**32), strokes=st.integers(1, 12), longest=st.sampled_from([1, 40, PAGE, 9 * PAGE]))
def test_any_noise_anywhere_brings_over_nothing_that_was_not_there(
    sound: Sound, tmp_path_factory: pytest.TempPathFactory, seed: int, strokes: int, longest: int
) -> None:
    path, noise = sound.copy(tmp_path_factory.mktemp("noise")), random.Random(seed)
    for _ in range(strokes):
        overwrite(path, noise.randrange(path.stat().st_size), noise.randbytes(noise.randint(1, longest)))
    spoilt = path.read_bytes()
    try:
        told = mend(path.parent)
    except (ForeignStore, NewerStore):  # our number gone and our schema with it, or a number that is none of ours
        told = None
    if told is None:
        return
    assert path.with_name(told.kept).read_bytes() == spoilt
    was = sound.events
    with Store.open(path) as store:
        same = [event for event in store.events.since(0, limit=10_000) if was.get(event.id) == event]
        others = [event for event in store.events.since(0, limit=10_000) if was.get(event.id) != event]
        # a byte inside a text changes the text, and nothing tells; a row is never torn or made up
        assert len(others) <= strokes * (1 + longest // 40) + 1
        assert len(same) + len(others) >= len(sound.backed)
        store.events.append([Event(NOW, "asked")])


def test_a_sound_database_another_programs_and_a_new_home_are_left_alone(home: Path, tmp_path: Path) -> None:
    path = home / "repertoire.db"
    before = contents(path)
    assert mend(home) is None
    assert contents(path) == before
    path.write_bytes(b"a diary\n" * 1000)
    with pytest.raises(ForeignStore, match="not a Repertoire database"):
        mend(home)
    path.write_bytes(b"")
    backup_path(path).unlink()
    assert mend(home) is None
    (tmp_path / "new").mkdir()
    assert mend(tmp_path / "new") is None


def test_whoever_meets_damage_mends_it_and_says_what_became_of_it(home: Path) -> None:
    spoil(home / "repertoire.db", 0.6)
    environment = {"REPERTOIRE_BACKGROUND": "no"}
    said = r"was damaged .* kept as repertoire.db.damaged-\w+ .*recovered from the damaged file: .*try again"
    with pytest.raises(CorruptStore, match=said):
        read_all(home, environment)
    with open_repertoire(home, environment=environment) as repertoire:
        assert is_refresh_due(repertoire, environment), "its sources wait to be read again"
        assert any("repertoire.db.damaged-" in note for note in status(repertoire).notes)


def read_all(home: Path, environment: dict[str, str]) -> None:
    with open_repertoire(home, environment=environment) as repertoire:
        repertoire.store.graph.components(repertoire.store.graph.topology().ids.tolist())
        repertoire.store.events.since(0, limit=-1)


def test_a_session_that_only_reads_does_not_mend(home: Path) -> None:
    overwrite(home / "repertoire.db", 0, b"x" * 100)
    before = contents(home / "repertoire.db")
    with pytest.raises(CorruptStore, match="run `repertoire rescue`"), open_repertoire(home, read_only=True):
        pass
    assert contents(home / "repertoire.db") == before


INTERRUPTED = """
import os, pathlib
left = int(sys.argv[2])
whole = pathlib.Path.rename
def rename(self, target):
    global left
    left -= 1
    if left < 0: os._exit(9)
    return whole(self, target)
pathlib.Path.rename = rename
from repertoire.app.health.rescue import mend
mend(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("renames", range(4))
def test_a_rescue_that_is_killed_is_finished_by_whoever_comes_next(home: Path, sound: Sound, renames: int) -> None:
    path = home / "repertoire.db"
    leave_log(path)
    overwrite(path, 0, b"x" * 100)
    assert in_process(INTERRUPTED, home, renames, check=False).returncode == 9
    with pytest.raises(CorruptStore), open_repertoire(home, environment={"REPERTOIRE_BACKGROUND": "no"}):
        pass
    with Store.open(path) as store:
        assert store.events.count("late") == 5
        assert store.events.count("asked") + store.events.count("selected") == len(sound.events)
        assert store.events.count(RESCUED) == 1
    main = [file.name for file in home.iterdir() if "damaged" in file.name and not file.name.endswith(("-wal", "-shm"))]
    assert len(main) == 1
    assert not list(home.glob("*.mended*"))


def test_two_that_meet_the_damage_at_once_mend_it_once(home: Path) -> None:
    overwrite(home / "repertoire.db", 0, b"x" * 100)
    code = (
        "from repertoire.app.health.rescue import mend\n"
        "sys.stdin.readline()\nprint(mend(Path(sys.argv[1])) is not None)"
    )
    both = [start(code, home) for _ in range(2)]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=120)[0].strip() for process in both]
    assert sorted(said) == ["False", "True"]
    assert len(list(home.glob("*.damaged-*[0-9Z]"))) == 1


def test_without_room_for_the_new_file_the_damaged_one_stays_as_it_is(home: Path) -> None:
    overwrite(home / "repertoire.db", 0, b"x" * 100)
    before = contents(home / "repertoire.db")
    code = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
from repertoire.app.health.rescue import mend
try: mend(Path(sys.argv[1]))
except Exception as error: print(type(error).__name__, error)
"""
    assert in_process(code, home).stdout.startswith(f"{StoreFull.__name__} no space left to write ")
    assert contents(home / "repertoire.db") == before


@pytest.fixture
def read_only(home: Path) -> Iterator[Path]:
    overwrite(home / "repertoire.db", 0, b"x" * 100)
    home.chmod(0o555)
    yield home
    home.chmod(0o755)


def test_where_nothing_can_be_written_that_is_said(read_only: Path) -> None:
    code = (
        "from repertoire.app.health.rescue import mend\n"
        "try: mend(Path(sys.argv[1]))\nexcept Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run(held_back(command(code, read_only)), capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("StoreError")
    assert "cannot be mended from here" in done.stdout


def test_a_database_that_is_gone_is_brought_back_from_its_backup_and_one_taken_away_with_it_is_not(
    home: Path, sound: Sound
) -> None:
    path = home / "repertoire.db"
    for file in home.glob(f"{path.name}*"):
        if file != backup_path(path):
            file.unlink()
    with pytest.raises(CorruptStore, match="its file is gone, its backup is not"):
        Store.open(path)
    assert mended(home).from_backup
    with Store.open(path) as store:
        assert sound.backed.items() <= {event.id: event for event in store.events.since(0, limit=10_000)}.items()
    for file in home.glob(f"{path.name}*"):
        file.unlink()
    assert mend(home) is None
    with Store.open(path) as store:
        assert store.events.since(0, limit=10) == []
