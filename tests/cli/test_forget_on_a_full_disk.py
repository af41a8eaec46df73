"""Where the disk is full, forgetting says what it did and what not, and the backup goes only with what is forgotten."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# On a small disk of its own: a home with what was asked in two projects, little room, and then the command.
CODE = """
import json, os, subprocess, sys
from pathlib import Path
import numpy as np
from repertoire.domain.answer import REQUEST_SPACE
from repertoire.domain.event import Event
from repertoire.store.database import Store

home, room, now = Path(os.environ["REPERTOIRE_HOME"]), int(sys.argv[1]), "2026-01-01T00:00:00Z"
with Store.open(home / "repertoire.db") as store:
    for number in range(200):
        key = f"request:{number:012x}"
        node = store.requests.record(key, text="xylophone " * 50, project="/p", session="s", now=now)
        store.vectors.put(REQUEST_SPACE, "m", [(node, "h")], np.random.default_rng(number).random((1, 384), np.float32))
        store.events.append([Event(now, "asked", "s", "/p", key, data={"text": "xylophone " * 30})] * 15)
    store.events.append([Event(now, "asked", "s", "/q", "request:q", data={"text": "zeppelin"})])
    store.backup.write(now=now)
left = os.statvfs(home)
(home / "ballast").write_bytes(bytes(left.f_bavail * left.f_frsize - room))
done = subprocess.run([sys.executable, "-m", "repertoire", "forget", "--yes", *sys.argv[2:]], stderr=subprocess.PIPE)
(home / "ballast").unlink()
with Store.open(home / "repertoire.db") as store:
    asked = [event.project for event in store.events.recent(limit=9_999)]
backup = home / "repertoire.db.backup"
words = [word for word in ("xylophone", "zeppelin") if backup.exists() and word.encode() in backup.read_bytes()]
print(json.dumps([done.returncode, done.stderr.decode(), [asked.count("/p"), asked.count("/q")], words]))
"""
MOUNTED = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=24m none "$1" && shift && exec "$@"', "sh")


Told = tuple[int, str, list[int], list[str]]  # status, errors, events of the two projects, their words in the backup


@pytest.fixture
def forgotten(environment: dict[str, str], tmp_path: Path) -> Callable[..., Told]:
    """Run `forget` on a disk with so many bytes of room."""
    home = tmp_path / "home"
    home.mkdir()
    mounted = [*MOUNTED, str(home)]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*mounted, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("a small disk can only be mounted as root, on Linux")

    def run(room: int, *arguments: str) -> Told:
        line = [*mounted, sys.executable, "-c", CODE, str(room), *arguments]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return tuple(json.loads(done.stdout))

    return run


@pytest.mark.parametrize("what", ["--requests", "--all"])
@pytest.mark.parametrize("room", [0, 100_000])
def test_what_cannot_be_forgotten_stays_in_the_backup_too_and_that_is_said(
    forgotten: Callable[..., Told], room: int, what: str
):
    status, said, counts, words = forgotten(room, what)
    assert status == 1
    assert "no space left to write" in said
    assert "nothing of it was written; free some and run it again" in said
    assert counts == [3000, 1]
    assert words == ["xylophone", "zeppelin"]


def test_what_is_forgotten_where_the_file_cannot_be_rewritten_goes_from_the_backup_and_that_is_said(
    forgotten: Callable[..., Told],
):
    status, said, counts, words = forgotten(400_000, "--project", "/q")
    assert status == 1
    assert "what was named is deleted (1 recorded events), but not all is done: traces are left in" in said
    assert "no space to rewrite it; free some and run the same command again" in said
    assert counts == [3000, 0]
    assert words == ["xylophone"]
