"""What a person installs is learned for the task that it was suggested for, until the installation is undone."""

from __future__ import annotations

import json


def test_an_installation_is_learned_from_until_it_is_undone(run, shelf, user):
    def selected() -> int:
        return json.loads(run("stats", "--json").stdout)["selected"]

    assert run("install", "weave", "--yes").returncode == 0
    assert selected() == 1
    assert "used: not recorded yet; installed once" in run("explain", "weave").stdout
    assert "weave (skill, installed)" in run("status").stdout
    assert run("install", "--undo").returncode == 0
    assert selected() == 0
    assert "installed once" not in run("explain", "weave").stdout
    assert "recently used" not in run("status").stdout


def test_what_was_installed_for_a_task_is_called_installed_at_once_and_comes_back_for_tasks_like_it(
    run, user, skill, tmp_path
):
    skill(tmp_path / "tools", "changelog", "Writes a changelog from the git history, by version, for a release.")
    assert run("ingest", str(tmp_path / "tools")).returncode == 0
    before = run("recommend", "--wait", "write the changelog for the next release").stdout
    assert "1. changelog (skill, available)" in before
    assert "chosen before" not in before
    assert run("install", "changelog", "--yes").returncode == 0
    assert "1. changelog (skill, installed)" in run("recommend", "write the changelog for the next release").stdout
    again = run("recommend", "--wait", "write the changelog for this release").stdout
    assert "chosen before for a similar request" in again
