"""What git ignores is ignored, whatever the patterns look like and wherever in a repository a project is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from repertoire.sources.gitignore import GitIgnore


def ignored(root: Path, *paths: str) -> list[str]:
    patterns = GitIgnore(root)
    return [path for path in paths if patterns(path, folder=path.endswith("/"))]


@pytest.mark.parametrize("line", ["!", "\\", "a\\", "[z-a]", "[a-\\d]", "[[:foo:]]x"])
def test_a_line_that_is_no_pattern_is_passed_over_as_by_git(tmp_path: Path, line: str) -> None:
    (tmp_path / ".gitignore").write_text(f"{line}\nother\n*.log\n")
    assert ignored(tmp_path, "other", "a.log", "a.py") == ["other", "a.log"]


def test_a_mark_of_the_byte_order_is_no_part_of_the_first_pattern(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("\ufeffprivate\n", encoding="utf-8")
    assert ignored(tmp_path, "private", "public") == ["private"]


def test_a_project_inside_a_repository_has_the_patterns_of_the_repository(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    project = tmp_path / "packages" / "app"
    (project / "src").mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("private\n/dist\n/packages/app/build\n*.log\n")
    (tmp_path / ".git" / "info" / "exclude").write_text("scratch\n")
    (project / ".gitignore").write_text("!kept.log\n")
    paths = ("private", "src/private", "dist", "build", "src/build", "a.log", "kept.log", "scratch", "src/a.py")
    asked = subprocess.run(["git", "check-ignore", *paths], cwd=project, capture_output=True, text=True, check=False)
    assert ignored(project, *paths) == asked.stdout.split()
    assert len(asked.stdout.split()) == 5


def test_a_home_that_is_kept_in_git_and_ignores_everything_ignores_no_project(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("*\n")
    project = tmp_path / "work" / "app"
    project.mkdir(parents=True)
    (project / ".gitignore").write_text("build\n")
    assert ignored(project, "src/a.py", "build") == ["build"]
