"""Runs the Claude Code client, the one program that an installation starts, without a shell."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repertoire.domain.errors import InstallRefused
from repertoire.domain.text import clean_line

_NAME = "claude"
_LONGEST_S = 300.0  # time limit of one command
_OUTPUT_KEPT = 300  # characters of a command's output that are kept


@dataclass(frozen=True)
class CommandResult:
    """The result of a command of the client: whether it succeeded, and the end of its output."""

    succeeded: bool
    output: str


class Client:
    """The Claude Code client of this machine, run in a project's folder."""

    def __init__(self, environment: Mapping[str, str], project: Path) -> None:
        self._environment, self._project = dict(environment), project

    def find(self) -> str:
        """Return the path of the client's program.

        Raises:
            InstallRefused: it is not on PATH.
        """
        found = shutil.which(_NAME, path=self._environment.get("PATH"))
        if found is None:
            message = (
                "`claude` is not on PATH, and only it can install this or take it back; "
                "put it there, or paste the install lines into a session"
            )
            raise InstallRefused(message)
        return found

    def run(self, arguments: Sequence[str]) -> CommandResult:
        """Run a command of the client without input; it is stopped when it takes too long.

        Where the project is gone, what was for the project alone is gone with it, and the rest runs at home.
        """
        if not self._project.is_dir() and "project" in arguments:
            return CommandResult(succeeded=True, output="")
        try:
            done = subprocess.run(
                [self.find(), *arguments],
                cwd=self._project if self._project.is_dir() else Path.home(),
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=_LONGEST_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return CommandResult(succeeded=False, output=clean_line(str(error), _OUTPUT_KEPT))
        output = " ".join((done.stderr.strip() or done.stdout.strip()).splitlines()[-3:])
        return CommandResult(done.returncode == 0, clean_line(output, _OUTPUT_KEPT))
