"""An installation is undone whole or not at all, whatever became of what was kept for it and of the files since."""

from __future__ import annotations

import hashlib
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import SETTINGS, tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: files have POSIX modes")


DYING = """
import os, runpy, signal, sys
place = sys.argv.pop(1)
die = lambda event, told: event == "os.rename" and str(told[1]) == place and os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(die)
runpy.run_module("repertoire", run_name="__main__", alter_sys=True)
"""


@pytest.fixture
def killed(environment, tmp_path):
    """Install components in a process that is killed at the moment when a file is about to get its place."""

    def call(place: Path, *components: str) -> None:
        line = [sys.executable, "-c", DYING, str(place), "install", *components, "--yes"]
        done = subprocess.run(line, cwd=tmp_path / "project", env=environment, capture_output=True, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr

    return call


@pytest.fixture
def installs(environment):
    return Path(environment["REPERTOIRE_HOME"]) / "installs"


@pytest.mark.parametrize("harm", ["emptied", "deleted"])
def test_no_file_is_touched_where_the_kept_copy_of_one_is_damaged(run, shelf, user, installs, harm):
    assert run("install", "weave", "tidy", "--yes").returncode == 0
    now = tree(user)
    kept = installs / "1" / hashlib.sha256(SETTINGS.encode()).hexdigest()
    kept.write_text("") if harm == "emptied" else kept.unlink()

    refused = run("install", "--undo")

    assert refused.returncode == 1
    assert f"{kept} is {'damaged' if harm == 'emptied' else 'gone'}" in refused.stderr
    assert "nothing was taken back; remove by hand what was added to that file, then" in refused.stderr
    assert tree(user) == now


def test_a_damaged_copy_that_is_not_needed_is_in_nobodys_way(run, shelf, user, installs):
    before = tree(user)
    assert run("install", "weave", "tidy", "--yes").returncode == 0
    (installs / "1" / hashlib.sha256(SETTINGS.encode()).hexdigest()).unlink()
    (user / "settings.json").write_text(SETTINGS)
    assert run("install", "--undo").returncode == 0
    assert tree(user) == before


@pytest.mark.parametrize("harm", ["", "[" * 100_000, "[]", "{}"])
def test_a_journal_that_cannot_be_read_is_told_and_stands_in_no_other_installations_way(
    run, shelf, user, installs, harm
):
    assert run("install", "weave", "--yes").returncode == 0
    assert run("install", "weaver", "--yes").returncode == 0
    now, journal = tree(user), installs / "2" / "journal.json"
    journal.write_text(harm)

    last, second, none = run("install", "--undo"), run("install", "--undo", "2"), run("install", "--undo", "7")

    assert (last.returncode, second.returncode, none.returncode) == (1, 1, 2)
    assert last.stderr == second.stderr
    assert f"installation 2 cannot be taken back, because {journal} cannot be read" in last.stderr
    assert last.stderr.endswith(f"then delete {installs / '2'}\n")
    assert "there are 1, 2 (cannot be read)" in none.stderr
    third = run("install", "tidy", "--yes")
    assert third.returncode == 0, third.stderr
    assert "note: installation 2 cannot be taken back" in third.stderr
    assert (installs / "3").is_dir()
    for number in ("3", "1"):
        assert run("install", "--undo", number).returncode == 0
    assert {path: held for path, held in now.items() if not path.startswith("skills")} == tree(user)


def test_the_folder_of_a_damaged_journal_can_be_deleted_as_told(run, shelf, user, installs):
    assert run("install", "weave", "--yes").returncode == 0
    assert run("install", "weaver", "--yes").returncode == 0
    (installs / "2/journal.json").write_text("")
    shutil.rmtree(installs / "2")
    assert run("install", "--undo").returncode == 0
    assert not (user / "skills").exists()


@pytest.mark.parametrize("place", ["skills/weave/scripts/soak.sh", "agents/weaver.md", "settings.json"])
def test_an_installation_killed_at_any_file_is_undone_byte_for_byte(run, shelf, user, killed, place):
    before = tree(user)
    killed(user / place, "weave", "weaver", "tidy")
    assert tree(user) != before
    assert run("install", "--undo").returncode == 0
    assert tree(user) == before


def test_a_file_that_a_person_saved_since_a_kill_is_left_alone_and_the_next_installation_goes_on(
    run, shelf, user, killed
):
    killed(user / "settings.json", "weaver", "tidy")
    (user / "settings.json").write_text('{"model": "sonnet"}')
    assert "`repertoire install --undo 1` undoes it" in run("install", "tidy", "--yes").stderr

    back = run("install", "--undo", "1")

    assert back.returncode == 0, back.stderr
    assert f"note: {user / 'settings.json'} was changed by others and is left as it is" in back.stdout
    assert (user / "settings.json").read_text() == '{"model": "sonnet"}'
    assert [path.name for path in user.iterdir()] == ["settings.json"]
    assert run("install", "tidy", "--yes").returncode == 0


@pytest.mark.parametrize("become", ["gone", "a folder"])
def test_whatever_became_of_a_file_since_a_kill_the_undo_ends(run, shelf, user, killed, become):
    killed(user / "agents/weaver.md", "weave", "tidy", "weaver")
    for path in (user / "settings.json", user / "skills/weave/SKILL.md"):
        path.unlink()
        if become == "a folder":
            path.mkdir()
    assert run("install", "--undo").returncode == 0
    assert run("install", "weaver", "--yes").returncode == 0


@pytest.mark.parametrize("moved", ["settings.json", "skills"])
def test_an_undo_neither_follows_nor_replaces_a_link_that_a_person_put_there(run, shelf, user, tmp_path, moved):
    before = tree(user)
    assert run("install", "weave", "tidy", "--yes").returncode == 0
    link, elsewhere = user / moved, tmp_path / moved
    link.rename(elsewhere)
    link.symlink_to(elsewhere)
    now = tree(user)

    refused = run("install", "--undo")

    assert refused.returncode == 1
    assert f"{link} is a link now, so nothing was taken back" in refused.stderr
    assert link.is_symlink()
    assert tree(user) == now
    link.unlink()
    elsewhere.rename(link)
    assert run("install", "--undo").returncode == 0
    assert tree(user) == before


def test_a_persons_folder_that_is_a_link_itself_hinders_no_undo(run, shelf, user, tmp_path):
    user.rename(tmp_path / "dotfiles")
    user.symlink_to(tmp_path / "dotfiles")
    before = tree(user)
    assert run("install", "weave", "tidy", "--yes").returncode == 0
    assert run("install", "--undo").returncode == 0
    assert tree(user) == before


def test_settings_that_became_a_link_before_a_killed_installation_wrote_them_do_not_keep_its_undo_from_ending(
    run, shelf, user, killed, tmp_path
):
    killed(user / "settings.json", "weaver", "tidy")
    (user / "settings.json").rename(tmp_path / "mine.json")
    (user / "settings.json").symlink_to(tmp_path / "mine.json")
    (user / "settings.json").write_text('{"model": "sonnet"}')
    assert run("install", "--undo").returncode == 0
    assert (user / "settings.json").is_symlink()
    assert run("install", "weaver", "--yes").returncode == 0
