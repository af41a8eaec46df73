"""Claude Code's own files are read with care: each once, of bounded size, and a broken one as empty."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repertoire.sources import client_files
from repertoire.sources.client_files import enabled_plugins, json_object, project_settings, settings, settings_files


def test_settings_are_a_persons_the_projects_the_repositorys_local_ones_and_managed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_files, "MANAGED", tmp_path / "etc")
    shop, web, config = tmp_path / "shop", tmp_path / "shop" / "web", tmp_path / "config"
    web.mkdir(parents=True)
    own = [web / ".claude/settings.json", web / ".claude/settings.local.json"]
    managed = [client_files.MANAGED / "managed-settings.json"]
    assert project_settings(web) == own + managed
    (shop / ".git").mkdir()
    assert project_settings(web) == [own[0], shop / ".claude/settings.local.json", own[1], *managed]
    assert settings_files(config, web) == [config / "settings.json", *project_settings(web)]
    assert settings_files(config) == [config / "settings.json", *managed]


def test_a_settings_file_is_read_again_once_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    assert settings(file) == settings(Path("no\0name")) == {}
    file.write_text('\ufeff{"enabledPlugins": {"kit@box": false, "odd@box": ["1"]}}', encoding="utf-8")
    assert enabled_plugins([file]) == {"kit@box": False, "odd@box": True}
    assert settings(file) is settings(file)
    file.write_text('{"enabledPlugins": {"kit@box": true}}', encoding="utf-8")
    assert enabled_plugins([file]) == {"kit@box": True}


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"[" * 9000, b'{"a": 1}   ', b'{"\xff'])
def test_a_file_that_is_broken_or_too_large_is_empty(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "settings.json").write_bytes(text)
    assert json_object(tmp_path / "settings.json", 10) == {}


def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "settings.json")
    (tmp_path / "link.json").symlink_to("/dev/zero")
    assert settings(tmp_path / "settings.json") == json_object(tmp_path / "link.json") == {}
