"""Checks the stored advisories: their number and age, and the installed components that they concern."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repertoire.boot.layout import command
from repertoire.domain.health import OK, WARN, Finding
from repertoire.domain.text import clean_line
from repertoire.store.light.health import HealthReader

_MATCHED_S = 60
_NAMED = 3
_READ = "`repertoire advisories FILE|DIR`"
_TELLS = "run `repertoire advisories`, which names the versions that are mended"


def advisories(db: HealthReader, path: Path, python: Path | None, *, old: str) -> Finding:
    """Return the finding on stored advisories; versions are compared in the environment, if there is one."""
    records, packages, read = db.advisories()
    if not records:
        return Finding("advisories", OK, f"none were read; {_READ} takes OSV records")
    text = f"{records} on {packages} packages, last read {read}"
    found = _matches(path, python)
    if isinstance(found, str):
        return Finding("advisories", WARN, f"{text}; not matched: {found}", _TELLS)
    if found["affected"] or found["possible"]:
        return Finding("advisories", WARN, f"{text}; {_concerned_text(found['affected'], found['possible'])}", _TELLS)
    text += "; they concern nothing installed"
    mend = f"read newer ones: {_READ}" if read < old else ""
    return Finding("advisories", WARN if mend else OK, text, mend)


def _concerned_text(affected: Sequence[str], possible: Sequence[str]) -> str:
    counts = [(len(affected), "surely"), (len(possible), "possibly")]
    told = " and ".join(f"{count} {how}" for count, how in counts if count)
    named = ", ".join(clean_line(one, 120) for one in (*affected, *possible)[:_NAMED])
    return f"of what is installed they concern {told}: {named}"


def _matches(path: Path, python: Path | None) -> Mapping[str, Any] | str:
    """Return the ids of affected and possibly affected components, or why the Python environment prints none."""
    if python is None:
        return "there is no environment yet"
    line = command(python, "repertoire.app.health.print_advisory_matches", str(path))
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=_MATCHED_S, check=False)
        found = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return clean_line(str(error), 200)
    if isinstance(found, dict):
        return found
    return clean_line((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1], 200)
