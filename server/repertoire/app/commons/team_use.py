"""Keeps in the home what a commons told about the components that the team uses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from repertoire.app.commons.membership import folder
from repertoire.boot.private_file import write_json
from repertoire.learning.shared_use import FLOOR, TeamUse

_FILE, _READ = "team_use.json", 10_000  # components


def team_use(home: Path) -> Mapping[str, TeamUse]:
    """Return what is told of the components that the team uses; nothing where none is told."""
    try:
        found = json.loads((folder(home) / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    told = islice(found.items(), _READ) if isinstance(found, dict) else ()
    return {key: use for key, value in told if (use := _read(value)) is not None}


def keep_team_use(home: Path, told: Mapping[str, TeamUse]) -> None:
    """Replace what is kept."""
    write_json(folder(home) / _FILE, {key: asdict(use) for key, use in told.items()})


def forget_team_use(home: Path) -> None:
    """Delete what is kept."""
    (folder(home) / _FILE).unlink(missing_ok=True)


def _read(value: object) -> TeamUse | None:
    """Return what is told of a component; the version before kept the number of its users alone."""
    try:
        use = TeamUse(value) if isinstance(value, int) else TeamUse(**value)  # type: ignore[arg-type]
    except TypeError:
        return None
    return use if max(use.used, use.offered) >= FLOOR or use.worked is not None else None
