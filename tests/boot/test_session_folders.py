"""A session loads what lies in its folder and above it, up to its repository's folder or the home folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from repertoire.boot.session_folders import local_folder, session_folders


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        ("", ("shop/apps/web", "shop/apps", "shop")),
        ("shop", ("shop/apps/web", "shop/apps", "shop")),
        ("shop/apps", ("shop/apps/web", "shop/apps")),
        ("shop/apps/web", ("shop/apps/web",)),
    ],
)
def test_it_ends_at_the_repository_or_below_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: str, expected: tuple[str, ...]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "shop" / "apps" / "web"
    project.mkdir(parents=True)
    if repository:
        (tmp_path / repository / ".git").write_text("gitdir: elsewhere\n")
    assert session_folders(str(project)) == [tmp_path / folder for folder in expected]


def test_the_home_folder_and_one_that_is_not_there_are_folders_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert session_folders(str(tmp_path)) == [tmp_path]
    assert session_folders("/gone/web") == [Path("/gone/web"), Path("/gone"), Path("/")]


def test_local_is_the_repository_or_outside_of_one_the_folder_itself(tmp_path: Path) -> None:
    shop, web = tmp_path / "shop", tmp_path / "shop" / "web"
    web.mkdir(parents=True)
    assert local_folder(str(web)) == web
    (shop / ".git").mkdir()
    assert local_folder(str(web)) == shop


@pytest.mark.parametrize(
    ("store", "shared", "expected"),
    [
        ("shop/.git/worktrees/tree", "../..", "shop"),
        ("../shop/.git/worktrees/tree", "{}/shop/.git", "shop"),
        ("bare.git/worktrees/tree", "../..", "tree"),  # it has no worktree of its own
        ("shop/.git/modules/tree", "", "tree"),  # a submodule is a repository of its own
        ("elsewhere", "", "tree"),
    ],
)
def test_local_is_the_main_one_of_linked_worktrees(tmp_path: Path, store: str, shared: str, expected: str) -> None:
    tree = tmp_path / "tree"
    (tree / "web").mkdir(parents=True)
    named = store if store.startswith("..") else str(tmp_path / store)
    (tree / ".git").write_text(f"gitdir: {named}\n")
    if shared:
        (tree / named).mkdir(parents=True)
        (tree / named / "commondir").write_text(shared.format(tmp_path) + "\n")
        (tree / named / "gitdir").write_text(f"{tree / '.git'}\n")
    assert local_folder(str(tree / "web")) == local_folder(str(tree)) == tmp_path / expected
