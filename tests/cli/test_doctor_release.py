"""`doctor` tells a person whose Claude Code is too old for the plugin so, and what to do."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from repertoire.app.health.doctor_client import LEAST_CLIENT, release
from repertoire.domain.health import Finding

ROOT = Path(__file__).resolve().parents[2]
LEAST = ".".join(map(str, LEAST_CLIENT))

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for the client is a shell script")


def found_of(folder: Path, script: str) -> list[Finding]:
    client = folder / "claude"
    client.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    client.chmod(0o755)
    return list(release({"PATH": str(folder)}))


@pytest.mark.parametrize("version", ["2.0.76", "2.1.40", "2.1.138", "1.9.999"])
def test_a_client_that_is_too_old_is_told_with_what_the_plugin_needs(tmp_path: Path, version: str) -> None:
    [found] = found_of(tmp_path, f"echo '{version} (Claude Code)'")
    assert (found.check, found.state) == ("client-version", "fail")
    assert version in found.text
    assert LEAST in found.mend


@pytest.mark.parametrize("version", [LEAST, "2.1.332", "2.2.0", "3.0.0"])
def test_a_client_that_is_new_enough_is_well(tmp_path: Path, version: str) -> None:
    [found] = found_of(tmp_path, f"echo '{version} (Claude Code)'")
    assert (found.state, version in found.text) == ("ok", True)


def test_nothing_is_said_of_a_program_that_is_no_claude_code_or_not_there(tmp_path: Path) -> None:
    assert list(release({"PATH": str(tmp_path)})) == []
    assert found_of(tmp_path, "echo v20.1.0") == []


def test_the_readme_names_the_least_client() -> None:
    assert f"Claude Code {LEAST} or newer" in (ROOT / "README.md").read_text(encoding="utf-8")
