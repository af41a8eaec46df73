"""Completion in real shells: what is typed is completed from the store, and what a shell would run is not offered."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from cli.conftest import Run
from sample_home import SOURCE, component, filled_home

HOSTILE = ("pdf-$(touch owned)", "pdf-a;touch owned", "pdf-`touch owned`", "pdf-*", "pdf-\nnewline", "pdf quoted'")


@pytest.fixture
def shell(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """Return the environment of a shell that has the command on its path, and a store with hostile names in it."""
    more = [component("skill", name, "Fills forms", path=f"s/{n}.md") for n, name in enumerate(HOSTILE)]
    filled_home(Path(environment["REPERTOIRE_HOME"]), *more)
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "repertoire"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m repertoire "$@"\n')
    command.chmod(0o755)
    return {**environment, "PATH": f"{folder}{os.pathsep}{environment['PATH']}"}


def complete(shell: dict[str, str], *words: str) -> list[str]:
    """Return what bash would put in place of the last word, as readline asks for it."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("NOT TESTED: no bash on PATH")
    listed = " ".join(f"'{word}'" for word in words)
    script = f"""
        eval "$(repertoire completion bash)"
        COMP_WORDS=(repertoire {listed}); COMP_CWORD={len(words)}
        _repertoire_completion repertoire
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    line = [bash, "--norc", "-c", script]
    done = subprocess.run(line, env=shell, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


def test_verbs_options_and_choices_are_completed(shell: dict[str, str]) -> None:
    assert complete(shell, "reco") == ["recommend"]
    assert complete(shell, "explain", "--det") == ["--detail"]
    assert complete(shell, "search", "--type", "sk") == ["skill"]


def test_names_are_completed_from_the_store_and_hostile_ones_are_not_offered(
    shell: dict[str, str], tmp_path: Path
) -> None:
    assert complete(shell, "explain", "pdf-") == ["pdf-forms"]
    assert complete(shell, "explain", "PDF") == ["pdf-forms"]
    assert complete(shell, "feedback", "pdf-") == ["pdf-forms"]
    assert complete(shell, "mute", "pro") == ["project"]
    assert not list(tmp_path.rglob("owned"))


def test_an_id_is_completed_although_bash_ends_words_at_colons(shell: dict[str, str]) -> None:
    assert complete(shell, "explain", "folder", ":", "/shelf", ":", "skills/pdf") == ["skills/pdf-forms.md"]
    assert complete(shell, "remove", "fol") == [SOURCE.key]


def test_a_broken_store_completes_nothing_and_says_nothing(shell: dict[str, str]) -> None:
    Path(shell["REPERTOIRE_HOME"], "repertoire.db").write_bytes(b"no database" * 1000)
    assert complete(shell, "explain", "pdf-") == [""]


def test_a_machine_without_a_home_or_an_environment_completes_nothing_and_makes_nothing(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    asked = {"_REPERTOIRE_COMPLETE": "bash_complete", "COMP_WORDS": "repertoire explain p", "COMP_CWORD": "2"}
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "REPERTOIRE_HOME": str(tmp_path / "new"), **asked}
    line = [sys.executable, str(root / "bin" / "repertoire")]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("verb", ["ingest", "pack install", "project import", "project outline", "advisories"])
def test_where_a_path_is_asked_for_the_shell_completes_one(run: Run, verb: str) -> None:
    words = f"repertoire {verb} ./my-pl"
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    assert run(_REPERTOIRE_COMPLETE="bash_complete", **asked).stdout == "file,./my-pl\n"


TYPED = {
    "explain PDF": "explain pdf-forms",
    "explain folder:/shelf:skills/pdf": "explain folder:/shelf:skills/pdf-forms.md",
    "search --type sk": "search --type skill",
    "mute pro": "mute project",
}


def test_zsh_completes_the_same_as_a_person_types(shell: dict[str, str], tmp_path: Path) -> None:
    typed = {**TYPED, "explain 'pdf-": "explain 'pdf-forms'", "explain pdf\\ ": "explain pdf\\ "}
    assert in_zsh(shell, tmp_path, typed) == [f"repertoire {line}".strip() for line in typed.values()]
    assert not list(tmp_path.rglob("owned"))


def in_zsh(shell: dict[str, str], folder: Path, typed: Iterable[str]) -> list[str]:
    """Type lines into a zsh on a terminal, each with a tab at its end, and return what then stands there."""
    zsh, pty = shutil.which("zsh"), pytest.importorskip("pty")
    if zsh is None:
        pytest.skip("NOT TESTED: no zsh on PATH")
    ready, seen = b"READY", folder / "seen"
    (folder / ".zshrc").write_text(f"""
        PS1=; autoload -Uz compinit; compinit -u -D; eval "$(repertoire completion zsh)"
        show() {{ print -r -- "$BUFFER" >> {seen}; BUFFER= }}; zle -N show; bindkey '^T' show
        begin() {{ print -n {ready.decode()} }}; zle -N zle-line-init begin
    """)
    ours, theirs = pty.openpty()
    environment = {**shell, "TERM": "xterm", "ZDOTDIR": str(folder)}
    with subprocess.Popen([zsh, "-i"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=folder):
        os.close(theirs)
        said = b""
        while ready not in said:
            said += os.read(ours, 65536)
        os.write(ours, "".join(f"repertoire {line}\t\x14" for line in typed).encode() + b"exit\r")
        with contextlib.suppress(OSError):  # Linux's way of saying that the other end is closed
            while os.read(ours, 65536):
                pass
    os.close(ours)
    return [line.rstrip() for line in seen.read_text().splitlines()]


def test_fish_offers_the_same(shell: dict[str, str], tmp_path: Path) -> None:
    fish = shutil.which("fish")
    if fish is None:
        pytest.skip("NOT TESTED: no fish on PATH")
    asked = "; ".join(f"complete -C 'repertoire {line}'" for line in (*TYPED, "explain pdf-"))
    script = f"repertoire completion fish | source; {asked}"
    done = subprocess.run(
        [fish, "--no-config", "-c", script], env=shell, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [*(line.split()[-1] for line in TYPED.values()), "pdf-forms"]
    assert not list(tmp_path.rglob("owned"))


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_each_shell_reads_its_own_script(run: Run, name: str, tmp_path: Path) -> None:
    printed = run("completion", name)
    assert printed.returncode == 0, printed.stderr
    assert f"_REPERTOIRE_COMPLETE={name}_complete" in printed.stdout
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"THE SCRIPT FOR {name} WAS NOT READ BY IT: none on PATH")
    script = tmp_path / "script"
    script.write_text(printed.stdout)
    subprocess.run([program, "-n", str(script)], check=True, timeout=30)


def test_an_unknown_shell_is_wrong_usage(run: Run) -> None:
    assert run("completion", "cmd").returncode == 2
