"""Tells which program of an install line is not on this machine, for hints: the line would end in an error.

The session hook runs this with any Python from 3.9.
"""

from __future__ import annotations

from collections.abc import Sequence

_PROGRAMS = frozenset(("brew", "cargo", "docker", "go", "npm", "npx", "pip", "uvx"))  # others are part of any system


def missing_program(install: Sequence[str]) -> str:
    """Return the program that install lines start and that is not on the PATH; empty if there is none."""
    started = _PROGRAMS.intersection(line.partition(" ")[0] for line in install)
    if not started:
        return ""
    import shutil  # noqa: PLC0415 - a session's start needs it for few lines

    return next((name for name in sorted(started) if shutil.which(name) is None), "")
