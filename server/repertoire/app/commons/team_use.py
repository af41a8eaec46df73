"""Keeps in the home what a commons told about the components that the team uses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from repertoire.app.commons.membership import folder
from repertoire.boot.private_file import write_json
from repertoire.learning.shared_use import FLOOR

_FILE, _READ = "team_use.json", 10_000  # components


def team_use(home: Path) -> Mapping[str, int]:
    """Return about how many members of the team use each component; nothing where none is told."""
    try:
        found = json.loads((folder(home) / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    told = islice(found.items(), _READ) if isinstance(found, dict) else ()
    return {key: count for key, count in told if isinstance(count, int) and count >= FLOOR}


def keep_team_use(home: Path, told: Mapping[str, int]) -> None:
    """Replace what is kept."""
    write_json(folder(home) / _FILE, dict(told))


def forget_team_use(home: Path) -> None:
    """Delete what is kept."""
    (folder(home) / _FILE).unlink(missing_ok=True)
