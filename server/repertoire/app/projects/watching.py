"""Starts the process that keeps a project's memory up to date while a server lives; imports no reader and no store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from repertoire.boot.layout import command


def start_watching(home: Path, root: str) -> subprocess.Popen[bytes] | None:
    """Start a process that watches a project until its input ends, as it does however this process ends.

    Return None if its log cannot be written: an answer must not fail for that.
    """
    log = home / "log"
    try:
        log.mkdir(mode=0o700, exist_ok=True)
        output = (log / "watch.log").open("wb")
    except OSError:
        return None
    with output:
        return subprocess.Popen(
            command(Path(sys.executable), "repertoire", "project", "watch", "--while-input", "--quiet"),
            cwd=home,
            env={**os.environ, "REPERTOIRE_HOME": str(home), "CLAUDE_PROJECT_DIR": root},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
        )
