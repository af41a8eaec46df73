"""An installation is undone in the Claude Code folder that it was made in, wherever the undo is asked for."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cli.conftest import tree
from cli.test_installation import client, told

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: the client is an sh script")


@pytest.fixture
def at_work(tmp_path):
    """Return the environment of a second Claude Code folder, in which a client says where it runs."""
    (tmp_path / "work").mkdir()
    says = f'echo "in ${{CLAUDE_CONFIG_DIR:-~}}" >> {tmp_path}/told'
    return {**client(tmp_path, says), "CLAUDE_CONFIG_DIR": str(tmp_path / "work")}


def test_the_client_takes_a_server_back_in_the_folder_it_was_added_to(run, shelf, user, at_work, tmp_path):
    assert run("install", "loom", "--yes", **at_work).returncode == 0

    undone = run("install", "--undo", PATH=at_work["PATH"])

    assert undone.returncode == 0, undone.stderr
    assert told(tmp_path)[-6:] == [*"mcp remove --scope user loom".split(), f"in {tmp_path / 'work'}"]
    assert f"note: it was installed for the Claude Code folder {tmp_path / 'work'}" in undone.stdout


def test_what_was_installed_in_the_usual_folder_is_taken_back_there(run, shelf, user, at_work, tmp_path):
    assert run("install", "loom", "--yes", PATH=at_work["PATH"]).returncode == 0
    assert run("install", "--undo", **at_work).returncode == 0
    assert told(tmp_path)[-1] == "in ~"


def test_of_a_folder_with_a_relative_name_all_is_taken_back_from_elsewhere(run, shelf, user, tmp_path):
    assert run("install", "weave", "--yes", CLAUDE_CONFIG_DIR="cfg").returncode == 0
    assert (tmp_path / "project/cfg/skills/weave/SKILL.md").exists()
    undone = run("install", "--undo", cwd=tmp_path)
    assert f"removed: {tmp_path / 'project/cfg/skills/weave/SKILL.md'}" in undone.stdout
    assert not [path for path in tree(tmp_path / "project") if "skills" in path]


def test_a_journal_that_names_no_folder_is_taken_back_in_the_present_one(run, shelf, user, environment, at_work):
    assert run("install", "weave", "--yes", **at_work).returncode == 0
    journal = Path(environment["REPERTOIRE_HOME"]) / "installs/1/journal.json"
    older = json.loads(journal.read_text())
    del older["config"]
    journal.write_text(json.dumps(older))
    assert run("install", "--undo", **at_work).returncode == 0
    assert not (Path(at_work["CLAUDE_CONFIG_DIR"]) / "skills").exists()
