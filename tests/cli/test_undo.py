"""An installation is undone whole or not at all, whatever became of what was kept for it and of the files since."""

from __future__ import annotations

import hashlib
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
