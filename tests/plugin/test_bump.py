"""The version script, run as a process on a copy of the files it writes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from plugin.surface import ROOT

FILES = [
    "tools/bump",
    "pyproject.toml",
    "plugin.json",
    ".claude-plugin/plugin.json",
    "server/tools.json",
    "server/repertoire/__init__.py",
    "server/repertoire.dist-info/METADATA",
]
VERSIONED = FILES[1:]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def _bump(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(copy / "tools/bump"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_new_version_reaches_every_file_and_changes_nothing_else(copy: Path) -> None:
    before = {name: (copy / name).read_text() for name in VERSIONED}
    assert _bump(copy, "12.34.56").returncode == 0
    for name, text in before.items():
        changed = [
            (old, new)
            for old, new in zip(text.splitlines(), (copy / name).read_text().splitlines(), strict=True)
            if old != new
        ]
        assert len(changed) == 1, name
        assert "12.34.56" in changed[0][1]


@pytest.mark.parametrize("arguments", [[], ["1.2"], ["v1.2.3"], ["1.2.3", "4.5.6"]])
def test_anything_but_one_version_is_refused(copy: Path, arguments: list[str]) -> None:
    done = _bump(copy, *arguments)
    assert done.returncode == 2
    assert "usage" in done.stderr


def test_nothing_is_written_when_one_file_holds_no_version(copy: Path) -> None:
    (copy / "plugin.json").write_text("{}")
    before = (copy / "pyproject.toml").read_text()
    done = _bump(copy, "2.0.0")
    assert done.returncode != 0
    assert "plugin.json holds 0 versions" in done.stderr
    assert (copy / "pyproject.toml").read_text() == before
