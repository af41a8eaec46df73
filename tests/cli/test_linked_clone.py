"""A link that a person put in the place of Repertoire's own clone is not followed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from cli.conftest import Run
from ingestion.workbench import git, repository
from repertoire.app.clone_folder import clones_path


def test_a_checkout_that_a_link_puts_in_the_place_of_a_clone_is_left_alone(
    run: Run, skill: Callable[..., Path], tmp_path: Path
):
    origin, mine, home = tmp_path / "origin", tmp_path / "mine", tmp_path / "home"
    skill(origin, "zebra-crossing", "Paints zebra crossings on roads when a street needs one.")
    repository(origin)
    assert "1 component" in run("ingest", origin.as_uri()).stdout
    [clone] = (folder for folder in clones_path(home).iterdir() if not folder.name.startswith("."))
    shutil.rmtree(clone)
    git(tmp_path, "clone", "-q", str(origin), str(mine))
    clone.symlink_to(mine, target_is_directory=True)
    (mine / "committed").write_text("mine")
    git(mine, "add", ".")
    git(mine, "commit", "-qm", "mine")
    (mine / "untracked").write_text("mine")
    (mine / "untracked").chmod(0o640)
    (mine / "skills/zebra-crossing/SKILL.md").write_text("edited")

    done = run("refresh", "--text-only")

    assert (mine / "committed").exists()
    assert (mine / "untracked").stat().st_mode & 0o777 == 0o640
    assert (mine / "skills/zebra-crossing/SKILL.md").read_text() == "edited"
    assert f"{clone} is a link in the place of a clone and is not followed; delete it" in done.stdout + done.stderr

    os.utime(mine, (0, 0))  # long ago, so that the next refresh deletes what no source needs
    assert run("remove", f"folder:{origin}").returncode == 0
    assert run("refresh", "--text-only").returncode == 0
    assert (mine / "untracked").stat().st_mode & 0o777 == 0o640
