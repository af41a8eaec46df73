"""Tells which sources are the own components of other projects: Claude Code loads them there alone.

The session hook runs this with any Python from 3.9.
"""

from __future__ import annotations

from collections.abc import Iterable

from repertoire.boot.session_folders import session_folders

_PLUGINS = "/.claude/plugins/"  # in the key of a plugin that one project has, which is not loaded in folders below it
PROJECTS = "SELECT key, location FROM source WHERE kind = 'project'"


def elsewhere(sources: Iterable[tuple[str, str]], project: str) -> set[str]:
    """Return the keys of those sources, by key and folder, of which a session in a project loads nothing."""
    here = set(map(str, session_folders(project))) if project else set()
    above = here - {project}
    return {key for key, folder in sources if folder not in here or (_PLUGINS in key and folder in above)}
