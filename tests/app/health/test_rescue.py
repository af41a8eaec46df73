"""A damaged database is set aside whole, and all of a person's own that can be read stands in a new one."""

from __future__ import annotations

import random
import shutil
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
from repertoire.app.upkeep.refresh_due import is_stale
from repertoire.app.wiring import open_repertoire
from repertoire.domain.errors import CorruptStore, ForeignStore, NewerStore, StoreFull
from repertoire.domain.event import RESCUED, Event
from repertoire.domain.rescue import Rescue
from repertoire.settings import Settings
from repertoire.store.database import Store
from sample_home import NOW, SOURCE
from store.damages import ACCEPTED, DAMAGES, PAGE, PDF, WHOLE, Sound, leave_log, overwrite, spoil, valuable
from store.samples import command, in_process, start

SETTINGS = Settings(background=False)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    return valuable(tmp_path_factory.mktemp("sound") / "repertoire.db")


@pytest.fixture
def home(sound: Sound, tmp_path: Path) -> Path:
    shutil.copy(sound.path, tmp_path / "repertoire.db")
    return tmp_path


def mended(home: Path) -> Rescue:
    told = mend(home, SETTINGS)
    assert told is not None
    return told


def contents(path: Path) -> dict[str, bytes]:
    """Return what lies there, but for the shared memory and the empty log that every reader leaves."""
    files = {file.name: file.read_bytes() for file in path.parent.glob(f"{path.name}*")}
    return {name: data for name, data in files.items() if name == path.name or (data and not name.endswith("-shm"))}


@pytest.mark.parametrize("kind", DAMAGES)
def test_what_can_be_read_of_a_damaged_database_is_brought_over_and_the_rest_stays_beside(
    home: Path, sound: Sound, kind: str
) -> None:
    path = home / "repertoire.db"
    DAMAGES[kind](path)
    before = contents(path)
    told = mended(home)
    after = contents(path)
    assert {
        name.replace(path.name, told.kept, 1): data for name, data in before.items() if data
    }.items() <= after.items()
    with Store.open(path) as store:
        events = {event.id: event for event in store.events.since(0, limit=10_000) if event.kind != RESCUED}
        was = sound.events
        assert events.items() <= was.items()
        assert len(events) > len(was) / 3
        assert store.requests.count() == 20, "past requests, from the log where their nodes are gone"
        assert [event.data["kept"] for event in store.events.recent(kinds=(RESCUED,))] == [told.kept]
        assert min(event.id for event in store.events.recent(kinds=(RESCUED,))) > max(was)
        if kind in WHOLE:
            assert events == was
            assert store.preferences.muted() == {PDF: "component"}
            assert store.preferences.corrections() == {PDF: ("fill-pdf-forms", "tax")}
            assert list(store.preferences.dismissed().values()) == ["both"]
            assert store.flags.accepted(ACCEPTED) == NOW
            assert [row.info.key for row in store.sources.all()] == [SOURCE.key]
            assert {w for found in store.requests.selections(range(1, 60)).values() for _, w in found} == {6.0}
        else:
            assert told.missing >= len(was) - len(events)
            assert "event" in told.partly
    assert mend(home, SETTINGS) is None


def test_what_only_the_log_holds_is_brought_over_too(home: Path) -> None:
    path = home / "repertoire.db"
    leave_log(path)
    overwrite(path, 0, random.Random(1).randbytes(PAGE))
    mended(home)
    with Store.open(path) as store:
        assert store.events.count("late") == 5
        assert store.events.recent(kinds=("late",))[0].data == {"text": "x" * 3000}


@examples(8)
@given(seed=st.integers(0, 2**32), strokes=st.integers(1, 12), longest=st.sampled_from([1, 40, PAGE, 9 * PAGE]))
def test_any_noise_anywhere_brings_over_nothing_that_was_not_there(
    sound: Sound, tmp_path_factory: pytest.TempPathFactory, seed: int, strokes: int, longest: int
) -> None:
    path, noise = tmp_path_factory.mktemp("noise") / "repertoire.db", random.Random(seed)
    shutil.copy(sound.path, path)
    for _ in range(strokes):
        overwrite(path, noise.randrange(path.stat().st_size), noise.randbytes(noise.randint(1, longest)))
    spoilt = path.read_bytes()
    try:
        told = mend(path.parent, SETTINGS)
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
        assert len(same) + len(others) + told.missing >= len(was)
        store.events.append([Event(NOW, "asked")])


def test_a_sound_database_another_programs_and_a_new_home_are_left_alone(home: Path, tmp_path: Path) -> None:
    path = home / "repertoire.db"
    before = contents(path)
    assert mend(home, SETTINGS) is None
    assert contents(path) == before
    path.write_bytes(b"a diary\n" * 1000)
    with pytest.raises(ForeignStore, match="not a Repertoire database"):
        mend(home, SETTINGS)
    path.write_bytes(b"")
    assert mend(home, SETTINGS) is None
    (tmp_path / "new").mkdir()
    assert mend(tmp_path / "new", SETTINGS) is None


def test_whoever_meets_damage_mends_it_and_says_what_became_of_it(home: Path) -> None:
    spoil(home / "repertoire.db", 0.6)
    environment = {"REPERTOIRE_BACKGROUND": "no"}
    said = r"was damaged .* kept as repertoire.db.damaged-\w+ .*brought over: .*do the same again"
    with pytest.raises(CorruptStore, match=said):
        read_all(home, environment)
    with open_repertoire(home, environment=environment) as repertoire:
        assert is_stale(repertoire, environment), "its sources wait to be read again"
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
from repertoire.settings import Settings
mend(Path(sys.argv[1]), Settings())
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
        "from repertoire.app.health.rescue import mend\nfrom repertoire.settings import Settings\n"
        "sys.stdin.readline()\nprint(mend(Path(sys.argv[1]), Settings()) is not None)"
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
from repertoire.settings import Settings
try: mend(Path(sys.argv[1]), Settings())
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
        "from repertoire.app.health.rescue import mend\nfrom repertoire.settings import Settings\n"
        "try: mend(Path(sys.argv[1]), Settings())\nexcept Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run(held_back(command(code, read_only)), capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("StoreError")
    assert "cannot be mended from here" in done.stdout
