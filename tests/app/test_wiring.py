"""What the parts of an opened home keep in memory follows what changes while a server runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repertoire.app import wiring


def test_the_stack_of_a_project_is_read_again_after_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(wiring.time, "monotonic", lambda: clock[0])
    stack = wiring.stack_in()
    assert not stack(str(tmp_path)).uses
    (tmp_path / "package.json").write_text(json.dumps({"dependencies": {"vue": "3"}}), encoding="utf-8")
    clock[0] += 60.0
    assert "vue" in stack(str(tmp_path)).uses
