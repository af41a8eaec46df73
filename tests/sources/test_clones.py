"""Our clones: git changes nothing beside them, and runs nothing that a repository names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from boot.checkout import script
from ingestion.workbench import commit, git, repository
from repertoire.domain.errors import SourceError
from repertoire.sources import clones

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: the programs are sh scripts")


@pytest.fixture
def origin(tmp_path):
    folder = tmp_path / "origin"
    folder.mkdir()
    (folder / "a.txt").write_text("1")
    (folder / ".gitattributes").write_text("*.txt filter=own\n")
    return repository(folder)


def fetch(origin, target):
    return clones.fetch(str(origin), target, max_bytes=10_000_000)


def test_a_damaged_clone_leaves_the_repository_around_it_alone(origin, tmp_path):
    around = tmp_path / "around"
    around.mkdir()
    (around / "mine.txt").write_text("committed")
    repository(around)
    target = around / "sources/one"
    fetch(origin, target)
    (around / "mine.txt").write_text("changed")
    for damaged in ("HEAD", "objects", "refs"):
        (target / ".git" / damaged).rename(tmp_path / damaged)

        assert fetch(origin, target).commit == git(origin, "rev-parse", "HEAD").strip()

        assert (target / "a.txt").read_text() == "1"
        assert (around / "mine.txt").read_text() == "changed"


def test_a_filter_of_the_persons_own_does_not_run_for_a_repository_that_names_it(origin, tmp_path, monkeypatch):
    mark, own = tmp_path / "mark", tmp_path / "gitconfig"
    own.write_text(f'[filter "own"]\n\tsmudge = "touch {mark}; cat"\n')
    git(tmp_path, "-c", f"include.path={own}", "clone", "-q", str(origin), "plain")
    assert mark.exists(), "git itself runs it"
    mark.unlink()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    monkeypatch.setenv("HOME", str(tmp_path))

    fetch(origin, tmp_path / "clones/one")
    (origin / "a.txt").write_text("2")
    commit(origin, date="2026-02-02")
    (tmp_path / "clones/one/.git/info/attributes").unlink()  # as in a clone that is older than it
    fetch(origin, tmp_path / "clones/one")

    assert (tmp_path / "clones/one/a.txt").read_text() == "2"
    assert not mark.exists()


def test_a_clone_remembers_nothing_of_what_was_lent(origin, tmp_path):
    target = tmp_path / "clones/one"
    for _ in range(2):
        fetch(origin, target)
        assert not (target / ".git/objects/info/alternates").exists()
        assert "repertoire-git-" not in (target / ".git/config").read_text()


def test_a_repository_with_links_is_read_where_git_makes_none(origin, tmp_path, monkeypatch):
    (origin / "b.txt").symlink_to("a.txt")
    commit(origin, date="2026-02-02")
    # as Git for Windows is set up: there a link needs a privilege
    script(tmp_path / "bin/git", f'exec {shutil.which("git")} -c core.symlinks=false "$@"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")

    fetch(origin, tmp_path / "clones/one")

    assert not (tmp_path / "clones/one/b.txt").is_symlink()
    assert (tmp_path / "clones/one/b.txt").read_text() == "a.txt"


ASKS = """if (exec 3<>/dev/tty) 2>/dev/null; then touch {mark}; sleep 30; fi
echo 'git@git.invalid: Permission denied (publickey).' >&2
exit 255
"""
AT_A_TERMINAL = """import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from pathlib import Path
from repertoire.sources import clones
clones.fetch("git@git.invalid:a/b", Path({target!r}), max_bytes=1_000_000)
"""


def test_a_persons_own_ssh_is_not_let_ask_on_the_terminal_and_what_to_do_is_told(tmp_path):
    pty = pytest.importorskip("pty")
    mark = tmp_path / "asked"
    own = script(tmp_path / "own-ssh", ASKS.format(mark=mark))
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", AT_A_TERMINAL.format(target=str(tmp_path / "clone"))],
            stdin=theirs,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "GIT_SSH_COMMAND": str(own)},
            check=False,
            timeout=60,
        )
    finally:
        os.close(ours)
        os.close(theirs)

    assert not mark.exists()
    assert b"`ssh-add` keeps a key with a passphrase open, or clone it yourself" in done.stderr


def test_what_a_person_says_of_their_own_ssh_holds(tmp_path, monkeypatch):
    own = script(tmp_path / "own-ssh", f'echo "$@" >> {tmp_path}/asked; exit 255')
    monkeypatch.setenv("GIT_SSH_COMMAND", str(own))
    monkeypatch.setenv("GIT_SSH_VARIANT", "ssh")  # without it git asks the program itself, and gives it no port

    with pytest.raises(SourceError):
        clones.fetch("ssh://git@git.invalid:2222/a/b", tmp_path / "clone", max_bytes=1_000_000)

    assert "-p 2222 git@git.invalid" in (tmp_path / "asked").read_text()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("fatal: could not read Username for 'https://x': terminal prompts disabled", "a credential helper keep"),
        ("fatal: Authentication failed for 'https://x'", "renew what git's credential helper keeps"),
        ("fatal: unable to access 'https://x': SSL certificate problem: self-signed", "http.sslCAInfo FILE"),
        ("Host key verification failed.", "connect once with `ssh`"),
    ],
)
def test_a_private_repository_that_is_refused_says_what_to_do(tmp_path, monkeypatch, said, told):
    script(tmp_path / "bin/git", f'echo "{said}" >&2\nexit 128\n')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)

    with pytest.raises(SourceError, match=f"{told}.*, or clone it yourself and ingest the folder$"):
        clones.fetch("https://git.invalid/a/b", tmp_path / "clone", max_bytes=1_000_000)
