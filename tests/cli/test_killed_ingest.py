"""What a killed ingest leaves lying about goes with the next one; what a living one is at work in stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.conftest import Run
from repertoire.sources.scratch import PLACE

Stuck = Callable[[], "subprocess.Popen[bytes]"]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: there is no SIGKILL")


@pytest.fixture
def stuck(environment: dict[str, str], tmp_path: Path) -> Iterator[Stuck]:
    """Start ingests whose npm never ends, each returned once that runs."""
    npm, sign = tmp_path / "bin" / "npm", tmp_path / "running"
    npm.parent.mkdir()
    npm.write_text(f"#!/bin/sh\necho half > half.tgz.part\necho fetching > {sign}\nexec sleep 600\n")
    npm.chmod(0o755)
    os.mkfifo(sign)
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        line = [sys.executable, "-m", "repertoire", "ingest", f"npm:pebble-{len(started)}"]
        path = f"{npm.parent}{os.pathsep}{environment['PATH']}"
        started.append(subprocess.Popen(line, env={**environment, "PATH": path}, cwd=tmp_path, start_new_session=True))
        assert sign.read_text() == "fetching\n"
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=60)


def test_what_the_dead_left_is_cleared_away_and_what_the_living_use_is_not(
    stuck: Stuck, run: Run, environment: dict[str, str], tmp_path: Path
) -> None:
    place = Path(environment["REPERTOIRE_HOME"]) / "sources" / PLACE

    def left() -> list[Path]:
        return [folder for folder in place.iterdir() if folder.is_dir()]

    doomed = stuck()
    [its] = left()
    living = stuck()
    kill(doomed)
    assert len(left()) == 2
    with zipfile.ZipFile(tmp_path / "kit.zip", "w") as archive:
        archive.writestr("package.json", json.dumps({"name": "kit", "bin": {"kit": "kit.js"}}))
        archive.writestr("kit.js", "")
    done = run("ingest", str(tmp_path / "kit.zip"))
    assert done.returncode == 0, done.stderr
    [others] = left()
    assert others != its
    assert [path.name for path in others.iterdir()] == ["half.tgz.part"]
    kill(living)
    assert run("ingest", str(tmp_path / "kit.zip")).returncode == 0
    assert [path.name for path in place.iterdir()] == [".lock"]
