"""A repository that starts a program wherever git lets its settings do so; each program leaves a mark of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from ingestion.workbench import commit, git, repository

SKILL = "---\nname: one\ndescription: Rotates ledgers.\n---\n\nText.\n"
NOWHERE = "https://nowhere.invalid/"
MISSING = "1" * 40
UNFILTERED = "git --no-pager -c filter.long.process= -c filter.near.clean="
UNHOOKED = f"{UNFILTERED} -c core.hooksPath=/dev/null"  # one trap would end what leads to another
# By the name of each trap, what git is asked for that springs it; a shell that reads nothing runs it.
SPRINGS = {
    "fsmonitor": "git status",
    "hooks-path": f"{UNFILTERED} checkout -q --detach",
    "hook": "git update-ref refs/tried HEAD",
    "ssh-command": f"git cat-file -e {MISSING}",
    "upload-pack": f"git cat-file -e {MISSING}",
    "git-proxy": f"git cat-file -e {MISSING}",
    "ext": f"git cat-file -e {MISSING}",
    "instead-of": f"git cat-file -e {MISSING}",
    "receive-pack": "git push near HEAD:refs/heads/x",
    "pager": "git log",
    "editor": "git tag -a tried",
    "sequence-editor": f"{UNHOOKED} rebase -i HEAD~1",
    "diff-driver": "git diff HEAD~1 HEAD -- driven.txt",
    "text-conversion": "git --no-pager -c log.showSignature=false log -p -1 HEAD~1",
    "clean": "git hash-object --path=filtered.txt filtered.txt",
    "smudge": "git cat-file --filters HEAD:filtered.txt",
    "process": "git cat-file --filters HEAD:processed.txt",
    "merge-driver": f"{UNHOOKED} merge -q side",
    "signature": "git --no-pager log -1",
    "ssh-signature": "git --no-pager log -1 HEAD~1",
    "included": "git diff HEAD~1 HEAD -- SKILL.md",
    "included-if": "echo url=https://nowhere.invalid | git credential fill",
    "ask-pass": "echo url=https://nowhere.invalid | git -c credential.helper= credential fill",
    "trailer": "echo x | git interpret-trailers --trailer tried=1",
    "diff-filter": f"echo changed >> notes.txt; echo q | {UNHOOKED} -c color.ui=always add -p",
}


class Trapped:
    """An ordinary clone with a past, all of whose settings that can start a program start one."""

    def __init__(self, root: Path) -> None:
        self.marks, self._programs = root / "marks", root / "programs"
        self.folder = root / "trapped"
        for place in (self.marks, self._programs, self.folder / "kit/.claude-plugin"):
            place.mkdir(parents=True)
        self._fill()
        for name, value in self._settings().items():
            git(self.folder, "config", name, value)
        self.sprung()

    @property
    def git_dir(self) -> Path:
        """Where the repository keeps what is its own."""
        return self.folder / ".git"

    def spring(self, name: str) -> None:
        """Do with git itself what springs a trap; on a terminal, as some are only sprung there."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "TERM": "xterm"}
        environment |= {
            f"GIT_{who}_{what}": "one@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        ours, theirs = os.openpty()
        try:
            command = f"export GIT_SSH_VARIANT=simple; {SPRINGS[name]}"
            subprocess.run(
                ["sh", "-c", command],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                stderr=theirs,
                timeout=30,
                check=False,
                start_new_session=True,
            )
        finally:
            os.close(theirs)
            os.close(ours)

    def nested(self) -> Path:
        """Return a folder of an ordinary clone that is laid out as a bare repository, as any clone may bring one."""
        outer = self.folder.parent / "outer"
        (outer / "kit").mkdir(parents=True)
        git(outer, "init", "-q")
        shutil.copytree(self.git_dir, outer / "kit/bare")
        git(outer / "kit/bare", "config", "core.bare", "true")
        return outer / "kit/bare"

    def sprung(self) -> set[str]:
        """Return which traps were sprung, and forget it."""
        found = {mark.name for mark in self.marks.iterdir()}
        for name in found:
            (self.marks / name).unlink()
        return found

    def lack(self, what: str) -> None:
        """Lose an object, so that whoever wants it goes where the settings say."""
        name = git(self.folder, "rev-parse", what).strip()
        (self.git_dir / "objects" / name[:2] / name[2:]).unlink()

    def _program(self, name: str, at: Path | None = None, *, status: int = 1) -> str:
        file = at or self._programs / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n: > {self.marks / name}\nexit {status}\n")
        file.chmod(0o755)
        return str(file)

    def _fill(self) -> None:
        driven = "text.txt diff=words\ndriven.txt diff=driven\n"
        filtered = "filtered.txt filter=near\nprocessed.txt filter=long\nmerged.txt merge=own\n"
        self._write({".gitattributes": driven + filtered, "SKILL.md": SKILL, "merged.txt": "0", "notes.txt": "0"})
        self._write(dict.fromkeys(("text.txt", "driven.txt", "filtered.txt", "processed.txt"), "0"))
        self._write({"kit/.claude-plugin/plugin.json": '{\n "version": "1.0.0"\n}\n'})
        repository(self.folder, date="2025-01-01")
        git(self.folder, "tag", "v1.0.0")
        git(self.folder, "checkout", "-q", "-b", "side")
        self._write({"merged.txt": "1"})
        commit(self.folder, date="2025-02-02")
        git(self.folder, "checkout", "-q", "-")
        self._write({"merged.txt": "2", "text.txt": "2"})
        commit(self.folder, date="2025-03-03")
        self._sign("SSH SIGNATURE", {"text.txt": "3"}, "2025-03-04")
        told = {"SKILL.md": SKILL + "More.\n", "driven.txt": "2", "text.txt": "4"}
        self._write({"kit/.claude-plugin/plugin.json": '{\n "version": "1.1.0"\n}\n'})
        self._sign("PGP SIGNATURE", told, "2025-04-04")

    def _write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def _sign(self, kind: str, files: Mapping[str, str], date: str) -> None:
        """Commit with what looks like a signature, so that looking at it starts a program."""
        self._write(files)
        commit(self.folder, date=date)
        plain = git(self.folder, "cat-file", "commit", "HEAD")
        signature = f"gpgsig -----BEGIN {kind}-----\n \n aGVsbG8=\n -----END {kind}-----\n"
        head, _, message = plain.partition("\n\n")
        file = self.folder.parent / "commit"
        file.write_text(f"{head}\n{signature}\n{message}", encoding="utf-8")
        name = git(self.folder, "hash-object", "-t", "commit", "-w", str(file)).strip()
        git(self.folder, "reset", "-q", "--hard", name)

    def _settings(self) -> Mapping[str, str]:
        hooks = self._programs / "hooks"
        self._program("hooks-path", hooks / "post-checkout")
        self._program("hook", hooks / "reference-transaction", status=0)
        included, included_if = (self.folder.parent / name for name in ("included", "included-if"))
        included.write_text(f"[diff]\n\texternal = {self._program('included')}\n")
        included_if.write_text(f"[credential]\n\thelper = !{self._program('included-if')}\n")
        signers = self.folder.parent / "signers"
        signers.write_text("one@example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJc\n")
        return {
            **{f"remote.{name}.promisor": "true" for name in ("ssh", "near", "proxied", "ext", "instead")},
            "core.repositoryFormatVersion": "1",
            "extensions.partialClone": "ssh",
            "remote.ssh.url": "ssh://nowhere.invalid/x",
            "core.sshCommand": self._program("ssh-command"),
            "remote.near.url": self.folder.parent.as_uri(),
            "remote.near.uploadpack": self._program("upload-pack"),
            "remote.near.receivepack": self._program("receive-pack"),
            "remote.proxied.url": "git://nowhere.invalid/x",
            "core.gitProxy": self._program("git-proxy"),
            "remote.ext.url": f"ext::{self._program('ext')}",
            "protocol.ext.allow": "always",
            "remote.instead.url": f"{NOWHERE}x",
            f"url.ext::{self._program('instead-of')} .insteadOf": NOWHERE,
            "core.fsmonitor": self._program("fsmonitor"),
            "core.hooksPath": str(hooks),
            "core.pager": self._program("pager"),
            "core.editor": self._program("editor"),
            "core.askPass": self._program("ask-pass"),
            "sequence.editor": self._program("sequence-editor"),
            "diff.driven.command": self._program("diff-driver"),
            "diff.words.textconv": self._program("text-conversion"),
            "filter.near.clean": self._program("clean"),
            "filter.near.smudge": self._program("smudge"),
            "filter.long.process": self._program("process"),
            "merge.own.driver": self._program("merge-driver"),
            "log.showSignature": "true",
            "gpg.program": self._program("signature"),
            "gpg.ssh.program": self._program("ssh-signature"),
            "gpg.ssh.allowedSignersFile": str(signers),
            "trailer.tried.command": self._program("trailer"),
            "interactive.diffFilter": self._program("diff-filter"),
            "uploadpack.packObjectsHook": self._program("pack-objects"),  # git asks for it in a person's settings alone
            "include.path": str(included),
            "includeIf.gitdir:**.path": str(included_if),
            "remote.origin.url": "https://example.com/acme/trapped",
        }


def old_git(folder: Path, *, version: str = "2.39.3") -> str:
    """Put a git into a folder that is as careless as one of before the CVEs of 2024, and return that folder.

    It obeys no wish not to fetch, trusts bare repositories wherever it finds them, and says that it is of a version.
    """
    real = shutil.which("git")
    folder.mkdir(parents=True)
    script = f"""#!{sys.executable}
import os, sys
words = sys.argv[1:]
if words == ["--version"]:
    print("git version {version}")
    sys.exit()
while "safe.bareRepository=explicit" in words:
    at = words.index("safe.bareRepository=explicit")
    del words[at - 1 : at + 1]
os.environ["GIT_NO_LAZY_FETCH"] = "0"
os.execv({real!r}, ["git", *words])
"""
    (folder / "git").write_text(script)
    (folder / "git").chmod(0o755)
    return str(folder)


def recording_git(folder: Path, log: Path) -> str:
    """Put a git into a folder that writes down how it was started, and return that folder."""
    real = shutil.which("git")
    folder.mkdir()
    script = f"""#!{sys.executable}
import json, os, sys
kept = {{name: value for name, value in os.environ.items() if name.startswith(("GIT_", "HOME", "XDG_"))}}
with open({str(log)!r}, "a") as file:
    file.write(json.dumps([sys.argv[1:], kept, os.getcwd()]) + "\\n")
os.execv({real!r}, ["git", *sys.argv[1:]])
"""
    (folder / "git").write_text(script)
    (folder / "git").chmod(0o755)
    return str(folder)
