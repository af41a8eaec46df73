"""Releases are read from tags, from versions in commits, and from change logs."""

from __future__ import annotations

import json
from pathlib import Path

from ingestion.workbench import commit, git, repository
from repertoire.domain.freshness import Release
from repertoire.sources import releases


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return root


def manifest(version: str) -> str:
    return json.dumps({"name": "kit", "version": version}, indent=2)


def test_commits_that_raise_a_plugins_version_are_its_releases(tmp_path):
    kit = "plugins/kit/.claude-plugin/plugin.json"
    root = repository(write(tmp_path / "r", **{kit: manifest("1.0.0"), "README.md": "x"}), date="2025-01-01")
    write(root, **{kit: manifest("1.1.0")})
    commit(root, date="2025-03-01")
    write(root, **{kit: manifest("2.0.0")})
    commit(root, date="2025-05-01")

    found = releases.read(root)

    expected = (Release("2.0.0", "2025-05-01"), Release("1.1.0", "2025-03-01"), Release("1.0.0", "2025-01-01"))
    assert found.of("plugins/kit/skills/a/SKILL.md") == expected
    assert found.of("plugins/other/skills/a/SKILL.md") == ()


def test_tags_are_releases_of_all_or_of_what_they_name(tmp_path):
    root = repository(write(tmp_path / "r", **{"kit/skills/a/SKILL.md": "x"}), date="2025-01-01")
    for tag in ("v1.0.0", "kit-2.0.0", "other@3.0", "nightly"):
        git(root, "tag", tag)

    found = releases.read(root)

    assert {release.version for release in found.of("kit/skills/a/SKILL.md")} == {"1.0.0", "2.0.0"}
    assert {release.version for release in found.of("skills/b/SKILL.md")} == {"1.0.0"}


def test_the_nearest_change_log_tells_versions_days_and_what_breaks(tmp_path):
    log = """# Changelog
## Unreleased
- BREAKING soon
## [2.1.0] - 2025-06-01
- no breaking changes
## v2.0.0 (2025-04-01)
### BREAKING CHANGES
- gone
## 1.0
no day
"""
    root = write(tmp_path / "plain", **{"CHANGELOG.md": "## 9.0.0 - 2020-01-01\n", "kit/Changes.md": log})

    found = releases.read(root)

    expected = (Release("2.1.0", "2025-06-01"), Release("2.0.0", "2025-04-01", breaking=True))
    assert found.of("kit/skills/a/SKILL.md") == expected
    assert [release.version for release in found.of("else/SKILL.md")] == ["9.0.0"]


def test_a_change_log_that_grew_is_read_again(tmp_path):
    root = write(tmp_path / "plain", **{"CHANGELOG.md": "## 1.0.0 - 2025-01-01\n"})
    assert [release.version for release in releases.read(root).of("skills/a/SKILL.md")] == ["1.0.0"]

    write(root, **{"CHANGELOG.md": "## 2.0.0 - 2026-01-01\nBREAKING\n## 1.0.0 - 2025-01-01\n"})

    assert [release.version for release in releases.read(root).of("skills/a/SKILL.md")] == ["2.0.0", "1.0.0"]


def test_a_shallow_clone_dates_no_version(tmp_path):
    kit = ".claude-plugin/plugin.json"
    root = repository(write(tmp_path / "r", **{kit: manifest("1.0.0")}), date="2025-01-01")
    git(tmp_path, "clone", "-q", "--depth", "1", root.as_uri(), "shallow")

    assert releases.read(tmp_path / "shallow").of("skills/a/SKILL.md") == ()


def test_a_change_log_that_leads_out_of_the_source_is_not_read(tmp_path):
    secret = tmp_path / "secret.md"
    secret.write_text("## 1.0.0 - 2025-01-01\n", encoding="utf-8")
    root = write(tmp_path / "r", **{"skills/a/SKILL.md": "x"})
    (root / "CHANGELOG.md").symlink_to(secret)

    assert releases.read(root).of("skills/a/SKILL.md") == ()
    assert releases.read(root).of("../SKILL.md") == ()
