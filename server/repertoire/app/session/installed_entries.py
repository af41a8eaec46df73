"""Finds the shipped catalogue's entries that are installed in Claude Code, from the client's own files.

The session hook runs this with any Python from 3.9, before anything was ingested.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from repertoire.boot.session_folders import session_folders
from repertoire.catalogue.reading import CatalogueEntry
from repertoire.domain.component import AGENT, COMMAND, MCP_SERVER, SKILL
from repertoire.sources.client_files import config_folder
from repertoire.sources.crawl import children
from repertoire.sources.installed import look

_FOLDERS = ((SKILL, "skills", ""), (AGENT, "agents", ".md"), (COMMAND, "commands", ".md"))


@dataclass(frozen=True)
class InstalledEntries:
    """The installed plugins as `name@marketplace`, and components outside plugins by type and name."""

    plugins: frozenset[str] = frozenset()
    own: frozenset[tuple[str, str]] = frozenset()

    def by_plugin(self, entry: CatalogueEntry) -> bool:
        """Return whether an entry is installed with its plugin."""
        return f"{entry.plugin}@{entry.marketplace}" in self.plugins

    def by_itself(self, entry: CatalogueEntry) -> bool:
        """Return whether a component with the entry's type and name is installed outside all plugins."""
        return (entry.type, entry.name) in self.own


def installed_entries(environment: Mapping[str, str], project: Path | None) -> InstalledEntries:
    """Return the names of the components that Claude Code has on this machine and in a project."""
    machine = look(environment, project=project)
    around = session_folders(str(project)) if project is not None else ()
    folders = [config_folder(environment), *(folder / ".claude" for folder in around)]
    servers = (
        (MCP_SERVER, str(name))
        for place in machine.places
        for text in place.documents.values()
        for name in json.loads(text).get("mcpServers", ())
    )
    own = (found for folder in folders for found in _files(folder))
    return InstalledEntries(machine.installed_plugins, frozenset((*own, *servers)))


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    for kind, name, ending in _FOLDERS:
        for child in children(folder / name):
            if child.suffix == ending:
                yield kind, child.stem
