"""A repository's own files are read as data, with the same result as git's, and only if all of it is in the folder."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from ingestion.workbench import commit, git, repository
from repertoire.domain.errors import SourceError
from repertoire.sources import clones, git_dates, releases
from repertoire.sources.repository import lent, look


@pytest.fixture
def made(tmp_path):
    """An ordinary clone with a past, a remote and two tags."""
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "a.txt").write_text("1")
    repository(folder, date="2025-01-01")
    git(folder, "tag", "v1.0.0")
    (folder / "b.txt").write_text("1")
    commit(folder, date="2025-02-02")
    git(folder, "tag", "-a", "v2.0.0", "-m", "two", date="2025-02-02")
    git(folder, "remote", "add", "origin", "https://example.com/acme/made.git")
    return folder


DATES = {"a.txt": ("2025-01-01", "2025-01-01"), "b.txt": ("2025-02-02", "2025-02-02")}


def told(folder):
    found = git_dates.read(folder)
    assert found.warning == ""
    return found


@pytest.mark.parametrize(
    "kept",
    ["", "pack-refs --all", "gc -q", "checkout -q --detach", "checkout -q -b a/b.c", "symbolic-ref refs/heads/z HEAD"],
)
def test_however_a_repository_is_kept_it_tells_the_same(made, kept):
    if kept:
        git(made, *kept.split())

    found = told(made)

    assert (found.commit, found.remote) == (git(made, "rev-parse", "HEAD").strip(), "example.com/acme/made")
    assert (found.dates, found.exact) == (DATES, True)
    assert [release.version for release in releases.read(made).of("a.txt")] == ["2.0.0", "1.0.0"]
    assert look(made).tags == {
        name: value for value, name in (line.split() for line in git(made, "show-ref", "--tags").splitlines())
    }


def test_a_newer_loose_name_counts_before_a_packed_one(made):
    git(made, "pack-refs", "--all")
    git(made, "tag", "-f", "v1.0.0", "HEAD")
    commit(made, date="2025-03-03")

    found = look(made)

    assert found.commit == git(made, "rev-parse", "HEAD").strip()
    assert found.tags["refs/tags/v1.0.0"] == git(made, "rev-parse", "HEAD~1").strip()


def test_a_repository_with_longer_hashes_is_read(tmp_path):
    (tmp_path / "a.txt").write_text("1")
    git(tmp_path, "init", "-q", "--object-format=sha256")
    commit(tmp_path, date="2025-01-01")
    git(tmp_path, "tag", "v1.0.0")

    assert told(tmp_path).dates == {"a.txt": ("2025-01-01", "2025-01-01")}
    assert [release.version for release in releases.read(tmp_path).of("a.txt")] == ["1.0.0"]


def test_shallow_and_partial_clones_are_read_as_far_as_they_reach(made, tmp_path):
    git(made, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--depth", "1", made.as_uri(), "shallow")
    git(tmp_path, "clone", "-q", "--filter=blob:none", made.as_uri(), "partial")

    shallow, partial = told(tmp_path / "shallow"), told(tmp_path / "partial")

    assert (shallow.exact, shallow.dates) == (False, dict.fromkeys(DATES, ("", "2025-02-02")))
    assert (partial.exact, partial.dates, look(tmp_path / "partial").partial) == (True, DATES, True)


def test_settings_of_an_ordinary_clone_hinder_nothing(made):
    for name, value in {
        "core.autocrlf": "true",
        "core.hooksPath": ".husky/_",
        "filter.lfs.smudge": "git-lfs smudge -- %f",
        "filter.lfs.required": "true",
        "lfs.repositoryFormatVersion": "0",
        "pull.rebase": "true",
        "submodule.sub.url": "https://example.com/sub",
        "branch.main.vscode-merge-base": "origin/main",
        "gui.geometry": "1x1",
        "credential.helper": "store",
    }.items():
        git(made, "config", name, value)
    git(made, "config", "extensions.worktreeConfig", "true")

    assert told(made).dates == DATES


def test_nothing_is_written_into_a_repository_that_is_read(made):
    before = {path: path.stat().st_mtime_ns for path in made.rglob("*")}
    git_dates.read(made)
    releases.read(made)
    assert {path: path.stat().st_mtime_ns for path in made.rglob("*")} == before


def gitfile(made):
    shutil.move(made / ".git", made.parent / "elsewhere")
    (made / ".git").write_text(f"gitdir: {made.parent / 'elsewhere'}\n")


def linked(name):
    def apply(made):
        place = made / name
        shutil.move(place, made.parent / "elsewhere")
        place.symlink_to(made.parent / "elsewhere")

    return apply


def written(name, text):
    def apply(made):
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text)

    return apply


def setting(name, value):
    return lambda made: git(made, "config", name, value)


def packed_link(made):
    git(made, "gc", "-q")
    pack = next((made / ".git/objects/pack").glob("*.pack"))
    linked(str(pack.relative_to(made)))(made)


def pipe(made):
    (made / ".git/HEAD").unlink()
    os.mkfifo(made / ".git/HEAD")


REFUSED = {
    "gitfile": (gitfile, "its .git is a file that leads elsewhere, as in a worktree or a submodule"),
    "link": (linked(".git"), "its .git is a link that leads elsewhere"),
    "linked-head": (linked(".git/HEAD"), "HEAD of the repository is a link that leads elsewhere"),
    "linked-settings": (linked(".git/config"), "config of the repository is a link"),
    "linked-names": (linked(".git/refs"), "is a link that leads elsewhere"),
    "linked-objects": (linked(".git/objects"), "is a link that leads elsewhere"),
    "linked-information": (linked(".git/objects/info"), "is a link that leads elsewhere"),
    "linked-pack": (packed_link, "objects of the repository are links"),
    "alternates": (written(".git/objects/info/alternates", "/elsewhere/objects\n"), "borrows from another"),
    "common": (written(".git/commondir", "../../elsewhere/.git\n"), "borrows from another"),
    "elsewhere": (setting("core.worktree", "/etc"), "its files lie elsewhere (core.worktree)"),
    "names": (written(".git/HEAD", "ref: refs/heads/.invalid\n"), "no commit that is checked out"),
    "outside": (written(".git/HEAD", "ref: refs/heads/../../../secret\n"), "no commit that is checked out"),
    "round": (written(".git/HEAD", "ref: HEAD\n"), "no commit that is checked out"),
    "long": (written(".git/config", "#" * 1_000_001), "config of the repository is no plain file, or too large"),
    "nonsense": (written(".git/config", "[core\n"), "git config failed"),
    "format": (setting("core.repositoryFormatVersion", "7"), "of a format that is not read"),
    "unknown": (setting("extensions.refStorage", "reftable"), "format that is not read (extensions.refstorage)"),
    "pipe": (pipe, "HEAD of the repository is no plain file"),
    "empty": (lambda made: shutil.rmtree(made / ".git/objects"), "cannot be read (No such file or directory)"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: links and pipes")
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_ordinary_clone_is_not_read_and_the_reason_is_told(made, tmp_path, name):
    change, reason = REFUSED[name]
    change(made)

    found = git_dates.read(made)

    assert found.dates == {}
    assert found.warning.startswith("no commit dates: ")
    assert reason in found.warning
    assert releases.read(made).of("a.txt") == ()
    with pytest.raises(SourceError):
        clones.fetch(str(made), tmp_path / "clones/one", max_bytes=10_000_000)


def test_a_folder_below_the_top_has_no_history_and_that_is_said(made):
    (made / "below").mkdir()

    found = git_dates.read(made / "below")

    assert (found.dates, found.remote) == ({}, "")
    assert found.warning == "no commit dates: the folder is not the top of its repository"


def test_a_folder_in_no_repository_has_no_history_and_nothing_is_said(tmp_path):
    assert git_dates.read(tmp_path) == git_dates.GitDates()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="NOT TESTED: only root gives files away")
@pytest.mark.parametrize("part", ["", ".git", ".git/objects"])
def test_what_belongs_to_somebody_else_is_not_read(made, monkeypatch, part):
    os.chown(made / part, 1234, -1)

    assert git_dates.read(made).warning == "no commit dates: the repository belongs to another user of this machine"
    monkeypatch.setenv("SUDO_UID", "1234")
    assert told(made).dates == DATES


def test_names_that_git_would_not_give_are_passed_over(made):
    head = git(made, "rev-parse", "HEAD").strip()
    packed = (f"{head} refs/tags/../../evil", f"{head} refs/tags/a b", f"{head} refs/tags/x.lock", "zzz refs/tags/v9")
    (made / ".git/packed-refs").write_text("# pack-refs with: peeled\n" + "\n".join((*packed, f"{head} refs/tags/v3")))

    assert set(look(made).tags) == {"refs/tags/v1.0.0", "refs/tags/v2.0.0", "refs/tags/v3"}


def test_what_is_lent_is_of_ours_alone_and_goes_again(made):
    with lent(look(made)) as place:
        assert (place / "config").read_text().count("\n") == 3
        assert not list(place.glob("hooks"))
    assert not place.exists()
