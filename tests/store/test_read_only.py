"""A home that cannot be written still answers, says when it is behind, and names what is missing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from privileges import held_back
from repertoire.domain.event import Event
from repertoire.store.database import Store
from store.samples import NOW, command, in_process


@pytest.fixture
def shared(tmp_path):
    """Give a folder that a test may make read-only."""
    yield tmp_path
    tmp_path.chmod(0o755)


def as_nobody(code: str, path: Path) -> str:
    done = subprocess.run(held_back(command(code, path)), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


READ_COUNT = """
with Store.open(Path(sys.argv[1])) as store:
    print(store.read_only, store.stale, store.events.count('asked'))
    try: store.events.append([Event('now', 'asked')])
    except Exception as error: print(type(error).__name__)
"""


def test_a_read_only_home_still_answers(shared):
    path = shared / "repertoire.db"
    with Store.open(path) as store:
        store.events.append([Event(NOW, "asked")])
    path.chmod(0o444)
    shared.chmod(0o555)
    assert as_nobody(READ_COUNT, path).split() == ["True", "False", "1", "StoreReadOnly"]
    assert list(shared.iterdir()) == [path]


def test_a_read_only_home_sees_what_a_running_session_has_just_written(shared):
    path = shared / "repertoire.db"
    Store.open(path).close()
    path.chmod(0o644)
    with Store.open(path) as store:
        store.events.append([Event(NOW, "asked")] * 2)
        path.chmod(0o444)
        shared.chmod(0o555)
        assert as_nobody(READ_COUNT, path).split() == ["True", "False", "2", "StoreReadOnly"]


def test_a_read_only_home_with_a_log_that_cannot_be_read_says_that_it_is_behind(shared):
    path = shared / "repertoire.db"
    Store.open(path).close()
    in_process(
        "import os\nstore = Store.open(Path(sys.argv[1]))\nstore.events.append([Event('now', 'asked')])\nos._exit(0)",
        path,
    )
    (shared / "repertoire.db-shm").unlink()
    path.chmod(0o444)
    shared.chmod(0o555)
    assert as_nobody(READ_COUNT, path).split() == ["True", "True", "0", "StoreReadOnly"]


@pytest.mark.parametrize("there", [True, False])
def test_a_read_only_home_without_a_schema_is_named(shared, there):
    path = shared / "repertoire.db"
    if there:
        path.touch(0o444)
    shared.chmod(0o555)
    code = "try: Store.open(Path(sys.argv[1]))\nexcept Exception as error: print(type(error).__name__, error)"
    said = as_nobody(code, path)
    assert said.startswith("StoreReadOnly")
    assert str(path) in said
    assert "REPERTOIRE_HOME" in said


def test_a_file_that_may_not_be_read_is_named(shared):
    path = shared / "repertoire.db"
    Store.open(path).close()
    path.chmod(0o000)
    code = "try: Store.open(Path(sys.argv[1]))\nexcept Exception as error: print(type(error).__name__, error)"
    said = as_nobody(code, path)
    assert said.startswith("StoreReadOnly")
    assert f"{path} cannot be read" in said
