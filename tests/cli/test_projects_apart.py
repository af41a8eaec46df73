"""What one project has of its own is there in it alone; what the disk holds counts, whatever was read before."""

from __future__ import annotations

import json
import shutil

import pytest


@pytest.fixture
def weave(run, skill, tmp_path):
    """Reads a shelf with the skill that is installed."""
    skill(tmp_path / "shelf", "weave", "Weaves baskets from willow.")
    assert run("ingest", str(tmp_path / "shelf")).returncode == 0


@pytest.fixture
def projects(tmp_path):
    """Return two projects without anything of their own."""
    found = tmp_path / "first", tmp_path / "second"
    for project in found:
        project.mkdir()
    return found


def test_what_is_installed_for_one_project_can_be_installed_for_another(run, weave, projects):
    first, second = projects
    assert run("install", "weave", "--project", "--yes", cwd=first).returncode == 0
    done = run("install", "weave", "--project", "--yes", cwd=second)
    assert "it is installed already" not in done.stdout
    assert all((project / ".claude/skills/weave/SKILL.md").is_file() for project in projects)
    assert "it is installed already" in run("install", "weave", "--project", "--yes", cwd=second).stdout


def test_what_another_project_has_is_neither_found_nor_called_installed(run, weave, projects):
    first, second = projects
    assert run("install", "weave", "--project", "--yes", cwd=first).returncode == 0
    (found,) = json.loads(run("search", "weave", "--json", cwd=second).stdout)["components"]
    assert (found["installed"], found["id"].startswith("project:")) == (False, False)
    told = run("recommend", "weave baskets from willow", cwd=second).stdout
    assert "the same component is installed already" not in told


def test_of_one_name_the_present_projects_own_is_meant(run, projects, skill, user):
    for project, does in zip(
        projects, ("Deploys the site with terraform.", "Deploys the pages by rsync."), strict=True
    ):
        skill(project / ".claude", "deploy-site", does)
        assert run("refresh", "--text-only", cwd=project).returncode == 0
    assert "by rsync" in run("explain", "deploy-site", cwd=projects[1]).stdout
    assert "terraform" in run("explain", "deploy-site", cwd=projects[0]).stdout
    assert run("feedback", "deploy-site", "ok", cwd=projects[1]).returncode == 0
    assert "second" in run("mute", "deploy-site", cwd=projects[1]).stdout


def test_what_was_deleted_by_hand_can_be_installed_again_at_once(run, weave, user):
    assert run("install", "weave", "--yes").returncode == 0
    shutil.rmtree(user / "skills")
    assert "writes" in run("install", "weave", "--yes").stdout
    assert (user / "skills/weave/SKILL.md").is_file()


def test_an_undo_from_another_folder_is_known_in_the_project_that_it_changed(run, weave, projects):
    first, second = projects
    assert run("install", "weave", "--project", "--yes", cwd=first).returncode == 0
    assert run("install", "--undo", cwd=second).returncode == 0
    assert "weave (skill, available)" in run("explain", "weave", cwd=first).stdout


def test_who_builds_a_pack_first_still_gets_the_catalogue(run, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "wool.md").write_text("# Wool\n\nWool is washed before it is spun.\n")
    built = run("pack", "build", "woolkit", "--from", str(tmp_path / "docs"), "--description", "Wool.", "--quiet")
    assert built.returncode == 0, built.stderr
    assert "playwright" in run("search", "end-to-end tests with Playwright").stdout
