"""A file of JSON is written whole, or nothing of it stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repertoire.boot.private_file import set_mode, write_json
from repertoire.installing.journal import write


def test_a_file_is_replaced_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    for value in ({"one": 1}, {"two": 2}):
        write_json(file, value, flush=True)
    assert json.loads(file.read_text()) == {"two": 2}
    assert [path.name for path in tmp_path.iterdir()] == ["kept.json"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_write_that_fails_leaves_no_part(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    write_json(file, {"one": 1})
    with pytest.raises(TypeError):
        write_json(file, ["a prompt", object()])
    assert [path.name for path in tmp_path.iterdir()] == ["kept.json"]
    assert json.loads(file.read_text()) == {"one": 1}


def test_a_file_system_without_modes_keeps_no_file_from_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path, _mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "chmod", refuse)
        write(tmp_path / "kept.txt", b"1", mode=0o644)
        set_mode(tmp_path / "kept.txt", 0o444)
    assert (tmp_path / "kept.txt").read_bytes() == b"1"
