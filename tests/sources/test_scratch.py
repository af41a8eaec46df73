"""Temporary folders are deleted completely, even if their owner made files in them read-only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from privileges import held_back
from repertoire.sources.scratch import scratch

SERVER = Path(__file__).resolve().parents[2] / "server"
CODE = """
import os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from repertoire.sources.scratch import scratch
with scratch(Path(sys.argv[2]) / "any") as folder:
    pack = folder / "objects" / "pack"
    pack.mkdir(parents=True)
    (pack / "one.pack").write_text("x")
    (pack / "away").symlink_to(sys.argv[1])
    (pack / "one.pack").chmod(0o444)
    pack.chmod(0o555)
print(folder.exists(), oct(os.stat(sys.argv[1]).st_mode))
"""


def test_a_folder_that_is_protected_from_writing_is_deleted_all_the_same(tmp_path: Path) -> None:
    line = [sys.executable, "-c", CODE, str(SERVER), str(tmp_path)]
    done = subprocess.run(held_back(line), capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False", oct(SERVER.stat().st_mode)]


@pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: permissions are no modes there")
def test_a_folder_of_clones_or_packs_is_its_owners_alone_also_in_a_home_that_others_may_enter(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with scratch(tmp_path / "packs" / "any"):
        pass
    assert (tmp_path / "packs").stat().st_mode & 0o077 == 0
