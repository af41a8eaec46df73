"""What is printed to be copied does in every shell what it says, whatever the folders are called."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.conftest import Run
from repertoire.boot.home import database_path
from repertoire.store.database import Store

SHELLS = ("sh", "dash", "bash", "zsh", "fish")
ODD = "Ünser Regal, it's $HOME & `co` *"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: no shell of these")


def in_shells(line: str, place: Callable[[str], dict[str, str]]) -> Iterator[str]:
    """Run a line in each shell that is here, in the environment made for it, and yield which; skip for the others."""
    missing = [name for name in SHELLS if shutil.which(name) is None]
    for name in SHELLS:
        if name not in missing:
            done = subprocess.run([name, "-c", line], env=place(name), capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, ""), line
            yield name
    if missing:
        pytest.skip(f"NOT TESTED IN {', '.join(missing)}: none on PATH")


def test_lines_that_install_work_on_a_machine_that_has_nothing_yet(
    run: Run, environment: dict[str, str], tmp_path: Path, skill: Callable[..., Path]
) -> None:
    shelf = tmp_path / ODD
    skill(shelf, "pebble-counting", "Counts pebbles on a beach.")
    agent = shelf / "agents" / "tide-watcher.md"
    agent.parent.mkdir()
    agent.write_text("---\nname: tide-watcher\ndescription: Watches the tides.\n---\nWatch.\n")
    done = run("ingest", str(shelf))
    assert done.returncode == 0, done.stderr
    with Store.open(database_path(Path(environment["REPERTOIRE_HOME"]))) as store:
        rows = store.graph.components(summary.node_id for summary in store.graph.summaries()).values()
        lines = [line for row in rows for line in row.component.install]
    assert len(lines) == 2

    def new(name: str) -> dict[str, str]:
        (tmp_path / name).mkdir()
        return {**environment, "HOME": str(tmp_path / name)}

    for name in in_shells("; ".join(lines), new):
        assert (tmp_path / name / ".claude/skills/pebble-counting/SKILL.md").is_file()
        assert (tmp_path / name / ".claude/agents/tide-watcher.md").read_text() == agent.read_text()


def test_a_line_that_mends_can_be_copied_into_a_shell(run: Run, environment: dict[str, str], tmp_path: Path) -> None:
    home = tmp_path / ODD
    home.mkdir()

    def opened(_: str) -> dict[str, str]:
        home.chmod(0o755)
        return environment

    opened("")
    told = json.loads(run("doctor", "--json", REPERTOIRE_HOME=str(home)).stdout)["findings"]
    [mend] = [finding["mend"] for finding in told if finding["check"] == "home"]
    for _ in in_shells(mend, opened):
        assert home.stat().st_mode & 0o777 == 0o700
