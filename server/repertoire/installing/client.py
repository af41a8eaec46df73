"""Runs the Claude Code client, the one program that an installation starts, with a list of words and no shell."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repertoire.domain.errors import InstallRefused
from repertoire.domain.text import clean_line

_NAME = "claude"
_LONGEST_S = 300.0
_SAID = 300


@dataclass(frozen=True)
class Ran:
    """How a command of the client ended, and the end of what it said."""

    well: bool
    said: str


class Client:
    """The client of this machine, in a project."""

    def __init__(self, environment: Mapping[str, str], project: Path) -> None:
        self._environment, self._project = dict(environment), project

    def find(self) -> str:
        """Return where the client lies.

        Raises:
            InstallRefused: it is not on PATH.
        """
        found = shutil.which(_NAME, path=self._environment.get("PATH"))
        if found is None:
            message = "`claude` is not on PATH, and only it can install this; paste the lines into a session instead"
            raise InstallRefused(message)
        return found

    def run(self, arguments: Sequence[str]) -> Ran:
        """Run a command of the client and tell how it ended; it is asked nothing, and ended when it takes too long."""
        try:
            done = subprocess.run(
                [self.find(), *arguments],
                cwd=self._project,
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
            return Ran(well=False, said=clean_line(str(error), _SAID))
        said = " ".join((done.stderr.strip() or done.stdout.strip()).splitlines()[-3:])
        return Ran(done.returncode == 0, clean_line(said, _SAID))
