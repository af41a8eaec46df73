"""Says where Claude Code keeps a person's configuration and its own state.

The session hook runs this with any Python from 3.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_CHOSEN = "CLAUDE_CONFIG_DIR"


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder where Claude Code keeps a person's configuration."""
    chosen = environment.get(_CHOSEN, "").strip()
    return Path(chosen).expanduser() if chosen else Path.home() / ".claude"


def state_file(environment: Mapping[str, str]) -> Path:
    """Return the file in which Claude Code keeps a person's servers and what it knows of each project."""
    chosen = environment.get(_CHOSEN, "").strip()
    return (config_folder(environment) if chosen else Path.home()) / ".claude.json"
