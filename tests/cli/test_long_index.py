"""A long reading of a project, while another one begins or somebody forgets the project."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.conftest import Run
from repertoire.app.projects.places import memory_file
from repertoire.retrieval.project import ALL_SPACES
from repertoire.store.project_file import ProjectStore

TEXTS = 600
Start = Callable[[], "subprocess.Popen[str]"]


@pytest.fixture
def start(run: Run, environment: dict[str, str], tmp_path: Path) -> Iterator[Start]:
    """Start readings of a project whose texts take seconds to embed."""
    project, started = tmp_path / "project", list[subprocess.Popen[str]]()
    sections = (f"## Firing {number}\n\nPot {number} is fired at {number} degrees.\n" for number in range(TEXTS))
    (project / "README.md").write_text("\n".join(sections))
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0

    def index() -> subprocess.Popen[str]:
        line = [sys.executable, "-m", "repertoire", "project", "index", "--json"]
        around = {**environment, "REPERTOIRE_PYTHON": sys.executable}
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(line, env=around, cwd=project, stdout=pipe, stderr=pipe, text=True))
        return started[-1]

    yield index
    for process in started:
        process.kill()
        process.communicate()


def test_a_reading_ends_when_the_project_is_forgotten_and_claims_no_success(
    start: Start, run: Run, tmp_path: Path
) -> None:
    with ProjectStore.open(memory_file(tmp_path / "home", str(tmp_path / "project"))) as memory:
        before, reading, until = memory.vectors.revisions(ALL_SPACES), start(), time.monotonic() + 60
        while memory.vectors.revisions(ALL_SPACES) == before and time.monotonic() < until:
            time.sleep(0.05)
    assert run("project", "forget", "--yes").returncode == 0
    told, refused = reading.communicate(timeout=60)
    assert (reading.returncode, told) == (1, "")
    assert "forgotten or replaced meanwhile" in refused
    assert not [*(tmp_path / "home" / "projects").iterdir()]


def test_of_two_readings_at_once_one_waits_says_so_and_embeds_nothing_a_second_time(start: Start) -> None:
    both = [start(), start()]
    told = [reading.communicate(timeout=100) for reading in both]
    assert [reading.returncode for reading in both] == [0, 0]
    embedded = [json.loads(out)["embedded"] for out, _ in told]
    assert (0 in embedded, sum(embedded) >= TEXTS) == (True, True)
    waited = told[embedded.index(0)][1]
    assert waited == "another process reads this project; this one goes on when it ends\n"
