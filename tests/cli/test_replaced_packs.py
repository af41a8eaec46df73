"""A pack that another was to replace stays until that is in its place: after a kill and an error of the disk too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Run

# The command line in a process whose n-th rename of a folder is the last thing that it does, or fails.
CODE = """
import itertools, os, sys
from pathlib import Path
from repertoire.cli.main import main

at, how, *sys.argv[1:] = sys.argv[1:]
renames, rename = itertools.count(1), Path.rename

def stopped(folder, target):
    if next(renames) != int(at):
        return rename(folder, target)
    if how == "killed":
        os.kill(os.getpid(), 9)
    raise OSError(5, "Input/output error", str(folder))

Path.rename = stopped
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: there is no SIGKILL")
@pytest.mark.parametrize("how", ["killed", "failed"])
@pytest.mark.parametrize("by", ["install", "update"])
def test_the_old_pack_is_there_whenever_the_new_one_is_not(
    run: Run, environment: dict[str, str], tmp_path: Path, by: str, how: str
):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "soak.md").write_text("# Soaking\n\nWillow rods lie in water for a week.\n")
    source = ("--from", str(docs), "--version", "0.2.0")
    assert run("pack", "build", "willow", *source).returncode == 0
    assert run("pack", "export", "willow", str(tmp_path / "new.zip")).returncode == 0
    assert run("pack", "build", "willow", "--from", str(docs), "--replace").returncode == 0
    install = ("install", str(tmp_path / "new.zip"), "--replace")
    command = install if by == "install" else ("update", "willow", *source)

    for at in range(1, 10):
        line = [sys.executable, "-c", CODE, str(at), how, "pack", *command]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=120, check=False)
        there = run("pack", "list").stdout
        if done.returncode == 0:
            break
        assert "willow 0.1.0" in there, f"rename {at}: {done.stderr}"
    assert at > 2
    assert "willow 0.2.0" in there
    assert not [*(Path(environment["REPERTOIRE_HOME"]) / "packs").glob(".before*")]
