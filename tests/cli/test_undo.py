"""An installation is undone whole or not at all, whatever became of what was kept for it and of the files since."""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

import pytest

from cli.conftest import SETTINGS, tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: files have POSIX modes")


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
