"""A hint says where the program of an install line is not on the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from repertoire.app.session.greeting import worded
from repertoire.catalogue.fitting import Fit, FittingCandidate
from repertoire.catalogue.profile import Profile

LINE = "docker mcp server enable loom"


@pytest.mark.parametrize(("line", "there", "told"), [
    (LINE, False, f"not installed; docker is not found here; install: {LINE})"),
    (LINE, True, f"not installed; install: {LINE})"),
    ("/plugin install loom@shelf", False, "not installed; install: /repertoire:install loom)"),
])  # fmt: skip
def test_a_line_whose_program_is_not_here_is_told_with_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, there: bool, told: str
) -> None:
    program = tmp_path / "docker"
    program.touch(0o755 if there else 0o644)
    monkeypatch.setenv("PATH", str(tmp_path))
    candidate = FittingCandidate("i", "loom", "mcp_server", "Weaves.", {"weaving": 1.0}, install=(line,))
    assert told in worded(Profile({"weaving": "loom in package.json"}), [Fit(candidate, ("weaving",))]).text
