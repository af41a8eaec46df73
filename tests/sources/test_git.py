"""Git runs none of the programs in a repository's settings: each trap is shown to work first, and then avoided."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from git_traps import SPRINGS, Trapped, old_git, recording_git
from repertoire.domain.errors import SourceError
from repertoire.sources import clones, git, git_dates, plugin_diff, releases

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: the programs are sh scripts")
DATES = {"SKILL.md": ("2025-01-01", "2025-04-04"), "notes.txt": ("2025-01-01", "2025-01-01")}
GITS = ("this", "careless", "aged")


@pytest.fixture(scope="module")
def armed(tmp_path_factory):
    """One repository for all that spring a trap on purpose; what they change is put back."""
    made = Trapped(tmp_path_factory.mktemp("armed"))
    kept = made.folder.with_name("kept")
    shutil.copytree(made.folder, kept, symlinks=True)
    return made, kept


@pytest.fixture
def trapped(tmp_path):
    return Trapped(tmp_path)


@pytest.fixture
def chosen(request, tmp_path, monkeypatch):
    """Have the product find a git: this machine's, one that is careless and lies about its age, or one that is old."""
    place = ""
    if request.param == "careless":
        place = old_git(tmp_path / "careless", version="2.99.0")
    elif request.param == "aged":
        named = os.environ.get("REPERTOIRE_OLD_GIT")
        if not named:
            pytest.skip("NOT TESTED ON AN OLD GIT: REPERTOIRE_OLD_GIT names no program")
        place = str(Path(named).parent)
        monkeypatch.setattr(git, "refusal", lambda: "")  # it is not to hold by its age alone
    return lambda: monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}") if place else None


def read_it_all(place: Path) -> None:
    """Read everything that is ever read of a folder that others filled."""
    git_dates.read(place)
    releases.read(place)
    plugin_diff._past(place)


def clone_it(place: Path, target: Path) -> None:
    for _ in range(2):  # once anew, once over what is there
        clones.fetch(str(place), target, max_bytes=10_000_000)


@pytest.mark.parametrize("name", SPRINGS)
def test_a_trap_is_real(armed, name):
    made, kept = armed
    shutil.rmtree(made.folder)
    shutil.copytree(kept, made.folder, symlinks=True)
    made.sprung()

    made.spring(name)

    assert name in made.sprung()


@pytest.mark.parametrize("chosen", GITS, indirect=True)
def test_no_trap_is_sprung_and_the_history_is_read_all_the_same(trapped, chosen, tmp_path):
    chosen()

    found = git_dates.read(trapped.folder)
    read_it_all(trapped.folder)
    clone_it(trapped.folder, tmp_path / "clones/one")

    assert trapped.sprung() == set()
    assert (found.remote, found.exact, found.warning) == ("example.com/acme/trapped", True, "")
    assert {name: found.dates[name] for name in DATES} == DATES
    assert [release.version for release in releases.read(trapped.folder).of("kit/x")] == ["1.0.0"]
    assert (tmp_path / "clones/one/filtered.txt").read_text() == "0"
    assert trapped.sprung() == set()


@pytest.mark.parametrize("chosen", GITS, indirect=True)
@pytest.mark.parametrize("what", ["HEAD~3^{tree}", "HEAD~3:kit/.claude-plugin/plugin.json", "HEAD~3"])
def test_what_a_repository_lacks_is_fetched_from_nowhere(trapped, chosen, tmp_path, what):
    trapped.lack(what)
    nested = trapped.nested()
    assert trapped.sprung() <= {"fsmonitor"}
    chosen()

    read_it_all(trapped.folder)
    for number, place in enumerate((trapped.folder, nested)):
        with contextlib.suppress(SourceError):  # what is lacking may be of the newest commit
            clone_it(place, tmp_path / f"clones/{number}")

    assert trapped.sprung() == set()


def test_a_careless_git_brings_what_is_lacking_where_the_settings_say(trapped, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{old_git(tmp_path / 'careless')}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GIT_NO_LAZY_FETCH", "1")

    trapped.spring("ssh-command")

    assert "ssh-command" in trapped.sprung(), "else these tests would hold with any code"


def test_a_folder_is_never_named_to_git_and_no_configuration_but_ours_is_in_force(trapped, tmp_path, monkeypatch):
    log = tmp_path / "log"
    monkeypatch.setenv("PATH", f"{recording_git(tmp_path / 'recorded', log)}{os.pathsep}{os.environ['PATH']}")

    read_it_all(trapped.folder)
    clones.fetch(str(trapped.folder), tmp_path / "clones/one", max_bytes=10_000_000)

    calls = [json.loads(line) for line in log.read_text().splitlines()]
    assert {"log", "for-each-ref", "cat-file", "config", "clone"} <= {word for words, *_ in calls for word in words}
    for words, environment, folder in calls:
        assert "safe.bareRepository=explicit" in words or words == ["--version"]
        said = [word for word in (*words, *environment.values(), folder) if str(trapped.folder) in word]
        # a clone is told where it comes from, and is led to a directory of ours in its place
        assert all(
            word == trapped.folder.as_uri() or word.endswith(f".insteadOf={trapped.folder.as_uri()}") for word in said
        )
        assert environment["GIT_CONFIG_NOSYSTEM"] == environment["GIT_NO_LAZY_FETCH"] == "1"
        assert (environment["GIT_CONFIG_GLOBAL"], environment["HOME"] == str(Path.home())) == (os.devnull, False)
        assert environment["GIT_ALLOW_PROTOCOL"] == ("file" if "clone" in words else "none")


@pytest.mark.parametrize("version", ["2.14.0", "2.38.9", "2.39.3", "2.40.1", "2.43.3", "2.45.0", "x"])
def test_with_an_older_git_a_history_is_not_read_and_that_is_said(trapped, tmp_path, monkeypatch, version):
    place = old_git(tmp_path / "careless", version=version)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")

    found = git_dates.read(trapped.folder)

    assert found.dates == {}
    assert found.remote == "example.com/acme/trapped", "its identity is no matter of git's age"
    assert found.warning.startswith(f"no commit dates: git {version} is older than what is known to be safe")
    assert releases.read(trapped.folder).of("x") == ()
    with pytest.raises(SourceError, match="older than what is known to be safe"):
        clones.fetch(str(trapped.folder), tmp_path / "clones/one", max_bytes=10_000_000)
    assert trapped.sprung() == set()


@pytest.mark.parametrize("version", ["2.39.4", "2.40.2", "2.45.1", "2.46.0", "3.0.0", "2.39.5 (Apple Git-154)"])
def test_with_a_git_that_was_mended_it_is_read(trapped, tmp_path, monkeypatch, version):
    place = old_git(tmp_path / "says", version=version)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")

    assert git_dates.read(trapped.folder).dates.keys() >= DATES.keys()


def test_an_older_number_that_its_distribution_has_mended_is_told_by_what_it_does(trapped, tmp_path, monkeypatch):
    place = Path(old_git(tmp_path / "says", version="2.34.1"))
    text = (place / "git").read_text()
    (place / "git").write_text(text.replace('os.environ["GIT_NO_LAZY_FETCH"] = "0"\n', ""))
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")

    assert git_dates.read(trapped.folder).warning == ""


def test_without_git_a_folder_is_read_without_dates(trapped, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert (
        git_dates.read(trapped.folder).warning
        == "no commit dates: git is not installed; install it, or ingest a folder"
    )


def test_a_configuration_is_data_and_what_it_includes_is_not_read(tmp_path):
    (tmp_path / "more").write_text('[remote "origin"]\n\turl = https://example.com/a/b\n')
    text = f'[include]\n\tpath = {tmp_path / "more"}\n[core]\n\tbare\n[a "B c"]\n\tx = 1\\n2\n'

    said = git.settings(text.encode())

    assert said == {"include.path": str(tmp_path / "more"), "core.bare": "", "a.B c.x": "1\n2"}
    with pytest.raises(SourceError, match="git config failed"):
        git.settings(b"[core\nnonsense")


def test_what_git_is_asked_for_is_bounded_in_time(tmp_path, monkeypatch):
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 600\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    with pytest.raises(SourceError, match="git log took longer than 0 s"):
        git.read(["log"], tmp_path, seconds=0.2)


def test_an_odd_address_of_a_remote_is_no_address(trapped):
    config = trapped.git_dir / "config"
    config.write_text(config.read_text() + '[remote "origin"]\n\turl = "https://[x/y/z"\n')

    assert git_dates.read(trapped.folder).remote == ""


def test_a_git_that_ends_just_before_it_is_stopped_leaves_no_pipe_open(tmp_path, monkeypatch):
    started, begin = [], subprocess.Popen

    def remembered(*command, **more):
        started.append(begin(*command, **more))
        return started[-1]

    def stop():
        started[-1].wait()
        message = "stopped"
        raise SourceError(message)

    monkeypatch.setattr(git, "_POLL_S", 0.0)
    monkeypatch.setattr(subprocess, "Popen", remembered)
    with pytest.raises(SourceError, match="stopped"):
        git.fetch(["version"], git.GitBounds(tmp_path, 1_000_000, 9.0, stop))
    assert started[-1].stderr.closed
